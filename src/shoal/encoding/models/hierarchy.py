"""The hierarchy model: a tree of ever larger sets of values, from a CSV file, a nested dict or a list of sets."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encoding.forms import Form, Ints, TreeForm
from shoal.encoding.models.base import Model, counted_values, label_of, labels_of
from shoal.encoding.models.calendar import DEFAULT, Calendar
from shoal.encoding.models.folded_tree import (
    fold_tree,
    folding_problems,
    label_paths,
    make_monotone,
    tree_rows,
)
from shoal.encoding.models.hierarchy_preview import HierarchyCheck, Preview, check_of, preview_of
from shoal.encoding.models.makers import (
    code_rows,
    date_rows,
    number_rows,
    order_tree,
    tree_of_table,
)
from shoal.encoding.models.prefix import Prefix
from shoal.encoding.models.trees import (
    LabelledSets,
    Tree,
    form_of,
    hang_sets,
    label_heights,
    read_lines,
    sets_of_collection,
    sets_of_dict,
    sets_of_rows,
    write_rows,
)
from shoal.errors import InputError, counted, raise_problems

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Hierarchy(Model):
    """Release the label of the lowest node that contains all values of a group.

    Make a hierarchy of a file or of sets with `from_csv`, `from_rows`, `from_dict` or `from_sets`; of a column with
    `from_numbers`, `from_dates`, `from_codes` or `from_order`; of a table with `from_data`. Every label names one set
    of values. The leaves of the tree are the allowed values, whether or not they occur in the table.

    Each of these also takes `finest`, the lowest level that is released: 0 for the values, 1 for the labels right above
    them, and so on. Repeated labels do not count, and the level is always below the root. `low` and `high`, for numbers
    and for dates like 1990-12-31, make one leaf `≤ 17` of all values up to `low` and one leaf `≥ 90` of all from `high`
    on. Losses are measured from that level, and those leaves, on.

    Examples
    --------
    >>> import shoal
    >>> tree = shoal.Hierarchy.from_dict({"*": {"Europe": ["France", "Spain"], "Asia": ["Japan"]}})
    >>> tree
    Hierarchy(3 values, 3 levels)
    >>> tree.leaves
    ('France', 'Spain', 'Japan')
    """

    leaves: tuple[str, ...]
    inner: tuple[str, ...]  # labels of the sets of several values, the whole last
    parent: tuple[int, ...]  # of leaves, then inner nodes; the root is its own
    source: str | None = field(default=None, compare=False)
    aliases: Mapping[str, int] = field(default_factory=dict, compare=False)  # label: node
    finest: int = 0
    low: Any = None
    high: Any = None

    name = "hierarchy"
    proper = True
    coarsened_by = ("finest", "low", "high")

    @classmethod
    def from_csv(
        cls, path: str | os.PathLike[str], *, finest: int = 0, low: Any = None, high: Any = None
    ) -> Hierarchy:
        """Read a file without a header, one line per value: `value,level 1,…,root`.

        The delimiter may also be a semicolon, a tab or a vertical bar.
        """
        what = f"Hierarchy file '{Path(path).name}'"
        found = sets_of_rows(what, "line", read_lines(path))
        return cls._hang(what, found, finest, low, high, os.fspath(path))

    @classmethod
    def from_rows(
        cls, rows: Iterable[Iterable[Any]], *, finest: int = 0, low: Any = None, high: Any = None
    ) -> Hierarchy:
        """Make a hierarchy from rows like those of a CSV file: value, level 1, …, root.

        A value may be the empty text.
        """
        lines = [(n, [label_of(cell) for cell in row]) for n, row in enumerate(rows, start=1)]
        found = sets_of_rows("Hierarchy", "row", lines)
        return cls._hang("Hierarchy", found, finest, low, high)

    @classmethod
    def from_dict(
        cls, tree: Mapping[Any, Any], *, finest: int = 0, low: Any = None, high: Any = None
    ) -> Hierarchy:
        """Make a hierarchy from nested dicts; values are in a list, set or tuple, or are keys with None below."""
        return cls._hang("Hierarchy", sets_of_dict(tree), finest, low, high)

    @classmethod
    def from_sets(
        cls,
        sets: Iterable[Iterable[Any]] | Mapping[str, Iterable[Any]],
        *,
        finest: int = 0,
        low: Any = None,
        high: Any = None,
    ) -> Hierarchy:
        """Make a hierarchy from sets of which any two are nested or disjoint (a laminar collection, GiT09 Lemma 3.3).

        Single values and the whole are added if they are missing.
        """
        return cls._hang("Hierarchy", sets_of_collection(sets), finest, low, high)

    @classmethod
    def from_data(
        cls, table: Any, column: str, *, by: Sequence[str] | None = None, levels: int = 4
    ) -> Hierarchy:
        """Make a hierarchy from a table: categories with similar records in other columns are joined.

        It is a start: look at it and move what is in the wrong place. Labels name the most frequent categories of
        a set first.

        Parameters
        ----------
        table
            A pandas, polars or Arrow frame.
        column
            The column of categories.
        by
            The columns to compare records by; all others by default. Leave out columns that name people.
        levels
            The number of levels above the categories, including the root.

        Examples
        --------
        >>> import pandas as pd
        >>> import shoal
        >>> people = pd.DataFrame({"job": list("aabbccdd"), "pay": [1, 1, 1, 1, 9, 9, 9, 9]})
        >>> shoal.Hierarchy.from_data(people, "job", levels=2).inner
        ('a, b', 'c, d', '*')
        """
        return cls.from_dict(tree_of_table(table, column, by, levels))

    @classmethod
    def from_numbers(cls, values: Any, widths: Sequence[float] | None = None) -> Hierarchy:
        """Make a hierarchy of numbers: bins of ever larger widths, which start at multiples of their width.

        Parameters
        ----------
        values
            The column, or all allowed numbers, like `range(0, 121)`.
        widths
            Each a multiple of the one before. By default a round width that makes at most 20 bins, and its
            doubles.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.from_numbers([21, 23, 27, 34, 36], widths=(5, 10)).rows()[1]
        ['23', '20–24', '20–29', '*']
        """
        return cls.from_rows(number_rows(counted_values(values), widths))

    @classmethod
    def from_dates(cls, values: Any, levels: Sequence[str] = DEFAULT) -> Hierarchy:
        """Make a hierarchy of dates: ever longer periods of the calendar.

        Parameters
        ----------
        values
            The column: dates, dates with a time, or texts like 2020-03-14.
        levels
            Which of day, week, month, quarter, year and decade to use, as in `shoal.Calendar`.

        Examples
        --------
        >>> from datetime import date
        >>> import shoal
        >>> days = [date(2020, 3, 14), date(2020, 3, 15), date(2020, 8, 1), date(1999, 1, 1)]
        >>> shoal.Hierarchy.from_dates(days, levels=("day", "quarter", "year")).rows()[1]
        ['2020-03-14', '2020-Q1', '2020', '*']
        """
        return cls.from_rows(date_rows(counted_values(values), Calendar(tuple(levels))))

    @classmethod
    def from_codes(
        cls, values: Any, lengths: Sequence[int] | None = None, separator: str | None = None
    ) -> Hierarchy:
        """Make a hierarchy of codes grouped by their beginnings, like postal codes or diagnoses.

        Parameters
        ----------
        values
            The column, or all allowed codes.
        lengths
            How many first characters, or parts, may be released besides whole codes, as in `shoal.Prefix`; by default
            any number.
        separator
            The separator between the parts of a code, like "."; by default every character is a part.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.from_codes(["02139", "02138", "02144", "10001"], lengths=(4, 3)).rows()[1]
        ['02139', '0213*', '021**', '*']
        >>> shoal.Hierarchy.from_codes(["C34.1", "C34.2", "E11.9"], separator=".").rows()[0]
        ['C34.1', 'C34.*', '*']
        """
        prefix = Prefix(None if lengths is None else tuple(lengths), separator)
        return cls.from_rows(code_rows(counted_values(values).labels, prefix))

    @classmethod
    def from_order(cls, order: Any, levels: int | None = None) -> Hierarchy:
        """Make a hierarchy of ordered categories: runs of about equal length, cut repeatedly.

        Parameters
        ----------
        order
            The categories from the lowest to the highest, as a list or a `shoal.Order`; or a column that has an order
            itself, like an ordered categorical of pandas.
        levels
            The number of levels above the categories, including the root; by default every run is halved.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.from_order(["none", "primary", "secondary", "degree"]).rows()[0]
        ['none', 'none .. primary', '*']
        """
        return cls.from_dict(order_tree(order, levels))

    @classmethod
    def _hang(
        cls,
        what: str,
        given: LabelledSets,
        finest: int,
        low: Any,
        high: Any,
        source: str | None = None,
    ) -> Hierarchy:
        tree = hang_sets(what, given)
        whole = cls(tree.leaves, tree.inner, tree.parent, source, tree.aliases)
        return whole.coarser(finest, low, high)

    def grid(self) -> str:
        return f"level {self.finest} of its hierarchy" if self.finest else ""

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        place = {leaf: code for code, leaf in enumerate(self.leaves)}
        found = [place.get(text, place.get(text.strip(), -1)) for text in labels_of(values)]
        codes = np.array(found, dtype=np.int32)
        missing = int((codes < 0).sum())
        if missing:
            raise InputError(
                f"{missing:,} of the {counted(len(codes), 'distinct value')} of column '{column}' "
                f"{'is' if missing == 1 else 'are'} not in its hierarchy. Add a line for each."
            )
        leaf_of = self._folded[1]
        return self._form(has_null), np.array(leaf_of, dtype=np.int32)[codes]

    def plainly(self, released: str | None) -> str | None:
        return self._form(has_null=False).plainly(released)

    def _form(self, has_null: bool) -> TreeForm:
        tree, _, paths = self._folded
        return form_of(tree, has_null, label_heights(paths), max(map(len, paths)) - 1)

    @property
    def is_coarse(self) -> bool:
        return bool(self.finest) or self.low is not None or self.high is not None

    def coarser(self, finest: int = 0, low: Any = None, high: Any = None) -> Hierarchy:
        """The same hierarchy, released from a finest level on and with the values beyond two ends folded into one."""
        raise_problems(folding_problems(self._tree, finest, low, high))
        return replace(self, finest=finest, low=low, high=high)

    @property
    def _tree(self) -> Tree:
        return Tree(self.leaves, self.inner, self.parent, dict(self.aliases))

    @cached_property
    def _folded(self) -> tuple[Tree, list[int], list[list[str]]]:
        """The tree of what may be released, and the leaf of it and its path for each leaf of this one."""
        tree = self._tree
        if not self.is_coarse:
            return tree, list(range(len(self.leaves))), label_paths(tree)
        return fold_tree(tree, self.finest, self.low, self.high)

    def monotone(self, values: Iterable[Any]) -> Hierarchy:
        """Return a coarser hierarchy on which the objective `entropy` never falls when a closure grows.

        `values` is the column of the table. The guarantees of `cover` and `forest` hold for `entropy` only on such
        trees. A tree that is already monotone does not change (GiT09 §4.2.2).

        Examples
        --------
        >>> import shoal
        >>> tree = shoal.Hierarchy.from_dict({"*": {"A": ["1", "2"], "B": ["3", "4"]}})
        >>> tree.monotone(["1"] * 85 + ["2", "3", "4"] * 5).inner
        ('*',)
        """
        found = counted_values(values)
        plain = replace(self, finest=0, low=None, high=None)
        codes = plain.compile("values", found.values, has_null=False)[1]
        counts = Counter(dict.fromkeys(self.leaves, 0))
        for code, times in zip(codes, found.counts, strict=True):
            counts[self.leaves[code]] += times
        return Hierarchy.from_dict(make_monotone(self.leaves, self.inner, self.parent, counts))

    def preview(self, values: Any) -> Preview:
        """Count how many records of a column belong to the nodes of each level.

        Nodes with fewer than ten records are counted together and not named.

        Examples
        --------
        >>> import shoal
        >>> tree = shoal.Hierarchy.from_dict({"*": {"France": ["Lille", "Lyon"], "Spain": ["Vigo"]}})
        >>> print(tree.preview(["Lyon"] * 30 + ["Lille"] * 8 + ["Vigo"] * 12))
        3 levels over 50 records
        level 0: 3 values
          Lyon                  60.0 %
          Vigo                  24.0 %
          … and 1 rarer value   16.0 %
        level 1: 2 sets
          France   76.0 %
          Vigo     24.0 %
        level 2: 1 set
          *  100.0 %
        """
        return preview_of(self, counted_values(values))

    def check(self, values: Any) -> HierarchyCheck:
        """Find where this hierarchy and the values of a column do not fit; no value is named.

        Examples
        --------
        >>> import shoal
        >>> tree = shoal.Hierarchy.from_dict({"*": {"France": ["Lille", "Lyon", "Paris"], "Spain": ["Vigo", "Elx"]}})
        >>> print(tree.check(["Lyon", "Lille", "Vigo", "Elx", "Porto"]))
        The hierarchy does not fit 5 records.
        1 value of the column is not in the hierarchy (1 record). Add a line for each.
        1 value of the hierarchy does not occur.
        """
        return check_of(self, counted_values(values))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write this hierarchy to a CSV file from which `from_csv` reads the same tree, whole or not at all.

        The file lists every value, and only its owner may read it. Keep it with the original table; do not publish it.
        """
        write_rows(self.rows(), path, overwrite, lambda file: Hierarchy.from_csv(file).rows())

    def __repr__(self) -> str:
        return f"Hierarchy({counted(len(self.leaves), 'value')}, {counted(len(self.rows()[0]), 'level')})"

    def rows(self) -> list[list[str]]:
        """The tree as rows of equal length: value, level 1, …, root; a value fills levels it skips."""
        return tree_rows(self._tree)
