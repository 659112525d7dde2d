"""What differs between a table in memory and one on an engine."""
