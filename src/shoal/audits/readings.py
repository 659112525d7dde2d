"""Which values of a column a released text covers, by the column's model."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.audits.points import PointLine
from shoal.audits.ranges import (
    ANYTHING,
    Line,
    RangeLine,
    RangeSetLine,
    Stretches,
    Texts,
    listed_values,
    stretches,
)
from shoal.audits.ready import ReadyLine
from shoal.audits.requirements.base import HierarchyLike
from shoal.audits.text_ends import days_of, end_days
from shoal.audits.texts import ColumnReader, ColumnTexts
from shoal.audits.verdict import Places

_LAST = "\U0010ffff"  # sorts after every character that may follow in a code


class PrefixLine(Line):
    """A column released as the beginnings of codes: 021**, or with a separator A01.*."""

    def __init__(self, known: Texts, model: Any) -> None:
        super().__init__(known)
        self.fill, self.separator = str(model.fill), model.separator
        self.codes = sorted(text for text in known if text is not None)
        place = {code: at for at, code in enumerate(self.codes)}
        self.length = len(self.codes) + 1
        missing = len(self.codes)
        self.rank = np.array([missing if t is None else place[t] for t in known], dtype=np.int64)
        self.places = {None: (missing,), **{code: (at,) for code, at in place.items()}}

    def several(self, released: str) -> Stretches:
        if not released.endswith(self.fill):
            return ()
        if self.separator is None:
            return self._from(released.rstrip(self.fill))
        head = released.removesuffix(self.fill)
        if not head.endswith(self.separator):
            return ()
        own = self.places.get(head.removesuffix(self.separator), ())
        return tuple(sorted({*((at, at + 1) for at in own), *self._from(head)}))

    def _from(self, start: str) -> Stretches:
        """The stretch of all codes that begin with a text."""
        first, after = bisect_left(self.codes, start), bisect_left(self.codes, start + _LAST)
        return ((first, after),) if start and first < after else ()


BETWEEN = " .. "
OR_HIGHER, OR_LOWER = " or higher", " or lower"
NOTHING = ((0, 0),)


class SetLine(Line):
    """A column released as sets: {a, b}."""

    def several(self, released: str) -> Stretches:
        known = {text for text in listed_values(released) if text in self.places}
        found = sorted(at for text in known for at in self.places[text])
        return tuple((at, at + 1) for at in found)


class TreeLine(Line):
    """A column released as labels of a hierarchy."""

    def __init__(self, known: Texts, tree: HierarchyLike) -> None:
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
        self.stretch.append((0, self.length))  # the root covers missing values, too
        self.folds = folds_of(tree, [first[leaf] for leaf in range(leaves)])
        self.rank = np.array([self._rank(text, tree) for text in known], dtype=np.int64)

    def _rank(self, text: str | None, tree: HierarchyLike) -> int:
        if text is None:
            return len(tree.leaves)
        leaf = self.nodes.get(text, self.nodes.get(text.strip(), -1))
        return self.stretch[leaf][0] if 0 <= leaf < len(tree.leaves) else self.length

    def covered(self, released: str | None) -> Stretches:
        if released is None:
            return ((self.length - 1, self.length),)
        for texts, beyond in self.folds:
            if released in texts:
                return stretches(_marked(self.length, beyond))
        if released not in self.nodes:
            return ()
        first, after = self.stretch[self.nodes[released]]
        marks = _marked(self.length, set(range(first, after)))
        # One leaf represents all values beyond an end, of which all or none are covered.
        for _, beyond in self.folds:
            if not marks[sorted(beyond)].all():
                marks[sorted(beyond)] = False
        return stretches(marks) if self.folds else ((first, after),)


def _marked(length: int, places: set[int]) -> npt.NDArray[np.bool_]:
    marks = np.zeros(length, dtype=np.bool_)
    marks[sorted(places)] = True
    return marks


def folds_of(tree: Any, places: Sequence[int]) -> list[tuple[tuple[str, ...], set[int]]]:
    """The texts of the leaves beyond a lowest and a highest value, and their places."""
    found = []
    for name, signs in (("low", ("≤", "<=")), ("high", ("≥", ">="))):
        end = getattr(tree, name, None)
        if end is None:
            continue
        is_low = name == "low"
        day = end_days(end, is_low, False) if not isinstance(end, int | float | Decimal) else None
        bound: Any
        values: list[Any]
        if isinstance(day, int):
            bound, text = day, date.fromordinal(day).isoformat()
            values = [(days_of(leaf) or (0, 0))[0] for leaf in tree.leaves]
        else:
            bound, text = Decimal(str(end)), _plain_number(Decimal(str(end)))
            values = [Decimal(leaf) for leaf in tree.leaves]
        pairs = zip(places, values, strict=True)
        beyond = {at for at, value in pairs if (value <= bound if is_low else value >= bound)}
        if beyond:
            found.append((tuple(f"{sign} {text}" for sign in signs), beyond))
    return found


def _plain_number(number: Decimal) -> str:
    """A number without an exponent or unnecessary zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class OrderLine(Line):
    """A column of categories with an order, released as runs of them: low .. high."""

    def __init__(self, known: Texts, order: Sequence[str], model: Any = None) -> None:
        super().__init__(known)
        self.place = {text: at for at, text in enumerate(order)}
        self.length = len(self.place) + 1
        missing = len(self.place)
        ranks = [missing if text is None else self.place.get(text, self.length) for text in known]
        self.rank = np.array(ranks, dtype=np.int64)
        self.places = {None: (missing,)}
        low, high = _ends(model)
        self.lowest = -1 if low is None else self.place.get(low, missing)
        self.highest = missing if high is None else self.place.get(high, -1)

    def several(self, released: str) -> Stretches:
        if released in self.place:
            return self.between(released, released)
        if released.count(BETWEEN) == 1:
            return self.between(*released.split(BETWEEN))
        if released.endswith(OR_HIGHER):
            return self.between(released.removesuffix(OR_HIGHER), None)
        if released.endswith(OR_LOWER):
            return self.between(None, released.removesuffix(OR_LOWER))
        return ()

    def between(self, low: str | None, high: str | None) -> Stretches:
        """All categories from one to another, both included; None and its text mean an open end."""
        last, at_end = len(self.place) - 1, self.length - 1
        is_low = self.lowest >= 0 and (low is None or low.endswith(OR_LOWER))
        is_high = self.highest < at_end and (high is None or high.endswith(OR_HIGHER))
        start = 0 if is_low else self.place.get(low or "", -1) if low is not None else -1
        stop = last if is_high else self.place.get(high or "", -1) if high is not None else -1
        if not is_low and start <= self.lowest and self.lowest >= 0:
            return ()  # one category represents all up to the lowest one
        if not is_high and stop >= self.highest:
            return ()
        return ((start, stop + 1),) if 0 <= start <= stop else ()


class OwnLine(Line):
    """A column released by a user's own model, which defines what its texts cover."""

    def __init__(self, known: Texts, model: Any) -> None:
        super().__init__(known)
        self.covers = model.covers

    def several(self, released: str) -> Stretches:
        found = [t for t in self.places if t is not None and self.covers(released, t)]
        return tuple(sorted((at, at + 1) for text in found for at in self.places[text]))


@dataclass(frozen=True)
class CoveredValues:
    """A released column next to the original: which values its texts cover."""

    rank: Places  # of each original record's value
    places: Places  # for each released record: its text among those that cover different stretches
    # Where the stretches of each such text begin in `low` and `high`, and their number.
    first: Places
    low: Places
    high: Places

    def inside(self, ranks: Places, texts: slice) -> npt.NDArray[np.bool_]:
        """Whether each of some texts (row) covers each of ascending ranks (column)."""
        bounds = self.first[texts.start : texts.stop + 1]
        low, high = self.low[bounds[0] : bounds[-1]], self.high[bounds[0] : bounds[-1]]
        each = (low[:, None] <= ranks) & (ranks < high[:, None])
        return np.logical_or.reduceat(each, bounds[:-1] - bounds[0], axis=0)


def line_of(cells: ColumnTexts, model: Any, reader: ColumnReader) -> Line:
    """The sorted values of an original column, by its model."""
    has_ends = _ends(model) != (None, None)
    match getattr(model, "name", None):
        case "hierarchy":
            return TreeLine(cells.texts, model)
        case "interval" | "calendar":
            return RangeLine(cells, reader, model)
        case "subset":
            return RangeSetLine(cells, reader, model) if has_ends else SetLine(cells.texts)
        case "order":
            return OrderLine(cells.texts, _order(cells, model), model)
        case "prefix":
            return PrefixLine(cells.texts, model)
        case "point":
            return PointLine(cells.texts)
        case "ready":
            return ReadyLine(cells.texts, model)
        case "suppression" if has_ends:
            return RangeLine(cells, reader, model)
        case "suppression" | None:
            return Line(cells.texts)
    return OwnLine(cells.texts, model)


def _ends(model: Any) -> tuple[Any, Any]:
    """The lowest and the highest value beyond which a model folds values; None for no limit."""
    return getattr(model, "low", None), getattr(model, "high", None)


def _order(cells: ColumnTexts, model: Any) -> Sequence[str]:
    """The order of a column's categories: given, alphabetical, or its own; no order covers nothing."""
    given = model.values
    if isinstance(given, tuple):
        return given
    if given is not None:
        return sorted({text for text in (*cells.texts, *_ends(model)) if text is not None})
    return cells.order or ()


def covered_values(line: Line, original: ColumnTexts, released: ColumnTexts) -> CoveredValues:
    """Find what the texts of a released column cover."""
    return _cover(line, original, released.places, [line.covered(text) for text in released.texts])


def values_covered_by_bounds(
    line: RangeLine | OrderLine, original: ColumnTexts, low: ColumnTexts, high: ColumnTexts
) -> CoveredValues:
    """Find what a column covers that was released as two, lower and upper bounds.

    Empty bounds mean a missing value, or any value if more records have empty bounds than were missing.
    """
    pairs, places = np.unique(
        np.stack([low.places, high.places], axis=1), axis=0, return_inverse=True
    )
    nothing = low.texts.index(None), high.texts.index(None)
    missing = np.count_nonzero((low.places == nothing[0]) & (high.places == nothing[1]))
    known = np.count_nonzero(original.places == original.texts.index(None))
    unbounded = line.covered(ANYTHING if missing > known else None)
    bounds = [(low.texts[a], high.texts[b]) for a, b in pairs.tolist()]
    covered = [unbounded if a is b is None else line.between(a, b) for a, b in bounds]
    return _cover(line, original, places.reshape(-1), covered)


def _cover(
    line: Line, original: ColumnTexts, places: Places, covered: Sequence[Stretches]
) -> CoveredValues:
    """Number texts by what they cover, so that texts that cover the same are one."""
    different = sorted({own or NOTHING for own in covered})  # neighbours cover similar stretches
    known = {own: number for number, own in enumerate(different)}
    number = np.array([known[own or NOTHING] for own in covered], dtype=np.int64)
    ends = np.array([stretch for own in known for stretch in own], dtype=np.int64)
    first = np.cumsum([0, *(len(own) for own in known)])
    return CoveredValues(line.rank[original.places], number[places], first, ends[:, 0], ends[:, 1])
