"""What a release promises: the requirement, its feasibility, and the independent audit."""

from shoal.privacy.audit import Audit, audit_frame
from shoal.privacy.compatibility import audit_compatibility
from shoal.privacy.requirement import check_feasible

__all__ = ["Audit", "audit_compatibility", "audit_frame", "check_feasible"]
