"""Enhanced p-k clustering (TCM07 §3.2; spec §5.14), and the weights of sensitive columns that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from shoal.encoding.forms import Floats, Ints, Records
from shoal.errors import near_miss, shown
from shoal.kernels.clustering.p_sensitive import (
    RecordPool,
    all_lacking,
    deal,
    dissolve_into_pool,
    diversify,
    grow,
    make_record_pool,
    match_pairs,
    refill,
    weigh_matches,
)
from shoal.kernels.shared.groups import members
from shoal.kernels.shared.state import State, make_state, pack
from shoal.progress import Progress
from shoal.risk.limits import most_groups
from shoal.solve.methods.base import Method, Partition
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

LEAST = 1e-12  # share of the largest weight; a column that weighs less decides no choice either


@dataclass(frozen=True)
class WeightedMethod(Method):
    """A method that takes a weight for each sensitive column; without weights all count the same."""

    weights: Mapping[str, float] = field(default_factory=dict)

    def problems(self) -> list[str]:
        what = f"The 'weights' option of method {self.name}"
        if not isinstance(self.weights, Mapping):
            given = shown(self.weights)
            return [f"{what} must be a dict of sensitive columns and numbers. Got {given} instead."]
        wrong = [weight for weight in self.weights.values() if not _is_weight(weight)]
        if wrong:
            return [f"{what} must be finite numbers above 0. Got {shown(wrong[0])} instead."]
        return []

    def column_problems(self, sensitive: Sequence[str]) -> list[str]:
        if not self.weights:
            return []
        what = f"The 'weights' option of method {self.name}"
        unknown = [str(name) for name in self.weights if name not in sensitive]
        missing = [name for name in sensitive if name not in self.weights]
        found = []
        if unknown:
            close = near_miss(unknown[0], sensitive) or f"; weigh {', '.join(sensitive) or 'none'}."
            found.append(f"{what} names '{unknown[0]}', which is not a sensitive column{close}")
        if missing:
            names = ", ".join(f"'{name}'" for name in missing)
            found.append(f"{what} lacks {names}; give every sensitive column a weight.")
        return found

    def tally_weights(self, problem: Problem) -> Floats:
        """The weight, for each tally of the rules, of a value that a group lacks; 1 where all weigh the same.

        Only ratios matter, so the largest is 1: equal weights then add up to whole numbers, and ties stay ties.
        """
        weights = [float(self.weights.get(name, 1.0)) for name in problem.tallies]
        largest = max(map(float, self.weights.values()), default=1.0)
        return np.maximum(np.array(weights, dtype=np.float64) / largest, LEAST)


def _is_weight(weight: Any) -> bool:
    is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    return is_number and isfinite(weight) and weight > 0


CHUNK = 64  # groups between two reports of progress


@dataclass(frozen=True)
class EnhancedPK(WeightedMethod):
    """Share out the rare values of the hardest sensitive column first, so that many groups become p-sensitive.

    EnhancedPKClustering of TCM07 §3.2. Begins as many groups as can be p-sensitive (Condition 2) and have k
    records. Values of the hardest column with fewer records than there are groups are dealt round, rarest
    first; frequent ones give a record to every group. Each group then takes what it lacks of the other
    columns; where nothing helps, the least diverse groups are dissolved. The largest groups for which there
    are records are filled up to k, the others dissolved, and the records left join where they cost least.
    All choices go to the record that brings most of the values its group lacks (Div, Definition 11), of
    these to the one that adds least cost.

    Every group is p-sensitive and has k records, and there are never more groups than Condition 2 allows;
    other requirements are met by merging. Where none asks for distinct values this is plain clustering
    around random records. No guarantee on the loss. O(n²) in time, O(n + groups × sensitive values) in
    memory.

    Parameters
    ----------
    weights
        A weight for every sensitive column, like `{"illness": 2, "income": 1}`: how much a value counts that a
        group lacks of it. Only their ratios matter; by default all columns count the same.
    """

    name = "enhanced_pk"
    source = "TCM07 §3.2"
    recoding = "local"
    promise = "none"
    growth = "n²"
    seconds = 2.2
    summary = "distributes rare sensitive values first, for many groups with p values each"

    def may_be_refined(self) -> bool:
        return False  # it is chosen for the number of its groups, which refinement does not keep

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        shape = plan_groups(problem)
        order = np.random.default_rng(seed).permutation(problem.table.records)
        state = make_state(problem.arrays, problem.values, problem.tallied, max(1, shape.groups))
        if shape.groups:
            pool = make_record_pool(problem.codes, problem.classes)
            weight = self.tally_weights(problem)
            share_out(problem, weight, shape, state, pool, order, progress)
            kept = make_sensitive(problem, weight, state, pool, progress)
            fill_groups(problem, state, pool, kept, progress)
        return Partition(complete_groups(problem, pack(state)[0], progress))


@dataclass(frozen=True)
class GroupPlan:
    """The beginning: how many groups there are, and what each needs of the hardest sensitive column."""

    groups: int
    p: int
    values: Ints  # of each record in that column


def plan_groups(problem: Problem) -> GroupPlan:
    """Find the hardest column, the one that allows fewest groups (TCM07 Definition 13)."""
    rules = problem.rules
    found = GroupPlan(
        problem.table.records // problem.k, 1, np.zeros(problem.table.records, np.int32)
    )
    fewest = problem.table.records
    for t in np.flatnonzero(rules.distinct > 1):
        values, p = problem.values[:, t] - rules.start[t], int(rules.distinct[t])
        allowed, _ = most_groups([np.bincount(values).astype(np.float64)], p)
        if allowed < fewest:
            fewest = allowed
            found = GroupPlan(min(found.groups, allowed), p, values.astype(np.int32))
    return found


def share_out(
    problem: Problem,
    weight: Floats,
    shape: GroupPlan,
    state: State,
    pool: RecordPool,
    order: Records,
    progress: Progress,
) -> None:
    """Give each group p records with p values of the hardest column; the pool keeps all others.

    The paper deals the values beyond the p − i most frequent ones, i being the least that reaches the bound
    of Condition 2. A value among the frequent may then have fewer records than there are groups, and
    the number of groups here may be lower than the bound; so values are told apart by just that. Rare values
    have enough records together: by Condition 2, Σ min(records of a value, groups) ≥ p · groups.
    """
    c, pairs, rules = problem.arrays, problem.pairs, problem.rules
    groups, counts = state.size.size, np.bincount(shape.values)
    by_value, bounds = members(shape.values[order], counts.size)
    rarest = np.argsort(counts, kind="stable")
    parts = [order[by_value[bounds[v] : bounds[v + 1]]] for v in rarest]
    frequent = min(shape.p - 1, int(np.count_nonzero(counts >= groups)))
    total = groups * shape.p
    shared, wanted = 0, total - groups * frequent
    for records in parts[: len(parts) - frequent]:
        refill(pool, records)
        last = min(wanted, shared + records.size)
        while shared < last:
            progress("sharing out sensitive values", shared, total)
            turns = min(CHUNK, last - shared)
            deal(c, pairs, rules, weight, state, pool, shared, turns)
            shared += turns
    for records in parts[len(parts) - frequent :]:
        refill(pool, records)
        report = partial(progress, "sharing out sensitive values", shared, total)
        match_all(problem, weight, state, pool, report)
        shared += groups
    refill(pool, order[state.group[order] < 0])


def match_all(
    problem: Problem, weight: Floats, state: State, pool: RecordPool, report: Callable[[], None]
) -> None:
    """Give every group a record of the pool, the best match of all pairs first."""
    c, pairs, rules = problem.arrays, problem.pairs, problem.rules
    groups = state.size.size
    most, least = np.empty(groups), np.empty(groups)
    entry = np.empty(groups, np.int64)
    starts = range(0, groups, CHUNK)
    for first in starts:
        report()
        some = np.arange(first, min(groups, first + CHUNK))
        weigh_matches(c, pairs, rules, weight, state, pool, some, most, least, entry)
    for first in starts:
        report()
        rounds = min(groups - first, CHUNK)
        match_pairs(c, pairs, rules, weight, state, pool, most, least, entry, rounds)


def make_sensitive(
    problem: Problem, weight: Floats, state: State, pool: RecordPool, progress: Progress
) -> Records:
    """Let groups take the values they lack, most diverse groups first; returns those that become p-sensitive.

    Where no record of the pool helps, the least diverse group is dissolved into it.
    """
    c, pairs, rules = problem.arrays, problem.pairs, problem.rules
    order = np.argsort(all_lacking(rules, weight, state), kind="stable")
    done, kept = 0, order.size
    while done < kept:
        progress("making groups diverse", done, kept)
        if diversify(c, pairs, rules, weight, state, pool, int(order[done])):
            done += 1
        else:
            kept -= 1
            dissolve_into_pool(state, pool, int(order[kept]))
    return order[:kept]


def fill_groups(
    problem: Problem, state: State, pool: RecordPool, groups: Records, progress: Progress
) -> None:
    """Fill as many groups as there are records for to k, the largest; dissolve the others."""
    c, pairs, k = problem.arrays, problem.pairs, problem.k
    sizes = state.size[groups]
    large = int(np.count_nonzero(sizes >= k))
    unused = int(problem.table.records - sizes[sizes >= k].sum())
    order = groups[np.argsort(-sizes, kind="stable")]
    kept = min(order.size, large + unused // k)
    for g in order[kept:]:
        dissolve_into_pool(state, pool, int(g))
    for done, g in enumerate(order[:kept]):
        progress("growing groups", done, kept)
        grow(c, pairs, state, pool, int(g), k)
