"""What a release promises: requirements, their feasibility, and what kernels are told of them."""

from shoal.auditing.examination import Audit, Examination, Proof
from shoal.auditing.requirements import (
    REQUIREMENTS,
    AlphaK,
    LDiversity,
    PSensitive,
    Requirement,
    TCloseness,
)
from shoal.privacy.feasibility import check_feasible, group_notes
from shoal.privacy.rules import compile_rules

__all__ = [
    "REQUIREMENTS",
    "AlphaK",
    "Audit",
    "Examination",
    "LDiversity",
    "PSensitive",
    "Proof",
    "Requirement",
    "TCloseness",
    "check_feasible",
    "compile_rules",
    "group_notes",
]
