"""What there is to choose from."""

from __future__ import annotations

from dataclasses import fields

from shoal.measures import MEASURES
from shoal.methods import METHODS, Method


def methods() -> dict[str, str]:
    """Return every method's name and one line about it.

    Examples
    --------
    >>> import shoal
    >>> shoal.methods()["mondrian"]
    'recursive median cuts; the fastest, loses more'
    """
    return {name: method.summary for name, method in METHODS.items()}


def method_facts() -> dict[str, dict[str, str]]:
    """Return, per method, what it does, its paper, recoding, guarantee, growth in n and options."""
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
    found = [f"{f.name} = {str(f.default).lower()}" for f in fields(method)]  # type: ignore[arg-type]
    return ", ".join(found) or "none"


def measures() -> dict[str, str]:
    """Return every measure's name and one line about it.

    Examples
    --------
    >>> import shoal
    >>> shoal.measures()["lm"]
    'share of the values a cell may stand for (GT10 (3))'
    """
    return {name: f"{meaning} ({source})" for name, (meaning, source) in MEASURES.items()}
