"""Advice when a release is too coarse: changes of settings, and how much detail each would gain, measured by trying."""
