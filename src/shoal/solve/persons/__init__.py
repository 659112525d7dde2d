"""Groups of persons with several records: every one keeps k and the requirements by the persons in it."""
