"""Kernels that answer queries over a release, and count which records its closures may stand for."""
