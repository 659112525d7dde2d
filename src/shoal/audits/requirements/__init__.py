"""Requirements beyond k: conditions on the sensitive values of every group.

Each says how well finished groups meet it (`levels`), for feasibility and the audit. The limits that kernels apply
while groups change are defined a second time in `risk/limits.py`, in code that shares nothing with this. All
requirements are monotone: if two groups meet one, so does their union.
"""

from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.base import TOLERANCE, Labels, Requirement
from shoal.audits.requirements.closeness import TCloseness
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive

REQUIREMENTS: dict[str, type[Requirement]] = {
    kind.name: kind for kind in (LDiversity, PSensitive, AlphaK, TCloseness)
}

__all__ = [
    "REQUIREMENTS",
    "TOLERANCE",
    "AlphaK",
    "LDiversity",
    "Labels",
    "PSensitive",
    "Requirement",
    "TCloseness",
]
