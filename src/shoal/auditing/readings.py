"""Which values of a column a released text may stand for, by the name of the column's model.

The values of a column stand in a line: numbers and dates in their order, the leaves of a tree such that every node's
are neighbours, and a missing value last. A released text covers one or more stretches of that line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.auditing.cells import Cells
from shoal.auditing.requirements.trees import Tree
from shoal.auditing.texts import Reader, moment
from shoal.auditing.verdict import Places

Stretches = tuple[tuple[int, int], ...]  # first place, and the one after the last
Texts = Sequence[str | None]
ANYTHING = "*"
BETWEEN = " .. "
NOTHING = ((0, 0),)
UNREADABLE = (ValueError, InvalidOperation, TypeError, OverflowError)
_WHOLE = re.compile(r"[+-]?[0-9]+")


class Line:
    """A column whose values have no order: a text stands for itself, or for anything."""

    def __init__(self, known: Texts) -> None:
        self.rank: Places = np.arange(len(known))
        self.places = {text: (at,) for at, text in enumerate(known)}
        self.length = len(known)

    def covered(self, released: str | None) -> Stretches:
        """The stretches that a released text covers, none where it stands for no known value."""
        if released in self.places:
            return tuple((at, at + 1) for at in self.places[released])
        if released == ANYTHING:
            return ((0, self.length),)
        return self.several(released) if released is not None else ()

    def several(self, released: str) -> Stretches:
        """The stretches that a text covers which is neither a known value nor `*`."""
        return ()


class SetLine(Line):
    """A column released as sets: {a, b}."""

    def several(self, released: str) -> Stretches:
        members = {text for text in _members(released) if text in self.places}
        found = sorted(at for text in members for at in self.places[text])
        return tuple((at, at + 1) for at in found)


class TreeLine(Line):
    """A column released as labels of a hierarchy."""

    def __init__(self, known: Texts, tree: Tree) -> None:
        super().__init__(known)
        root, leaves = len(tree.parent) - 1, len(tree.leaves)
        size = [int(node < leaves) for node in range(root + 1)]
        for node in range(root):  # parents come after their children
            size[tree.parent[node]] += size[node]
        first, free = [0] * (root + 1), [0] * (root + 1)
        for node in range(root - 1, -1, -1):
            above = tree.parent[node]
            first[node] = free[node] = free[above]
            free[above] += size[node]
        self.length = leaves + 1
        self.nodes = {
            **dict(tree.aliases),
            **{label: node for node, label in enumerate((*tree.leaves, *tree.inner))},
        }
        self.nodes.setdefault(ANYTHING, root)
        self.stretch = [(first[node], first[node] + size[node]) for node in range(root)]
        self.stretch.append((0, self.length))  # the root covers missing values as well
        self.rank = np.array([self._rank(text, tree) for text in known], dtype=np.int64)

    def _rank(self, text: str | None, tree: Tree) -> int:
        if text is None:
            return len(tree.leaves)
        leaf = self.nodes.get(text, self.nodes.get(text.strip(), -1))
        return self.stretch[leaf][0] if 0 <= leaf < len(tree.leaves) else self.length

    def covered(self, released: str | None) -> Stretches:
        if released is None:
            return ((self.length - 1, self.length),)
        return (self.stretch[self.nodes[released]],) if released in self.nodes else ()


class RangeLine(Line):
    """A column released as intervals of numbers or dates: [24, 30]."""

    def __init__(self, known: Texts, reader: Reader, is_exact: bool) -> None:
        super().__init__(known)
        self.scales = _scales(reader, is_exact)
        values: list[Any] = []
        while self.scales:  # those that read every known value, and what comes after
            with suppress(*UNREADABLE):
                values = [text if text is None else self.scales[0](text) for text in known]
                break
            self.scales.pop(0)
        self.values = sorted({value for value in values if value is not None})
        place = {value: at for at, value in enumerate(self.values)}
        self.length = len(place) + 1
        ranks = [place.get(value, len(place)) for value in values]
        self.rank = np.array(ranks or [self.length] * len(known), dtype=np.int64)
        self.places = {None: (len(place),)}

    def several(self, released: str) -> Stretches:
        is_range = released[:1] == "[" and released[-1:] == "]"
        low, _, high = released[1:-1].partition(", ") if is_range else (released, "", released)
        return self.between(low, high)

    def between(self, low: str, high: str) -> Stretches:
        """The stretches between two bounds, both included."""
        for read in self.scales:
            with suppress(*UNREADABLE):
                start, stop = (
                    bisect_left(self.values, read(low)),
                    bisect_right(self.values, read(high)),
                )
                return ((start, stop),) if start < stop else ()
        return ()


class OrderLine(Line):
    """A column of categories with an order, released as runs of them: low .. high."""

    def __init__(self, known: Texts, order: Sequence[str]) -> None:
        super().__init__(known)
        self.place = {text: at for at, text in enumerate(order)}
        self.length = len(self.place) + 1
        missing = len(self.place)
        ranks = [missing if text is None else self.place.get(text, self.length) for text in known]
        self.rank = np.array(ranks, dtype=np.int64)
        self.places = {text: (at,) for text, at in self.place.items()}
        self.places[None] = (missing,)

    def several(self, released: str) -> Stretches:
        return self.between(*released.split(BETWEEN)) if released.count(BETWEEN) == 1 else ()

    def between(self, low: str, high: str) -> Stretches:
        """All categories from one to another, both included."""
        start, stop = (self.place.get(end, -1) for end in (low, high))
        return ((start, stop + 1),) if 0 <= start <= stop else ()


def _scales(reader: Reader, is_exact: bool) -> list[Callable[[str], Any]]:
    """The ways to read a text as a number or a date, in the order in which they are tried."""

    def number(text: str) -> int | float | Decimal:
        point = text.replace(reader.decimal, ".")
        if _WHOLE.fullmatch(point):
            return int(point)
        value = Decimal(point) if is_exact else float(point)
        if not isfinite(value):
            raise ValueError("not finite")
        return value

    found = [number, lambda text: moment(text, None)]
    if reader.date_format is not None:
        found.insert(0, lambda text: moment(text, reader.date_format))
    return found


def _members(released: str) -> Iterator[str]:
    """The values that a text in braces lists: plain, or in quotes like those of JSON."""
    if released[:1] != "{" or released[-1:] != "}":
        return
    rest = released[1:-1].strip()
    while rest:
        if rest[0] == '"':
            with suppress(ValueError):
                member, stop = json.JSONDecoder().raw_decode(rest)
                yield member
                rest = rest[stop:].lstrip().removeprefix(",").lstrip()
                continue
            return
        member, _, rest = rest.partition(",")
        yield member.strip()
        rest = rest.lstrip()


@dataclass(frozen=True)
class Cover:
    """A released column beside the original: what its texts cover of the line of values."""

    rank: Places  # of each original record's value
    places: Places  # of each released record's text among those that cover different stretches
    first: (
        Places  # where the stretches of each such text begin in `low` and `high`, and their number
    )
    low: Places
    high: Places

    def inside(self, ranks: Places, texts: slice) -> npt.NDArray[np.bool_]:
        """Whether each of some texts (row) covers each of ascending ranks (column)."""
        bounds = self.first[texts.start : texts.stop + 1]
        low, high = self.low[bounds[0] : bounds[-1]], self.high[bounds[0] : bounds[-1]]
        each = (low[:, None] <= ranks) & (ranks < high[:, None])
        return np.logical_or.reduceat(each, bounds[:-1] - bounds[0], axis=0)


def line_of(cells: Cells, model: Any, reader: Reader) -> Line:
    """The line of an original column's values, by its model."""
    match getattr(model, "name", None):
        case "hierarchy":
            return TreeLine(cells.texts, model)
        case "interval":
            return RangeLine(cells.texts, reader, cells.is_exact)
        case "subset":
            return SetLine(cells.texts)
        case "order":
            return OrderLine(cells.texts, _order(cells, model.values))
    return Line(cells.texts)


def _order(cells: Cells, given: Any) -> Sequence[str]:
    """The order of a column's categories: given, by name, or its own; none at all covers nothing."""
    if isinstance(given, tuple):
        return given
    if given is not None:
        return sorted(text for text in cells.texts if text is not None)
    return cells.order or ()


def cover_of(line: Line, original: Cells, released: Cells) -> Cover:
    """Find what the texts of a released column cover."""
    return _cover(line, original, released.places, [line.covered(text) for text in released.texts])


def cover_of_bounds(line: RangeLine | OrderLine, original: Cells, low: Cells, high: Cells) -> Cover:
    """The same for a column released as two, of lower and of upper bounds.

    No bounds stand for a missing value, or for anything if more records have none than were missing.
    """
    pairs, places = np.unique(
        np.stack([low.places, high.places], axis=1), axis=0, return_inverse=True
    )
    nothing = low.texts.index(None)
    missing = np.count_nonzero(low.places == nothing)
    unknown = None
    if missing > np.count_nonzero(original.places == original.texts.index(None)):
        unknown = ANYTHING
    covered = []
    for a, b in pairs.tolist():
        start, stop = low.texts[a], high.texts[b]
        is_open = start is None or stop is None
        covered.append(line.covered(unknown) if is_open else line.between(start, stop))
    return _cover(line, original, places.reshape(-1), covered)


def _cover(line: Line, original: Cells, places: Places, covered: Sequence[Stretches]) -> Cover:
    """Number texts by what they cover, so that those that cover the same are one."""
    different = sorted({own or NOTHING for own in covered})  # neighbours cover alike stretches
    known = {own: number for number, own in enumerate(different)}
    number = np.array([known[own or NOTHING] for own in covered], dtype=np.int64)
    ends = np.array([stretch for own in known for stretch in own], dtype=np.int64)
    first = np.cumsum([0, *(len(own) for own in known)])
    return Cover(line.rank[original.places], number[places], first, ends[:, 0], ends[:, 1])
