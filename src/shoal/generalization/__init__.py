"""What a value may become: the four generalization models and the forms they compile to (GiT09 §3)."""

from shoal.generalization.forms import Form, RangeForm, SetForm, TreeForm
from shoal.generalization.hierarchy import Hierarchy
from shoal.generalization.models import Interval, Model, Subset, Suppression

MODELS: dict[str, type[Model]] = {
    model.name: model for model in (Suppression, Hierarchy, Interval, Subset)
}

__all__ = [
    "MODELS",
    "Form",
    "Hierarchy",
    "Interval",
    "Model",
    "RangeForm",
    "SetForm",
    "Subset",
    "Suppression",
    "TreeForm",
]
