"""What there is to choose from, one line each."""

from __future__ import annotations

from shoal.measures import MEASURES
from shoal.methods import METHODS


def methods() -> dict[str, str]:
    """Return every method's name and one line about it.

    Examples
    --------
    >>> import shoal
    >>> sorted(shoal.methods())
    ['cover', 'mondrian']
    """
    return {name: method.summary for name, method in METHODS.items()}


def measures() -> dict[str, str]:
    """Return every measure's name and one line about it.

    Examples
    --------
    >>> import shoal
    >>> shoal.measures()["lm"]
    'share of the values a cell may stand for (GT10 (3))'
    """
    return {name: f"{meaning} ({source})" for name, (meaning, source) in MEASURES.items()}
