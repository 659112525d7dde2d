"""What unchanged columns of a large table give away, found in some of its records and in counts of them all."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from shoal.engines.base import HASHES, Engine, Lazy
from shoal.engines.columns import COUNT, HASH, Codes
from shoal.engines.names import inner
from shoal.privacy.leaks import Leaks, Whole, leaks
from shoal.settings import Settings
from shoal.table import Table
from shoal.table.roles import Roles

LOOKED_AT = 200_000  # records in which columns are compared


def leaks_in(
    engine: Engine,
    frame: Lazy,
    codes: Codes,
    table: Table,
    roles: Roles,
    settings: Settings,
) -> Leaks:
    """Everything that unchanged columns give away; `frame` is the encoded table."""
    looked_at = list(roles.unchanged)
    if not looked_at:
        return Leaks()
    share = LOOKED_AT / table.records
    part = frame if share >= 1 else frame.filter(nw.col(HASH) < int(share * HASHES))
    some = engine.collect(part.select([*map(inner, looked_at), *codes.keys]))
    keys = [some.get_column(key).to_numpy().astype(np.int64) for key in codes.keys]
    own = codes.table(codes.unpacked(keys), None)
    whole = None if share >= 1 else {name: _whole(engine, frame, name) for name in looked_at}
    found = some.select(looked_at)
    return leaks(found, own, roles.kept, settings.allow, settings.identified_limit, whole)


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
