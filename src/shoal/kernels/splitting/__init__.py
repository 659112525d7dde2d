"""Kernels that cut a table into ever smaller groups."""
