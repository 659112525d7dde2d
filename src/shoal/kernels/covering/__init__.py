"""Kernels that cover records by cells of a lattice or by trees of short links, and make groups of them."""
