"""Local search that improves any partition under any objective, keeping every requirement."""

from shoal.refine.budget import Refine, read_refine
from shoal.refine.refine import is_carved, refine

__all__ = ["Refine", "is_carved", "read_refine", "refine"]
