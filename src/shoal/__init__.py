"""shoal: make tables about people releasable."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.version import __version__ as __version__

if TYPE_CHECKING:
    from shoal import samples as samples
    from shoal._anonymize import anonymize as anonymize
    from shoal._evaluate import audit as audit
    from shoal._evaluate import classify as classify
    from shoal._evaluate import evaluate as evaluate
    from shoal._loss import loss as loss
    from shoal.databases import DatabaseTable as DatabaseTable
    from shoal.errors import AuditFailed as AuditFailed
    from shoal.errors import Cancelled as Cancelled
    from shoal.errors import Infeasible as Infeasible
    from shoal.errors import InputError as InputError
    from shoal.errors import Refused as Refused
    from shoal.errors import ShoalError as ShoalError
    from shoal.generalization import Calendar as Calendar
    from shoal.generalization import Hierarchy as Hierarchy
    from shoal.generalization import Interval as Interval
    from shoal.generalization import Order as Order
    from shoal.generalization import Prefix as Prefix
    from shoal.generalization import Subset as Subset
    from shoal.generalization import Suppression as Suppression
    from shoal.listing import list_measures as list_measures
    from shoal.listing import list_methods as list_methods
    from shoal.listing import list_requirements as list_requirements
    from shoal.mapping import Mapping as Mapping
    from shoal.methods import Agglomerative as Agglomerative
    from shoal.methods import Auto as Auto
    from shoal.methods import BottomUp as BottomUp
    from shoal.methods import Cover as Cover
    from shoal.methods import EnhancedPK as EnhancedPK
    from shoal.methods import Exact as Exact
    from shoal.methods import Forest as Forest
    from shoal.methods import GreedyPK as GreedyPK
    from shoal.methods import Hilbert as Hilbert
    from shoal.methods import Incognito as Incognito
    from shoal.methods import KMember as KMember
    from shoal.methods import Mondrian as Mondrian
    from shoal.methods import NonHomogeneous as NonHomogeneous
    from shoal.methods import Sequential as Sequential
    from shoal.methods import TopDown as TopDown
    from shoal.methods import TwoMeans as TwoMeans
    from shoal.privacy import AlphaK as AlphaK
    from shoal.privacy import LDiversity as LDiversity
    from shoal.privacy import PSensitive as PSensitive
    from shoal.privacy import TCloseness as TCloseness
    from shoal.reading_back import ReadRelease as ReadRelease
    from shoal.reading_back import read_release as read_release
    from shoal.recoding import Batch as Batch
    from shoal.recoding import Recoding as Recoding
    from shoal.refine import Refine as Refine
    from shoal.release import Release as Release
    from shoal.series import History as History
    from shoal.settings import Settings as Settings
    from shoal.suggesting import Suggestions as Suggestions
    from shoal.suggesting import suggest as suggest
    from shoal.table.source import Input as Input

# The same for programs that run: a name is loaded when it is first used. A test compares the two.
_HOMES = {
    "shoal._anonymize": ("anonymize",),
    "shoal._evaluate": ("audit", "classify", "evaluate"),
    "shoal._loss": ("loss",),
    "shoal.databases": ("DatabaseTable",),
    "shoal.errors": (
        "AuditFailed",
        "Cancelled",
        "Infeasible",
        "InputError",
        "Refused",
        "ShoalError",
    ),
    "shoal.generalization": (
        "Calendar",
        "Hierarchy",
        "Interval",
        "Order",
        "Prefix",
        "Subset",
        "Suppression",
    ),
    "shoal.listing": ("list_measures", "list_methods", "list_requirements"),
    "shoal.mapping": ("Mapping",),
    "shoal.methods": (
        "Agglomerative",
        "Auto",
        "BottomUp",
        "Cover",
        "EnhancedPK",
        "Exact",
        "Forest",
        "GreedyPK",
        "Hilbert",
        "Incognito",
        "KMember",
        "Mondrian",
        "NonHomogeneous",
        "Sequential",
        "TopDown",
        "TwoMeans",
    ),
    "shoal.privacy": ("AlphaK", "LDiversity", "PSensitive", "TCloseness"),
    "shoal.reading_back": ("ReadRelease", "read_release"),
    "shoal.recoding": ("Batch", "Recoding"),
    "shoal.refine": ("Refine",),
    "shoal.release": ("Release",),
    "shoal.series": ("History",),
    "shoal.settings": ("Settings",),
    "shoal.suggesting": ("Suggestions", "suggest"),
    "shoal.table.source": ("Input",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", "samples", *_HOME_OF]


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562) and keep it."""
    if name == "samples":
        return import_module("shoal.samples")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
