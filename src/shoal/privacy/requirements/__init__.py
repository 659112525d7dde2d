"""Requirements beyond k (spec §4): what the sensitive values of every group must look like.

Each says two things, in code that shares nothing: `limits`, what the kernels hold a group to while groups
change, and `levels`, how well finished groups meet it, for feasibility and the audit. All are monotone: what
holds for two groups holds for their union.
"""

from shoal.privacy.requirements.alpha import AlphaK
from shoal.privacy.requirements.base import TOLERANCE, Labels, Limits, Requirement
from shoal.privacy.requirements.closeness import TCloseness
from shoal.privacy.requirements.diversity import LDiversity
from shoal.privacy.requirements.sensitivity import PSensitive

REQUIREMENTS: dict[str, type[Requirement]] = {
    kind.name: kind for kind in (LDiversity, PSensitive, AlphaK, TCloseness)
}

__all__ = [
    "REQUIREMENTS",
    "TOLERANCE",
    "AlphaK",
    "LDiversity",
    "Labels",
    "Limits",
    "PSensitive",
    "Requirement",
    "TCloseness",
]
