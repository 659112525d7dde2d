"""Kernels for groups of persons with several records: counting, mending and improving."""
