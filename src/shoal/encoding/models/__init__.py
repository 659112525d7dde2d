"""What a value may become: the nine generalization models and how each compiles to a form (GiT09 §3)."""

from shoal.encoding.forms import Form, RangeForm, SetForm, TreeForm
from shoal.encoding.models.base import Model, Subset, Suppression
from shoal.encoding.models.calendar import Calendar
from shoal.encoding.models.hierarchy import Hierarchy
from shoal.encoding.models.interval import Interval
from shoal.encoding.models.order import Order, OrderForm
from shoal.encoding.models.point import Point
from shoal.encoding.models.prefix import Prefix
from shoal.encoding.models.ready import Ready

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (Suppression, Hierarchy, Interval, Order, Calendar, Prefix, Ready, Point, Subset)
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
    "Point",
    "Prefix",
    "RangeForm",
    "Ready",
    "SetForm",
    "Subset",
    "Suppression",
    "TreeForm",
]
