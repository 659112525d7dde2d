"""How kernels are compiled, kept between runs, and compiled ahead of a first run."""
