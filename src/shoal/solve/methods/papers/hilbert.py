"""Order by a space-filling curve and cut optimally (GT10 §6.2.3, Ghinita et al. 2007; spec §5.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Form, Ints, RangeForm, TreeForm
from shoal.kernels.shared.groups import group_costs
from shoal.kernels.splitting.hilbert import cut_order, hilbert_words
from shoal.kernels.splitting.top_down import own_costs
from shoal.progress import Progress
from shoal.solve.methods.base import Method, Partition
from shoal.solve.methods.completion import complete_groups
from shoal.solve.problem import Problem

Places = npt.NDArray[np.int64]
WORK = 4_000_000  # steps of the cut between two reports of progress
MOST_BITS = 32  # of a place in one column: places are 64-bit integers, and time grows with the bits
# Share of what a group adds to a record that counts as the price of leaving it out, see _prices_of_leaving_out: less
# leaves too few groups to join, more spoils runs.
SHARE = 0.5


@dataclass(frozen=True)
class Hilbert(Method):
    """Order records along a Hilbert curve and cut that order into runs of k to 2k − 1 at least cost.

    Numbers and dates keep their place, tree values come in the order of the tree, null comes last. No cut of
    the order into runs costs less under a monotone objective. On a single interval column without nulls the
    order is that of the values; `lm`, `ncp` and `il` are then at most 2 − 1/k times the optimum, which may
    nest groups. O(k·n·r) in time, O(n·r) in memory.

    Where more than k is required, records may be left out of runs at half the cost that one group for all
    would add, and join the group where they cost least; runs that do not meet the requirement are then merged
    with others or handed out to them.

    Parameters
    ----------
    bits
        The curve runs through 2^bits places per quasi-identifier.
    rescale
        Stretch every quasi-identifier over all places. Otherwise codes are places, and `bits` is what the
        largest needs: columns with few values then hardly count.
    """

    bits: int = 10
    rescale: bool = True

    name = "hilbert"
    source = "GT10 §6.2.3"
    recoding = "local"
    promise = "none; the best runs of its order"
    growth = "n log n"
    seconds = 0.12
    summary = "orders records along a Hilbert curve and cuts the order optimally"

    def problems(self) -> list[str]:
        if 1 <= self.bits <= MOST_BITS:
            return []
        return [f"The 'bits' parameter must be from 1 to {MOST_BITS}. Got {self.bits} instead."]

    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        n, k = problem.table.records, problem.k
        progress("cutting the curve", 0, n)
        order = self.order(problem)
        codes = np.ascontiguousarray(problem.codes[order])
        classes = problem.classes[order]
        spare = _prices_of_leaving_out(problem)[order] if problem.tallied else np.full(n, np.inf)
        least, run = np.zeros(n + 1), np.zeros(n + 1, np.int64)
        step = max(1, WORK // k)
        for first in range(1, n + 1, step):
            last = min(n + 1, first + step)
            cut_order(problem.arrays, codes, classes, k, spare, first, last, least, run)
            progress("cutting the curve", last - 1, n)
        groups = np.empty(n, np.int32)
        groups[order] = _number_runs(run)
        return Partition(complete_groups(problem, groups, progress) if problem.tallied else groups)

    def order(self, problem: Problem) -> Places:
        """Records in order of their Hilbert index, those in one place by exact place and class."""
        forms = [column.form for column in problem.columns]
        bits = self.bits if self.rescale else max(1, *(f.size - 1 for f in forms)).bit_length()
        points = np.empty(problem.codes.shape, np.int64)
        exact = []
        for j, form in enumerate(forms):
            codes = problem.codes[:, j]
            points[:, j] = grid_places(form, bits)[codes] if self.rescale else codes
            exact.append(np.append(value_places(form), 2.0)[codes])  # null last
        words = hilbert_words(points, bits)
        last = [problem.classes, *([_spread(problem)] if problem.tallied else [])]
        return np.lexsort((*last, *exact[::-1], *words[::-1])).astype(np.int64)


def value_places(form: Form) -> Floats:
    """Where each value of a column, without null, stands between 0 and 1."""
    if isinstance(form, RangeForm):
        places = form.positions - form.positions[0]
    elif isinstance(form, TreeForm):
        places = _tree_ranks(form)
    else:
        places = np.arange(len(form.labels), dtype=np.float64)
    return places / (places.max() or 1.0)


def grid_places(form: Form, bits: int) -> Places:
    """The place of each code among 2^bits; where there is null, the last place is its own."""
    last = 2**bits - 1
    values = np.rint(value_places(form) * (last - form.has_null)).astype(np.int64)
    return np.append(values, last) if form.has_null else values


def _tree_ranks(form: TreeForm) -> Floats:
    """The rank of each value in a walk through the tree, subtrees in order of their first value."""
    first = np.arange(form.entries)
    for node in range(form.entries - 1):
        first[form.parent[node]] = min(first[form.parent[node]], first[node])
    ways = []
    for value in range(len(form.labels)):
        way = [value]
        while form.parent[way[-1]] != way[-1]:
            way.append(int(form.parent[way[-1]]))
        ways.append([int(first[node]) for node in way[::-1]])
    ranks = np.empty(len(ways))
    ranks[sorted(range(len(ways)), key=ways.__getitem__)] = np.arange(len(ways))
    return ranks


def _spread(problem: Problem) -> Floats:
    """Where a record stands among equal ones, from 0 to 1, so that every sensitive value is evenly spread."""
    points = problem.points
    order = np.argsort(points.of_record, kind="stable")
    first = np.cumsum(points.weights) - points.weights
    place = np.empty(order.size)
    place[order] = np.arange(order.size) - first[points.of_record[order]]
    return (place + 0.5) / points.weights[points.of_record]


def _prices_of_leaving_out(problem: Problem) -> Floats:
    """The price of each record that is left out of all runs: its own cost and a share of what one group adds."""
    own = own_costs(problem.arrays, problem.codes, problem.classes)
    closures, counts = problem.closures(np.zeros(own.size, np.int32))
    together = group_costs(problem.arrays, closures, counts).sum()
    return own + SHARE * (together - own.sum()) / own.size


def _number_runs(run: Places) -> Ints:
    """A number for each run, from the size of the last run before every end; −1 for records in none."""
    groups = np.full(run.size - 1, -1, np.int32)
    end, number = run.size - 1, 0
    while end > 0:
        start = end - max(1, int(run[end]))
        if run[end]:
            groups[start:end] = number
            number += 1
        end = start
    return np.where(groups < 0, groups, number - 1 - groups).astype(np.int32)
