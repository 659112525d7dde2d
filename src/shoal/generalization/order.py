"""The order model: categories with an order of their own, released as runs from one to another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, raise_problems
from shoal.generalization.forms import STAR, Form, Ints, RangeForm
from shoal.generalization.hierarchy_file import read_text
from shoal.generalization.models import Model, label_of, labels_of

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = "names"
BETWEEN = " .. "  # plain ASCII, which every encoding of a file can hold


@dataclass(frozen=True, kw_only=True)
class OrderForm(RangeForm):
    """Runs of categories: a range over their places in the order; `values` are the categories in that order."""

    declared: bool  # whether the order was given, so that all its categories may be named

    def joined(self, low: str, high: str) -> str:
        return f"{low}{BETWEEN}{high}"

    def ends(self, released: str) -> tuple[str, str] | None:
        low, between, high = released.partition(BETWEEN)
        return (low, high) if between else None

    def between(self, low: str, high: str) -> Sequence[int] | None:
        first, last = (self.codes.get(end, -1) for end in (low, high))
        return (first, last) if 0 <= first <= last else None

    def parse(self, released: str | None) -> Sequence[int] | None:
        if released == STAR:
            return self.whole
        if released in self.codes:
            return self.codes[released], self.codes[released]
        ends = None if released is None else self.ends(released)
        return None if ends is None else self.between(*ends)


@dataclass(frozen=True)
class Order(Model):
    """Release the run `low .. high` of a group's categories, or the category where all are equal.

    Parameters
    ----------
    values
        All categories that are allowed, from the lowest to the highest; or "names" for those that occur, sorted
        by name. By default the order that the column has itself: an ordered categorical of pandas, an Enum of
        polars or an ordered dictionary of Arrow, of which those that occur are taken.

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

    name = "order"
    proper = False

    def __post_init__(self) -> None:
        if self.values is not None and not _is_names(self.values):
            object.__setattr__(self, "values", _listed(self.values))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Order:
        """Read a UTF-8 text file with one category per line, from the lowest to the highest."""
        lines = re.split(r"\r\n|\r|\n", read_text(path, "Order"))
        found = tuple(line.strip() for line in lines if line.strip())
        if not found:
            raise InputError(
                f"Order file '{Path(path).name}' has no values; give one per line, lowest first."
            )
        return cls(found)

    def compile(
        self,
        column: str,
        values: pa.Array,
        has_null: bool,
        own: Sequence[str] | None = None,
    ) -> tuple[Form, Ints]:
        """As every model; `own` is the order that the column has itself, as text."""
        import pyarrow as pa

        labels = labels_of(values)
        order = self._order(column, labels, own)
        raise_problems(_label_problems(f"Column '{column}'", order))
        place = {label: code for code, label in enumerate(order)}
        unknown = sum(label not in place for label in labels)
        if unknown:
            raise InputError(
                f"{unknown} of the {len(labels)} distinct values of column '{column}' are not in its order; "
                "add them to it where they belong."
            )
        form = OrderForm(
            labels=order,
            has_null=has_null,
            positions=np.arange(len(order), dtype=np.float64),
            values=pa.array(order, type=pa.large_string()),
            declared=isinstance(self.values, tuple),
        )
        return form, np.array([place[label] for label in labels], dtype=np.int32)

    def _order(
        self, column: str, labels: Sequence[str], own: Sequence[str] | None
    ) -> tuple[str, ...]:
        """All allowed categories as text, in order."""
        if isinstance(self.values, tuple):
            return self.values
        if self.values is not None:
            return tuple(sorted(labels))
        if own is None:
            raise InputError(
                f"Column '{column}' has no order of its own; list its values from the lowest to the highest "
                '(shoal.Order([…]), values = […] or COLUMN:order:FILE), or say "names" to sort them by name.'
            )
        occurring = set(labels)
        return tuple(label for label in own if label in occurring)


def _is_names(values: Any) -> bool:
    return isinstance(values, str) and values == NAMES


def _listed(values: Any) -> tuple[str, ...]:
    """The categories of a given order as text."""
    has_order = isinstance(values, Iterable) and not isinstance(values, str | Mapping | AbstractSet)
    items = list(values) if has_order else []
    if not items:
        raise InputError(
            'Order: give a list of values from the lowest to the highest, or "names" to sort them by name.'
        )
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    if not all(isinstance(item, str | int | float) and item == item for item in items):
        raise InputError(
            "Order: values must be texts or numbers; leave others out, missing values need no place."
        )
    order = tuple(label_of(item) for item in items)
    twice = len(order) - len(set(order))
    if twice:
        raise InputError(f"Order: {twice} value(s) are listed again; list each once.")
    raise_problems(_label_problems("Order", order))
    return order


def _label_problems(what: str, order: Sequence[str]) -> list[str]:
    """Categories that a release could not tell from runs or from any value."""
    found = []
    if STAR in order:
        found.append(f"{what} holds the text '*', which means any value; rename it.")
    if any(BETWEEN in f"{label} " for label in order):  # also those that end like a run
        found.append(
            f"{what} holds texts with '{BETWEEN.strip()}' after a space, which means a run of values; rename them."
        )
    return found
