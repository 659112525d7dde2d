"""Random requirements, what they ask of a group by their own `levels`, and slow twins of what keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pyarrow as pa
import tables
from hypothesis import assume
from hypothesis import strategies as st
from tables import Sample

import shoal
from reference import Group, Meets, Objective, cells
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.base import Requirement
from shoal.audits.requirements.closeness import TCloseness
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive
from shoal.errors import Infeasible
from shoal.risk.limits import check_feasible
from shoal.solve.problem import Problem

TOLERANCE = 1e-9
TREE = shoal.Hierarchy.from_dict({"*": {"st": {"s": None, "t": None}, "u": None}})
FIRST, SECOND, NUMBER = ["sensitive0"], ["sensitive1"], ["sensitive2"]


def _any(*choices: Requirement) -> st.SearchStrategy[Requirement]:
    return st.sampled_from(choices)


KINDS: dict[str, st.SearchStrategy[Requirement]] = {
    "frequency": _any(*(LDiversity(l) for l in (1.2, 1.5, 2, 3))),
    "distinct": _any(*(LDiversity(l, "distinct") for l in (2, 3))),
    "entropy": _any(*(LDiversity(l, "entropy") for l in (1.2, 1.5, 2))),
    "recursive": _any(
        *(LDiversity(l, "recursive", c) for l, c in ((1, 1.5), (2, 1), (2, 3), (3, 4)))
    ),
    "p-sensitive": _any(PSensitive(2), PSensitive(3), PSensitive(2, columns=SECOND)),
    "extended p-sensitive": _any(
        PSensitive(2, TREE, ["st"], columns=FIRST), PSensitive(3, TREE, ["st"], columns=FIRST)
    ),
    "alpha": _any(*(AlphaK(share) for share in (0.4, 0.5, 0.7, 0.9))),
    "alpha, named values": _any(*(AlphaK(share, ["s"], columns=FIRST) for share in (0.3, 0.5))),
    "closeness, equal": _any(*(TCloseness(t) for t in (0.1, 0.3, 0.5))),
    "closeness, ordered": _any(*(TCloseness(t, "ordered", columns=NUMBER) for t in (0.1, 0.3))),
    "closeness, hierarchical": _any(
        *(TCloseness(t, "hierarchical", TREE, columns=SECOND) for t in (0.1, 0.3))
    ),
}
COMBINED = "two over two columns"
ALL_KINDS = (*KINDS, COMBINED)


def requirements(kind: str) -> st.SearchStrategy[list[Requirement]]:
    """Requirements of a kind."""
    if kind == COMBINED:
        first = _any(LDiversity(2, "distinct", columns=FIRST), LDiversity(1.5, columns=FIRST))
        second = _any(TCloseness(0.4, columns=SECOND), AlphaK(0.7, columns=SECOND))
        return st.tuples(first, second).map(list)
    return KINDS[kind].map(lambda one: [one])


@st.composite
def cases(
    draw: st.DrawFn, kind: str | None = None, max_records: int = 16, least: int = 3, top: int = 4
) -> tuple[Sample, int, list[Requirement]]:
    """A table with three sensitive columns, k, and requirements that it can meet."""
    sample = draw(tables.samples(min_records=least, max_records=max_records, sensitive=2))
    numbers = st.lists(st.integers(0, 4), min_size=sample.records, max_size=sample.records)
    sample = sample.with_columns(sensitive2=pa.array(draw(numbers)))
    k = draw(st.integers(1, min(top, sample.records)))
    chosen = draw(requirements(kind or draw(st.sampled_from(ALL_KINDS))))
    named = {value for one in chosen if isinstance(one, AlphaK) for value in one.values or ()}
    assume(named <= set(sample.secrets[0]))
    try:
        check_feasible(sample.encoded(), k, chosen)
    except Infeasible:
        assume(False)
    return sample, k, chosen


def problem_of(
    sample: Sample, measure: str, k: int, requirements: Sequence[Requirement]
) -> Problem:
    return Problem.of(
        sample.encoded(), measure, k, sample.weights, tables.SHARE, requirements=requirements
    )


def meets(sample: Sample, k: int, requirements: Sequence[Requirement]) -> Meets:
    """Whether records may be a group, by the levels that requirements give for their counts."""
    columns = {}
    for name, secret in zip(sample.sensitive, sample.secrets, strict=True):
        known = sorted({value for value in secret if value is not None})
        values = [*known, *([None] if None in secret else [])]
        codes = np.array([values.index(value) for value in secret])
        columns[name] = codes, [None if value is None else str(value) for value in values]

    @cache
    def is_met(group: tuple[int, ...]) -> bool:
        for requirement in requirements:
            for name in requirement.over(sample.sensitive):
                codes, labels = columns[name]
                whole = np.bincount(codes, minlength=len(labels)).astype(float)
                counts = np.bincount(codes[list(group)], minlength=len(labels)).astype(float)
                level = requirement.levels(counts[None, :], labels, whole / whole.sum())
                if not requirement.is_met(level).all():
                    return False
        return len(group) >= k

    return lambda group: bool(group) and is_met(tuple(sorted(group)))


# Twins


def optimum(objective: Objective, records: int, meets: Meets, most_left_out: int = 0) -> float:
    """The least cost of any partition into groups that comply, under any closures that cover them.

    Some records may be left out; each costs what the whole domain costs.
    """
    whole = [column.whole for column in objective.columns]

    def least(left: Group, most: int) -> float:
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        found = [objective.record(whole, first) + least(rest, most - 1)] if most else []
        for chosen in product([False, True], repeat=len(rest)):
            group = [first, *(i for i, taken in zip(rest, chosen, strict=True) if taken)]
            if meets(group):
                others = [i for i, taken in zip(rest, chosen, strict=True) if not taken]
                found.append(objective.cheapest(group) + least(others, most))
        return min(found, default=float("inf"))

    return least([*range(records)], most_left_out)


def passing_nodes(
    levels: Sequence[Sequence[Sequence[int]]],
    codes: Sequence[Sequence[int]],
    meets: Meets,
    budget: int,
) -> list[tuple[int, ...]]:
    """All nodes of the lattice with at most `budget` records in cells that do not comply."""

    def outside(node: Sequence[int]) -> int:
        keys = [tuple(levels[j][h][row[j]] for j, h in enumerate(node)) for row in codes]
        return sum(len(cell) for cell in cells(keys).values() if not meets(cell))

    nodes = product(*(range(len(own)) for own in levels))
    return [node for node in nodes if outside(node) <= budget]


def least_cost_with_spares(
    objective: Objective, order: Group, k: int, spare: Sequence[float]
) -> float:
    """The least cost of cutting an order into runs of k … 2k − 1 and records left out, each at its own price."""

    @cache
    def least(start: int) -> float:
        if start == len(order):
            return 0.0
        ends = range(start + k, min(len(order), start + 2 * k - 1) + 1)
        runs = [objective.group(order[start:end]) + least(end) for end in ends]
        return min([spare[order[start]] + least(start + 1), *runs])

    return least(0)


def mend(objective: Objective, groups: list[Group], meets: Meets) -> list[Group]:
    """Merge offending groups with the closest that makes them comply, or hand their records out.

    Groups keep their places; those given away are empty.
    """
    groups = [list(group) for group in groups]
    changed = True
    while changed:
        changed = False
        small = [g for g, group in enumerate(groups) if group and not meets(group)]
        for g in sorted(small, key=lambda g: len(groups[g])):
            if groups[g] and not meets(groups[g]):
                changed |= _mend_group(objective, groups, g, meets)
    return groups


def _mend_group(objective: Objective, groups: list[Group], g: int, meets: Meets) -> bool:
    def cost(group: Group) -> float:
        return objective.group(group) if group else 0.0

    others = [h for h, group in enumerate(groups) if group and h != g]
    partners = [h for h in others if meets(groups[h] + groups[g])]
    added = [cost(groups[h] + groups[g]) - cost(groups[h]) - cost(groups[g]) for h in partners]
    places = [_best_place(objective, groups, i, g, meets) for i in groups[g]]
    apart = sum(more for _, more in places) - cost(groups[g])
    if apart < min(added, default=float("inf")) - TOLERANCE:
        for i in sorted(groups[g]):
            h, _ = _best_place(objective, groups, i, g, meets)
            if h >= 0:
                groups[g].remove(i)
                groups[h].append(i)
        return True
    if partners:
        closest = _first_least(added)
        groups[partners[closest]] += groups[g]
        groups[g] = []
    return bool(partners)


def _best_place(
    objective: Objective, groups: list[Group], i: int, g: int, meets: Meets
) -> tuple[int, float]:
    """The complying group that goes on complying with a record at least cost."""
    able = [h for h, group in enumerate(groups) if h != g and meets(group) and meets([*group, i])]
    added = [objective.group([*groups[h], i]) - objective.group(groups[h]) for h in able]
    if not able:
        return -1, float("inf")
    best = _first_least(added)
    return able[best], added[best]


def _first_least(numbers: Sequence[float]) -> int:
    return next(i for i, x in enumerate(numbers) if x <= min(numbers) + TOLERANCE)
