"""The carriers: where the records of a run are, in memory or on an engine, behind the same few functions."""
