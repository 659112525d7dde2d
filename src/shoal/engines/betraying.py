"""What unchanged columns of a large table betray, found in a part of its records and in counts of them all."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from shoal.engines.base import HASHES, Engine, Lazy
from shoal.engines.columns import COUNT, HASH, Codes
from shoal.engines.names import inner
from shoal.privacy.betrayal import Whole, betrayals
from shoal.table import Table
from shoal.table.roles import Roles

LOOKED_AT = 200_000  # records in which columns are compared


def betrayed(
    engine: Engine,
    frame: Lazy,
    codes: Codes,
    table: Table,
    roles: Roles,
    allow: Sequence[str],
) -> list[str]:
    """Sentences for everything that unchanged columns betray and nobody allowed; `frame` is the encoded table."""
    looked_at = [name for name in roles.unchanged if name not in allow]
    if not looked_at:
        return []
    share = LOOKED_AT / table.records
    part = frame if share >= 1 else frame.filter(nw.col(HASH) < int(share * HASHES))
    some = engine.collect(part.select([*map(inner, looked_at), *codes.keys]))
    keys = [some.get_column(key).to_numpy().astype(np.int64) for key in codes.keys]
    own = codes.table(codes.unpacked(keys), None)
    whole = None if share >= 1 else {name: _whole(engine, frame, name) for name in looked_at}
    kept = [name for name in roles.kept if name in looked_at]
    return betrayals(some.select(looked_at), own, kept, allow, whole)


def _whole(engine: Engine, frame: Lazy, name: str) -> Whole:
    """How many records a column has, how many values, and how many of those only once."""
    values = frame.group_by(inner(name)).agg(nw.len().cast(nw.Int64).alias(COUNT))
    found = engine.arrow(
        values.select(
            nw.col(COUNT).sum().alias("records"),
            nw.len().alias("distinct"),
            (nw.col(COUNT) == 1).cast(nw.Int64).sum().alias("alone"),
        )
    )
    records, distinct, alone = (int(found[key][0].as_py() or 0) for key in found.column_names)
    return Whole(records, distinct, alone)
