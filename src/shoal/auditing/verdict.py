"""The verdict on a whole release, in one of three states: protected, proved for some columns only, not proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["protected", "proved for some columns only", "not proved"]

TITLES = {
    "protected": "✓ Protected",
    "proved for some columns only": "! Proved for some columns only",
    "not proved": "✗ Not proved",
}
MOST_NAMES, LONGEST = 12, 80  # columns that a sentence names, and characters of each


@dataclass(frozen=True)
class Unprotected:
    """Released columns that nothing protects, and the people they identify together with the quasi-identifiers.

    Attributes
    ----------
    columns
        Kept columns, columns without a role, and sensitive ones that are nearly unique, identifiers or free text.
    identified
        People whose combination of these columns and the released quasi-identifiers nobody else has.
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
        What else keeps it from being protected.
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
        """This verdict as dicts, lists, texts and numbers, ready for JSON."""
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

    Parameters
    ----------
    promise
        What is proved where nothing fails, without a full stop: "Every record looks the same as at least 9 others".
    k
        What was required; 1 protects nobody.
    failures
        Requirements that are not met.
    unprotected
        Columns that nothing protects, with the people they identify.
    leaks
        What released columns give away although somebody allowed it, a sentence each.
    persons
        Why nothing is proved for people who have several records, a sentence each.
    """
    open_columns = unprotected or Unprotected()
    if failures:
        sentence = "This table does not meet its requirements; do not release it."
        return Verdict("not proved", sentence, (), tuple(failures), open_columns)
    if k < 2:
        sentence = (
            "With k = 1 any record may be unique, so nothing is protected. Choose k of at least 2."
        )
        return Verdict("not proved", sentence, (), (), open_columns)
    reasons = [*_identified(open_columns), *persons, *leaks]
    if reasons:
        first, *others = reasons
        return Verdict("proved for some columns only", first, tuple(others), (), open_columns)
    return Verdict("protected", f"{promise}{_within(open_columns)}.", (), (), open_columns)


def _identified(found: Unprotected) -> list[str]:
    """That columns identify more people than the limit says."""
    if found.is_within:
        return []
    several = len(found.columns) > 1
    what = (
        f"the {len(found.columns):,} unprotected columns ({_names(found.columns)})"
        if several
        else f"the unprotected column {_names(found.columns)}"
    )
    return [
        f"Anyone who knows {what} of a person, besides the quasi-identifiers, can identify {found.identified:,} of "
        f"{found.of:,} people."
    ]


def _within(found: Unprotected) -> str:
    """What unprotected columns identify within the limit."""
    if not found.columns:
        return ""
    names = _names(found.columns)
    if not found.identified:
        return f"; the unprotected columns ({names}) identify nobody"
    return (
        f"; the unprotected columns ({names}) identify {found.identified:,} of {found.of:,} people, within the limit "
        f"of {100 * found.limit:.4g} %"
    )


def _names(columns: Sequence[str]) -> str:
    shown = [f"'{name[:LONGEST]}'" for name in columns[:MOST_NAMES]]
    more = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
