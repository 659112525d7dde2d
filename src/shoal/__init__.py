"""shoal: make tables about people releasable."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import samples as samples
    from shoal.anonymize import anonymize as anonymize
    from shoal.anonymize import audit as audit
    from shoal.anonymize import loss as loss
    from shoal.errors import AuditFailed as AuditFailed
    from shoal.errors import Cancelled as Cancelled
    from shoal.errors import Infeasible as Infeasible
    from shoal.errors import InputError as InputError
    from shoal.errors import ShoalError as ShoalError
    from shoal.evaluate import classify as classify
    from shoal.evaluate import evaluate as evaluate
    from shoal.generalization import Hierarchy as Hierarchy
    from shoal.generalization import Interval as Interval
    from shoal.generalization import Subset as Subset
    from shoal.generalization import Suppression as Suppression
    from shoal.listing import measures as measures
    from shoal.listing import methods as methods
    from shoal.listing import requirements as requirements
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
    from shoal.refine import Refine as Refine
    from shoal.release import Release as Release
    from shoal.settings import Settings as Settings
    from shoal.suggest import Suggestions as Suggestions
    from shoal.suggest import suggest as suggest
    from shoal.table.source import Input as Input

__version__ = "0.1.0"

_HOMES = {
    "anonymize": ("anonymize", "audit", "loss"),
    "errors": ("AuditFailed", "Cancelled", "Infeasible", "InputError", "ShoalError"),
    "evaluate": ("classify", "evaluate"),
    "generalization": ("Hierarchy", "Interval", "Subset", "Suppression"),
    "listing": ("measures", "methods", "requirements"),
    "methods": (
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
    "privacy": ("AlphaK", "LDiversity", "PSensitive", "TCloseness"),
    "refine": ("Refine",),
    "release": ("Release",),
    "settings": ("Settings",),
    "suggest": ("Suggestions", "suggest"),
    "table.source": ("Input",),
}

__all__ = ["samples", *(name for names in _HOMES.values() for name in names)]


class _Face(ModuleType):
    """The package as users see it: public names are loaded when first used.

    Some share their name with a room (`shoal.anonymize`, `shoal.methods`); importing the room must not
    hide the function, so its name cannot be set.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "samples":
            return import_module("shoal.samples")
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return sorted(__all__)


def _public(home: str, name: str) -> property:
    def load(self: ModuleType) -> Any:
        return getattr(import_module(f"shoal.{home}"), name)

    def keep(self: ModuleType, value: Any) -> None:
        """Leave the public name as it is."""

    return property(load, keep)


for _home, _names in _HOMES.items():
    for _name in _names:
        setattr(_Face, _name, _public(_home, _name))
sys.modules[__name__].__class__ = _Face
