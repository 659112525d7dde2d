"""What a value may become: the five generalization models and the forms they compile to (GiT09 §3)."""

from shoal.generalization.forms import Form, RangeForm, SetForm, TreeForm
from shoal.generalization.hierarchy import Hierarchy
from shoal.generalization.models import Interval, Model, Subset, Suppression
from shoal.generalization.order import Order, OrderForm

MODELS: dict[str, type[Model]] = {
    model.name: model for model in (Suppression, Hierarchy, Interval, Order, Subset)
}

__all__ = [
    "MODELS",
    "Form",
    "Hierarchy",
    "Interval",
    "Model",
    "Order",
    "OrderForm",
    "RangeForm",
    "SetForm",
    "Subset",
    "Suppression",
    "TreeForm",
]
