"""What an attacker who knows the quasi-identifiers can learn from the table and from the release.

In the table, a record is in a group with those that have the same original quasi-identifiers; in the release, with
those that look the same. Re-identification risks are defined as by El Emam (2013) and ARX.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.assess import Result
from shoal.assess.comparison import Comparison
from shoal.encoding.forms import Ints, Records
from shoal.errors import InputError
from shoal.kernels.assess import weigh_compatible
from shoal.solve.measures import compile_measure

THRESHOLD = 0.2  # El Emam's usual limit, which means groups of five
EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class SizeBin(Result):
    """The number of groups with `smallest` to `largest` records (None: no limit), and the records in them."""

    smallest: int
    largest: int | None
    groups: int
    records: int


@dataclass(frozen=True)
class GroupSizes(Result):
    """Sizes of the groups of records that look the same.

    If records of a group do not look the same (method non_homogeneous), a record's group is the set of original
    records it may be. If people are counted, sizes are in people, and `unique` counts the records whose group
    belongs to a single person.
    """

    records: int
    groups: int
    smallest: int
    largest: int
    mean: float
    median: float
    unique: int  # records that are alone in their group
    bins: tuple[SizeBin, ...]

    @property
    def unique_share(self) -> float:
        return self.unique / self.records


@dataclass(frozen=True)
class Reidentification(Result):
    """The chance that an attacker finds a person's record.

    Attributes
    ----------
    prosecutor_highest, prosecutor_average
        The attacker knows that the person is in the table. A record's risk is 1 / the size of its group, in people
        if they are counted. `highest` is 1 / the smallest size; `average` is the mean over records, which is
        groups / records.
    journalist_highest, journalist_average
        The attacker does not know that and relies on the person's group in the population. Without a table of
        the population, the sample is used instead, so these equal the prosecutor's risks: the worst case.
    marketer
        The attacker links everyone. The expected share of records linked correctly; with the sample as the
        population, it is groups / records.
    threshold, at_risk
        The share of records whose prosecutor risk is above the threshold.
    """

    prosecutor_highest: float
    prosecutor_average: float
    journalist_highest: float
    journalist_average: float
    marketer: float
    threshold: float
    at_risk: float


@dataclass(frozen=True)
class AttributeDisclosure(Result):
    """What groups reveal about a sensitive column. Null counts as a value; entropy is in bits.

    Attributes
    ----------
    values
        Distinct values.
    base_rate
        The share of the most frequent value in the column: how often an attacker is right who always guesses it.
    table_entropy
        Entropy of the column: the uncertainty of an attacker who knows no quasi-identifiers.
    entropy_of_groups
        Mean over groups of the entropy of a group's values (GT10 Table 3, "average diversity").
    entropy_of_records
        The mean over records: a group counts as often as it has records.
    lowest_entropy
        Entropy of the least diverse group; 0 if all its records have the same value.
    largest_share, average_share
        The share of a group's most frequent value: the highest over groups, and the mean over records. The mean is
        how often an attacker is right who guesses that value.
    disclosed
        The share of records in groups with a single value, which is then known for certain.
    largest_gain, average_gain
        How much a group adds to what an attacker believes: the most by which the share of a value in the group
        exceeds its share in the table, as the highest over groups and the mean over records.
    """

    column: str
    values: int
    base_rate: float
    table_entropy: float
    entropy_of_groups: float
    entropy_of_records: float
    lowest_entropy: float
    largest_share: float
    average_share: float
    disclosed: float
    largest_gain: float
    average_gain: float


@dataclass(frozen=True)
class Risk(Result):
    """Group sizes, re-identification and attribute disclosure of one table."""

    sizes: GroupSizes
    reidentification: Reidentification
    attributes: tuple[AttributeDisclosure, ...]


@dataclass(frozen=True, repr=False)
class Risks(Result):
    """The risk of the original table and of the release."""

    before: Risk
    after: Risk

    def __repr__(self) -> str:
        both = [(risk.reidentification, risk.sizes) for risk in (self.before, self.after)]
        highest = " → ".join(f"{known.prosecutor_highest:.4g}" for known, _ in both)
        average = " → ".join(f"{known.prosecutor_average:.4g}" for known, _ in both)
        unique = " → ".join(f"{sizes.unique_share:.1%}" for _, sizes in both)
        return f"Risks(highest {highest}, average {average}, unique records {unique})"


def compare_risks(comparison: Comparison, threshold: float = THRESHOLD) -> Risks:
    """Compute the risk of a table and of its release; the order of records does not matter."""
    if not 0 < threshold <= 1:
        raise InputError("The 'threshold' parameter must be above 0 and at most 1, like 0.2.")
    table = comparison.table
    names = comparison.sensitive
    before = risk_of_groups(
        comparison.points[1],
        {name: (table.sensitive[name].codes, table.sensitive[name].size) for name in names},
        threshold,
        table.counts,
        comparison.persons,
    )
    after = risk_of_groups(
        comparison.groups,
        {name: (comparison.released[name], table.sensitive[name].size) for name in names},
        threshold,
        comparison.counts,
        comparison.persons,
    )
    if not comparison.homogeneous:
        hidden, records = _candidates(comparison), comparison.sizes
        after = Risk(_summarize(hidden, records), _reidentify(hidden, records, threshold), ())
    return Risks(before, after)


def risk_of_groups(
    groups: Ints,
    secrets: Mapping[str, tuple[Ints, int]],
    threshold: float = THRESHOLD,
    counts: Records | None = None,
    persons: Records | None = None,
) -> Risk:
    """Compute the risk of records in groups; `secrets` has the codes and their number for each sensitive column.

    `counts` are the records of each row, by default one. If `persons` are given, the size of a group is its number
    of people, not of records.
    """
    sizes = np.bincount(groups, counts).astype(np.int64)  # sums by weight are floats
    hidden = sizes
    if persons is not None:
        width = int(persons.max()) + 1
        pairs = np.unique(groups.astype(np.int64) * width + persons)
        hidden = np.bincount(pairs // width, minlength=sizes.size)
    attributes = tuple(
        _disclose(name, groups, sizes, codes, number, counts)
        for name, (codes, number) in secrets.items()
    )
    return Risk(_summarize(hidden, sizes), _reidentify(hidden, sizes, threshold), attributes)


def _candidates(comparison: Comparison) -> Numbers:
    """The number of original records that each closure covers, which a record with this closure may be."""
    table = comparison.table
    points, place = comparison.points
    arrays = compile_measure("suppressed", table.columns).arrays
    sizes = comparison.sizes.astype(np.int64)
    weights = table.count(place).astype(np.int64)
    inside, _ = weigh_compatible(arrays, comparison.closures, sizes, points, weights)
    return np.asarray(inside)


def _summarize(hidden: Numbers, records: Numbers) -> GroupSizes:
    """Summarize groups of `records` records, each of which may be any of `hidden`."""
    place = np.searchsorted(EDGES, hidden, side="right") - 1
    groups = np.bincount(place, minlength=len(EDGES)).tolist()
    last = (*(edge - 1 for edge in EDGES[1:]), None)
    bins = [
        SizeBin(low, high, number, int(records[place == i].sum()))
        for i, (low, high, number) in enumerate(zip(EDGES, last, groups, strict=True))
        if number
    ]
    return GroupSizes(
        records=int(records.sum()),
        groups=int(hidden.size),
        smallest=int(hidden.min()),
        largest=int(hidden.max()),
        mean=float(hidden.mean()),
        median=float(np.median(hidden)),
        unique=int(records[hidden == 1].sum()),
        bins=tuple(bins),
    )


def _reidentify(hidden: Numbers, records: Numbers, threshold: float) -> Reidentification:
    risk = 1 / hidden
    highest, average = float(risk.max()), float(records @ risk / records.sum())
    return Reidentification(
        prosecutor_highest=highest,
        prosecutor_average=average,
        journalist_highest=highest,
        journalist_average=average,
        marketer=average,
        threshold=threshold,
        at_risk=float(records[risk > threshold].sum() / records.sum()),
    )


def _disclose(
    name: str, groups: Ints, sizes: Numbers, codes: Ints, number: int, counts: Records | None
) -> AttributeDisclosure:
    pairs, place = np.unique(groups.astype(np.int64) * number + codes, return_inverse=True)
    group, value = np.divmod(pairs, number)
    records = sizes.sum()
    overall = np.bincount(codes, counts, number) / records
    present = overall[overall > 0]
    share = np.bincount(place.reshape(-1), counts) / sizes[group]
    first = np.flatnonzero(np.diff(group, prepend=-1))  # pairs come group by group
    entropy = np.add.reduceat(-share * np.log2(share), first) + 0.0
    largest = np.maximum.reduceat(share, first)
    gain = np.maximum.reduceat(share - overall[value], first)
    of_record = sizes / records
    return AttributeDisclosure(
        column=name,
        values=int(np.count_nonzero(overall)),
        base_rate=float(overall.max()),
        table_entropy=float(-(present @ np.log2(present))) + 0.0,
        entropy_of_groups=float(entropy.mean()),
        entropy_of_records=float(of_record @ entropy),
        lowest_entropy=float(entropy.min()),
        largest_share=float(largest.max()),
        average_share=float(of_record @ largest),
        disclosed=float(sizes[largest == 1.0].sum() / records),
        largest_gain=float(gain.max()),
        average_gain=float(of_record @ gain),
    )
