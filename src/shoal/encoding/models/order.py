"""The order model: categories with an order of their own, released as runs from one to another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encoding.forms import STAR, Form, Ints, RangeForm
from shoal.encoding.forms.base import AT_LEAST
from shoal.encoding.models.base import Model, label_of, labels_of
from shoal.encoding.models.trees import read_text
from shoal.errors import InputError, counted, raise_problems

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = "names"
BETWEEN = " .. "  # plain ASCII, which every encoding of a file can hold
OR_HIGHER, OR_LOWER = " or higher", " or lower"


@dataclass(frozen=True, kw_only=True)
class OrderForm(RangeForm):
    """Runs of categories: a range over their places in the order; `values` are the categories in that order."""

    declared: bool  # whether the order was given, so that all its categories may be named

    @property
    def has_scale(self) -> bool:
        return False

    def joined(self, low: str, high: str) -> str:
        return f"{low}{BETWEEN}{high}"

    def ends(self, released: str) -> tuple[str, str] | None:
        low, between, high = released.partition(BETWEEN)
        return (low, high) if between else None

    def at_least(self, low: str) -> str:
        return f"{low}{OR_HIGHER}"

    def at_most(self, high: str) -> str:
        return f"{high}{OR_LOWER}"

    def end(self, released: str, sign: str) -> str | None:
        words = OR_HIGHER if sign == AT_LEAST else OR_LOWER
        return released.removesuffix(words) if released.endswith(words) else None

    def plainly(self, released: str | None) -> str | None:
        return released

    def between(self, low: str, high: str) -> Sequence[int] | None:
        first, last = self._first_code.get(low, -1), self._last_code.get(high, -1)
        return (first, last) if 0 <= first <= last else None

    def parse(self, released: str | None) -> Sequence[int] | None:
        if released == STAR:
            return self.whole
        if released in self.codes:
            return self.codes[released], self.codes[released]
        return None if released is None else self._parse_folded(released)


@dataclass(frozen=True, repr=False)
class Order(Model):
    """Release the run `low .. high` of a group's categories, or the category if all are equal.

    Parameters
    ----------
    values
        All allowed categories, from the lowest to the highest; or "names" for those that occur, in alphabetical
        order. By default the column's own order: an ordered categorical of pandas, an Enum of
        polars or an ordered dictionary of Arrow, restricted to the categories that occur.
    low, high
        All categories up to `low` become the one value `primary or lower`, and all from `high` on `degree or higher`.
        A run that reaches it becomes `secondary or higher`, and one that reaches both ends `*`.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"school": ["none", "primary", "degree", "degree"]})
    >>> order = shoal.Order(["none", "primary", "secondary", "degree"])
    >>> release = shoal.anonymize(people, quasi_identifiers={"school": order}, k=2, keep_order=True)
    >>> list(release.data["school"])
    ['none .. primary', 'none .. primary', 'degree', 'degree']
    """

    values: Sequence[Any] | str | None = None
    _: KW_ONLY
    low: Any = None
    high: Any = None

    name = "order"
    proper = False
    coarsened_by = ("low", "high")

    def __post_init__(self) -> None:
        is_names = isinstance(self.values, str) and self.values == NAMES
        if self.values is not None and not is_names:
            object.__setattr__(self, "values", _listed(self.values))
        for name in ("low", "high"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _category(name, getattr(self, name)))
        if isinstance(self.values, tuple):
            _ends("Order", self.values, self.low, self.high)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Order:
        """Read a UTF-8 text file with one category per line, from the lowest to the highest."""
        lines = re.split(r"\r\n|\r|\n", read_text(path, "Order"))
        found = tuple(line.strip() for line in lines if line.strip())
        if not found:
            raise InputError(
                f"Order file '{Path(path).name}' has no values. Give one per line, lowest first."
            )
        return cls(found)

    def compile(
        self, column: str, values: pa.Array, has_null: bool, own: Sequence[str] | None = None
    ) -> tuple[Form, Ints]:
        """As in every model; `own` is the column's own order, as text."""
        import pyarrow as pa

        labels = labels_of(values)
        order = self._order(column, labels, own)
        raise_problems(_label_problems(f"Column '{column}'", order))
        place = {label: code for code, label in enumerate(order)}
        unknown = sum(label not in place for label in labels)
        if unknown:
            raise InputError(
                f"{unknown:,} of the {counted(len(labels), 'distinct value')} of column '{column}' "
                f"{'is' if unknown == 1 else 'are'} not in its order. Add {'it' if unknown == 1 else 'them'} in "
                "the right place."
            )
        first, last = _ends(f"Column '{column}'", order, self.low, self.high)
        folded = order[first : last + 1]
        low = first > 0 or self.low is not None
        high = last < len(order) - 1 or self.high is not None
        texts = [*folded]
        texts[0] = f"{texts[0]}{OR_LOWER}" if low else texts[0]
        texts[-1] = f"{texts[-1]}{OR_HIGHER}" if high else texts[-1]
        form = OrderForm(
            labels=tuple(texts),
            has_null=has_null,
            fixed=frozenset([*([0] if low else []), *([len(folded) - 1] if high else [])]),
            positions=np.arange(len(folded), dtype=np.float64),
            values=pa.array(folded, type=pa.large_string()),
            open_low=low,
            open_high=high,
            declared=isinstance(self.values, tuple),
        )
        codes = [min(max(place[label], first), last) - first for label in labels]
        return form, np.array(codes, dtype=np.int32)

    def _order(
        self, column: str, labels: Sequence[str], own: Sequence[str] | None
    ) -> tuple[str, ...]:
        """All allowed categories as text, in order."""
        if isinstance(self.values, tuple):
            return self.values
        ends = {end for end in (self.low, self.high) if end is not None}
        if self.values is not None:
            return tuple(sorted({*labels, *ends}))
        if own is None:
            raise InputError(
                f"Column '{column}' has no order of its own. List its values from the lowest to the highest "
                '(shoal.Order([…]), values = […] or COLUMN:order:FILE), or set it to "names" for alphabetical '
                "order."
            )
        occurring = {*labels, *ends}
        return tuple(label for label in own if label in occurring)


def _listed(values: Any) -> tuple[str, ...]:
    """The categories of a given order as text."""
    has_order = isinstance(values, Iterable) and not isinstance(values, str | Mapping | AbstractSet)
    items = list(values) if has_order else []
    if not items:
        raise InputError(
            'Order: give a list of values from the lowest to the highest, or "names" for alphabetical order.'
        )
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    if not all(isinstance(item, str | int | float) and item == item for item in items):
        raise InputError(
            "Order: values must be texts or numbers. Leave out others; missing values need no place."
        )
    order = tuple(label_of(item) for item in items)
    twice = len(order) - len(set(order))
    if twice:
        raise InputError(
            f"Order: {counted(twice, 'value')} {'is' if twice == 1 else 'are'} listed again. List each once."
        )
    raise_problems(_label_problems("Order", order))
    return order


def _category(name: str, given: Any) -> str:
    """The lowest or highest category as text."""
    given = given.item() if isinstance(given, np.generic) else given
    if not isinstance(given, str | int | float) or given != given:
        raise InputError(f"Order: '{name}' must be one of the values.")
    return label_of(given)


def _ends(what: str, order: Sequence[str], low: str | None, high: str | None) -> tuple[int, int]:
    """The places of the lowest and of the highest category that are distinguished."""
    problems = [
        f"{what} has no value that is its '{name}'. Use one of the values in the order."
        for name, end in (("low", low), ("high", high))
        if end is not None and end not in order
    ]
    if (low, high) != (None, None) and any(
        label.endswith((OR_HIGHER, OR_LOWER)) for label in order
    ):
        problems.append(
            f"{what} contains texts that end in '{OR_HIGHER.strip()}' or '{OR_LOWER.strip()}', which 'low' and "
            "'high' add. Rename them."
        )
    raise_problems(problems)
    first = 0 if low is None else order.index(low)
    last = len(order) - 1 if high is None else order.index(high)
    if first >= last and low is not None and high is not None:
        raise InputError(f"{what}: 'low' must be before 'high'.")
    return first, last


def _label_problems(what: str, order: Sequence[str]) -> list[str]:
    """Categories that a release could not tell from runs or from any value."""
    found = []
    if STAR in order:
        found.append(f"{what} contains the text '*', which means any value. Rename it.")
    if any(BETWEEN in f"{label} " for label in order):  # also those that end like a run
        found.append(
            f"{what} contains texts with '{BETWEEN.strip()}' after a space, which means a run of values. Rename "
            "them."
        )
    return found
