"""Trees as rows, folded before records are grouped, and coarsened until a measure is monotone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from shoal.encoding.forms.base import AT_LEAST, AT_MOST
from shoal.encoding.models.ends import end_problems, end_text, fraction_of
from shoal.encoding.models.periods import read_period
from shoal.encoding.models.trees import LabelledSets, Tree, hang_sets
from shoal.errors import InputError


def make_monotone(
    leaves: Sequence[str], inner: Sequence[str], parent: Sequence[int], counts: Mapping[str, int]
) -> dict[str, object]:
    """Merge nodes of a tree until entropy is monotone on it for a column with these value counts.

    While a node has more entropy than its parent, it is united with its next sibling. If it has only a
    single sibling, both are removed and their children attached to the parent. Ends at two levels at worst.
    The tree is given in the form of a hierarchy, and returned as nested dicts.
    """
    values = len(leaves)
    labels = [*leaves, *inner]
    children: dict[int, list[int]] = {}
    for node, above in enumerate(parent[:-1]):
        children.setdefault(above, []).append(node)
    root = len(labels) - 1
    weight = np.array([counts.get(leaf, 0) for leaf in leaves], dtype=np.float64)

    def below(node: int) -> list[int]:
        return [node] if node < values else [v for child in children[node] for v in below(child)]

    def entropy(node: int) -> float:
        p = weight[below(node)]
        p = p[p > 0] / p.sum() if p.sum() else p[:0]
        return float(-(p * np.log2(p)).sum())

    def broken_edge() -> tuple[int, int] | None:
        for upper in sorted(children):
            for child in children[upper]:
                if child >= values and entropy(upper) < entropy(child) - 1e-12:
                    return upper, child
        return None

    while (edge := broken_edge()) is not None:
        upper, child = edge
        siblings = children[upper]
        place = siblings.index(child)
        other = siblings[(place + 1) % len(siblings)]
        both = [v for node in (child, other) for v in children.get(node, [node])]
        rest = [node for node in siblings if node not in (child, other)]
        children.pop(child)
        children.pop(other, None)
        if rest:
            labels.append(f"{labels[child]} / {labels[other]}")
            children[len(labels) - 1] = both
            children[upper] = [*rest, len(labels) - 1]
        else:
            children[upper] = both
    return {labels[root]: _nested(root, children, labels)}


def _nested(
    node: int, children: dict[int, list[int]], labels: list[str]
) -> dict[str, object] | None:
    if node not in children:
        return None
    return {labels[child]: _nested(child, children, labels) for child in children[node]}


def _own_names(tree: Tree) -> list[list[str]]:
    """The labels of each node: its own, and further ones of the same set; a repeated value counts once."""
    own: list[list[str]] = [[label] for label in (*tree.leaves, *tree.inner)]
    for alias, node in tree.aliases.items():  # in ascending order, as levels were given
        if alias != own[node][0]:
            own[node].append(alias)
    return own


def names_above(tree: Tree) -> list[list[str]]:
    """The names of each node from its own on: further labels of the same set, then those of ever larger ones.

    The root is not included.
    """
    own = _own_names(tree)
    root = len(tree.parent) - 1
    above: list[list[str]] = [[] for _ in own]
    for node in range(root - 1, -1, -1):
        above[node] = [*own[node], *above[tree.parent[node]]]
    return above[: len(tree.leaves)]


def label_paths(tree: Tree) -> list[list[str]]:
    """The names of each value from its own up to the last one of the whole."""
    whole = _own_names(tree)[-1]
    return [[*path, *whole] for path in names_above(tree)]


def tree_rows(tree: Tree) -> list[list[str]]:
    """The tree as rows of equal length: value, level 1, …, root; a value fills levels it skips."""
    paths = label_paths(tree)
    depth = max(len(path) for path in paths)
    return [[*[path[0]] * (depth - len(path)), *path] for path in paths]


def folding_problems(tree: Tree, finest: Any, low: Any, high: Any) -> list[str]:
    """Return problems with a finest level or with ends of a hierarchy."""
    found = end_problems("Hierarchy", low, high)
    most = max(len(names) for names in names_above(tree)) - 1
    if not isinstance(finest, int) or isinstance(finest, bool) or not 0 <= finest <= most:
        found.append(
            f"Hierarchy: 'finest' must be a level below the root, a whole number from 0 to {most}."
        )
    if not found and (low, high) != (None, None) and _keys(tree.leaves, low, high) is None:
        found.append(
            "Hierarchy: 'low' and 'high' need a hierarchy of numbers, or of dates like 1990-12-31, and must be "
            "like them. Leave them out otherwise."
        )
    return found


def fold_tree(
    tree: Tree, finest: int, low: Any, high: Any
) -> tuple[Tree, list[int], list[list[str]]]:
    """The tree of what may be released, and the leaf of it and its path for each leaf of the tree as given."""
    names, folded = _names(tree, finest), {}
    paths = zip(names_above(tree), names, strict=True)
    finer = {label for path, name in paths for label in path[: path.index(name)]}
    for name, end, sign in (("low", low, AT_MOST), ("high", high, AT_LEAST)):
        beyond = set() if end is None else _beyond(tree.leaves, name, low, high)
        if beyond:
            folded[f"{sign}{end_text(end, is_last=name == 'low')}"] = beyond
    for label, beyond in folded.items():
        if label in tree.leaves or label in tree.inner:
            raise InputError(
                f"Hierarchy: '{label}' is already a label. Leave 'low' and 'high' out."
            )
        for leaf in beyond:
            names[leaf] = label
    below, taken = _leaves_below(tree), finer.union(names)
    sets: dict[str, set[str]] = {}
    for node, own in enumerate(_own_names(tree)[len(tree.leaves) :], start=len(tree.leaves)):
        held = {names[leaf] for leaf in below[node] if names[leaf] not in folded}
        held |= {end for end, beyond in folded.items() if beyond <= below[node]}
        free = next((name for name in own if name not in taken), None)
        if held and free is not None:
            sets[free] = held
    kept = list(dict.fromkeys(names))
    found = hang_sets("Hierarchy", LabelledSets(kept, sets))
    place = {leaf: code for code, leaf in enumerate(found.leaves)}
    return found, [place[name] for name in names], _folded_paths(tree, names, folded)


def _folded_paths(tree: Tree, names: list[str], folded: dict[str, set[int]]) -> list[list[str]]:
    """The names of each leaf from its new one up to the last one of the whole."""
    below, node_of = _leaves_below(tree), _node_of(tree)
    paths = label_paths(tree)
    above_end = {
        end: [name for name in paths[min(beyond)][1:] if beyond <= below[node_of[name]]]
        for end, beyond in folded.items()
    }
    return [
        [name, *above_end[name]] if name in folded else path[path.index(name) :]
        for name, path in zip(names, paths, strict=True)
    ]


def _node_of(tree: Tree) -> dict[str, int]:
    """The node that each label names."""
    labels = {label: node for node, label in enumerate((*tree.leaves, *tree.inner))}
    return {**tree.aliases, **labels}


def _names(tree: Tree, finest: int) -> list[str]:
    """The label of each leaf at the finest level: so many names up, but below the root; the largest where they nest."""
    below, node_of = _leaves_below(tree), _node_of(tree)
    paths = names_above(tree)
    names = [path[min(finest, len(path) - 1)] for path in paths]
    in_order = dict.fromkeys(name for path in paths for name in path)
    order = {name: at for at, name in enumerate(in_order)}
    # A larger set, or a later name of the same one, comes last.
    for name in sorted(set(names), key=lambda name: (len(below[node_of[name]]), order[name])):
        for leaf in below[node_of[name]]:
            names[leaf] = name
    return names


def _leaves_below(tree: Tree) -> list[set[int]]:
    found: list[set[int]] = [{node} for node in range(len(tree.leaves))]
    found += [set() for _ in tree.inner]
    for node in range(len(tree.parent) - 1):
        found[tree.parent[node]] |= found[node]
    return found


def _beyond(leaves: Sequence[str], name: str, low: Any, high: Any) -> set[int]:
    """The leaves that an end folds into one."""
    keys = _keys(leaves, low, high)
    assert keys is not None
    values, ends = keys
    if name == "low":
        return {leaf for leaf, value in enumerate(values) if value <= ends[0]}
    return {leaf for leaf, value in enumerate(values) if value >= ends[1]}


def _keys(leaves: Sequence[str], low: Any, high: Any) -> tuple[list[Any], list[Any]] | None:
    """Leaves and ends as numbers, or all as days; None if they are neither."""
    for read in (_number, _day):
        try:
            ends = [
                None if end is None else read(end, last)
                for end, last in ((low, True), (high, False))
            ]
            values = [read(leaf, False) for leaf in leaves]
        except (ValueError, InvalidOperation, TypeError):
            continue
        return values, ends
    return None


def _number(value: Any, is_last: bool) -> Any:
    if isinstance(value, str):
        return fraction_of(Decimal(value))
    if isinstance(value, date):
        raise TypeError("a date")
    return fraction_of(value)


def _day(value: Any, is_last: bool) -> date:
    if isinstance(value, str):
        period = read_period(value)
        if period is None:
            raise ValueError("no day")
        return period.last if is_last else period.first
    if not isinstance(value, date) or hasattr(value, "hour"):
        raise TypeError("no day")
    return value
