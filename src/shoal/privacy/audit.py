"""The independent verifier: proves a requirement from the released columns alone.

It shares no code with encoding, methods or kernels: a plain group-by on the finished table. Null is a
value of its own, never a wildcard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import AuditFailed, InputError, near_miss, raise_problems
from shoal.table.frames import arrow_values


@dataclass(frozen=True)
class Audit:
    """What was proved of a released table."""

    records: int
    groups: int
    k: int  # records in the smallest group


def refuse_identifiers(frame: nw.DataFrame[Any], identifiers: Sequence[str]) -> None:
    """Fail if an identifier is in a table."""
    leaked = [name for name in identifiers if name in frame.columns]
    if leaked:
        raise AuditFailed(
            f"Identifier column(s) {', '.join(leaked)} are in the table; remove them."
        )


def audit_frame(
    frame: nw.DataFrame[Any],
    quasi_identifiers: Sequence[str],
    k: int,
    identifiers: Sequence[str] = (),
) -> Audit:
    """Prove that every combination of released quasi-identifiers occurs at least k times.

    A quasi-identifier may be released under its own name or as `NAME_min` and `NAME_max`.

    Raises
    ------
    AuditFailed
        If a group is smaller than k or an identifier is still there.
    """
    columns: list[str] = []
    problems: list[str] = []
    for name in quasi_identifiers:
        released = [name] if name in frame.columns else [f"{name}_min", f"{name}_max"]
        missing = [column for column in released if column not in frame.columns]
        if missing:
            remedy = near_miss(name, frame.columns) or "; audit a table that has it."
            problems.append(f"Quasi-identifier '{name}' is not in the table{remedy}")
        else:
            columns.extend(released)
    if not frame.shape[0]:
        problems.append("The table has no records; there is nothing to prove.")
    raise_problems(problems)
    refuse_identifiers(frame, identifiers)
    keys = pa.table({str(i): arrow_values(frame, name) for i, name in enumerate(columns)})
    try:
        sizes = keys.group_by(keys.column_names).aggregate([([], "count_all")])["count_all"]
    except pa.ArrowNotImplementedError:
        raise InputError(
            "A quasi-identifier holds lists, structures or objects; convert it to numbers, dates or text."
        ) from None
    smallest = pc.min(sizes).as_py()
    if smallest < k:
        small = pc.sum(pc.less(sizes, k)).as_py()
        raise AuditFailed(
            f"{small} of {len(sizes)} groups have fewer than k = {k} records (the smallest has {smallest}); "
            "do not release this table."
        )
    return Audit(keys.num_rows, len(sizes), smallest)
