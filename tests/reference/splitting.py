"""Slow twins of hilbert, top_down and two_means, and tables full of variety.

Records are numbers, groups are lists of records; numbers closer than a rounding error are equal, and the
first of equals is chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, reduce
from math import log2
from operator import add
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import tables
from tables import Sample

import reference
import shoal
from reference import Group, Objective
from shoal.encoding.models import Model

TOLERANCE = 1e-9


def first_least(numbers: Sequence[float]) -> int:
    return next(i for i, x in enumerate(numbers) if x <= min(numbers) + TOLERANCE)


def price(objective: Objective, closed: Sequence[reference.Closure], i: int) -> float:
    """What closures cost record i, without what it costs whatever its closure: log n(v) of `mi`."""
    share = {"mi": 1.0, "wmi": objective.w}.get(objective.measure, 0.0)
    constant = sum(
        share * weight * log2(column.counts[column.values[i]])
        for column, weight in zip(objective.columns, objective.weights, strict=True)
    )
    return objective.record(closed, i) + constant


def total(objective: Objective, group: Group) -> float:
    closed = reference.close(objective.columns, group)
    return sum(price(objective, closed, i) for i in group)


# Tables


def varied_sample(seed: int, most: int = 18) -> Sample:
    """A table of at least 4 records whose values differ more than those that Hypothesis likes to draw."""
    random = Random(seed)
    records = random.randint(4, most)
    arrays: dict[str, pa.Array] = {}
    columns: dict[str, reference.Column] = {}
    models: dict[str, Model] = {}
    for j in range(random.randint(1, 3)):
        name = f"quasi{j}"
        model = random.choice(["interval", "interval", "suppression", "subset", "hierarchy"])
        known = sorted(random.sample(range(60), random.randint(3, 12)))
        nulls = random.choice([0, 0, 1, 3])
        values = [*random.choices(known, k=records - nulls), *[None] * nulls]
        random.shuffle(values)
        domain, nodes = sorted({v for v in values if v is not None}), {}
        if model == "hierarchy":
            random.shuffle(known)
            tree = {"*": random_tree(random, known, "*")}
            models[name] = shoal.Hierarchy.from_dict(tree)
            domain = [int(label) for label in models[name].leaves]
            leaves = tables.nodes_of(tree)
            nodes = {label: frozenset(map(int, leaves[label])) for label in models[name].inner}
        else:
            make = {"interval": shoal.Interval, "subset": shoal.Subset}
            models[name] = make.get(model, shoal.Suppression)()
        arrays[name] = pa.array(values, pa.int64())
        columns[name] = reference.Column(model, values, domain, nodes)
    arrays["sensitive"] = pa.array(random.choices(["s", "t", "u"], k=records))
    weights = dict(zip(columns, random.sample(tables.WEIGHTS, len(columns)), strict=True))
    return Sample(pa.table(arrays), columns, models, weights)


def random_tree(random: Random, leaves: Sequence[int], name: str) -> dict[str, Any]:
    """What lies below a node: two or three children, values or nodes."""
    children: dict[str, Any] = {}
    width = min(len(leaves), random.randint(2, 3))
    for place in range(width):
        part = leaves[place::width]
        if len(part) == 1:
            children[str(part[0])] = None
        else:
            label = f"{name}.{place}"
            children[label] = random_tree(random, part, label)
    return children


# Hilbert


def least_cost_of_runs(objective: Objective, order: Group, k: int, longest: int) -> float:
    """The optimum over all cuts of an order into runs of k to `longest`."""

    @cache
    def least(start: int) -> float:
        ends = range(start + k, min(len(order), start + longest) + 1)
        costs = [objective.group(order[start:end]) + least(end) for end in ends]
        return min(costs, default=float("inf")) if start < len(order) else 0.0

    return least(0)


# Top-down


def top_down(objective: Objective, order: Group, k: int, candidates: int) -> list[Group]:
    """Split between far seeds, then repair (XU06 §4.2)."""
    return repair(objective, list(_split_far(objective, order, k)), k, candidates)


def repair(objective: Objective, groups: list[Group], k: int, candidates: int) -> list[Group]:
    """Bring groups below k up to it, smallest first."""
    small = [g for g, group in enumerate(groups) if len(group) < k]
    for g in sorted(small, key=lambda g: len(groups[g])):
        while 0 < len(groups[g]) < k:
            _repair_group(objective, groups, g, k, candidates)
    return [group for group in groups if group]


def _split_far(objective: Objective, segment: Group, k: int) -> Iterator[Group]:
    sides = part_far(objective, segment) if len(segment) > k else [segment, []]
    if not sides[1] or max(map(len, sides)) < k:
        yield segment
        return
    for side in sides:
        yield from _split_far(objective, side, k)


def part_far(objective: Objective, segment: Group) -> list[Group]:
    """Two sides, each in the order of the segment; the second is empty where nothing lies apart."""

    def gap(a: int, b: int) -> float:
        return total(objective, [a, b]) - total(objective, [a]) - total(objective, [b])

    seeds = [segment[0]]
    for _ in range(3):
        gaps = [gap(seeds[-1], i) for i in segment]
        if max(gaps) < TOLERANCE:
            return [segment, []]
        seeds.append(segment[first_least([-x for x in gaps])])
    sides = [[seeds[-2]], [seeds[-1]]]
    for i in segment:
        if i not in seeds[-2:]:
            added = [objective.joined(side, i) for side in sides]
            if abs(added[0] - added[1]) <= TOLERANCE:
                added = [len(side) for side in sides]
            sides[first_least(added)].append(i)
    return [[i for i in segment if i in side] for side in sides]


def _repair_group(
    objective: Objective, groups: list[Group], g: int, k: int, candidates: int
) -> None:
    """Take from a group that can spare, or merge with the nearest."""
    need = k - len(groups[g])
    cost = [total(objective, group) if group else 0.0 for group in groups]

    def union(h: int) -> float:
        return total(objective, [*groups[g], *groups[h]])

    others = [h for h, group in enumerate(groups) if group and h != g]
    merged = [union(h) - cost[g] - cost[h] for h in others]
    nearest = first_least(merged)
    able = [h for h in others if len(groups[h]) >= k + need]
    hopes = [
        k * union(h) / (len(groups[g]) + len(groups[h])) - need * cost[h] / len(groups[h]) for h in able
    ]  # fmt: skip
    best: tuple[float, int, Group] | None = None
    for _ in range(min(candidates, len(able))):
        place = first_least(hopes)
        h = able.pop(place)
        hopes.pop(place)
        picks = picked(objective, groups[g], groups[h], need)
        kept = [i for i in groups[h] if i not in picks]
        change = (
            total(objective, groups[g] + picks) + total(objective, kept) - cost[g] - cost[h]
        )  # fmt: skip
        limit = merged[nearest] + TOLERANCE if best is None else best[0] - TOLERANCE
        if change < limit:
            best = change, h, picks
    if best is None:
        groups[g] = groups[g] + groups[others[nearest]]
        groups[others[nearest]] = []
    else:
        _, h, picks = best
        groups[g] = groups[g] + picks
        groups[h] = [i for i in groups[h] if i not in picks]


def picked(objective: Objective, group: Group, donor: Group, need: int) -> Group:
    """Records of the donor, one after the other the one that adds least to the group beside what it cost."""
    closed = reference.close(objective.columns, donor)
    picks: Group = []
    for _ in range(need):
        left = sorted(i for i in donor if i not in picks)
        added = [
            total(objective, [*group, *picks, i]) - price(objective, closed, i) for i in left
        ]  # fmt: skip
        picks.append(left[first_least(added)])
    return picks


# Two-means


def two_means(
    objective: Objective, segment: Group, k: int, rounds: int, rng: np.random.Generator
) -> list[Group]:
    """Split around two centres while there are 2k records (HE12 Fig. 4)."""
    sides = _best_sides(objective, segment, k, rounds, rng) if len(segment) >= 2 * k else [segment]
    if len(sides) == 1:
        return sides
    return [group for side in sides for group in two_means(objective, side, k, rounds, rng)]


def _best_sides(
    objective: Objective, segment: Group, k: int, rounds: int, rng: np.random.Generator
) -> list[Group]:
    rows = {i: tuple(column.values[i] for column in objective.columns) for i in segment}
    best, least = [segment], objective.group(segment) + TOLERANCE
    centres: list[tuple[Any, ...]] = []
    for _ in range(rounds):
        if not centres:
            first = rows[segment[int(rng.random() * len(segment))]]
            others = [rows[i] for i in segment if rows[i] != first]
            if not others:
                return best
            centres = [first, others[int(rng.random() * len(others))]]
        sides = around(objective, segment, rows, centres, k)
        cost = sum(map(objective.group, sides))
        if cost < least:
            best, least = sides, cost - TOLERANCE
        means = [tuple(middle(c, side) for c in objective.columns) for side in sides]
        centres = [] if means == centres else means
    return best


def around(
    objective: Objective,
    segment: Group,
    rows: dict[int, tuple[Any, ...]],
    centres: Sequence[tuple[Any, ...]],
    k: int,
) -> list[Group]:
    """Sides of two centres, both of at least k."""

    def distance(i: int, centre: tuple[Any, ...]) -> float:
        pairs = zip(objective.columns, rows[i], centre, strict=True)
        return objective.record([reference.closure(c, [a, b]) for c, a, b in pairs], i)

    more = {i: distance(i, centres[1]) - distance(i, centres[0]) for i in segment}
    sides: list[Group] = [[], []]
    for i in segment:
        tied = abs(more[i]) <= TOLERANCE
        second = len(sides[1]) < len(sides[0]) if tied else more[i] < 0
        sides[second].append(i)
    small = int(len(sides[1]) <= len(sides[0]))
    sign = 1 if small else -1
    loans = sorted(sides[1 - small], key=lambda i: round(sign * more[i] / TOLERANCE))
    loans = loans[: max(0, k - len(sides[small]))]
    lent = [set(sides[g]) ^ set(loans) for g in (0, 1)]
    return [[i for i in segment if i in side] for side in lent]


def middle(column: reference.Column, side: Group) -> Any:
    """The value nearest to the mean of a column with an order (null where most are null), else the commonest."""
    values = [column.values[i] for i in side]
    ranked = [*column.domain, None]
    if column.model not in ("interval", "order"):
        counts = Counter(values)
        return min(counts, key=lambda v: (-counts[v], ranked.index(v)))
    known = [place(column, v) for v in values if v is not None]
    if 2 * len(known) < len(values):
        return None
    mean = reduce(add, known) / len(known)  # plain additions, as the kernel's: exact ties stay ties
    return min(column.domain, key=lambda v: abs(place(column, v) - mean))


def place(column: reference.Column, value: Any) -> float:
    """Where a value stands between the ends of its domain, from 0 to 1."""
    if column.model == "order":
        return column.domain.index(value) / max(1, len(column.domain) - 1)
    low, high = column.domain[0], column.domain[-1]
    return (value - low) / (high - low) if low != high else 0.0
