"""The audit of a large release: the engine counts what stands in the staged table, the audit judges the counts."""

from __future__ import annotations

import narwhals as nw

from shoal.auditing.verdict import Verdict
from shoal.engines.base import RESERVED, Engine, Lazy
from shoal.examine import counted_columns, examine_coarsened, examine_counted
from shoal.settings import Settings

COUNT = f"{RESERVED}count"


def examine_staged(engine: Engine, staged: Lazy, settings: Settings) -> Verdict:
    """Audit a staged release by what its columns read."""
    names = staged.collect_schema().names()
    wanted = counted_columns(names, settings)
    for name in (name for name in settings.coarsen if name in names):
        values = staged.group_by(name).agg(nw.len().alias(COUNT))
        examine_coarsened(engine.collect(values).drop(COUNT), settings)
    counted = staged.group_by(*wanted).agg(nw.len().cast(nw.Int64).alias(COUNT))
    return examine_counted(engine.collect(counted), COUNT, settings)
