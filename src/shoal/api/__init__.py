"""The public functions, one file each, and the objects they return. It must not know how the steps of a run work."""
