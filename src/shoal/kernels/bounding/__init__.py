"""Kernels behind the certificate: cells, their costs and dual ascent."""
