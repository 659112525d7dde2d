"""The audit of a large release: the engine counts what stands in the staged table, the audit judges the counts."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw

from shoal.auditing.examination import Examination
from shoal.engines.base import RESERVED, Engine, Lazy
from shoal.engines.names import inner, outer
from shoal.examine import counted_columns, examine_coarsened, examine_counted
from shoal.settings import Settings

COUNT = f"{RESERVED}count"


def alone_in(engine: Engine, staged: Lazy, columns: Sequence[str]) -> int:
    """Records of a staged release whose combination of some columns no other record has."""
    values = staged.group_by(*map(inner, columns)).agg(nw.len().alias(COUNT))
    found = engine.arrow(values.filter(nw.col(COUNT) == 1).select(nw.len().alias(COUNT)))
    return int(found[COUNT][0].as_py())


def examine_staged(engine: Engine, staged: Lazy, settings: Settings) -> Examination:
    """Audit a staged release by what its columns read."""
    names = [outer(name) for name in staged.collect_schema().names()]
    wanted = counted_columns(names, settings)
    for name in (name for name in settings.coarsen if name in names):
        values = staged.group_by(inner(name)).agg(nw.len().alias(COUNT))
        examine_coarsened(engine.collect(values).drop(COUNT), settings)
    counted = staged.group_by(*map(inner, wanted)).agg(nw.len().cast(nw.Int64).alias(COUNT))
    return examine_counted(engine.collect(counted), COUNT, settings)
