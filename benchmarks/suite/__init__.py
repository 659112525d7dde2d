"""The benchmarks: every file here is one, its first line says what it measures, its `run` returns the rows."""
