"""Local search that improves any partition under any objective, keeping every requirement."""

from shoal.refine.budget import Refine, read_refine
from shoal.refine.refine import refine

__all__ = ["Refine", "read_refine", "refine"]
