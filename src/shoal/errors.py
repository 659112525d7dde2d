"""What can go wrong, each with the exit code the command line gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

MOST, LONGEST = 60, 80  # names in a message, and characters of one


class ShoalError(Exception):
    """The base of every error that shoal raises on purpose."""

    exit_code = 1


class InputError(ShoalError, ValueError):
    """The table, the settings or a path cannot be used; `problems` lists every reason, one sentence each."""

    exit_code = 2

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class Infeasible(ShoalError):
    """No release of this table can meet the requirement."""

    exit_code = 3


class AuditFailed(ShoalError):
    """A table does not keep the promised requirement."""

    exit_code = 3


class Cancelled(ShoalError):
    """The work was stopped from outside; raise it from a progress function to stop a run."""


def raise_problems(problems: Iterable[str]) -> None:
    """Raise one `InputError` for all problems found, or return when there are none."""
    found = tuple(dict.fromkeys(problems))
    if found:
        raise InputError(found)


@contextmanager
def in_our_words(
    is_foreign: Callable[[Exception], bool], sentence: Callable[[Exception], str]
) -> Iterator[None]:
    """Turn what a library raises into one sentence of ours, from which nothing of its own words can be had."""
    try:
        yield
    except ShoalError:
        raise
    except Exception as error:
        if not is_foreign(error):
            raise
        raise InputError(sentence(error)) from None


def shown(value: Any) -> str:
    """A wrong value as a message may show it: anything that might hold cells by its type only."""
    is_plain = isinstance(value, str | int | float | None)
    return repr(value) if is_plain else f"a value of type {type(value).__name__}"


def near_miss(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant: "; did you mean 'zip'?", or nothing."""
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def listed(names: Iterable[str]) -> str:
    """Names in a row, as many and as much of each as a message can bear."""
    known = list(names)
    shown_names = [name if len(name) <= LONGEST else f"{name[:LONGEST]}…" for name in known[:MOST]]
    more = f" and {len(known) - MOST:,} more" if len(known) > MOST else ""
    return ", ".join(shown_names) + more
