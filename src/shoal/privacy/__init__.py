"""What a release promises: requirements, their feasibility, and the independent audit."""

from shoal.privacy.audit import Audit, audit_frame
from shoal.privacy.compatibility import audit_compatibility
from shoal.privacy.feasibility import check_feasible
from shoal.privacy.requirements import AlphaK, LDiversity, PSensitive, Requirement, TCloseness
from shoal.privacy.rules import compile_rules

__all__ = [
    "AlphaK",
    "Audit",
    "LDiversity",
    "PSensitive",
    "Requirement",
    "TCloseness",
    "audit_compatibility",
    "audit_frame",
    "check_feasible",
    "compile_rules",
]
