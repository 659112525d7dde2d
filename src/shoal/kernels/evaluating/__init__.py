"""Kernels that answer queries and weigh which records a release may stand for."""
