"""The optimum for small tables (spec §5.16): the yardstick of every other method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from shoal.encoding.forms import Floats, Form, Ints, RangeForm, Records, SetForm, TreeForm
from shoal.errors import InputError
from shoal.kernels.clustering.k_member import cut_subsets, subset_costs
from shoal.kernels.shared.groups import group_costs
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition, round_costs
from shoal.solve.methods.completion import suppressed_costs
from shoal.solve.methods.integer_program import MOST_NODES, MOST_ROUNDS, IntegerProgram, obstacle
from shoal.solve.methods.mondrian import Mondrian
from shoal.solve.problem import TOLERANCE, Problem

REPORTED = 1024  # closures between two reports of progress


@dataclass(frozen=True)
class Allowed:
    """The allowed closures of one column, one for each set of records that a closure covers, tight ones first."""

    closures: Ints  # slots × closures
    covered: Records  # bit masks of records
    costs: Floats  # classes × closures: what each closure costs a record

    @classmethod
    def of(cls, problem: Problem, j: int) -> Allowed:
        """List the closures of column j that differ in the records they cover."""
        codes = problem.codes[:, j]
        closures, covered = _listed(problem.columns[j].form, codes)
        first = np.sort(np.unique(covered, return_index=True)[1])
        closures, covered = np.ascontiguousarray(closures[:, first]), covered[first]
        return cls(closures, covered, _costs(problem, j, closures))

    def cheapest(self, group: int, counts: Floats) -> int:
        """The closure that costs a group least; the tightest of those that cost the same."""
        covering = np.flatnonzero((self.covered & group) == group)
        costs = counts @ self.costs[:, covering]
        least = costs.min()
        return int(covering[costs <= least + TOLERANCE * (1 + abs(least))][0])


def cheapest_costs(problem: Problem, progress: Progress) -> Floats:
    """What the cheapest closures that cover each subset of the records cost the subset: float64[2ⁿ]."""
    counts = _counts_by_class(problem)
    total = np.zeros(counts.shape[1])
    for j in range(len(problem.columns)):
        allowed = Allowed.of(problem, j)
        if len(counts) == 1:
            total += counts[0] * _least_above(allowed, problem.table.records)
        else:
            total += _least_weighed(allowed, counts, progress)
    return total


def cheapest_closures(problem: Problem, groups: Ints) -> Ints:
    """The closures that cost each group least of all that cover it: slots × groups."""
    counts = _counts_by_class(problem)
    masks = [int((1 << np.flatnonzero(groups == g)).sum()) for g in range(int(groups.max()) + 1)]
    parts = []
    for j in range(len(problem.columns)):
        allowed = Allowed.of(problem, j)
        chosen = [allowed.cheapest(mask, counts[:, mask]) for mask in masks]
        parts.append(allowed.closures[:, chosen])
    return np.ascontiguousarray(np.concatenate(parts))


def _listed(form: Form, codes: Ints) -> tuple[Ints, Records]:
    """The closures of a form that may differ in the records they cover, a closure after all inside it."""
    if isinstance(form, SetForm):
        return _sets(form, codes)
    if isinstance(form, TreeForm):
        closures = np.arange(form.entries, dtype=np.int32)[None, :]
    else:
        assert isinstance(form, RangeForm)
        closures = _ranges(form, np.unique(codes))
    is_inside = form.holds(closures)[codes] > 0
    return closures, (is_inside * (1 << np.arange(codes.size))[:, None]).sum(axis=0)


def _ranges(form: RangeForm, present: Ints) -> Ints:
    """All ranges from one value that occurs to another; null is in a range of its own and in the whole."""
    known = present[present != form.null]
    ranges = [(a, b) for a in known for b in known if a <= b]
    ranges += [(form.null, form.null)] if form.has_null else []
    ranges.sort(key=lambda ends: ends[1] - ends[0])
    return np.array([*ranges, form.whole], dtype=np.int32).T


def _sets(form: SetForm, codes: Ints) -> tuple[Ints, Records]:
    """All sets of values that occur; null is in a set of its own and in the whole."""
    closures, covered = np.zeros((form.slots, 1), dtype=np.int32), np.zeros(1, dtype=np.int64)
    for code in np.unique(codes[codes != form.null]):
        own = np.array(form.pack([int(code)]), dtype=np.int32)[:, None]
        closures = np.concatenate([closures, closures | own], axis=1)
        covered = np.concatenate([covered, covered | _mask(codes == code)])
    null = [form.pack([form.null])] if form.has_null else []
    others = np.array([*null, form.whole], dtype=np.int32).T
    masks = [*([_mask(codes == form.null)] if null else []), _mask(codes >= 0)]
    return np.concatenate([closures[:, 1:], others], axis=1), np.append(covered[1:], masks)


def _mask(members: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int((1 << np.flatnonzero(members)).sum())


def _costs(problem: Problem, j: int, closures: Ints) -> Floats:
    """What closures of column j cost a record of each class: classes × closures."""
    everything = np.repeat(problem.whole, closures.shape[1], axis=1)
    everything[problem.table.slots[j]] = closures
    costs = np.empty((problem.class_count, closures.shape[1]))
    for y in range(problem.class_count):
        one = np.zeros_like(costs)
        one[y] = 1.0
        costs[y] = group_costs(problem.arrays, everything, one)[j]
    return costs


def _counts_by_class(problem: Problem) -> Floats:
    """The records of each class in every subset: float64[classes, 2ⁿ]."""
    counts = np.zeros((problem.class_count, 1))
    for y in problem.classes:
        with_record = counts.copy()
        with_record[y] += 1.0
        counts = np.concatenate([counts, with_record], axis=1)
    return counts


def _least_above(allowed: Allowed, records: int) -> Floats:
    """The least cost of the closures that cover each subset, where all records pay the same."""
    least = np.full(1 << records, np.inf)
    np.minimum.at(least, allowed.covered, allowed.costs[0])
    for i in range(records):
        halves = least.reshape(-1, 2, 1 << i)  # subsets without and with record i
        np.minimum(halves[:, 0], halves[:, 1], out=halves[:, 0])
    return least


def _least_weighed(allowed: Allowed, counts: Floats, progress: Progress) -> Floats:
    """The least cost of the closures that cover each subset, where records pay by their class."""
    least = np.full(counts.shape[1], np.inf)
    for number, covered in enumerate(allowed.covered.tolist()):
        if number % REPORTED == 0:
            progress("weighing groups", number, allowed.covered.size)
        inside = _subsets(covered)
        costs = allowed.costs[:, number] @ counts[:, inside]
        least[inside] = np.minimum(least[inside], costs)
    return least


def _subsets(mask: int) -> Records:
    """All subsets of a bit mask."""
    found = np.zeros(1, dtype=np.int64)
    for bit in _bits(mask):
        found = np.concatenate([found, found | bit])
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield mask & -mask
        mask &= mask - 1


def _left_out_costs(problem: Problem) -> Floats:
    """What leaving out each subset of the records costs: infinite where it has more than may be left out."""
    costs, sizes = np.zeros(1), np.zeros(1)
    for cost in suppressed_costs(problem)[problem.classes]:
        costs, sizes = np.append(costs, costs + cost), np.append(sizes, sizes + 1)
    return np.where(sizes <= problem.most_left_out, costs, np.inf)


MOST_RECORDS = 18  # by dynamic programming: time grows like 3ⁿ and memory like 2ⁿ
CHUNK = 4096  # subsets between two reports of progress


@dataclass(frozen=True)
class Exact(Method):
    """Find a partition of least cost, of a table of at most 18 records or one that an integer program solves.

    Up to 18 records, by dynamic programming over subsets, for every objective, model and requirement: the least cost
    of S is that of a group T that meets the requirement and contains the first record of S, and the least cost of S
    without T. Groups of any size are tried, because of requirements and of objectives under which a larger closure may
    cost less (`entropy`, `pmi`, `wmi`); there, a group pays for the cheapest closure that covers it. O(3ⁿ) in time,
    O(2ⁿ) in memory.

    Beyond, an integer program over all closures that k records can have (`integer_program.py`), some 400 to 1,000
    records with four or five quasi-identifiers. It needs hierarchies, suppression or intervals, an objective that is
    the same for all records of a group, and requirements that are linear in counts: k, distinct and frequency
    diversity, (α,k) and p-sensitivity. If its budget ends before the optimum is proven, a note says so, and the
    certificate has the bound that was reached.
    """

    name = "exact"
    source = "dynamic programming over subsets; integer program"
    recoding = "local"
    promise = "optimal"
    growth = "3ⁿ"
    seconds = 0.8  # for as many records as dynamic programming takes; one fewer takes a third
    summary = "the optimum, for small tables"

    def may_be_refined(self) -> bool:
        """Return False: there is nothing to gain."""
        return False

    def seconds_for(self, records: int) -> float:
        return self.seconds * 3.0 ** (min(records, MOST_RECORDS) - MOST_RECORDS)

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        if problem.table.records > MOST_RECORDS:
            return _by_program(problem, seed, progress)
        progress("weighing groups", 0, 1)
        costs = subset_costs(
            problem.arrays, problem.rules, problem.codes, problem.classes, problem.values
        )
        return best_partition(problem, costs, progress)


def _by_program(problem: Problem, seed: int, progress: Progress) -> Partition:
    """Solve the integer program, starting from a refined partition."""
    from shoal.solve.local_search.budget import Refine
    from shoal.solve.local_search.schedule import refine  # imports methods itself

    program = IntegerProgram.of(problem)
    if program is None:
        refuse(problem.table.records, obstacle(problem) or "with so many different closures")
    groups = Mondrian().partition(problem, seed, progress).groups
    groups = refine(problem, groups, seed, progress, Refine()).groups
    found = program.improve(groups, MOST_NODES, MOST_ROUNDS, progress)
    notes = () if found.proven else ("the search ended before it could prove the optimum",)
    return Partition(found.groups, notes, bound=found.bound)


def best_partition(problem: Problem, costs: Floats, progress: Progress) -> Partition:
    """Find a partition of least cost, given what the tight closure of every subset costs: infinite if it may not be.

    Where a wider closure may cost less, a subset costs what its cheapest closure does, and that is released.
    """
    if problem.objective.monotone:
        return Partition(cut_best(problem, costs, progress))
    costs = np.where(np.isfinite(costs), cheapest_costs(problem, progress), np.inf)
    groups = cut_best(problem, costs, progress)
    return Partition(groups, closures=cheapest_closures(problem, groups))


def refuse(n: int, why: str) -> NoReturn:
    """Refuse a table of n records; `why` says what is in the way of an integer program."""
    raise InputError(
        f"Method 'exact' takes at most {MOST_RECORDS} records {why}, but the table has {n:,}. Choose 'cover'."
    )


def cut_best(problem: Problem, costs: Floats, progress: Progress) -> Ints:
    """Cut records into groups of least cost, given what every subset costs as a group: infinite if it may not be.

    As many records as may be are left out (−1) where that costs less.
    """
    least, choice = np.full(costs.size, np.inf), np.zeros(costs.size, dtype=np.int64)
    least[0] = 0.0
    for start in range(1, costs.size, CHUNK):
        progress("cutting subsets", start, costs.size)
        cut_subsets(costs, least, choice, start, min(costs.size, start + CHUNK))
    progress("cutting subsets", costs.size, costs.size)
    n = problem.table.records
    groups = np.full(n, -1, dtype=np.int32)
    left_out = round_costs(least[::-1] + _left_out_costs(problem)).argmin()
    left, number = costs.size - 1 - int(left_out), 0
    while left:
        groups[choice[left] >> np.arange(n) & 1 == 1] = number
        left, number = left ^ int(choice[left]), number + 1
    return groups
