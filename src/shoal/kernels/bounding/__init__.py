"""Kernels for lower bounds of the loss, computed from the cells that groups can be."""
