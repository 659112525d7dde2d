"""Kernels that cover the records by lattice cells (set cover) or by trees of short links, and make groups of these."""
