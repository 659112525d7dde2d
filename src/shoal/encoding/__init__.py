"""Frames in, codes out, closures back to text."""
