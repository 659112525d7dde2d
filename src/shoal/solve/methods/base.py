"""What a method is: options, validated at once, and one function from a problem to a partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Ints, Records
from shoal.errors import InputError, counted
from shoal.kernels.shared.groups import close_groups, count_classes, join_cheapest, members
from shoal.kernels.shared.rules import count_groups
from shoal.kernels.shared.state import State, fill, make_state
from shoal.progress import Progress
from shoal.solve.problem import ClosingRules, Problem

# Costs of a record are about 1 (weights have a mean of 1), and sums of a few of them are right to about 15 digits:
# nine decimals are far above the error and far below any difference that matters.
DECIMALS = 9
TOLERANCE = 1e-9


def round_costs(costs: npt.ArrayLike) -> Floats:
    """Round costs to so many decimals that equal sums become equal numbers."""
    found: Floats = np.asarray(costs, dtype=np.float64).round(DECIMALS)
    return found


MEASURED = 40_000  # records of Adult with 8 quasi-identifiers, k = 10, on two cores
BLOCK = 50_000  # records; quadratic methods cut larger tables into parts
# Counts of sensitive values in all groups, 4 bytes each: 1 GB, which a desktop computer can spare.
MOST_TALLIES = 1 << 28


@dataclass(frozen=True)
class Partition:
    """What a method returns: a group number for every record, and notes for people about its run."""

    groups: Ints
    notes: tuple[str, ...] = ()
    # Where a record's closure does not cover its group: the records that it covers, a row for each record.
    windows: Ints | None = None
    forms: Ints | None = None  # records × quasi-identifiers: values of equal number read the same
    closures: Ints | None = None  # slots × groups, where they are wider than the groups need
    # A number per record from which a certificate may start; see `Ascent`.
    duals: Floats | None = None
    bound: float | None = None  # the least that any partition costs, where that is known

    @property
    def closing(self) -> ClosingRules:
        """How the closures of this partition are made, for `Problem.close`."""
        return ClosingRules(self.windows, self.forms, self.closures)


class Method(ABC):
    """A method: an algorithm that cuts records into groups, with its options as the fields of a dataclass."""

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str] = "own"  # paper and section
    recoding: ClassVar[str]  # local, multidimensional, global, non-homogeneous
    promise: ClassVar[str] = "none"  # what its loss is at most
    growth: ClassVar[str] = "n"  # of time, in the number of records n
    seconds: ClassVar[float] = 3.0  # for `MEASURED` records, by `python -m benchmarks growth`
    homogeneous: ClassVar[bool] = True  # whether the records of a group read the same

    @abstractmethod
    def partition(self, problem: Problem, seed: int, progress: Progress) -> Partition:
        """Cut the problem's records into groups of at least k."""

    def problems(self) -> list[str]:
        """Return a sentence for every option that has an impossible value."""
        return []

    def column_problems(self, sensitive: Sequence[str]) -> list[str]:
        """Return a sentence for every option that names a sensitive column the table does not have."""
        return []

    def choose(self, records: int) -> Method:
        """Return the method that does the work on so many records: this one, unless it chooses another."""
        return self

    def seconds_for(self, records: int) -> float:
        """Return about how many seconds it takes for so many records of an ordinary table."""
        share = records / MEASURED
        squared = min(max(share, 0.05), BLOCK / MEASURED) if self.growth.startswith("n²") else 1.0
        return self.seconds * share * squared

    def may_be_refined(self) -> bool:
        """Whether refinement may move records between groups without breaking what the method is chosen for."""
        return self.recoding == "local"

    def may_be_loosened(self) -> bool:
        """Whether `loosen` may make the closures of single groups more general than their records need."""
        return self.recoding in ("local", "multidimensional")

    def honours_requirements(self) -> bool:
        """Whether the groups that the method makes also keep requirements beyond k."""
        return True


def choice_problems(name: str, given: object, known: Iterable[str]) -> list[str]:
    """Return a sentence if an option is none of the known choices."""
    choices = list(known)
    if given in choices:
        return []
    return [f"The '{name}' parameter must be one of {', '.join(choices)}. Got '{given}' instead."]


def least_problems(name: str, given: float, least: float) -> list[str]:
    """Return a sentence if an option is below its least value."""
    if given >= least:
        return []
    return [f"The '{name}' parameter must be at least {least}. Got {given} instead."]


def guarantee_notes(problem: Problem) -> tuple[str, ...]:
    """Return a note if the guarantees of GiT09 do not cover the models or the objective.

    They need hierarchies, and costs that are the same for all records of a group and never fall as its
    closure grows: `suppressed`, `tree`, `lm`, `monotone_entropy`, and `entropy` on monotone trees.
    """
    loose = [column.name for column in problem.columns if not column.model.proper]
    if loose:
        return (f"no guarantee: it needs suppression or a hierarchy in column {', '.join(loose)}",)
    arrays = problem.arrays
    parent = arrays.parent + np.repeat(arrays.start[:-1], np.diff(arrays.start))
    falls = (arrays.cost[0, parent] < arrays.cost[0] - TOLERANCE).any()
    if falls or problem.class_count > 1 or problem.objective.offset.any():
        remedy = (
            "; make its hierarchies monotone first" if falls and problem.class_count == 1 else ""
        )
        return (f"no guarantee: it does not cover this objective on this table{remedy}",)
    return ()


def arrays_of(problem: Problem, records: Records | None) -> tuple[Ints, Ints, Ints]:
    """The codes, classes and counted sensitive values of all records, or of `records` alone."""
    arrays = problem.codes, problem.classes, problem.values
    if records is None:
        return arrays
    codes, classes, values = (array[records] for array in arrays)
    return codes, classes, values


def join_rest(problem: Problem, groups: Ints, records: Records | None = None) -> None:
    """Let records without a group (−1) join, one after the other, the group where they add least cost.

    A group that meets the requirement goes on meeting it; records that no group can take stay without one.
    `groups` are those of all records, or of `records` alone.
    """
    rest, placed = np.flatnonzero(groups < 0), np.flatnonzero(groups >= 0)
    if not rest.size:
        return
    codes, classes, values = arrays_of(problem, records)
    keys = (*values[rest].T, classes[rest], *codes[rest].T)
    rest = rest[np.lexsort(keys)]  # whatever the order of records
    order, bounds = members(groups[placed], int(groups.max()) + 1)
    order = placed[order]
    closures = close_groups(problem.arrays, codes, order, bounds)
    counts = count_classes(classes, problem.class_count, order, bounds)
    check_tallies(problem, len(bounds) - 1)
    tally = np.zeros((len(bounds) - 1, problem.tallied), np.int32)
    count_groups(values, groups, tally)
    join_cheapest(
        problem.arrays,
        problem.pairs,
        problem.rules,
        codes,
        classes,
        values,
        groups,
        closures,
        counts,
        tally,
        rest,
    )


def state_of(problem: Problem, groups: Ints, records: Records | None = None) -> State:
    """Make the state in which kernels change a partition of all records, or of `records` alone."""
    room = int(groups.max()) + 1
    check_tallies(problem, room)
    codes, classes, values = arrays_of(problem, records)
    state = make_state(problem.arrays, values, problem.tallied, room)
    fill(problem.arrays, state, codes, classes, groups)
    return state


def check_tallies(problem: Problem, groups: int) -> None:
    """Refuse to count sensitive values in more groups than memory should be spent on."""
    counts = groups * problem.tallied
    if counts > MOST_TALLIES:
        raise InputError(
            f"Counting {counted(problem.tallied, 'sensitive value')} in each of {counted(groups, 'group')} would "
            f"need {4 * counts / 1000000000.0:.1f} GB of memory. Choose a method that makes no small groups on "
            "its way, like mondrian or two_means, or a larger k."
        )
