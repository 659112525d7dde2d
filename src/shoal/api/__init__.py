"""The public functions, one file each, and the objects they return. It must not know how a step of a run is done."""
