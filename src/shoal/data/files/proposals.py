"""What is unclear about a file, each with the options that settle it: asked in one message, never decided silently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any, TypeVar

from shoal.encoding.source import Input
from shoal.errors import InputError

MOST = 8  # findings about one file

Found = TypeVar("Found")


@dataclass(frozen=True)
class Finding:
    """Something about a file that the user must settle; texts show no cell of it."""

    question: str  # with the remedy
    remark: str  # what `shoal init` says after it applied the changes
    changes: Mapping[str, Any]  # of fields of `Input`


class Proposal(InputError):
    """A file cannot be read as it is, but with the changes of these findings it can."""

    def __init__(self, *findings: Finding) -> None:
        self.findings = findings
        sentences = [found.question for found in findings]
        if len(findings) > 1:
            sentences.append(f"Together: {' '.join(flags_of(self.changes))}")
        super().__init__(sentences)

    @property
    def changes(self) -> dict[str, Any]:
        """The changes of all findings."""
        return {name: value for found in self.findings for name, value in found.changes.items()}


def flags_of(changes: Mapping[str, Any]) -> list[str]:
    """Changes as options of the command line, quoted for a shell."""
    flags = []
    for name, value in changes.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, Mapping):
            flags += [f"{flag} {quote(f'{key}:{own}')}" for key, own in value.items()]
        elif isinstance(value, tuple):
            flags.append(f"{flag} {','.join(map(str, value)) or 0}")
        else:
            flags.append(f"{flag} {quote(str(value))}")
    return flags


def with_all_findings(read: Callable[[Input], Found], input: Input) -> Found:
    """Read a file; if something is unclear, look for everything else that is, so that one message asks it all."""
    findings: list[Finding] = []
    given = input
    while True:
        try:
            found = read(given)
        except Proposal as proposal:
            new = [own for own in proposal.findings if own.changes.keys() - _said(findings)]
            if not new or len(findings) >= MOST:
                break
            findings += new
            given = replace(given, **proposal.changes)
        except InputError:  # what is wrong beyond that is for the next attempt
            if not findings:
                raise
            break
        else:
            if not findings:
                return found
            break
    raise Proposal(*findings)


def _said(findings: list[Finding]) -> set[str]:
    return {name for found in findings for name in found.changes}
