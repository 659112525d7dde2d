"""Coarsen a hierarchy until the entropy measure never falls when a closure grows (GiT09 §4.2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def coarsen(
    leaves: Sequence[str], inner: Sequence[str], parent: Sequence[int], counts: Mapping[str, int]
) -> dict[str, object]:
    """Merge nodes of a tree until entropy is monotone on it for a column with these value counts.

    While some node has more entropy than its parent it is united with its next sibling; where it has a
    single sibling both are dropped and their children hang on the parent. Ends at two levels at worst.
    The tree is given as a hierarchy holds it, and returned as nested dicts.
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
