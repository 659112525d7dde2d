"""Kernels that cover records by cells and make groups of these."""
