"""`shoal.loss`: a measure of information loss for any table and release, frames or files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from shoal.data.open import AnyTable, open_table
from shoal.encoding.closed import Closed
from shoal.encoding.models import Model
from shoal.encoding.other_columns import coarsened
from shoal.encoding.render import read_closed_groups, single_problems
from shoal.errors import counted, raise_problems
from shoal.kernels.shared.groups import count_outside
from shoal.pipeline.carriers.memory import encode_source
from shoal.settings.settings import WMI, Settings, make_settings, name_of
from shoal.solve.measures import Aggregate, MeasureName, compile_measure
from shoal.solve.measures import compute_loss as measure_loss


def loss(
    table: AnyTable,
    release: AnyTable,
    measure: MeasureName | WMI,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    k: int | None = None,
    aggregate: Aggregate | None = None,
) -> float:
    """Compute a measure of information loss for any release of a table, with records in the same order.

    Parameters
    ----------
    table
        A frame or the path of a file.
    release
        A release of it, shoal's or not, with records in the same order.
    measure
        One of `shoal.list_measures()`; `shoal.WMI(0.3)` is "wmi" with another share of `mi` than the settings'.
    settings
        Settings that name roles and models; the other parameters override them.
    quasi_identifiers
        The columns that were generalized, with their models.
    sensitive
        For measures that use sensitive values.
    weights
        How much each quasi-identifier matters (default 1).
    k
        For measures that depend on it.
    aggregate
        "sum" or "mean" over records, for measures that have both.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> table = pd.DataFrame({"n": [1, 2, 3, 3]})
    >>> release = pd.DataFrame({"n": ["*", "*", "3", "3"]})
    >>> models = {"n": shoal.Suppression()}
    >>> shoal.loss(table, release, "entropy", quasi_identifiers=models, aggregate="sum")
    3.0
    """
    promised = make_settings(
        settings,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        weights=weights,
        w=measure.w if isinstance(measure, WMI) else None,
        k=1 if k is None and settings is None else k,
        requirements=(),
    )
    raise_problems(single_problems(promised.render))
    source = coarsened(open_table(table, promised.reading), promised.coarsen, promised.reading)
    encoded = encode_source(source, promised)
    closed = read_closed_groups(encoded, open_table(release, promised.reading.of_all_rows()).data)
    raise_problems(_outside_problems(closed))
    return measure_loss(
        closed,
        name_of(measure),
        k=promised.k,
        weights=promised.weights,
        aggregate=aggregate,
        w=promised.w,
    )


def _outside_problems(closed: Closed) -> list[str]:
    """Return a sentence for every column in which some released values do not cover the original ones."""
    table = closed.table
    arrays = compile_measure("suppressed", table.columns).arrays
    outside = count_outside(arrays, closed.closures, closed.groups, table.codes)
    return [
        f"{counted(int(count), 'released value')} of column '{name}' {'does' if count == 1 else 'do'} not cover "
        "the original. Give a release of this table with records in the same order (keep_order)."
        for name, count in zip(table.names, outside, strict=True)
        if count
    ]
