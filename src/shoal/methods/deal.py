"""Deal records out so that every part has its share of every sensitive value (GT10 Alg. 3, HE12 Fig. 5)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.kernels.clustering.deal import unite_offenders
from shoal.kernels.shared.rules import Rules, count_groups
from shoal.methods.base import check_tallies
from shoal.methods.rounding import TOLERANCE
from shoal.problem import Problem

# Groups that are tried as a partner for one that misses the requirement: more find a better partner, fewer take
# less time.
TRIES = 32


def kinds_of(problem: Problem) -> Ints:
    """Number the records by their combination of counted sensitive values, in ascending order of values."""
    if not problem.tallied:
        return np.zeros(problem.table.records, np.int32)
    return np.unique(problem.values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)


def least_diverse(rules: Rules) -> int:
    """The least number of records with which a group can keep all limits but k, as every ℓ, p and α in them say."""
    entropies = np.ceil(np.exp(rules.entropy) - TOLERANCE)
    caps = [rules.cap[first:stop].max() for first, stop in pairwise(rules.start)]
    shares = [math.ceil(1 / cap - TOLERANCE) for cap in caps]
    return int(max([1, *rules.distinct, *entropies, *rules.depth, *shares]))


def deal_evenly(kinds: Ints, parts: int, rng: np.random.Generator) -> Ints:
    """Give every record a part, at random, such that each part has ⌊p/parts⌋ or ⌈p/parts⌉ records of a kind with p.

    Which parts get one more is drawn anew for every kind.
    """
    order = rng.permutation(kinds.size)
    order = order[np.argsort(kinds[order], kind="stable")]
    dealt = np.empty(kinds.size, np.int32)
    for same in np.split(order, 1 + np.flatnonzero(np.diff(kinds[order]))):
        turns = rng.choice(parts, min(parts, same.size), replace=False)
        dealt[same] = np.resize(turns, same.size)
    return dealt


def deal_in_turn(kinds: Ints, parts: int) -> Ints:
    """Give every record a part: records in order of kind go to one part after the other."""
    dealt = np.empty(kinds.size, np.int32)
    dealt[np.argsort(kinds, kind="stable")] = np.arange(kinds.size) % parts
    return dealt


def unite(
    problem: Problem, records: Records, dealt: Ints, rng: np.random.Generator
) -> tuple[Ints, int]:
    """Unite parts of some records until all keep the limits other than k.

    Returns the part of every record, numbered from 0 without gaps, and how many parts missed a limit at first.
    """
    dealt = np.unique(dealt, return_inverse=True)[1].astype(np.int32)
    sizes = np.bincount(dealt)
    check_tallies(problem, sizes.size)
    tally = np.zeros((sizes.size, problem.tallied), np.int32)
    count_groups(problem.values[records], dealt, tally)
    found = unite_offenders(problem.rules, dealt, tally, sizes, TRIES, rng)
    return np.unique(dealt, return_inverse=True)[1].astype(np.int32), int(found)
