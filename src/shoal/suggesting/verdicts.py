"""What is said about a column: its role, the reason, and whether a person must look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.suggesting.concepts import Concept

IDENTIFIER, QUASI, SENSITIVE, KEEP, DROP = (
    "identifier",
    "quasi-identifier",
    "sensitive",
    "keep",
    "drop",
)
A_PERSON = "a person"
ROLES = (IDENTIFIER, QUASI, SENSITIVE, KEEP, DROP)
FEW = 20  # records or values, from which on numbers tell something


@dataclass(frozen=True)
class Verdict:
    """What a column probably is, and why.

    `about` says what a quasi-identifier tells of a person, and which identifiers stand for one. `is_unknown` marks a
    column that is left out because nothing says what it means. `battery` names the numbered columns that were decided
    together with this one, and `coarsen` has the options of the interval that a sensitive number is rounded to.
    """

    role: str
    reason: str
    is_sure: bool = True
    about: str = ""
    is_unknown: bool = False
    battery: str = ""
    coarsen: Mapping[str, Any] = field(default_factory=dict)


def percent(share: float) -> str:
    """A share for people; one that is nearly all or nothing is not rounded to it."""
    shown = f"{100 * share:.1f}"
    if shown == "0.0" and share > 0:
        return "below 0.1 %"
    return "above 99.9 %" if shown == "100.0" and share < 1 else f"{shown} %"


def says(concept: Concept) -> str:
    """What a name says, for a reason."""
    return f"its name says {concept.plain}"
