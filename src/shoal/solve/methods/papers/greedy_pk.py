"""Greedy p-k clustering (Campan et al. 2007; spec §5.15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.clustering.p_sensitive import (
    dissolve_into_pool,
    diversify,
    farthest_entry,
    grow,
    make_record_pool,
    put,
    take_entry,
)
from shoal.kernels.shared.state import make_state, pack
from shoal.progress import Progress
from shoal.solve.methods.base import Partition
from shoal.solve.methods.completion import complete_groups
from shoal.solve.methods.papers.enhanced_pk import WeightedMethod
from shoal.solve.problem import Problem


@dataclass(frozen=True)
class GreedyPK(WeightedMethod):
    """Grow groups one after the other, first until they are p-sensitive, then until they have k records.

    GreedyPKClustering of Campan et al. 2007, to which TCM07 §4 compares its own (`enhanced_pk`). The first
    group starts from a random record, every other from the record farthest from the last group. It takes
    the record that brings most of the sensitive values it lacks (Div, TCM07 Definition 11), of these the one
    that adds least cost; once it is p-sensitive, the one that adds least cost. When no group can be
    completed any more, the records left join where they cost least.

    Every group is p-sensitive and has k records; other requirements are met by merging. Where none asks for
    distinct values this is plain clustering. No guarantee on the loss: early groups use up rare values that
    later ones need. O(n²) in time, O(n + groups × sensitive values) in memory.

    Parameters
    ----------
    weights
        A weight for every sensitive column, as in `enhanced_pk`; by default all count the same.
    """

    name = "greedy_pk"
    source = "Campan et al. 2007; TCM07 §4"
    recoding = "local"
    promise = "none"
    growth = "n²"
    seconds = 3.1
    summary = "grows one group after the other, for sensitive values first and cost second"

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        c, pairs, rules = problem.arrays, problem.pairs, problem.rules
        records, weight = problem.table.records, self.tally_weights(problem)
        most = records // problem.k
        state = make_state(c, problem.values, problem.tallied, max(1, most))
        pool = make_record_pool(problem.codes, problem.classes)
        put(pool, np.random.default_rng(seed).permutation(records))
        for g in range(most):
            progress("growing groups", g, most)
            if np.count_nonzero(state.group < 0) < problem.k:
                break
            first = farthest_entry(c, pairs, state, pool, g - 1) if g else 0
            take_entry(c, state, pool, first, g)
            # What this group and the pool lack together, every later group would lack too.
            if not (
                diversify(c, pairs, rules, weight, state, pool, g)
                and grow(c, pairs, state, pool, g, problem.k)
            ):
                dissolve_into_pool(state, pool, g)
                break
        return Partition(complete_groups(problem, pack(state)[0], progress))
