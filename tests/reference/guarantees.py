"""Slow, obvious twins of exact, forest, incognito and the greedy cover; see tests/reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

from tables import Sample

import shoal
from reference import Group, Objective, cells, close, closure
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.solve.problem import Problem

COVERED = ("suppressed", "tree", "lm", "monotone_entropy", "entropy")  # by the guarantees of GiT09


def charge(objective: Objective, group: Group) -> float:
    """What a group's closure costs each of its records: d of GiT09 §6.1."""
    return objective.group(group) / len(group)


def least_ratio(objective: Objective, records: int, k: int, covered: set[int]) -> float:
    """The least d(S) per record newly covered of all sets of k … 2k − 1 records."""
    return min(
        charge(objective, list(s)) / len(set(s) - covered)
        for size in range(k, min(2 * k - 1, records) + 1)
        for s in combinations(range(records), size)
        if set(s) - covered
    )


def distance(objective: Objective, i: int, other: int) -> float:
    """What meeting another record adds to the cost of record i."""
    alone, both = (close(objective.columns, group) for group in ([i], [i, other]))
    return objective.record(both, i) - objective.record(alone, i)


def links(objective: Objective, points: Sequence[Group], k: int) -> list[int]:
    """Stage 1 of `forest`: the point each point links to, −1 for none; a point is a group of equal records."""
    link = [-1] * len(points)
    trees = {p: [p] for p in range(len(points))}  # by root

    def records(tree: Sequence[int]) -> Group:
        return [i for p in tree for i in points[p]]

    def union_cost(a: Sequence[int], b: Sequence[int]) -> float:
        return objective.group(records([*a, *b])) - sum(objective.group(records(t)) for t in (a, b))

    while small := {p: tree for p, tree in trees.items() if len(records(tree)) < k}:
        gap = {p: [distance(objective, points[p][0], other[0]) for other in points] for p in small}
        root = min(
            small, key=lambda p: (min(d for q, d in enumerate(gap[p]) if q not in small[p]), p)
        )
        limit = sorted(d for q, d in enumerate(gap[root]) for _ in points[q])[k - 1]
        near = [
            (union_cost(small[root], tree), q, other)
            for other, tree in trees.items()
            for q in tree
            if other != root and gap[root][q] <= limit
        ]
        _, link[root], other = min(near)
        trees[other] += trees.pop(root)
    return link


Levels = Sequence[Sequence[Sequence[int]]]  # per column and level, a bin per code
Codes = Sequence[Sequence[int]]  # per record and column


def node_cells(levels: Levels, codes: Codes, node: Sequence[int]) -> list[Group]:
    """Records with equal bins in all columns."""
    keys = [tuple(levels[j][level][record[j]] for j, level in enumerate(node)) for record in codes]
    return list(cells(keys).values())


def passing_nodes(levels: Levels, codes: Codes, k: int, budget: int) -> list[tuple[int, ...]]:
    """All nodes of the lattice with at most `budget` records in cells below k."""
    nodes = product(*(range(len(own)) for own in levels))
    return [
        node
        for node in nodes
        if sum(len(cell) for cell in node_cells(levels, codes, node) if len(cell) < k) <= budget
    ]


def recoding_cost(objective: Objective, levels: Levels, codes: Codes, node: Sequence[int]) -> float:
    """What it costs to release, in every column, the closure of all values in a record's bin."""
    total = 0.0
    for j, level in enumerate(node):
        column = objective.columns[j]
        for alike in cells(levels[j][level][record[j]] for record in codes).values():
            released = closure(column, [column.values[i] for i in alike])
            total += sum(objective.cell(j, released, i) for i in alike)
    return total


def with_proper_models(sample: Sample, *, monotone: bool) -> Sample:
    """The same table with suppression in place of intervals and subsets, trees monotone where wanted."""
    models = {
        name: model if model.proper else shoal.Suppression()
        for name, model in sample.models.items()
    }
    if monotone:
        for name, model in models.items():
            if isinstance(model, shoal.Hierarchy):
                models[name] = model.monotone(sample.frame[name].to_pylist())
    return replace(sample, models=models)


def proper_problem(sample: Sample, measure: str, k: int) -> Problem:
    """A problem that the guarantees cover, unless nulls make `entropy` fall."""
    proper = with_proper_models(sample, monotone=measure == "entropy")
    table = encode(open_frame(proper.frame), proper.models)
    return Problem.of(table, measure, k, proper.weights)
