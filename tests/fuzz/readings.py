"""What a cell means, in plain Python: values as comparable keys, released texts as sets of them.

Nothing here comes from shoal: the checker must not repeat its mistakes.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

FILL = "~"  # of beginnings of codes
NUMBER, DATE, TEXT = "number", "date", "text"
ZERO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))

Tree = tuple[str, tuple["Tree", ...]]  # a label and what is below it; a leaf has nothing below


def key(value: Any) -> Any:
    """A value in a form in which equal values are equal, whatever type holds them; None is missing."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(Decimal(repr(value)))
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime.combine(value, time())
    return str(value)


def read(text: str, kind: str) -> Any:
    """The key that a released text stands for in a column of numbers, dates or text."""
    if kind == NUMBER:
        return Fraction(Decimal(text))
    return datetime.fromisoformat(text) if kind == DATE else text


def canonical(value: Any) -> Any:
    """A sensitive value as a reader takes it: spelling, spaces and case do not make another value."""
    if not isinstance(value, str):
        return key(value)
    folded = unicodedata.normalize("NFKC", value).translate(ZERO_WIDTH).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split()) or None


def leaves(tree: Tree) -> list[str]:
    """The values below a node."""
    label, below = tree
    return [leaf for child in below for leaf in leaves(child)] if below else [label]


def nodes(tree: Tree) -> list[Tree]:
    """A node and all nodes below it."""
    return [tree, *(node for child in tree[1] for node in nodes(child))]


def coarse(value: Any, options: dict[str, Any]) -> str | None:
    """How a value of a coarsened column is released."""
    if value is None or value != value:
        return None
    if "step" in options:
        first = int(value) // options["step"] * options["step"]
        dash = "–" if first >= 0 else " – "
        return f"{first}{dash}{first + options['step'] - 1}"
    return f"{value:%Y-%m}" if options["finest"] == "month" else f"{value:%Y}"


@dataclass(frozen=True)
class Reader:
    """One released quasi-identifier: which values a cell may stand for."""

    model: str  # suppression, interval, order, subset, hierarchy, calendar, prefix, point or ready
    kind: str  # number, date or text
    domain: tuple[Any, ...]  # keys of all allowed values, in order and without missing
    has_missing: bool
    tree: Tree | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # of models that fold values

    is_broken: bool = False  # whether numbers are not all whole

    @property
    def everything(self) -> frozenset[Any]:
        return frozenset([*self.domain, None] if self.has_missing else self.domain)

    def closure(self, cell: Any) -> frozenset[Any]:
        """The keys that a released cell may stand for; ValueError if it cannot be read."""
        if isinstance(cell, tuple):
            return self._between_bounds(*cell)
        if cell is None:
            return frozenset([None])
        if cell == "*":
            return self.everything
        if not isinstance(cell, str):
            return self._single(cell)
        if self.model == "calendar":
            low, high = period(cell)
            return self._held(lambda value: low <= value <= high)
        if self.model == "point":
            sides = [side.split("..") for side in cell.split(", ")]
            low, high = (_from_corner(",".join(ends)) for ends in zip(*sides, strict=True))
            return self._held(
                lambda value: all(
                    a <= Fraction(part) < b
                    for a, part, b in zip(low, value.split(","), high, strict=True)
                )
            )
        if self.model == "prefix" and cell not in self.domain:
            if not cell.endswith(FILL):
                raise ValueError("no beginning")
            return self._held(lambda value: value.startswith(cell.rstrip(FILL)))
        if self.options and cell.startswith("≥ "):
            least = read(cell.removeprefix("≥ "), self.kind)
            return self._held(lambda value: value >= least)
        if self.model == "interval" and "–" in cell:
            low, high = (end.strip() for end in cell.split("–"))
            if high.startswith("<"):
                below = read(high[1:], self.kind)
                return self._held(lambda value: read(low, self.kind) <= value < below)
            return self._range(read(low, self.kind), read(high, self.kind))
        if self.model == "order" and cell not in self.domain:
            return self._range(*cell.split(" .. "))
        if self.model == "subset" and cell.startswith("{"):
            return frozenset(read(member, self.kind) for member in members(cell))
        if self.model == "hierarchy":
            return self._below(cell)
        return frozenset([read(cell, self.kind)])

    def _held(self, is_inside: Callable[[Any], bool]) -> frozenset[Any]:
        """All keys that are inside, at least one."""
        found = frozenset(value for value in self.domain if is_inside(value))
        if not found:
            raise ValueError("nothing is covered")
        return found

    def _range(self, low: Any, high: Any) -> frozenset[Any]:
        if self.model == "order":
            first, last = self.domain.index(low), self.domain.index(high)
            if first > last:
                raise ValueError("ends in the wrong order")
            return frozenset(self.domain[first : last + 1])
        if low > high:
            raise ValueError("bounds in the wrong order")
        return frozenset(value for value in self.domain if low <= value <= high)

    def _between_bounds(self, low: Any, high: Any) -> frozenset[Any]:
        """Two bounds; none stand for a missing value or for anything."""
        if low is not None and high is None and "high" in self.options:
            return self._held(lambda value: value >= key(low))
        if low is None or high is None:
            if low is not high:
                raise ValueError("one bound only")
            return self.everything
        if isinstance(high, float | Decimal) and "step" in self.options and self.is_broken:
            return self._held(lambda value: key(low) <= value < key(high))
        values = self._range(key(low), key(high))
        return self.everything if len(values) == len(self.domain) else values

    def _single(self, cell: Any) -> frozenset[Any]:
        """A number or date in the place of a range: it lies among the values and tells no more."""
        if self.options:  # bins reach beyond the values
            return self.everything
        ends = [self.domain[0], key(cell), self.domain[-1]]
        if self.kind == NUMBER:
            ends = [float(end) for end in ends]
        if self.model != "interval" or ends != sorted(ends):
            raise ValueError("a number that is in no range")
        return self.everything

    def _below(self, label: str) -> frozenset[Any]:
        assert self.tree is not None
        for node in nodes(self.tree):
            if node[0] == label:
                values = frozenset(read(leaf, self.kind) for leaf in leaves(node))
                return self.everything if node is self.tree else values
        raise ValueError("no label of the hierarchy")


def members(cell: str) -> list[str]:
    """The members of a set in braces, some of them in the quotes of JSON."""
    rest, found = cell[1:-1], []
    if not cell.endswith("}"):
        raise ValueError("no set")
    while rest:
        if rest.startswith('"'):
            value, end = json.JSONDecoder().raw_decode(rest)
            found.append(value)
            rest = rest[end:]
        else:
            value, _, _ = rest.partition(",")
            found.append(value)
            rest = rest[len(value) :]
        if rest and not rest.startswith(", "):
            raise ValueError("no set")
        rest = rest[2:]
    return found


def _from_corner(place: str) -> list[Fraction]:
    """Latitude and longitude, counted from the South Pole and from longitude -180."""
    return [Fraction(part) + limit for part, limit in zip(place.split(","), (90, 180), strict=True)]


def fold(value: Any, options: Mapping[str, Any]) -> Any:
    """The key that stands for a key and others: the start of its bin, cell or period, or the highest one."""
    if value is None:
        return None
    if isinstance(options.get("finest"), int | float):  # of a point
        width = Fraction(str(options["finest"]))
        return ",".join(str(Fraction(part) // width * width) for part in _from_corner(value))
    if "high" in options and value >= options["high"]:
        return Fraction(options["high"])
    if "step" in options:
        return value // options["step"] * options["step"]
    match options.get("finest"):
        case "month":
            return datetime(value.year, value.month, 1)
        case "year":
            return datetime(value.year, 1, 1)
        case "day":
            return datetime(value.year, value.month, value.day)
    return value


def period(cell: str) -> tuple[datetime, datetime]:
    """The first and last moment of 2073-02-01, 2073-02, 2073-Q1, 2073 or 2070–2079."""
    if "–" in cell:
        first, last = cell.split("–")
        return datetime(int(first), 1, 1), datetime(int(last), 12, 31)
    if "Q" in cell:
        year, quarter = int(cell[:4]), int(cell[-1])
        return datetime(year, 3 * quarter - 2, 1), datetime(
            year, 3 * quarter, (31, 30, 30, 31)[quarter - 1]
        )
    year, *rest = (int(part) for part in cell.split("-"))
    if len(rest) == 2:
        return datetime(year, *rest), datetime(year, *rest)
    if len(rest) == 1:
        after = datetime(year, *rest, 28) + timedelta(days=4)
        return datetime(year, *rest, 1), after.replace(day=1) - timedelta(days=1)
    return datetime(year, 1, 1), datetime(year, 12, 31)


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """Distinct keys without missing, in ascending order."""
    return tuple(sorted({value for value in values if value is not None}))


def reader_of(
    model: str,
    kind: str,
    values: Sequence[Any],
    domain: Sequence[Any] | None,
    tree: Tree | None,
    options: Mapping[str, Any] | None = None,
) -> Reader:
    """The reader of a column, from its original values and the model it was given."""
    if options:
        keys = [fold(key(value), options) for value in values]
        is_broken = any(isinstance(v, float | Decimal) and v != int(v) for v in values)
        return Reader(model, kind, distinct(keys), None in keys, None, options, is_broken)
    if tree is not None:
        allowed = distinct(read(leaf, kind) for leaf in leaves(tree))
    else:
        allowed = distinct(map(key, values if domain is None else domain))
    if model == "order" and domain is not None:
        allowed = tuple(map(key, domain))
    return Reader(model, kind, allowed, None in map(key, values), tree)
