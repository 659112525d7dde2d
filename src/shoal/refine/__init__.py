"""Local search that improves any partition under any objective, keeping every requirement."""

from shoal.refine.budget import Refine, read_refine
from shoal.refine.refine import CARVE, CHOOSE, Outcome, costly_step, refine

__all__ = ["CARVE", "CHOOSE", "Outcome", "Refine", "costly_step", "read_refine", "refine"]
