"""Plain definitions of folded values: bins, periods, beginnings of codes, values beyond two ends; no code of src."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

import reference

UNITS = ("day", "week", "month", "quarter", "year", "decade")


@dataclass(frozen=True, order=True)
class Bin:
    """Many values as one: where it lies, how it reads alone, and how ranges begin and end with it."""

    at: Fraction
    label: str = field(compare=False)
    begins: str = field(compare=False, default="")
    ends: str = field(compare=False, default="")
    bounds: tuple[Any, Any] = field(compare=False, default=(None, None))
    is_lowest: bool = field(compare=False, default=False)
    is_highest: bool = field(compare=False, default=False)

    def __str__(self) -> str:
        return self.label

    def __sub__(self, other: Bin) -> Fraction:
        return self.at - other.at


def exact(number: Any) -> Fraction:
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def written(number: Fraction) -> str:
    value = Decimal(number.numerator) / Decimal(number.denominator)
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number_bin(v: Any, step: Any, low: Any, high: Any, is_whole: bool) -> Bin:
    """The bin of a number: the multiple of a step at or below it, up to below the next."""
    value, width = exact(v), exact(step)
    if low is not None and value <= exact(low):
        text = written(exact(low))
        return Bin(exact(low), f"≤ {text}", text, text, (None, low), is_lowest=True)
    if high is not None and value >= exact(high):
        text = written(exact(high))
        return Bin(exact(high), f"≥ {text}", text, text, (high, None), is_highest=True)
    start = floor(value / width) * width
    stop = start + width
    is_cut = low is not None and exact(low) >= start
    start = exact(low) if is_cut else start
    stop = stop if high is None else min(stop, exact(high))
    if is_whole:
        first, last = floor(start) + 1 if is_cut else ceil(start), ceil(stop) - 1
        label = str(first) if first == last else reference.ranged(str(first), str(last))
        return Bin(Fraction(first), label, str(first), str(last), (first, last))
    begins, ends = (">" if is_cut else "") + written(start), f"<{written(stop)}"
    at = start + width / 10**6 if is_cut else start  # above the lowest value itself
    return Bin(at, reference.ranged(begins, ends), begins, ends, (float(start), float(stop)))


def period(v: date, unit: str, by_weeks: bool = False) -> str:
    """How the day, week, month, quarter, year or decade of a date reads."""
    year = v.isocalendar().year if by_weeks else v.year
    return {
        "day": f"{v:%Y-%m-%d}",
        "week": f"{v:%G-W%V}",
        "month": f"{v:%Y-%m}",
        "quarter": f"{v.year}-Q{(v.month + 2) // 3}",
        "year": str(year),
        "decade": f"{year // 10}0–{year // 10}9",
    }[unit]


def first_day(v: date, unit: str, by_weeks: bool = False) -> date:
    """The first day that has the same period, found by going back day by day."""
    day = date(v.year, v.month, v.day)
    if unit in ("year", "decade") and not by_weeks:
        return date(day.year if unit == "year" else day.year // 10 * 10, 1, 1)
    while period(day - timedelta(days=1), unit, by_weeks) == period(day, unit, by_weeks):
        day -= timedelta(days=1)
    return day


def last_day(v: date, unit: str) -> date:
    """The last day that has the same period."""
    if unit in ("year", "decade"):
        return date(v.year if unit == "year" else v.year // 10 * 10 + 9, 12, 31)
    day = date(v.year, v.month, v.day)
    while period(day + timedelta(days=1), unit) == period(day, unit):
        day += timedelta(days=1)
    return day


def number_of(v: date, unit: str) -> int:
    """The number of a period among those of its unit."""
    day = first_day(v, unit)
    months = day.year * 12 + day.month
    return {
        "day": day.toordinal(),
        "week": day.toordinal() // 7,
        "month": months,
        "quarter": months // 3,
        "year": day.year,
        "decade": day.year // 10,
    }[unit]


def date_bin(v: Any, unit: str, low: date | None, high: date | None) -> Bin:
    """The period of a date; `low` is a last day of one, `high` a first."""
    day = date(v.year, v.month, v.day)
    is_low, is_high = low is not None and day <= low, high is not None and day >= high
    day = low if is_low and low else high if is_high and high else day
    label = period(day, unit)
    begins, ends = (label[:4], label[-4:]) if unit == "decade" else (label, label)
    first, last = first_day(day, unit), last_day(day, unit)
    bounds: tuple[Any, Any] = (first, last)
    if isinstance(v, datetime):
        midnight = datetime.min.time()
        after = datetime.combine(last + timedelta(days=1), midnight)
        bounds = datetime.combine(first, midnight), after - timedelta(microseconds=1)
    at = Fraction(number_of(day, unit))
    if is_low:
        return Bin(at, f"≤ {ends}", begins, ends, (None, bounds[1]), is_lowest=True)
    if is_high:
        return Bin(at, f"≥ {begins}", begins, ends, (bounds[0], None), is_highest=True)
    return Bin(at, label, begins, ends, bounds)


def place(v: Any) -> Fraction:
    """A number or date as a number."""
    if isinstance(v, datetime):
        return Fraction((v - datetime(1900, 1, 1)) // timedelta(microseconds=1))
    return Fraction(v.toordinal()) if isinstance(v, date) else exact(v)


def end_bin(v: Any, low: Any, high: Any) -> Any:
    """A value, or the one for all beyond an end that is a value itself."""
    for end, sign in ((low, "≤"), (high, "≥")):
        if end is not None and (v <= end if sign == "≤" else v >= end):
            text = reference.label(end)
            bounds = (None, end) if sign == "≤" else (end, None)
            return Bin(place(end), f"{sign} {text}", text, text, bounds, sign == "≤", sign == "≥")
    text = reference.label(v)
    return Bin(place(v), text, text, text, (v, v))


def order_bin(v: str, order: Sequence[str], low: str | None, high: str | None) -> Bin:
    """A category, or the one for all beyond an end."""
    at = order.index(v)
    if low is not None and at <= order.index(low):
        where = Fraction(order.index(low))
        return Bin(where, f"{low} or lower", low, low, (None, low), is_lowest=True)
    if high is not None and at >= order.index(high):
        where = Fraction(order.index(high))
        return Bin(where, f"{high} or higher", high, high, (high, None), is_highest=True)
    return Bin(Fraction(at), v, v, v, (v, v))


def tree_column(
    cells: Sequence[Any],
    paths: dict[Any, list[str]],
    heights: dict[str, int] | None = None,
    top: int | None = None,
) -> reference.Column:
    """A column whose values have a path each: how they read, and the labels of ever larger sets.

    The heights of labels are their places on these paths unless they are given, and so is that of the root.
    """
    leaves = list(dict.fromkeys(path[0] for path in paths.values()))
    sets: dict[str, set[str]] = {}
    for path in paths.values():
        for label in path[1:]:
            sets.setdefault(label, set()).add(path[0])
    nodes: dict[str, frozenset[Any]] = {}
    depth = {label: max(p.index(label) for p in paths.values() if label in p) for label in sets}
    for label in sorted(sets, key=lambda label: (len(sets[label]), depth[label])):
        held = frozenset(sets[label])
        if len(held) > 1 and held not in nodes.values():
            nodes[label] = held
    if None in cells or frozenset(leaves) not in nodes.values():
        nodes["*"] = frozenset(leaves)
    folded = [None if v is None else paths[v][0] for v in cells]
    top = max(map(len, paths.values())) if top is None else top
    known = {**(heights or depth), "*": top}
    return reference.Column("hierarchy", folded, leaves, nodes, known, top)


def code_path(
    code: str, width: int, lengths: Sequence[int] | None, finest: int | None
) -> list[str]:
    """A code, and its beginnings with stars up to a width."""
    starts = [code[:n] + "*" * (width - n) for n in range(1, width) if n <= len(code)]
    starts = [text for text in starts if lengths is None or len(text.rstrip("*")) in lengths]
    if finest is not None and finest < width and len(code) >= finest:
        own = code[:finest] + "*" * (width - finest)
        shorter = [t for t in starts if len(t.rstrip("*")) < finest]
        return [own, *sorted(shorter, key=lambda t: -len(t.rstrip("*")))]
    return [code, *sorted(starts, key=lambda t: -len(t.rstrip("*")))]


def parts_path(code: str, width: int, finest: int | None) -> list[str]:
    """A code, and its first parts with a star after them."""
    parts = code.split(".")
    kept = range(min(len(parts), width - 1), 0, -1)
    starts = {n: ".".join(parts[:n]) + ".*" for n in kept}
    if finest is not None and finest < width and len(parts) >= finest:
        return [starts[n] for n in kept if n <= finest]
    return [code, *(starts[n] for n in kept)]


def tree_paths(tree: dict[str, Any], above: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """For each leaf of a nested dict its label and those of the nodes above it, without the root."""
    found = {}
    for label, below in tree.items():
        if below:
            found |= tree_paths(below, (label, *above))
        else:
            found[label] = [label, *above]
    return found


def cut_paths(paths: dict[str, list[str]], finest: int) -> dict[str, list[str]]:
    """Paths that begin so many labels higher; where one such label is above another, all begin with the higher."""
    names = {leaf: path[min(finest, len(path) - 1)] for leaf, path in paths.items()}
    found = {}
    for leaf, path in paths.items():
        at = max(path.index(name) for name in set(names.values()) if name in path)
        found[leaf] = path[at:]
    return found


def end_paths(paths: dict[str, list[str]], beyond: set[str], label: str) -> dict[str, list[str]]:
    """Paths in which some leaves are one, right below the least node that holds all of them."""
    first = next(iter(beyond))
    shared = [n for n in paths[first][1:] if all(n in paths[leaf][1:] for leaf in beyond)]
    return {leaf: [label, *shared] if leaf in beyond else path for leaf, path in paths.items()}
