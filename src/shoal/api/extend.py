"""The building blocks for your own methods, models, measures and requirements: `shoal.extend`, for `shoal.register`."""

from shoal.audits.requirements.base import Requirement
from shoal.encoding.closed import Closed
from shoal.encoding.forms import Form, RangeForm, SetForm, TreeForm
from shoal.encoding.models.base import Model
from shoal.progress import Progress
from shoal.solve.measures.additive import Feature
from shoal.solve.methods.base import Method, Partition
from shoal.solve.problem import Problem

__all__ = [
    "Closed",
    "Feature",
    "Form",
    "Method",
    "Model",
    "Partition",
    "Problem",
    "Progress",
    "RangeForm",
    "Requirement",
    "SetForm",
    "TreeForm",
]
