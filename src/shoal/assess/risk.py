"""What an attacker who knows the quasi-identifiers can learn, before and after.

Before, records hide among those with the same original quasi-identifiers; after, among those that are
released alike. Re-identification risks are those of El Emam (2013) as ARX reports them.
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

THRESHOLD = 0.2  # El Emam's usual limit: groups of five
EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class SizeBin(Result):
    """How many groups have from `smallest` to `largest` records (no limit: None), and the records in them."""

    smallest: int
    largest: int | None
    groups: int
    records: int


@dataclass(frozen=True)
class GroupSizes(Result):
    """Sizes of the groups of records that read the same.

    In a release whose records do not read the same in groups (method non_homogeneous) each record's group
    are the originals that it may be. Where persons are counted, sizes are in persons, and `unique` counts records
    whose group is one person's.
    """

    records: int
    groups: int
    smallest: int
    largest: int
    mean: float
    median: float
    unique: int  # records alone in their group
    bins: tuple[SizeBin, ...]

    @property
    def unique_share(self) -> float:
        return self.unique / self.records


@dataclass(frozen=True)
class Reidentification(Result):
    """The chance that an attacker finds out which record is a person's.

    Attributes
    ----------
    prosecutor_highest, prosecutor_average
        The attacker knows that the person is in the table. A record's risk is 1 / its group's size, in persons
        where they are counted; `highest` is 1 / the smallest size, `average` the mean over records, groups /
        records.
    journalist_highest, journalist_average
        The attacker does not know it and relies on the person's group in the population. Without a table of
        the population, the sample stands for it, so these equal the prosecutor's: the worst case.
    marketer
        The attacker links everyone; the expected share of records linked rightly. With the sample as
        population it is groups / records.
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
    """What groups tell about one sensitive column; null is a value of its own, entropy is in bits.

    Attributes
    ----------
    values
        Distinct values.
    base_rate
        The share of the most frequent value of all: how often an attacker is right who guesses it of everyone.
    table_entropy
        Entropy of the column itself: what nobody could guess without quasi-identifiers.
    entropy_of_groups
        Mean over groups of the entropy of a group's values (GT10 Table 3, "average diversity").
    entropy_of_records
        The same mean over records: a group counts as often as it has records.
    lowest_entropy
        Of the least diverse group; 0 if all its records share a value.
    largest_share, average_share
        The share of a group's most frequent value: the highest over groups, and the mean over records,
        which is how often an attacker is right who guesses it.
    disclosed
        Share of records in groups that have one value only: known for certain.
    largest_gain, average_gain
        What a group adds to an attacker's belief: the most by which a value's share in the group exceeds its
        share in the table, the highest over groups and the mean over records.
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
    """The risk of the original table and that of the release."""

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
        raise InputError("The 'threshold' parameter must be a risk above 0 and up to 1.")
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
    """Compute the risk of records in groups; `secrets` are codes and their number per sensitive column.

    `counts` are the records of each row, one if they are not given. Where `persons` are known, a record hides among
    the persons of its group, not among its records.
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
    """For each closure the original records that it covers: those a record that bears it may be."""
    table = comparison.table
    points, place = comparison.points
    arrays = compile_measure("suppressed", table.columns).arrays
    sizes = comparison.sizes.astype(np.int64)
    weights = table.count(place).astype(np.int64)
    inside, _ = weigh_compatible(arrays, comparison.closures, sizes, points, weights)
    return np.asarray(inside)


def _summarize(hidden: Numbers, records: Numbers) -> GroupSizes:
    """Summarize groups in each of which `records` hide among `hidden`."""
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
