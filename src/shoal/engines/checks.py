"""What cannot be had of a large table, refused before any work."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.engines.base import RESERVED
from shoal.errors import InputError
from shoal.settings import Settings

MOST_QUADRATIC = 10_000_000  # records of a table that a method may take whose time grows like n²


def refuse(settings: Settings, names: Sequence[str]) -> list[str]:
    """Sentences for settings and columns that a large table cannot have."""
    found = []
    if settings.keep_order:
        found.append(
            "A table that is not in memory has no order to keep; leave out keep_order, or read it into memory "
            "(--engine memory)."
        )
    if not settings.method.homogeneous:
        found.append(
            f"Method '{settings.method.name}' links single records, which needs all of them in memory; choose "
            "another method, or read the table into memory (--engine memory)."
        )
    if settings.render == "mean":
        found.append(
            "The mean of a group needs all records in memory; set render to 'midpoint', 'text' or 'bounds', or read "
            "the table into memory (--engine memory)."
        )
    if settings.series:
        found.append(
            "Releases over time are made in memory only; read the table into memory (--engine memory)."
        )
    if settings.person or settings.pseudonyms:
        asked = "Persons are counted" if settings.person else "Pseudonyms are made"
        found.append(f"{asked} in memory only; read the table into memory (--engine memory).")
    if any(name.startswith(RESERVED) for name in names):
        found.append(
            f"Columns must not be named {RESERVED}…, which shoal uses itself; rename them."
        )
    lower = [name.lower() for name in names]
    twice = sorted({name for name in lower if lower.count(name) > 1})
    if twice:
        found.append(
            f"Columns named '{twice[0]}' differ in upper and lower case only, which engines do not tell apart; "
            "rename one."
        )
    return found


def refuse_slow(settings: Settings, records: int) -> None:
    """Refuse a method that would take days for so many records."""
    method = settings.method.choose(records)
    if records > MOST_QUADRATIC and method.growth.startswith("n²"):
        raise InputError(
            f"The time of method '{method.name}' grows like the square of the number of records, and there are "
            f"{records:,}; choose the method 'auto'."
        )
