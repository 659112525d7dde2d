"""What becomes of every column: none leaves a table without a role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import LONGEST


@dataclass(frozen=True)
class Roles:
    """A table's columns by what becomes of them, each in one list."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]
    replaced: tuple[str, ...] = ()  # by pseudonyms
    undecided: tuple[str, ...] = ()  # nobody said what they are

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Columns that are released as they are."""
        return (*self.sensitive, *self.kept)

    def problems(self) -> list[str]:
        """A sentence if the role of some columns is not decided."""
        if not self.undecided:
            return []
        several = len(self.undecided) > 1
        names = ", ".join(f"'{name[:LONGEST]}'" for name in self.undecided)
        return [
            f"Column{'s' if several else ''} {names} {'have' if several else 'has'} no role, so nothing is released; "
            "name each as a quasi-identifier (-q), sensitive (-s), an identifier to remove (-i) or a column to keep "
            'as it is (-x, keep=), or decide for all with others = "drop" or "keep" (--others).'
        ]


def roles_of(
    columns: Sequence[str],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    identifiers: Sequence[str],
    keep: Sequence[str],
    others: str,
    pseudonyms: Sequence[str] = (),
    person: str | None = None,
) -> Roles:
    """Give every column its role; `others` says what becomes of those that are not named.

    A column that tells persons apart is removed unless it is replaced by pseudonyms.
    """
    if person and person not in (*identifiers, *pseudonyms):
        identifiers = (*identifiers, person)
    named = {*quasi_identifiers, *sensitive, *identifiers, *keep, *pseudonyms}
    rest = tuple(name for name in columns if name not in named)
    return Roles(
        tuple(quasi_identifiers),
        tuple(sensitive),
        (*keep, *(rest if others == "keep" else ())),
        (*identifiers, *(rest if others == "drop" else ())),
        tuple(pseudonyms),
        rest if others == "refuse" else (),
    )
