"""Kernels that bring records or groups together."""
