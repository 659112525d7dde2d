"""Kernels that bring records or groups together: agglomeration, growing, exact partition, repair."""
