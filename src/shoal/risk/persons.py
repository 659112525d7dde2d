"""People with several records: rules that count people, and identifiers that repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.audits.persons import maximum_matching
from shoal.audits.requirements import Requirement
from shoal.audits.verdict import Persons
from shoal.encoding.encode import Table, fold_all
from shoal.encoding.forms import Ints, Records
from shoal.encoding.frames import Frame, arrow_values, plain_column
from shoal.encoding.other_columns import canonical_texts
from shoal.errors import LONGEST, Infeasible, counted
from shoal.kernels.persons.counting import Crowd, complying_groups, make_crowd
from shoal.kernels.shared.groups import members
from shoal.kernels.shared.rules import Rules

MOST_RECORDS = 50  # of a person, on average
REPEATING = 1.5  # records per value above which values repeat too often for namesakes
# How often records of one person agree in a quasi-identifier: 0 is chance, 1 is always.
AGREEING, ALWAYS = 0.5, 0.99
UNUSUAL = (
    0.05  # groups with a single value that chance would produce, as a share of those that exist
)


@dataclass(frozen=True)
class People:
    """The person of each record, and the rules for groups when people are counted."""

    person: Records  # a number per record, without gaps
    rules: Rules
    values: Ints  # what each record counts as in each tally of the rules

    @classmethod
    def of(cls, person: Records, rules: Rules, values: Ints) -> People:
        """Use the shares of values among people, each counted once for every value they have."""
        share = rules.share.copy()
        for t in range(values.shape[1]):
            first, last = rules.start[t], rules.start[t + 1]
            having = np.unique(person * (last - first) + values[:, t] - first)
            counts = np.bincount(having % (last - first), minlength=last - first)
            share[first:last] = counts / having.size
        return cls(person, rules._replace(share=share), values)

    @cached_property
    def crowd(self) -> Crowd:
        """The same with room to count, for kernels."""
        tallied = int(self.rules.start[-1])
        pair = np.zeros(self.values.shape, dtype=np.int64)
        pairs = 0
        for t in range(self.values.shape[1]):
            key = self.person * tallied + self.values[:, t]
            numbers, place = np.unique(key, return_inverse=True)
            pair[:, t] = place.reshape(-1) + pairs
            pairs += numbers.size
        return make_crowd(
            self.person, self.values, pair, int(self.person.max()) + 1, max(1, pairs), tallied
        )

    def those_of(self, records: Records) -> People:
        """The people of some records, with the same rules."""
        person = np.unique(self.person[records], return_inverse=True)[1].reshape(-1)
        return People(person, self.rules, np.ascontiguousarray(self.values[records]))

    def comply(self, groups: Ints) -> tuple[npt.NDArray[np.bool_], Records]:
        """Whether each group complies, and how many people it has; records without a group (−1) do not count."""
        placed = np.flatnonzero(groups >= 0)
        order, bounds = members(groups[placed], int(groups.max(initial=-1)) + 1)
        return complying_groups(self.rules, self.crowd, placed[order], bounds)


def person_numbers(frame: Frame, name: str, missing: Sequence[str], problems: list[str]) -> Records:
    """Number the person of each record; texts that differ only in spaces, case or Unicode form are one person.

    A record without a value could belong to anyone, even to a person who is already in its group. Counting it as a
    person of its own would promise too much, so it is refused: a sentence is added to `problems`.
    """
    folded = fold_all(canonical_texts(frame, name, missing).fill_null(""))
    unknown = pc.sum(pc.equal(folded, "")).as_py() or 0
    if unknown:
        problems.append(
            f"{unknown:,} of {counted(len(folded), 'record')} {'has' if unknown == 1 else 'have'} no value in "
            f"column '{name[:LONGEST]}', which identifies people. Fill in the value of the person, give a new "
            "value to someone who has no other record, or leave such records out."
        )
    return np.asarray(folded.dictionary_encode().indices).astype(np.int64)


def check_feasible_by_persons(
    person: Records, table: Table, k: int, requirements: Sequence[Requirement] = ()
) -> None:
    """Raise an error with numbers and the nearest feasible setting if no release can meet the requirements.

    One group of all records must comply, because groups that do not comply are united in the end.
    """
    persons, problems = int(person.max(initial=-1)) + 1, []
    if k > persons:
        problems.append(
            f"k = {k:,} needs at least {counted(k, 'person', 'people')}, but the table has {persons:,}. Choose k "
            f"of at most {persons:,}."
        )
    for requirement in requirements:
        for column in requirement.over(list(table.sensitive)):
            secret = table.sensitive[column]
            having = np.unique(person * secret.size + secret.codes)
            counts = np.bincount(having % secret.size, minlength=secret.size).astype(np.float64)
            kinds = requirement.kinds(secret.all_labels)
            if kinds is None:
                shares, heads = counts / counts.sum(), np.array([float(persons)])
                level = requirement.levels(counts[None, :], secret.all_labels, shares, heads)
                remedy = requirement.remedy(column, counts, float(level[0]))
            else:
                kind = np.array(kinds)[having % secret.size].tolist()
                level = np.array([float(maximum_matching(kind, (having // secret.size).tolist()))])
                remedy = (
                    f"only {counted(int(level[0]), 'different person', 'different people')} can be matched with "
                    f"different values; choose {requirement.parameter} of at most {level[0]:.0f}"
                )
            if not requirement.is_met(level).all():
                missed = f"no release can meet {requirement.describe(column)}"
                problems.append(f"With people counted, {missed}: {remedy}.")
    if problems:
        raise Infeasible("\n".join(problems))


def count_persons(
    frame: Frame, groups: Ints, identifiers: Sequence[str], k: int, codes: Ints
) -> tuple[Persons, ...]:
    """Find the column that most likely identifies people, if some group has fewer than k of its values.

    `groups` and `codes` have the group and the quasi-identifiers of each record of the frame. A record without a value
    counts as a person of its own.
    """
    numbered = {name: _numbered(arrow_values(frame, name)) for name in identifiers}
    likely = most_likely_person({name: (own, codes) for name, own in numbered.items()})
    if likely is None:
        return ()
    person = numbered[likely.name]
    persons = int(person.max()) + 1
    pairs = np.unique(groups.astype(np.int64) * persons + person)
    found = np.bincount(pairs // persons)
    is_told = likely.matters(found, np.bincount(groups), k)
    return (Persons(likely.name, persons, int(found.min())),) if is_told else ()


@dataclass(frozen=True)
class LikelyPerson:
    """A column that may identify people."""

    name: str
    agrees: bool  # whether records with one value agree in what does not change about a person
    shares: npt.NDArray[np.float64]  # of the records that have each value

    def matters(self, found: Records, sizes: Records, k: int) -> bool:
        """Whether to report how few of its values a group has; `found` has their number for every group.

        If records with one value do not agree, like those of a doctor or of namesakes, only groups with a single value
        matter, and only if there are many more than groups of these sizes would have by chance.
        """
        if self.agrees:
            return bool(found.min() < k)
        some, number = np.unique(sizes, return_counts=True)
        by_chance = sum(
            own * float((self.shares**size).sum()) for size, own in zip(some, number, strict=True)
        )
        return bool(by_chance < UNUSUAL * np.count_nonzero(found == 1))


def most_likely_person(numbered: Mapping[str, tuple[Records, Ints]]) -> LikelyPerson | None:
    """The column that repeats like a person with several records; None if there is none.

    For every identifier, there is a number of each record's value, without gaps, and the record's quasi-identifiers.
    Records of one person agree in what does not change, like the year of birth. Among identifiers whose records always
    agree, the one with the fewest values identifies people, and the others identify visits or devices. Otherwise, it is
    the identifier whose records agree most.
    """
    ranks = {}
    for name, (own, codes) in numbered.items():
        records, persons = own.size, int(own.max(initial=-1)) + 1
        if persons < 2 or not records / MOST_RECORDS <= persons < records:
            continue  # each value has one record, or very many, so it identifies nobody
        varied = [column for column in codes.T if np.ptp(column)]
        agreeing = max((agreement(own, column) or 0.0 for column in varied), default=0.0)
        if agreeing >= ALWAYS:
            ranks[name] = (2.0, -float(persons))
        elif agreeing >= AGREEING or records >= REPEATING * persons:
            ranks[name] = (agreeing, float(persons))
    if not ranks:
        return None
    best = max(ranks, key=lambda name: ranks[name])
    own = numbered[best][0]
    return LikelyPerson(best, ranks[best][0] >= AGREEING, np.bincount(own) / own.size)


def agreement(person: Records, codes: Records) -> float | None:
    """How far records of one person agree in a column: 1 completely, 0 as often as any two records; None without pairs.

    Examples
    --------
    >>> agreement(np.array([0, 0, 1, 1]), np.array([5, 5, 6, 6]))
    1.0
    """
    known = (person >= 0) & (codes >= 0)
    person, codes = person[known], codes[known]
    pairs = _pairs(person)
    if not pairs or person.size < 2:
        return None
    width = int(codes.max()) + 1
    same = _pairs(person * width + codes) / pairs
    by_chance = _pairs(codes) / (person.size * (person.size - 1.0))
    return 1.0 if by_chance >= 1 else (same - by_chance) / (1 - by_chance)


def _pairs(numbers: Records) -> float:
    counts = np.unique(numbers, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum())


def _numbered(values: pa.ChunkedArray) -> Records:
    """A number for the value of each record, without gaps; each missing value has its own."""
    try:
        encoded = plain_column(values).combine_chunks().dictionary_encode()
    except pa.ArrowNotImplementedError:
        texts = [None if value is None else repr(value) for value in values.to_pylist()]
        encoded = pa.array(texts, type=pa.string()).dictionary_encode()
    codes = np.asarray(encoded.indices.cast(pa.int64()).fill_null(-1)).copy()
    unknown = np.flatnonzero(codes < 0)
    codes[unknown] = len(encoded.dictionary) + np.arange(unknown.size)
    return codes
