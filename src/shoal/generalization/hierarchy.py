"""The hierarchy model: a tree of ever larger sets of values, from a CSV file, a nested dict or a list of sets."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, near_miss, raise_problems
from shoal.generalization.forms import STAR, Form, Ints, TreeForm
from shoal.generalization.from_data import join_categories
from shoal.generalization.hierarchy_file import read_lines
from shoal.generalization.models import Model, label_of, labels_of
from shoal.generalization.monotone import coarsen

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LEVELS = 20  # of a hierarchy made from data, for people to read
_MAX_LEVELS = 200  # more would exceed Python's depth of recursion, and nobody needs them


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
        lines = read_lines(path)
        return cls._from_rows(f"Hierarchy file '{Path(path).name}'", "line", lines, os.fspath(path))

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[Any]]) -> Hierarchy:
        """Make a hierarchy of rows as a CSV file would have: value, level 1, …, root.

        A value may be the empty text.
        """
        lines = [(n, [label_of(cell) for cell in row]) for n, row in enumerate(rows, start=1)]
        return cls._from_rows("Hierarchy", "row", lines, None)

    @classmethod
    def _from_rows(
        cls, what: str, unit: str, lines: list[tuple[int, list[str]]], source: str | None
    ) -> Hierarchy:
        raise_problems(_row_problems(what, unit, lines))
        sets: dict[str, set[str]] = {}
        for _, row in lines:
            for label in row[1:]:
                sets.setdefault(label, set()).add(row[0])
        return cls._from_labelled_sets(what, [row[0] for _, row in lines], sets, source)

    @classmethod
    def from_dict(cls, tree: Mapping[Any, Any]) -> Hierarchy:
        """Make a hierarchy of nested dicts; a list, set or tuple holds values, and so does a key with None below."""
        sets: dict[str, set[str]] = {}
        leaves: list[str] = []
        problems: list[str] = []

        def walk(label: Any, below: Any, level: int) -> set[str]:
            name = label_of(label)
            if level > _MAX_LEVELS:
                raise InputError(
                    f"Hierarchy: the dict holds itself or has more than {_MAX_LEVELS} levels; "
                    "give fewer levels."
                )
            if below is None or (hasattr(below, "__len__") and len(below) == 0):
                leaves.append(name)
                return {name}
            if isinstance(below, Mapping):
                found = [walk(key, value, level + 1) for key, value in below.items()]
            elif isinstance(below, list | tuple | set | frozenset):
                parts = sorted(below, key=str) if isinstance(below, set | frozenset) else below
                found = [walk(value, None, level + 1) for value in parts]
            else:
                found = [walk(below, None, level + 1)]
            union = set().union(*found)
            if name in sets and sets[name] != union:
                problems.append(f"Hierarchy: '{name}' stands for two different sets; rename one.")
            sets[name] = union
            return union

        for key, value in tree.items():
            walk(key, value, 1)
        twice = len(leaves) - len(set(leaves))
        if twice:
            problems.append(
                f"Hierarchy: {twice} value(s) stand below two parents; keep one of each."
            )
        raise_problems(problems)
        return cls._from_labelled_sets("Hierarchy", leaves, sets, None)

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[Any]] | Mapping[str, Iterable[Any]]) -> Hierarchy:
        """Make a hierarchy of a laminar collection: any two sets nested or disjoint (GiT09 Lemma 3.3).

        Single values and the whole are added where they are missing.
        """
        named = sets.items() if isinstance(sets, Mapping) else ((None, s) for s in sets)
        labelled: dict[str, set[str]] = {}
        leaves: dict[str, None] = {}
        for name, members in named:
            texts = sorted(label_of(value) for value in members)
            leaves.update(dict.fromkeys(texts))
            labelled[name if name is not None else "{" + ", ".join(texts) + "}"] = set(texts)
        return cls._from_labelled_sets("Hierarchy", list(leaves), labelled, None)

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
        raise_problems(_data_problems(frame.columns, column, by, levels))
        chosen = [name for name in frame.columns if name != column] if by is None else list(by)
        arrows = {name: frame.get_column(name).to_arrow() for name in [column, *chosen]}
        chunked = {
            name: array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
            for name, array in arrows.items()
        }
        own = chunked.pop(column)
        return cls.from_dict(join_categories(column, own, chunked, levels))

    @classmethod
    def _from_labelled_sets(
        cls, what: str, values: Iterable[str], sets: Mapping[str, set[str]], source: str | None
    ) -> Hierarchy:
        """Check that labelled sets are laminar and hang them into a tree."""
        leaves = tuple(dict.fromkeys(values))
        if not leaves:
            raise InputError(f"{what} has no values; give at least one line per value.")
        place = {leaf: node for node, leaf in enumerate(leaves)}
        for label, members in sets.items():
            if not label and members != {label}:
                raise InputError(f"{what}: a set of values has an empty label; name it.")
            if label in place and members != {label}:
                raise InputError(
                    f"{what}: '{label}' is both a value and a set of values; rename the set."
                )
        if STAR in place or sets.get(STAR, set(leaves)) != set(leaves):
            raise InputError(f"{what}: '*' must name the whole; rename that set or value.")
        inner: list[str] = []
        aliases: dict[str, int] = {}
        parent: list[int] = [-1] * len(leaves)
        top = list(range(len(leaves)))  # the largest node so far that holds each leaf
        size = [1] * len(leaves)
        for label, members in sorted(sets.items(), key=lambda item: len(item[1])):
            below = dict.fromkeys(
                top[place[leaf]] for leaf in sorted(members, key=place.__getitem__)
            )
            if len(below) == 1:  # the same set under a second label: the more specific one stays
                aliases[label] = next(iter(below))
                continue
            if sum(size[node] for node in below) != len(members):
                clash = next(n for n in below if not _leaves_below(n, top, place) <= members)
                other = leaves[clash] if clash < len(leaves) else inner[clash - len(leaves)]
                raise InputError(
                    f"{what}: the sets '{other}' and '{label}' overlap without one holding the other; "
                    "make them nested or disjoint."
                )
            node = len(parent)
            parent.append(-1)
            inner.append(label)
            size.append(len(members))
            for child in below:
                parent[child] = node
            for leaf in members:
                top[place[leaf]] = node
        roots = [node for node, up in enumerate(parent) if up < 0]
        if len(roots) > 1 or not inner:
            for node in roots:
                parent[node] = len(parent)
            parent.append(-1)
            inner.append(STAR)
        parent[-1] = len(parent) - 1
        return cls(leaves, tuple(inner), tuple(parent), source, aliases)

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


def _data_problems(
    columns: Sequence[str], column: str, by: Sequence[str] | None, levels: int
) -> list[str]:
    """What is wrong with the columns that a hierarchy is to be made of."""
    problems = [
        f"Column '{name}' is not in the table{near_miss(name, columns) or '.'}"
        for name in (column, *(by or ()))
        if name not in columns
    ]
    if column in (by or ()):
        problems.append(f"Column '{column}' cannot be compared by itself; leave it out of 'by'.")
    if len(columns) < 2 or (by is not None and not by):
        problems.append("Categories are compared by other columns; give at least one.")
    if not 1 <= levels <= MOST_LEVELS:
        problems.append(
            f"The 'levels' parameter must be from 1 to {MOST_LEVELS}. Got {levels} instead."
        )
    return problems


def _row_problems(what: str, unit: str, lines: list[tuple[int, list[str]]]) -> list[str]:
    """What is wrong with rows of value, level 1, …, root, by line number."""
    if not lines:
        return [f"{what} has no values; give one line per value: value,level 1,…,root."]
    problems = []
    width = len(lines[0][1])
    ragged = [number for number, row in lines if len(row) != width]
    if ragged:
        problems.append(
            f"{what}: {unit} {ragged[0]} has another number of levels than {unit} {lines[0][0]}; "
            "give every line the same number, repeating a label where a branch is short."
        )
    may_be_empty = unit == "row"  # in a file an empty cell is rather forgotten than meant
    empty = [
        number
        for number, row in lines
        if not all(cell or (may_be_empty and cell == row[0]) for cell in row)
    ]
    if empty:
        problems.append(f"{what}: {unit} {empty[0]} has an empty cell; name every level.")
    if problems:
        return problems
    above: dict[tuple[int, str], tuple[int, str]] = {}
    levels: dict[str, dict[int, set[str]]] = {}
    for number, row in lines:
        for level, label in enumerate(row):
            levels.setdefault(label, {}).setdefault(level, set()).add(row[0])
            if level + 1 == width:
                continue
            first, up = above.setdefault((level, label), (number, row[level + 1]))
            if up != row[level + 1]:
                problems.append(
                    f"{what}: {unit}s {first} and {number} give the same level {level} label two "
                    "parents; give it one."
                )
    for sets in levels.values():
        if len({frozenset(members) for members in sets.values()}) > 1:
            low, high = sorted(sets)[:2]
            problems.append(
                f"{what}: one label names different sets on level {low} and level {high}; rename one."
            )
    return problems[:5]


def _leaves_below(node: int, top: list[int], place: dict[str, int]) -> set[str]:
    return {leaf for leaf, code in place.items() if top[code] == node}
