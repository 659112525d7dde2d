"""The forms of trees, and trees grown from the paths of a column's values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.generalization.forms import STAR, TreeForm
from shoal.generalization.labelled_sets import LabelledSets, Tree, hang_sets


def heights_of(paths: Iterable[Sequence[str]]) -> dict[str, int]:
    """The height of each label: its highest place on the paths of values, each from the value up to the root."""
    heights: dict[str, int] = {}
    for path in paths:
        for height, label in enumerate(path):
            heights[label] = max(height, heights.get(label, 0))
    return heights


def form_of(
    tree: Tree, has_null: bool, heights: Mapping[str, int], top: int, own_words: bool = False
) -> TreeForm:
    """The form of a tree; null is one more value, right below the root.

    `heights` are those of the labels in the hierarchy as given, and `top` is that of its top. A level that repeats a
    set counts there, but has no node here.
    """
    m = len(tree.leaves)
    parent = np.array(tree.parent, dtype=np.int32)
    levels = [heights[label] for label in (*tree.leaves, *tree.inner)]
    if has_null:
        parent[parent >= m] += 1
        parent = np.insert(parent, m, parent.size).astype(np.int32)
        levels.insert(m, 0)
    aliases = {name: node + (has_null and node >= m) for name, node in tree.aliases.items()}
    return TreeForm(
        labels=tree.leaves,
        has_null=has_null,
        fixed=frozenset(range(m)),
        parent=parent,
        inner=tree.inner,
        aliases=aliases,
        own_words=own_words,
        levels=np.array([*levels, top], dtype=np.int32),
    )


def sets_of_paths(paths: Collection[Sequence[str]]) -> LabelledSets:
    """The values at the beginnings of paths, and the sets on the way up, smaller ones first."""
    sets: dict[str, set[str]] = {}
    for level in range(1, max(map(len, paths), default=0)):
        for path in paths:
            if level < len(path):
                sets.setdefault(path[level], set()).add(path[0])
    return LabelledSets([path[0] for path in paths], sets)


def form_of_paths(
    column: str,
    paths: Mapping[Any, Sequence[str]],
    has_null: bool,
    heights: Mapping[str, int],
    top: int,
    own_words: bool,
) -> TreeForm:
    """The form of a tree given the path of each value: its label, and those of ever larger sets that hold it.

    Sets that hold the same values are one, under the label of the most specific. `heights` are those of the labels if
    all values occurred, and `top` is that of the root.
    """
    tree = hang_sets(f"Column '{column}'", sets_of_paths(paths.values()))
    if has_null and tree.inner[-1] != STAR:  # null is in none of the sets
        root = len(tree.parent)
        tree = Tree(tree.leaves, (*tree.inner, STAR), (*tree.parent[:-1], root, root), tree.aliases)
    return form_of(tree, has_null, {**heights, STAR: top}, top, own_words)
