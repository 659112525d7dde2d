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

from shoal.errors import AuditFailed, raise_problems


@dataclass(frozen=True)
class Audit:
    """What was proved of a released table."""

    records: int
    groups: int
    k: int  # records in the smallest group


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
            problems.append(
                f"Quasi-identifier '{name}' is not in the table; audit a table that has it."
            )
        else:
            columns.extend(released)
    raise_problems(problems)
    leaked = [name for name in identifiers if name in frame.columns]
    if leaked:
        raise AuditFailed(
            f"Identifier column(s) {', '.join(leaked)} are in the table; remove them."
        )
    keys = pa.table({str(i): frame.get_column(name).to_arrow() for i, name in enumerate(columns)})
    if not keys.num_rows:
        return Audit(0, 0, 0)
    sizes = keys.group_by(keys.column_names).aggregate([([], "count_all")])["count_all"]
    smallest = pc.min(sizes).as_py()
    if smallest < k:
        small = pc.sum(pc.less(sizes, k)).as_py()
        raise AuditFailed(
            f"{small} of {len(sizes)} groups have fewer than k = {k} records (the smallest has {smallest}); "
            "do not release this table."
        )
    return Audit(keys.num_rows, len(sizes), smallest)
