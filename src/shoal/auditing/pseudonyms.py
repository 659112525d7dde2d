"""The audit of columns that were replaced by pseudonyms: what they read, and that no original value is left.

It shares no code with what makes pseudonyms, and knows no key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from shoal.auditing.cells import Cells, read_cells
from shoal.auditing.texts import same_text
from shoal.errors import AuditFailed

_PSEUDONYM = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Replaced:
    """What must be known of columns that pseudonyms replace: which of them may link records, and their values."""

    columns: tuple[str, ...]
    may_repeat: tuple[str, ...] = ()
    # None where the original table is not known.
    originals: Mapping[str, frozenset[str]] | None = None


def read_replaced(
    table: nw.DataFrame[Any], columns: Sequence[str], may_repeat: Sequence[str]
) -> Replaced:
    """Read the original values of the columns that a release of this table replaces."""
    originals = {
        name: frozenset(same_text(text) for text in read_cells(table, name).texts if text)
        for name in columns
    }
    return Replaced(tuple(columns), tuple(may_repeat), originals)


def prove_replaced(frame: nw.DataFrame[Any], replaced: Replaced) -> None:
    """Fail unless each column holds nothing but pseudonyms, no original value, and none twice unless that is allowed.

    Raises
    ------
    AuditFailed
        With a sentence for every column that does not.
    """
    found = [
        sentence
        for name in replaced.columns
        if name in frame.columns
        for sentence in _failures(name, read_cells(frame, name), replaced)
    ]
    if found:
        raise AuditFailed("\n".join(found))


def _failures(name: str, cells: Cells, replaced: Replaced) -> list[str]:
    texts = [text for text in cells.texts if text is not None]
    found = []
    if not all(_PSEUDONYM.fullmatch(text) for text in texts):
        found.append(
            f"Column '{name}' holds something else than pseudonyms; do not release this table."
        )
    original = (replaced.originals or {}).get(name, frozenset())
    if any(same_text(text) in original for text in texts):
        found.append(f"Column '{name}' holds original identifiers; do not release this table.")
    counts = np.bincount(cells.places, minlength=len(cells.texts))
    repeats = any(
        count > 1 and text is not None for count, text in zip(counts, cells.texts, strict=True)
    )
    if repeats and name not in replaced.may_repeat:
        found.append(
            f"A pseudonym of column '{name}' stands in several records and links them, which nobody allowed; "
            "do not release this table."
        )
    return found
