"""Kernels for lower bounds of the loss, from the cells that groups can be."""
