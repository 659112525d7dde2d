"""Tables of any size as counted combinations: what meets the requirement alone is set aside, the rest is solved."""

from shoal.counted.assignment import Assignment
from shoal.counted.reduce import reduced
from shoal.counted.solve import Solved, solve

__all__ = ["Assignment", "Solved", "reduced", "solve"]
