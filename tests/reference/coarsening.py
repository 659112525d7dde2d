"""Slow, obvious twins of what coarsening does to a single value."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from math import ceil, floor
from typing import Any


def rounded(value: Any, step: Any, are_whole: bool, low: Any = None, high: Any = None) -> str:
    """A number as the bin of a grid from 0 on, cut off at its ends."""
    number, width = (Fraction(str(own)) for own in (value, step))
    if low is not None and number <= low:
        return f"≤ {low}"
    if high is not None and number >= high:
        return f"≥ {high}"
    first = floor(number / width) * width
    after = first + width if high is None else min(first + width, Fraction(high))
    if are_whole:
        least = ceil(first) if low is None else max(ceil(first), low + 1)
        most = ceil(after) - 1
        return f"{least}" if least == most else _dashed(least, str(most))
    begin = shown(first) if low is None or first > low else f">{low}"
    return _dashed(begin, f"<{shown(after)}")


def shown(number: Fraction) -> str:
    """A number of at most three decimals, with no digit too many."""
    text = f"{float(number):.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _dashed(low: Any, high: str) -> str:
    plain = not str(low).startswith(("-", ">")) and not high.startswith(("-", "<-"))
    return f"{low}–{high}" if plain else f"{low} – {high}"


def in_month(day: date) -> str:
    return f"{day.year:04}-{day.month:02}"


def in_quarter(day: date) -> str:
    return f"{day.year:04}-Q{(day.month + 2) // 3}"


def begun(code: str, signs: int, longest: int) -> str:
    """The first signs of a code, filled to the length of the longest."""
    if longest <= signs or len(code) < signs:
        return code
    return code[:signs] + "*" * (longest - signs)
