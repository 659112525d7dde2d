"""shoal makes tables about people safe to release: these are its public names, each loaded at its first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from shoal import samples as samples
    from shoal.api import extend as extend
    from shoal.api import testing as testing
    from shoal.api.advise import advise as advise
    from shoal.api.anonymize import anonymize as anonymize
    from shoal.api.catalogue import list_hierarchies as list_hierarchies
    from shoal.api.catalogue import list_measures as list_measures
    from shoal.api.catalogue import list_methods as list_methods
    from shoal.api.catalogue import list_requirements as list_requirements
    from shoal.api.evaluate import audit as audit
    from shoal.api.evaluate import classify as classify
    from shoal.api.evaluate import evaluate as evaluate
    from shoal.api.loss import loss as loss
    from shoal.api.mapping import Mapping as Mapping
    from shoal.api.read_release import ReadRelease as ReadRelease
    from shoal.api.read_release import read_release as read_release
    from shoal.api.release import Release as Release
    from shoal.audits.requirements.alpha import AlphaK as AlphaK
    from shoal.audits.requirements.closeness import TCloseness as TCloseness
    from shoal.audits.requirements.diversity import LDiversity as LDiversity
    from shoal.audits.requirements.sensitivity import PSensitive as PSensitive
    from shoal.data.databases.address import DatabaseTable as DatabaseTable
    from shoal.data.open import Engine as Engine
    from shoal.encoding.models import Calendar as Calendar
    from shoal.encoding.models import Hierarchy as Hierarchy
    from shoal.encoding.models import Interval as Interval
    from shoal.encoding.models import Order as Order
    from shoal.encoding.models import Point as Point
    from shoal.encoding.models import Prefix as Prefix
    from shoal.encoding.models import Ready as Ready
    from shoal.encoding.models import Subset as Subset
    from shoal.encoding.models import Suppression as Suppression
    from shoal.encoding.source import Input as Input
    from shoal.errors import AuditFailed as AuditFailed
    from shoal.errors import Cancelled as Cancelled
    from shoal.errors import Infeasible as Infeasible
    from shoal.errors import InputError as InputError
    from shoal.errors import NotAvailable as NotAvailable
    from shoal.errors import Refused as Refused
    from shoal.errors import ShoalError as ShoalError
    from shoal.pipeline.series.history import History as History
    from shoal.reuse.batch import Batch as Batch
    from shoal.reuse.recoding import Recoding as Recoding
    from shoal.settings.registry import register as register
    from shoal.settings.settings import WMI as WMI
    from shoal.settings.settings import Settings as Settings
    from shoal.solve.local_search.budget import Refine as Refine
    from shoal.solve.methods import Agglomerative as Agglomerative
    from shoal.solve.methods import Auto as Auto
    from shoal.solve.methods import BottomUp as BottomUp
    from shoal.solve.methods import Cover as Cover
    from shoal.solve.methods import EnhancedPK as EnhancedPK
    from shoal.solve.methods import Exact as Exact
    from shoal.solve.methods import Forest as Forest
    from shoal.solve.methods import GreedyPK as GreedyPK
    from shoal.solve.methods import Hilbert as Hilbert
    from shoal.solve.methods import Incognito as Incognito
    from shoal.solve.methods import KMember as KMember
    from shoal.solve.methods import Mondrian as Mondrian
    from shoal.solve.methods import NonHomogeneous as NonHomogeneous
    from shoal.solve.methods import Sequential as Sequential
    from shoal.solve.methods import TopDown as TopDown
    from shoal.solve.methods import TwoMeans as TwoMeans
    from shoal.suggestions.suggest import Suggestions as Suggestions
    from shoal.suggestions.suggest import suggest as suggest

# The same for programs that run: a name is loaded when it is first used. A test compares the two.
_HOMES = {
    "shoal.api.advise": ("advise",),
    "shoal.api.anonymize": ("anonymize",),
    "shoal.api.catalogue": (
        "list_hierarchies",
        "list_measures",
        "list_methods",
        "list_requirements",
    ),
    "shoal.api.evaluate": (
        "audit",
        "classify",
        "evaluate",
    ),
    "shoal.api.loss": ("loss",),
    "shoal.api.mapping": ("Mapping",),
    "shoal.api.read_release": (
        "ReadRelease",
        "read_release",
    ),
    "shoal.api.release": ("Release",),
    "shoal.audits.requirements.alpha": ("AlphaK",),
    "shoal.audits.requirements.closeness": ("TCloseness",),
    "shoal.audits.requirements.diversity": ("LDiversity",),
    "shoal.audits.requirements.sensitivity": ("PSensitive",),
    "shoal.data.databases.address": ("DatabaseTable",),
    "shoal.data.open": ("Engine",),
    "shoal.encoding.models": (
        "Calendar",
        "Hierarchy",
        "Interval",
        "Order",
        "Point",
        "Prefix",
        "Ready",
        "Subset",
        "Suppression",
    ),
    "shoal.encoding.source": ("Input",),
    "shoal.errors": (
        "AuditFailed",
        "Cancelled",
        "Infeasible",
        "InputError",
        "NotAvailable",
        "Refused",
        "ShoalError",
    ),
    "shoal.pipeline.series.history": ("History",),
    "shoal.reuse.batch": ("Batch",),
    "shoal.reuse.recoding": ("Recoding",),
    "shoal.settings.registry": ("register",),
    "shoal.settings.settings": ("Settings", "WMI"),
    "shoal.solve.local_search.budget": ("Refine",),
    "shoal.solve.methods": (
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
    "shoal.suggestions.suggest": (
        "Suggestions",
        "suggest",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

_MODULES = {
    "extend": "shoal.api.extend",
    "samples": "shoal.samples",
    "testing": "shoal.api.testing",
}

__all__ = ["__version__", *_MODULES, *_HOME_OF]


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562) and keep it."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME_OF:
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
