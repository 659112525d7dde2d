"""Settings: everything that decides a release beside the table."""
