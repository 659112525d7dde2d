"""Groups of persons with several records: k and the requirements count the persons in a group."""
