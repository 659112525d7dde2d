"""Numba code only: arrays in, arrays out; knows three forms of closure and no measure names."""
