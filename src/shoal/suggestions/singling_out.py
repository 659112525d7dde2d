"""How many records columns identify, alone and together, and which column identifies people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.risk.patterns import are_names_of_persons
from shoal.risk.persons import agreement
from shoal.suggestions import words
from shoal.suggestions.findings import A_PERSON, FEW, IDENTIFIER, QUASI, RoleGuess
from shoal.suggestions.profile import Profile
from shoal.suggestions.reading import Counts

RANKED = 50_000  # records, drawn from larger tables, by which columns are compared
PAIRED = 8  # columns of which all pairs and triples are compared
SHOWN = 3  # sets of each size that are reported
MOST_CELLS = 1 << 22  # numbers up to which groups are counted without sorting


@dataclass(frozen=True)
class Singled:
    """What columns together distinguish.

    `unique` is the share of records whose values no other record has, `distinction` the number of distinct
    combinations per record, `separation` the share of all pairs of records that differ.
    """

    columns: tuple[str, ...]
    unique: float
    distinction: float
    separation: float


class Grouping:
    """Records by their values in some columns; a missing value is a value of its own."""

    def __init__(self, records: int) -> None:
        self.records = records
        self.columns: tuple[str, ...] = ()
        self._numbers = np.zeros(records, dtype=np.int64)
        self._size = 1

    def with_column(self, name: str, codes: Counts) -> Grouping:
        """The same records, also by another column."""
        numbers, size = self._joined(codes)
        if size > MOST_CELLS:
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
        else:
            occurs = np.bincount(numbers, minlength=1) > 0
            numbers = (np.cumsum(occurs) - 1)[numbers]
        found = Grouping(self.records)
        found.columns = (*self.columns, name)
        found._numbers = numbers
        found._size = int(numbers.max(initial=0)) + 1
        return found

    def _joined(self, codes: Counts) -> tuple[Counts, int]:
        """A number for each record by these columns and another one, and how many numbers there can be."""
        width = int(codes.max(initial=-1)) + 2
        return self._numbers * width + (codes + 1), self._size * width

    def sizes(self, codes: Counts | None = None) -> Counts:
        """The numbers of records that agree, if another column counts as well."""
        numbers, size = self._numbers, self._size
        if codes is not None:
            numbers, size = self._joined(codes)
        if size > MOST_CELLS:
            return np.unique(numbers, return_counts=True)[1]
        counts = np.bincount(numbers, minlength=size)
        return counts[counts > 0]

    def singled(self) -> Singled:
        return Singled(self.columns, *_figures(self.sizes(), self.records))


def _figures(sizes: Counts, records: int) -> tuple[float, float, float]:
    unique = np.count_nonzero(sizes == 1) / max(1, records)
    pairs = float(records) * (records - 1)
    same = float((sizes.astype(np.float64) * (sizes - 1)).sum())
    return float(unique), sizes.size / max(1, records), 1 - same / pairs if pairs else 0.0


def group_by(codes: Mapping[str, Counts], names: Sequence[str], records: int) -> Grouping:
    """Records by their values in some columns."""
    found = Grouping(records)
    for name in names:
        found = found.with_column(name, codes[name])
    return found


def gain(before: Grouping, codes: Counts) -> tuple[float, float]:
    """What a column adds to others: records identified, and pairs distinguished, as shares, rounded."""
    unique, _, separation = _figures(before.sizes(codes), before.records)
    plain = _figures(before.sizes(), before.records)
    return round(unique - plain[0], 9), round(separation - plain[2], 9)


def greedy_columns(
    start: Grouping, codes: Mapping[str, Counts], names: Sequence[str], most: int
) -> tuple[Grouping, list[str]]:
    """Add a limited number of columns one by one, each time the one that identifies most further records.

    Ties are broken by the pairs that columns separate, then by their order.
    """
    left, found = list(names), start
    added: list[str] = []
    while left and len(added) < most:
        gains = {name: gain(found, codes[name]) for name in left}
        best = max(left, key=gains.__getitem__)
        found = found.with_column(best, codes[best])
        left.remove(best)
        added.append(best)
    return found, added


def ranking(codes: Mapping[str, Counts], names: Sequence[str], records: int) -> tuple[Singled, ...]:
    """All columns alone, then the pairs and triples that identify most records, in descending order."""
    alone = _ranked([group_by(codes, [name], records).singled() for name in names])
    first = [single.columns[0] for single in alone[:PAIRED]]
    found = list(alone)
    for size in (2, 3):
        sets = [group_by(codes, some, records).singled() for some in combinations(first, size)]
        found += _ranked(sets)[:SHOWN]
    return tuple(found)


def _ranked(sets: list[Singled]) -> list[Singled]:
    return sorted(sets, key=lambda s: (-s.unique, -s.separation, s.columns))


def sample_of(records: int) -> Counts | None:
    """The records by which columns are compared, None for all; drawn with a fixed seed, so that results repeat."""
    if records <= RANKED:
        return None
    return np.sort(np.random.default_rng(0).choice(records, RANKED, replace=False))


REPEATED = 0.98  # distinct values per record, up to which an identifier repeats
KNOWN = 0.5  # share of records with a value
AGREED = 0.8  # how far records of one value agree in birth, sex and origin: 0 like strangers, 1 completely
NAMED_AGREED = 0.5  # the same if the name also suggests a person
LASTING = (words.BIRTH.plain, words.SEX.plain, words.RACE.plain)  # what a person's records agree in


def person_columns(profiles: Mapping[str, Profile], verdicts: Mapping[str, RoleGuess]) -> list[str]:
    """Identifiers that repeat like those of people with several records, the most likely first."""
    lasting = [
        profiles[name].found.codes
        for name, verdict in verdicts.items()
        if verdict.role == QUASI and verdict.about in LASTING and profiles[name].distinct > 1
    ]
    found = []
    for name, profile in profiles.items():
        if verdicts[name].role != IDENTIFIER or not _repeats(profile) or _is_other(profile):
            continue
        each = [agreement(profile.found.codes, codes) for codes in lasting]
        agreed = [share for share in each if share is not None]
        if _is_person(profile, verdicts[name], float(np.mean(agreed)) if agreed else None):
            found.append(profile)
    return [p.name for p in sorted(found, key=lambda p: (p.distinct, not _is_named(p)))]


def _repeats(profile: Profile) -> bool:
    is_known = profile.known >= KNOWN * profile.records
    return is_known and FEW < profile.distinct < REPEATED * profile.known


def _is_other(profile: Profile) -> bool:
    """Whether a column is about another person, like a doctor or a parent."""
    return words.OTHER_PERSON.found_in(profile.words) or words.PARENT.found_in(profile.words)


def _is_named(profile: Profile) -> bool:
    """Whether a name suggests the number of a person, not the person's name, which several people may share."""
    return words.PERSON.found_in(profile.words) and not are_names_of_persons(profile.texts)


def _is_person(profile: Profile, verdict: RoleGuess, agreed: float | None) -> bool:
    if agreed is None:
        return verdict.about == A_PERSON and not are_names_of_persons(profile.texts)
    return agreed >= (NAMED_AGREED if _is_named(profile) else AGREED)
