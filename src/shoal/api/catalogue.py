"""Lists of the methods, measures, requirements and ready-made hierarchies to choose from."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, cast

from shoal.audits.requirements import REQUIREMENTS
from shoal.encoding.models.ready import READY
from shoal.solve.measures import MEASURES, MeasureName
from shoal.solve.methods import METHODS, Method, MethodName


def list_methods() -> dict[MethodName, str]:
    """Return every method's name and one line about it.

    Examples
    --------
    >>> import shoal
    >>> shoal.list_methods()["mondrian"]
    'splits records at medians again and again; the fastest, loses more'
    """
    found = {name: method.summary for name, method in METHODS.items()}
    return cast("dict[MethodName, str]", found)


def method_facts() -> dict[str, dict[str, str]]:
    """Return facts about each method: what it does, paper, recoding, guarantee, running time and options."""
    return {
        name: {
            "what": method.summary,
            "paper": method.source,
            "recoding": method.recoding,
            "guarantee": method.promise,
            "growth": method.growth,
            "options": _options(method),
        }
        for name, method in METHODS.items()
    }


def _options(method: type[Method]) -> str:
    found = [
        f"{f.name} = {'{}' if f.default is MISSING else str(f.default).lower()}"
        for f in fields(method)  # type: ignore[arg-type]
    ]
    return ", ".join(found) or "none"


def list_measures() -> dict[MeasureName, str]:
    """Return every measure's name and one line about it.

    Examples
    --------
    >>> import shoal
    >>> shoal.list_measures()["lm"]
    'detail: how precise released values are, from 0 (exact) to 1 (hidden) (GT10 (3))'
    """
    found = {name: f"{own.meaning} ({own.source})" for name, own in MEASURES.items()}
    return cast("dict[MeasureName, str]", found)


def list_requirements() -> dict[str, str]:
    """Return the name of every requirement beyond k and one line about it.

    Examples
    --------
    >>> import shoal
    >>> shoal.list_requirements()["closeness"]
    'sensitive values are distributed in every group almost as in the whole table'
    """
    return {name: requirement.summary for name, requirement in REQUIREMENTS.items()}


def requirement_facts() -> dict[str, dict[str, str]]:
    """Return facts about each requirement beyond k: what it asks, its name in Python and its parameters."""
    return {
        name: {
            "what": requirement.summary,
            "in Python": f"shoal.{requirement.__name__}",
            "parameters": _parameters(requirement),
        }
        for name, requirement in REQUIREMENTS.items()
    }


def _parameters(kind: Any) -> str:
    """Required parameters first, then optional ones."""
    needed = [f.name for f in fields(kind) if f.default is MISSING]
    free = [
        f"{f.name} = {f.default}" if f.default else f.name
        for f in sorted(fields(kind), key=lambda f: f.name == "columns")
        if f.default is not MISSING
    ]
    return f"{', '.join(needed)}; optional: {', '.join(free)}"


def list_hierarchies() -> dict[str, str]:
    """Return the name of every ready-made hierarchy and one line about it.

    Examples
    --------
    >>> import shoal
    >>> shoal.list_hierarchies()["countries"]
    'countries of ISO 3166: subregions and regions'
    """
    return {name: known.summary for name, known in READY.items()}


def hierarchy_facts() -> dict[str, dict[str, str]]:
    """Return facts about each ready-made hierarchy: what it is, which values it contains, its levels and source."""
    return {
        name: {
            "what": known.summary,
            "values": known.values,
            "finest": ", ".join(known.levels),
            "source": known.source,
        }
        for name, known in READY.items()
    }
