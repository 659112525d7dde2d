"""What a release promises: requirements, their feasibility, and the independent audit."""

from shoal.privacy.audit import Audit, Proof, Verdict, examine_frame, examine_texts
from shoal.privacy.compatibility import examine_compatibility
from shoal.privacy.feasibility import check_feasible, group_notes
from shoal.privacy.requirements import (
    REQUIREMENTS,
    AlphaK,
    LDiversity,
    PSensitive,
    Requirement,
    TCloseness,
)
from shoal.privacy.rules import compile_rules

__all__ = [
    "REQUIREMENTS",
    "AlphaK",
    "Audit",
    "LDiversity",
    "PSensitive",
    "Proof",
    "Requirement",
    "TCloseness",
    "Verdict",
    "check_feasible",
    "compile_rules",
    "examine_compatibility",
    "examine_frame",
    "examine_texts",
    "group_notes",
]
