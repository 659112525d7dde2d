"""The audit of a large release: the engine counts what stands in the staged table, the audit judges the counts."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from shoal.auditing.groups import examine_frame
from shoal.auditing.verdict import Verdict, refuse_identifiers
from shoal.engines.base import RESERVED, Engine, Lazy
from shoal.examine import promises
from shoal.settings import Settings
from shoal.table.render import bound_names

COUNT = f"{RESERVED}count"


def examine_staged(engine: Engine, staged: Lazy, settings: Settings) -> Verdict:
    """Audit a staged release by what its columns read."""
    names = staged.collect_schema().names()
    refuse_identifiers(names, settings.removed)
    asked = [name for item in settings.requirements for name in item.over(settings.sensitive)]
    wanted = [
        released
        for name in settings.quasi_identifiers
        for released in (name, *bound_names(name))
        if released in names
    ]
    wanted = list(dict.fromkeys([*wanted, *(name for name in asked if name in names)]))
    counted = staged.group_by(*wanted).agg(nw.len().cast(nw.Int64).alias(COUNT))
    found = engine.collect(counted)
    counts = found.get_column(COUNT).to_numpy().astype(np.int64)
    return examine_frame(found.drop(COUNT), **promises(settings), counts=counts)
