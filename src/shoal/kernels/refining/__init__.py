"""Kernels that improve a partition by local search: moves, swaps, carving, repacking.

`search` has what the neighbourhoods share: a change of several groups is made, and kept if it gains, else undone.
"""
