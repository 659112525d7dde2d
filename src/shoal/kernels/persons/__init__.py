"""Groups of persons with several records: counting, mending and improving."""
