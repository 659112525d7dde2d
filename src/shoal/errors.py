"""All errors that shoal raises on purpose, each with its exit code on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote
from typing import Any, Literal

MOST, LONGEST = 60, 80  # names in a message, and characters of each

# Why a column is not released unless someone allows it.
Reason = Literal["unique", "reveals", "identifier", "text", "person", "links", "formula"]
Allowed = Mapping[str, Sequence[str]]  # reasons by column

REASONS: dict[str, str] = {
    "unique": "its values identify people, alone or together with other columns",
    "reveals": "it reveals a quasi-identifier or follows from one",
    "identifier": "it contains names, addresses or numbers of people",
    "text": "it contains free text",
    "person": "it repeats, and a group may contain a single one of its values",
    "links": "it is a pseudonym that links several records",
    "formula": "a spreadsheet would run some of its texts as formulas",
}


class ShoalError(Exception):
    """The base class of every error that shoal raises on purpose."""

    exit_code = 1


class InputError(ShoalError, ValueError):
    """The table, the settings or a path cannot be used; `problems` lists every reason, one sentence each."""

    exit_code = 2

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class NotAvailable(InputError):
    """A table on an engine, or its release, does not support this; read the table into memory instead."""


@dataclass(frozen=True)
class Refusal:
    """Why a column is not released unless someone allows it."""

    column: str
    reason: Reason
    sentence: str  # empty if another column's sentence covers it
    identified: int = 0  # number of people whom the column identifies, alone or with others


class Refused(InputError):
    """Releasing these columns could identify people, so someone must allow it; `refusals` gives the columns and
    reasons.
    """

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__(refusal_lines(refusals))


class Infeasible(ShoalError):
    """No release of this table can meet the requirement."""

    exit_code = 3


class AuditFailed(ShoalError):
    """A table does not meet the promised requirement."""

    exit_code = 3


class Cancelled(ShoalError):
    """The work was stopped from outside; raise it in a progress function to stop a run."""


def raise_problems(problems: Iterable[str]) -> None:
    """Raise one `InputError` for all problems, or return if there are none."""
    found = tuple(dict.fromkeys(problems))
    if found:
        raise InputError(found)


@contextmanager
def added_to(problems: list[str]) -> Iterator[None]:
    """Add the problems of an `InputError` to the list, and continue after the block."""
    try:
        yield
    except InputError as error:
        problems += error.problems


def raise_refusals(refusals: Sequence[Refusal]) -> None:
    """Raise one `Refused` for all refusals, or return if there are none."""
    if refusals:
        raise Refused(refusals)


def refusal_lines(refusals: Sequence[Refusal]) -> list[str]:
    """Return refusals as sentences, with the remedy."""
    if not refusals:
        return []
    options = dict.fromkeys(f"--allow {quote(f'{own.column}:{own.reason}')}" for own in refusals)
    one = len({own.column for own in refusals}) == 1
    it, pronoun = ("the column", "it") if one else ("the columns", "them")
    them = "it a quasi-identifier" if one else "them quasi-identifiers"
    other = f"Leave {it} out, make {them}, or coarsen {pronoun} (coarsen=, --coarsen). "
    remedy = other if any(own.reason != "person" for own in refusals) else ""
    return [
        *(own.sentence for own in refusals if own.sentence),
        f"{remedy}To release it anyway, allow {pronoun} with {' '.join(options)}.",
    ]


@contextmanager
def translate_errors(
    is_foreign: Callable[[Exception], bool], sentence: Callable[[Exception], str]
) -> Iterator[None]:
    """Turn errors of a library into one sentence of ours that repeats nothing of the library's message."""
    try:
        yield
    except ShoalError:
        raise
    except Exception as error:
        if not is_foreign(error):
            raise
        raise InputError(sentence(error)) from None


def shown(value: Any) -> str:
    """Return a wrong value as a message may show it; for anything that might contain cells, only the type."""
    is_plain = isinstance(value, str | int | float | None)
    return repr(value) if is_plain else f"a value of type {type(value).__name__}"


def near_miss(name: str, known: Iterable[str]) -> str:
    """Suggest the known name that was probably meant: "; did you mean 'zip'?", or nothing."""
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def counted(number: int, noun: str = "", plural: str = "") -> str:
    """Return a number with thousands separators, followed by its noun, if one is given.

    Examples
    --------
    >>> counted(0, "record"), counted(1, "record"), counted(1234, "person", "people")
    ('0 records', '1 record', '1,234 people')
    >>> counted(1234)
    '1,234'

    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed(names: Iterable[str]) -> str:
    """Join names with commas, shortened to what fits into a message."""
    known = list(names)
    shown_names = [name if len(name) <= LONGEST else f"{name[:LONGEST]}…" for name in known[:MOST]]
    more = f" and {len(known) - MOST:,} more" if len(known) > MOST else ""
    return ", ".join(shown_names) + more
