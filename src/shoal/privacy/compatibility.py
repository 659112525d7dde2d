"""The audit of releases whose records do not read the same: each must still be one of at least k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels.compatibility import weigh_compatible
from shoal.measures import compile_measure
from shoal.privacy.audit import Audit, Verdict, refuse_identifiers
from shoal.table import Table
from shoal.table.frames import Frame
from shoal.table.render import read_release
from shoal.table.rows import distinct_rows


def examine_compatibility(
    table: Table, frame: Frame, k: int, identifiers: Sequence[str] = ()
) -> Verdict:
    """Count whether every released record may be k records of the table, and every record k released ones.

    The order of released records does not matter.

    Raises
    ------
    AuditFailed
        If an identifier is still there.
    """
    refuse_identifiers(frame.columns, identifiers)
    released = read_release(table, frame)
    found = distinct_rows(table.codes)
    points, weights = table.codes[found.first], found.counts
    arrays = compile_measure("suppressed", table.columns).arrays
    sizes = released.sizes.astype(np.int64)
    of_closure, of_point = weigh_compatible(arrays, released.closures, sizes, points, weights)
    smallest = int(min(of_closure.min(), of_point.min()))
    miss = f"A record has only {smallest} possible counterparts and k = {k}" if smallest < k else ""
    return Verdict(Audit(table.records, sizes.size, smallest), (miss,), sizes)
