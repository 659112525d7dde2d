"""The three forms that models compile to, tree, range and set: their closures and the texts of these.

Codes number the allowed values, null last. A closure is a short row of integers, one per slot, laid
out as the kernels expect it (see `kernels/shared/forms.py`).
"""

from shoal.encoding.forms.base import STAR, Floats, Form, Ints, Records, TreeForm
from shoal.encoding.forms.ranges import RangeForm
from shoal.encoding.forms.sets import SetForm

__all__ = ["STAR", "Floats", "Form", "Ints", "RangeForm", "Records", "SetForm", "TreeForm"]
