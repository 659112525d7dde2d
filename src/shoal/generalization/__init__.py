"""What a value may become: the seven generalization models and the forms they compile to (GiT09 §3)."""

from shoal.generalization.calendar import Calendar
from shoal.generalization.forms import Form, RangeForm, SetForm, TreeForm
from shoal.generalization.hierarchy import Hierarchy
from shoal.generalization.interval import Interval
from shoal.generalization.models import Model, Subset, Suppression
from shoal.generalization.order import Order, OrderForm
from shoal.generalization.prefix import Prefix

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (Suppression, Hierarchy, Interval, Order, Calendar, Prefix, Subset)
}

__all__ = [
    "MODELS",
    "Calendar",
    "Form",
    "Hierarchy",
    "Interval",
    "Model",
    "Order",
    "OrderForm",
    "Prefix",
    "RangeForm",
    "SetForm",
    "Subset",
    "Suppression",
    "TreeForm",
]
