"""The stock: combinations that are set aside stand as groups of their own, and lend records to groups that lack some.

A cover of all records would begin with these groups, at no cost, and borrow from them later. So what the others borrow
is the same, although most records that are set aside never become part of the problem (spec §7).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.counted.aside import shared_out
from shoal.counted.assignment import Assignment, pick, records_of
from shoal.counted.complying import complying
from shoal.generalization.forms import Records
from shoal.methods import Cover, Method, Partition
from shoal.methods.lending import Stock
from shoal.problem import Problem
from shoal.progress import Progress
from shoal.table.rows import distinct_rows

# Records of one combination that may be lent, as a multiple of k.
MOST_LENT = 2


def solve_part(
    problem: Problem,
    left: Records,
    aside: Records,
    rows: Records,
    method: Method,
    seed: int,
    progress: Progress,
    most: int,
    chance: np.random.Generator,
) -> tuple[Records, Partition]:
    """Group the records of some rows that are left, with records lent by those that are set aside.

    Returns the row of every record that has a group, and their groups. At most `most` records may be lent. Only
    `cover` borrows; other methods group what is left.
    """
    chosen = method.choose(int(left[rows].sum()))
    notes = () if chosen is method else (f"chose {chosen.name}",)
    if not borrows(chosen) or not aside[rows].any():
        records = records_of(problem, rows, left[rows], chance)
        found = chosen.partition(pick(problem, records), seed, progress)
        return records, replace(found, notes=(*notes, *found.notes))
    records, stock = _stocked(problem, left, aside, rows, most, chance)
    assert isinstance(chosen, Cover)
    found = chosen.partition_beside(pick(problem, records), stock, seed, progress)
    used = found.groups >= 0
    return records[used], Partition(found.groups[used], (*notes, *found.notes))


def borrows(method: Method) -> bool:
    """Whether a method can borrow from a stock."""
    return isinstance(method, Cover) and not method.guarantee


def without(taken: Assignment, left: Records, aside: Records) -> tuple[Records, Records]:
    """What remains of each row that is left, and of each that is set aside, where no row is both."""
    number = np.bincount(taken.rows, taken.counts, left.size).astype(np.int64)
    lent = np.where(aside > 0, number, 0)
    return left - number + lent, aside - lent


def _stocked(
    problem: Problem,
    left: Records,
    aside: Records,
    rows: Records,
    most: int,
    chance: np.random.Generator,
) -> tuple[Records, Stock]:
    """The row of every record that is left or may be lent, and the stock of the latter."""
    own = records_of(problem, rows, left[rows], chance)
    standing = rows[aside[rows] > 0]
    counts, place = aside[standing], distinct_rows(problem.codes[standing]).place
    size = np.bincount(place, counts).astype(np.int64)
    each = min(MOST_LENT * problem.k, most // max(1, size.size))
    wanted = np.clip(size - problem.k, 0, each)
    shares = shared_out(place, counts, wanted, chance.random())
    lent = records_of(problem, standing, shares, chance)
    tally = np.zeros((size.size, problem.tallied), np.int32)
    for values in problem.values[standing].T:
        np.add.at(tally, (place, values), counts)
    group_of = np.full(left.size, -1, np.int32)
    group_of[standing] = place
    group = np.concatenate([np.full(own.size, -1, np.int32), group_of[lent]])
    return np.concatenate([own, lent]), Stock(group, size, tally)


def all_comply(problem: Problem, found: Assignment) -> bool:
    """Whether all groups of an assignment meet the requirement."""
    groups = np.unique(found.groups, return_inverse=True)[1].astype(np.int32)
    return bool(complying(pick(problem, found.rows), groups, found.counts).all())
