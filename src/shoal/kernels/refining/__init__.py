"""Kernels that improve groups: moves, swaps, chains, carving, ruin and repacking."""
