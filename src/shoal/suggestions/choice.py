"""From the profile of each column to the roles of a table, and remarks about the table as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.models.base import is_ordered
from shoal.encoding.source import ALL_COLUMNS, Input
from shoal.encoding.type_inference import infer
from shoal.errors import counted
from shoal.report.formats import percent
from shoal.risk.leaks import predicts
from shoal.suggestions import words
from shoal.suggestions.findings import DROP, KEEP, QUASI, SENSITIVE, RoleGuess
from shoal.suggestions.profile import DATE, NUMBER, Profile
from shoal.suggestions.reading import LEAST, Counts
from shoal.suggestions.singling_out import Grouping, greedy_columns, group_by, sample_of

MOST_QUASI = 10  # most quasi-identifiers that are suggested
MORE_QUASI = 15  # the same for a table with many records
MANY = 50_000  # records of such a table
ABOUT = tuple(concept.plain for concept in (*words.CORE, *words.OUTSIDERS_KNOW))


class Chooser:
    """Roles for all columns of a table, decided step by step."""

    def __init__(
        self,
        profiles: Mapping[str, Profile],
        verdicts: Mapping[str, RoleGuess | None],
        input: Input,
    ) -> None:
        self.profiles = profiles
        self.found: dict[str, RoleGuess] = {n: v for n, v in verdicts.items() if v is not None}
        self.undecided = [name for name, verdict in verdicts.items() if verdict is None]
        self.input = input
        self.records = next((p.records for p in profiles.values()), 0)
        self.most = MORE_QUASI if self.records >= MANY else MOST_QUASI
        self._known_ranks: dict[str, Counts] = {}

    @cached_property
    def codes(self) -> dict[str, Counts]:
        """All columns as numbers, of the records by which they are compared."""
        some = sample_of(self.records)
        return {
            name: profile.found.codes if some is None else profile.found.codes[some]
            for name, profile in self.profiles.items()
        }

    @property
    def compared(self) -> int:
        """The number of records by which columns are compared."""
        return next((codes.size for codes in self.codes.values()), 0)

    @property
    def quasi_identifiers(self) -> list[str]:
        return [name for name in self.profiles if self._role(name) == QUASI]

    def _role(self, name: str) -> str | None:
        return self.found[name].role if name in self.found else None

    def choose(self) -> dict[str, RoleGuess]:
        """A verdict for every column."""
        self._leave_out_copies()
        self._limit_known()
        self._leave_out_the_rest()
        for _ in range(len(self.profiles)):
            if not self._protect_what_betrays():
                break
        self._find_one()
        return {name: self.found[name] for name in self.profiles}

    def _leave_out_copies(self) -> None:
        """Of two quasi-identifiers that determine each other, one is enough."""
        known = self.quasi_identifiers
        for place, name in enumerate(known):
            for other in known[:place]:
                if self._role(other) == QUASI and self._are_copies(name, other):
                    reason = (
                        f"{self.found[name].reason}; left out, because '{_short(other)}' contains the same "
                        "information"
                    )
                    self.found[name] = RoleGuess(DROP, reason, is_sure=False)
                    break

    def _are_copies(self, name: str, other: str) -> bool:
        if self.profiles[name].distinct != self.profiles[other].distinct:
            return False
        one, two = self._ranks(name), self._ranks(other)
        return predicts(one, two, False) and predicts(two, one, False)

    def _limit_known(self) -> None:
        """Limit quasi-identifiers: one for each topic first, then those that identify most records."""
        known = self.quasi_identifiers
        start = self._grouping([])
        chosen: list[str] = []
        for about in dict.fromkeys((*ABOUT, *(self.found[name].about for name in known))):
            same = [name for name in known if self.found[name].about == about]
            start, first = greedy_columns(start, self.codes, same, min(1, self.most - len(chosen)))
            chosen += first
        rest = [name for name in known if name not in chosen]
        chosen += greedy_columns(start, self.codes, rest, self.most - len(chosen))[1]
        for name in known:
            if name not in chosen:
                reason = f"{self.found[name].reason}; left out, because {self.most} quasi-identifiers are enough"
                self.found[name] = RoleGuess(DROP, reason, is_sure=False)

    def _leave_out_the_rest(self) -> None:
        """Leave out columns of unknown meaning, because outsiders might know them."""
        for name in self.undecided:
            profile = self.profiles[name]
            rare = int(profile.found.counts[profile.found.counts < LEAST].sum())
            what = f"unknown column with {counted(profile.distinct, 'value')}"
            if rare:
                what += f"; {percent(rare / self.records)} of the records have a rare one"
            self.found[name] = RoleGuess(DROP, what, is_sure=False, is_unknown=True)

    def _protect_what_betrays(self) -> bool:
        """Generalize or leave out unchanged columns that reveal a quasi-identifier or follow from one."""
        changed = False
        quasi = self.quasi_identifiers
        for name, verdict in list(self.found.items()):
            if verdict.role not in (KEEP, SENSITIVE) or self.profiles[name].distinct < 2:
                continue
            told = next((other for other in quasi if self._betrays(name, other)), None)
            if told is None:
                continue
            changed = True
            reason = f"it reveals '{_short(told)}' or follows from it, so it cannot be released unchanged"
            if verdict.role == SENSITIVE:
                reason = f"{verdict.reason}, but {reason}"
            role = QUASI if len(quasi) < self.most else DROP
            self.found[name] = RoleGuess(role, reason, is_sure=False)
            if role == QUASI:
                quasi.append(name)
        return changed

    def _betrays(self, name: str, other: str) -> bool:
        one, two = self._ranks(name), self._ranks(other)
        in_order = self._is_in_order(name) and self._is_in_order(other)
        return predicts(one, two, in_order) or predicts(two, one, in_order)

    def _is_in_order(self, name: str) -> bool:
        return self.profiles[name].kind in (NUMBER, DATE) and is_ordered(self.profiles[name].typed)

    def _ranks(self, name: str) -> Counts:
        """A column as numbers from 0 on, in the order of its values where they have one."""
        if name not in self._known_ranks:
            codes = self.profiles[name].found.codes
            if self._is_in_order(name):
                values = self.profiles[name].found.values
                if pa.types.is_large_string(values.type):
                    values = infer(values, self.input.of_column(name))
                rank = np.asarray(pc.rank(values, tiebreaker="dense")).astype(np.int64)
                codes = np.append(rank, 0)[codes]
            else:
                codes = codes + 1
            self._known_ranks[name] = codes
        return self._known_ranks[name]

    def _find_one(self) -> None:
        """Suggest at least one quasi-identifier if there is a column for it."""
        if self.quasi_identifiers:
            return
        unsure = [
            name
            for name, verdict in self.found.items()
            if verdict.role == DROP and not verdict.is_sure and self.profiles[name].distinct > 1
        ]
        known = [name for name in unsure if not self.found[name].is_unknown]
        _, added = greedy_columns(self._grouping([]), self.codes, known or unsure, 3)
        for name in added:
            reason = f"{self.found[name].reason}; nothing else can be generalized"
            self.found[name] = RoleGuess(QUASI, reason, is_sure=False)

    def _grouping(self, names: list[str]) -> Grouping:
        return group_by(self.codes, names, self.compared)


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:40]}…"


Missing = tuple[str, ...] | Mapping[str, tuple[str, ...]]

TOLD = 0.001  # share of records that kept columns identify above which a remark says so
RELEASED = (QUASI, SENSITIVE)  # roles whose missing values are listed


def missing_texts(
    profiles: Mapping[str, Profile], verdicts: Mapping[str, RoleGuess], given: Input
) -> tuple[Missing, list[str]]:
    """Texts that mean "missing", added to those given, and remarks on those of some columns only.

    A text that is a value in another column is listed only for its own columns.
    """
    released = {n: p for n, p in profiles.items() if verdicts[n].role in RELEASED}
    found: dict[str, list[str]] = {}
    for name, profile in released.items():
        for text in profile.missing:
            found.setdefault(text, []).append(name)
    said = given.missing
    texts = dict(said) if isinstance(said, Mapping) else {ALL_COLUMNS: said}
    remarks = []
    for text, where in found.items():
        others = [
            name
            for name, profile in released.items()
            if name not in where and text not in profile.maybe_missing and _holds(profile, text)
        ]
        for name in where if others else [ALL_COLUMNS]:
            texts[name] = tuple(dict.fromkeys((*texts.get(name, ()), text)))
        if others:
            remarks.append(
                f'{text} looks like "missing" in {_listed(where)} but like a real value in {_listed(others)}, so '
                f"it counts as missing in {_listed(where)} only."
            )
    texts = {name: own for name, own in texts.items() if own}
    return (texts if texts.keys() - {ALL_COLUMNS} else texts.get(ALL_COLUMNS, ())), remarks


def _holds(profile: Profile, text: str) -> bool:
    return len(profile.found.without([text]).values) < profile.distinct


def _listed(names: list[str]) -> str:
    shown_names = ", ".join(f"'{name[:40]}'" for name in names[:3])
    return shown_names + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def about_persons(profiles: Mapping[str, Profile], persons: list[str]) -> list[str]:
    """Report that people have several records, and what to do about it."""
    if not persons:
        return []
    profile = profiles[persons[0]]
    return [
        f"Column '{profile.name[:40]}' has {counted(profile.distinct, 'value')} in "
        f"{counted(profile.known, 'record')}, so people probably have several records. "
        + (
            "It is set as 'person', so that k counts people instead of records."
            if profile.known == profile.records
            else "k counts records, so a group may be a single person. Give every record the number of its person, "
            "and set the column as 'person'."
        )
    ]


def about_kept(chooser: Chooser, verdicts: Mapping[str, RoleGuess]) -> list[str]:
    """Report how many records all unchanged columns together identify."""
    kept = [name for name, verdict in verdicts.items() if verdict.role == KEEP]
    if not kept:
        return []
    alone = group_by(chooser.codes, kept, chooser.compared).singled()
    if alone.unique < TOLD:
        return []
    known = f"all {len(kept)} kept columns" if len(kept) > 1 else "the kept column"
    return [
        f"Anyone who knows {known} can identify {percent(alone.unique)} of the records. Keep only columns "
        "that nobody outside can know."
    ]
