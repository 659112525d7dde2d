"""The hierarchy model: a tree of ever larger sets of values, from a CSV file, a nested dict or a list of sets."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, raise_problems
from shoal.generalization.forms import Form, Ints, TreeForm
from shoal.generalization.from_data import data_problems, join_categories
from shoal.generalization.hierarchy_file import read_lines
from shoal.generalization.labelled_sets import (
    LabelledSets,
    hang_sets,
    sets_of_collection,
    sets_of_dict,
    sets_of_rows,
)
from shoal.generalization.models import Model, label_of, labels_of
from shoal.generalization.monotone import coarsen

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Hierarchy(Model):
    """Release the label of the lowest node that holds all values of a group.

    Make one with `from_csv`, `from_dict` or `from_sets`. Every label names one set of values; the leaves of
    the tree are the allowed values, seen in the table or not.

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

    name = "hierarchy"
    proper = True

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Hierarchy:
        """Read a file without a header, one line per value: `value,level 1,…,root`.

        The delimiter may also be a semicolon, a tab or a vertical bar.
        """
        what = f"Hierarchy file '{Path(path).name}'"
        found = sets_of_rows(what, "line", read_lines(path))
        return cls._hang(what, found, os.fspath(path))

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[Any]]) -> Hierarchy:
        """Make a hierarchy of rows as a CSV file would have: value, level 1, …, root.

        A value may be the empty text.
        """
        lines = [(n, [label_of(cell) for cell in row]) for n, row in enumerate(rows, start=1)]
        return cls._hang("Hierarchy", sets_of_rows("Hierarchy", "row", lines))

    @classmethod
    def from_dict(cls, tree: Mapping[Any, Any]) -> Hierarchy:
        """Make a hierarchy of nested dicts; a list, set or tuple holds values, and so does a key with None below."""
        return cls._hang("Hierarchy", sets_of_dict(tree))

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[Any]] | Mapping[str, Iterable[Any]]) -> Hierarchy:
        """Make a hierarchy of a laminar collection: any two sets nested or disjoint (GiT09 Lemma 3.3).

        Single values and the whole are added where they are missing.
        """
        return cls._hang("Hierarchy", sets_of_collection(sets))

    @classmethod
    def from_data(
        cls, table: Any, column: str, *, by: Sequence[str] | None = None, levels: int = 4
    ) -> Hierarchy:
        """Make a hierarchy from a table: categories whose records are alike in other columns come together.

        It is a start: look at it and move what is in the wrong place. Labels name the most frequent categories of
        a set first.

        Parameters
        ----------
        table
            A pandas, polars or Arrow frame.
        column
            The column of categories.
        by
            The columns to compare records by; all others by default. Leave out those that name persons.
        levels
            How many levels there are above the categories, the root among them.

        Examples
        --------
        >>> import pandas as pd
        >>> import shoal
        >>> people = pd.DataFrame({"job": list("aabbccdd"), "pay": [1, 1, 1, 1, 9, 9, 9, 9]})
        >>> shoal.Hierarchy.from_data(people, "job", levels=2).inner
        ('a, b', 'c, d', '*')
        """
        import narwhals as nw
        import pyarrow as pa

        frame = nw.from_native(table, eager_only=True)
        raise_problems(data_problems(frame.columns, column, by, levels))
        chosen = [name for name in frame.columns if name != column] if by is None else list(by)
        arrows = {name: frame.get_column(name).to_arrow() for name in [column, *chosen]}
        chunked = {
            name: array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
            for name, array in arrows.items()
        }
        own = chunked.pop(column)
        return cls.from_dict(join_categories(column, own, chunked, levels))

    @classmethod
    def _hang(cls, what: str, given: LabelledSets, source: str | None = None) -> Hierarchy:
        tree = hang_sets(what, given)
        return cls(tree.leaves, tree.inner, tree.parent, source, tree.aliases)

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        place = {leaf: code for code, leaf in enumerate(self.leaves)}
        found = [place.get(text, place.get(text.strip(), -1)) for text in labels_of(values)]
        codes = np.array(found, dtype=np.int32)
        missing = int((codes < 0).sum())
        if missing:
            raise InputError(
                f"{missing} of the {len(codes)} distinct values of column '{column}' are not in its "
                "hierarchy; add a line for each of them."
            )
        m = len(self.leaves)
        parent = np.array(self.parent, dtype=np.int32)
        if has_null:  # null is one more value, right below the root
            parent[parent >= m] += 1
            parent = np.insert(parent, m, parent.size).astype(np.int32)
        aliases = {name: node + (has_null and node >= m) for name, node in self.aliases.items()}
        form = TreeForm(
            labels=self.leaves,
            has_null=has_null,
            fixed=frozenset(range(m)),
            parent=parent,
            inner=self.inner,
            aliases=aliases,
        )
        return form, codes

    def monotone(self, values: Iterable[Any]) -> Hierarchy:
        """A coarser hierarchy on which the objective `entropy` never falls when a closure grows.

        `values` is the column of the table. The guarantees of `cover` and `forest` hold for `entropy` on such
        trees only. A tree that is monotone already comes back as it is (GiT09 §4.2.2).

        Examples
        --------
        >>> import shoal
        >>> tree = shoal.Hierarchy.from_dict({"*": {"A": ["1", "2"], "B": ["3", "4"]}})
        >>> tree.monotone(["1"] * 85 + ["2", "3", "4"] * 5).inner
        ('*',)
        """
        import pyarrow as pa

        found = pa.array(list(values), from_pandas=True).drop_null().value_counts()
        codes = self.compile("values", found.field("values"), has_null=False)[1]
        counts = Counter(dict.fromkeys(self.leaves, 0))
        for code, times in zip(codes, found.field("counts").to_pylist(), strict=True):
            counts[self.leaves[code]] += times
        return Hierarchy.from_dict(coarsen(self.leaves, self.inner, self.parent, counts))

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves):,} values, {len(self.rows()[0])} levels)"

    def rows(self) -> list[list[str]]:
        """The tree as rows of equal length: value, level 1, …, root; a label fills levels it skips."""
        labels = self.leaves + self.inner
        paths = []
        for node in range(len(self.leaves)):
            path = [node]
            while self.parent[path[-1]] != path[-1]:
                path.append(self.parent[path[-1]])
            paths.append(path)
        depth = max(len(path) for path in paths)
        return [[labels[n] for n in [path[0]] * (depth - len(path)) + path] for path in paths]
