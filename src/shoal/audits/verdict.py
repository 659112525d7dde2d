"""The result of an audit, and the verdict on a whole release: protected, proved for some columns only, not proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from math import isfinite
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.errors import AuditFailed, counted

State = Literal["protected", "proved for some columns only", "not proved"]

TITLES = {
    "protected": "✓ Protected",
    "proved for some columns only": "! Proved for some columns only",
    "not proved": "✗ Not proved",
}
MOST_NAMES, LONGEST = 12, 80  # columns named in a sentence, and characters of each


@dataclass(frozen=True)
class Unprotected:
    """Released columns that nothing protects, and the people they identify together with the quasi-identifiers.

    Attributes
    ----------
    columns
        Kept columns, columns without a role, and sensitive ones that are nearly unique, identifiers or free text.
    identified
        People with a combination of these columns and the released quasi-identifiers that nobody else has.
    of
        All people in the release.
    limit
        The share of them that may be identified in a release that counts as protected.
    """

    columns: tuple[str, ...] = ()
    identified: int = 0
    of: int = 0
    limit: float = 0.0

    @property
    def is_within(self) -> bool:
        """Whether no more people are identified than the limit says."""
        return self.identified <= self.limit * self.of


@dataclass(frozen=True)
class Verdict:
    """Whether a release is safe as a whole.

    Attributes
    ----------
    state
        "protected", "proved for some columns only" or "not proved".
    sentence
        What that means for this release.
    reasons
        Further reasons why it is not protected.
    failures
        Requirements that are not met, a sentence each.
    unprotected
        The columns that nothing protects, and how many people they identify.
    """

    state: State
    sentence: str
    reasons: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    unprotected: Unprotected = Unprotected()

    @property
    def title(self) -> str:
        """The state with its mark, as people read it."""
        return TITLES[self.state]

    @property
    def is_protected(self) -> bool:
        """Whether the release is safe in all its columns."""
        return self.state == "protected"

    @property
    def is_proved(self) -> bool:
        """Whether every requirement is met, at least for the columns that it is about."""
        return self.state != "not proved"

    def __str__(self) -> str:
        return f"{self.title}. {self.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return this verdict as dicts, lists, texts and numbers, ready for JSON."""
        unprotected = asdict(self.unprotected) | {"columns": list(self.unprotected.columns)}
        return {
            "state": self.state,
            "proved": self.is_proved,
            "sentence": self.sentence,
            "reasons": list(self.reasons),
            "failures": list(self.failures),
            "unprotected": unprotected,
        }


def judge(
    promise: str,
    k: int,
    failures: Sequence[str] = (),
    unprotected: Unprotected | None = None,
    leaks: Sequence[str] = (),
    persons: Sequence[str] = (),
) -> Verdict:
    """Judge a release.

    `promise` says what is proved if nothing fails, without a full stop: "Every record looks the same as at least 9
    others". `k` is what was required; 1 protects nobody. `failures` are requirements that are not met, and
    `unprotected` are the columns that nothing protects. `leaks` say what released columns reveal although that was
    allowed, and `persons` why nothing is proved for people who have several records.
    """
    open_columns = unprotected or Unprotected()
    if failures:
        sentence = "This table does not meet its requirements. Do not release it."
        return Verdict("not proved", sentence, (), tuple(failures), open_columns)
    if k < 2:
        sentence = (
            "With k = 1, any record may be unique, so nothing is protected. Choose k of at least 2."
        )
        return Verdict("not proved", sentence, (), (), open_columns)
    reasons = [*_identified(open_columns), *persons, *leaks]
    if reasons:
        first, *others = reasons
        return Verdict("proved for some columns only", first, tuple(others), (), open_columns)
    return Verdict("protected", f"{promise}{_within(open_columns)}.", (), (), open_columns)


def _identified(found: Unprotected) -> list[str]:
    """Say that columns identify more people than the limit allows."""
    if found.is_within:
        return []
    what = f"the unprotected column {_names(found.columns)}"
    if len(found.columns) > 1:
        what = f"the {len(found.columns):,} unprotected columns ({_names(found.columns)})"
    return [
        f"Anyone who knows {what} in addition to the quasi-identifiers can identify {found.identified:,} of "
        f"{counted(found.of, 'person', 'people')}."
    ]


def _within(found: Unprotected) -> str:
    """Say whom unprotected columns identify within the limit."""
    if not found.columns:
        return ""
    names = _names(found.columns)
    if not found.identified:
        return f"; the unprotected columns ({names}) identify nobody"
    return (
        f"; the unprotected columns ({names}) identify {found.identified:,} of "
        f"{counted(found.of, 'person', 'people')}, within the limit of {100 * found.limit:.4g} %"
    )


def _names(columns: Sequence[str]) -> str:
    shown = [f"'{name[:LONGEST]}'" for name in columns[:MOST_NAMES]]
    more = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


Places = npt.NDArray[np.int64]

_LEFT = "text-align: left"


@dataclass(frozen=True)
class Proof:
    """What was required of a sensitive column beyond k, and what the least safe group reaches.

    Attributes
    ----------
    requirement
        The requirement in words.
    required
        The level that every group must reach.
    reached
        The level of the least safe group.
    """

    requirement: str
    required: float
    reached: float


@dataclass(frozen=True)
class Persons:
    """What an identifier that repeats says about the people behind the records.

    Attributes
    ----------
    identifier
        The column.
    persons
        Its distinct values in the released records.
    smallest
        Its distinct values in the group that has fewest.
    largest_share
        The largest share of a group's records that one person has, if people are counted.
    """

    identifier: str
    persons: int
    smallest: int
    largest_share: float | None = None


@dataclass(frozen=True, repr=False)
class Audit:
    """What was proved about a released table.

    Attributes
    ----------
    records
        Records in the table.
    groups
        Groups of records that look the same.
    k
        Records in the smallest group.
    proofs
        One `Proof` for every requirement beyond k and column it is about.
    persons
        The column that most likely identifies people, if some group has fewer than k of its values: k then counts
        records, and nothing is proved for people.
    unnamed
        Columns in the table without a role; nothing is proved about them.
    person
        The column by which people, not records, were to be counted; empty if none was named.
    by_person
        What was counted of people: then `by_person.smallest` is k, and proofs are about people. None if
        `person` is empty or cannot be known from a finished table alone; then nothing is proved for people.
    verdict
        Whether the table is safe as a whole, in all its columns.
    """

    records: int
    groups: int
    k: int
    proofs: tuple[Proof, ...] = ()
    persons: tuple[Persons, ...] = ()
    unnamed: tuple[str, ...] = ()
    person: str = ""
    by_person: Persons | None = None
    verdict: Verdict | None = None

    @property
    def smallest(self) -> int:
        """The size of the smallest group: people if they were counted, else records."""
        return self.k if self.by_person is None else self.by_person.smallest

    def __repr__(self) -> str:
        more = [
            f"{name}={found}"
            for name in ("proofs", "persons", "unnamed", "person", "by_person")
            if (found := getattr(self, name))
        ]
        counted = f"records={self.records}, groups={self.groups}, k={self.k}"
        return f"Audit({', '.join([counted, *more])})"

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        rows = [
            *([] if self.verdict is None else [("verdict", str(self.verdict))]),
            ("records", f"{self.records:,}"),
            ("groups", f"{self.groups:,} (smallest: {counted(self.k, 'record')})"),
        ]
        if self.by_person is not None:
            rows.append(
                (
                    "persons",
                    f"at least {counted(self.by_person.smallest, 'person', 'people')} in every group",
                )
            )
        for proof in self.proofs:
            levels = f"{proof.reached:.4g} reached, {proof.required:.4g} required"
            rows.append(("proved", f"{proof.requirement}: {levels}"))
        if self.unnamed:
            rows.append(("without a role", ", ".join(self.unnamed)))
        body = "".join(
            f'<tr><th scope="row" style="{_LEFT}">{escape(name)}</th><td style="{_LEFT}">{escape(text)}</td></tr>'
            for name, text in rows
        )
        return f'<table><caption style="{_LEFT}">Audit</caption><tbody>{body}</tbody></table>'

    def to_dict(self) -> dict[str, Any]:
        """Return this result as dicts, lists, texts and numbers, ready for JSON."""
        counted = asdict(self)
        counted["verdict"] = None if self.verdict is None else self.verdict.to_dict()
        for proof in counted["proofs"]:
            if not isfinite(proof["reached"]):
                proof["reached"] = None  # JSON has no infinity
        return counted


@dataclass(frozen=True)
class Examination:
    """What an audit found in a table, whether or not the table meets its requirements."""

    audit: Audit  # what was counted: a proof only if nothing is missed
    # How k and then every requirement of `audit.proofs` is missed; empty if it is met.
    misses: tuple[str, ...]
    sizes: Places = field(repr=False, compare=False)  # records in each group

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for k and each requirement that is missed."""
        return tuple(f"{miss}. Do not release this table." for miss in self.misses if miss)

    @property
    def is_proved(self) -> bool:
        """Whether every requirement is met."""
        return not self.failures

    def prove(self) -> Audit:
        """Return the audit, or raise `AuditFailed` if something is missed."""
        if self.failures:
            raise AuditFailed("\n".join(self.failures))
        return self.audit

    def to_dict(self) -> dict[str, Any]:
        """Return this result as dicts, lists, texts and numbers, ready for JSON."""
        found = {"proved": self.is_proved, "failures": list(self.failures)}
        return found | self.audit.to_dict()


def refuse_identifiers(columns: Sequence[str], identifiers: Sequence[str]) -> None:
    """Fail if an identifier is in a release."""
    leaked = [name for name in identifiers if name in columns]
    if leaked:
        raise AuditFailed(
            f"{'Identifier' if len(leaked) == 1 else 'Identifiers'} {', '.join(leaked)} "
            f"{'is' if len(leaked) == 1 else 'are'} still in the release. Remove "
            f"{'this column' if len(leaked) == 1 else 'these columns'}."
        )
