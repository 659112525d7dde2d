"""Every measure of information loss by name, for any release of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError, near_miss
from shoal.kernels import groups as kernels
from shoal.measures.additive import ADDITIVE, compile_measure
from shoal.measures.private import pmi_by_column, sensitive_entropy
from shoal.table.closed import Closed


@dataclass(frozen=True)
class Whole:
    """A measure of a whole release that is no plain sum over quasi-identifiers."""

    compute: Callable[[Closed, int], float]
    meaning: str
    source: str


def _dm(closed: Closed, k: int) -> float:
    n = closed.table.records
    values = np.array([[column.form.size] for column in closed.table.columns])
    suppressed = (closed.widths == values).all(axis=0) & (values > 1).any()
    return float((closed.sizes * np.where(suppressed, n, closed.sizes)).sum())


def _c_avg(closed: Closed, k: int) -> float:
    return closed.table.records / (closed.sizes.size * k)


def _am(closed: Closed, k: int) -> float:
    return float((closed.sizes * closed.widths.prod(axis=0)).sum() / closed.table.records)


def _cm(closed: Closed, k: int) -> float:
    table = closed.table
    shares = []
    for codes in table.sensitive.values():
        counts = np.zeros((closed.sizes.size, codes.max() + 2))
        np.add.at(counts, (closed.groups, codes), 1)
        shares.append(1 - counts.max(axis=1).sum() / table.records)
    return float(np.mean(shares))


def _kl(closed: Closed, k: int) -> float:
    table = closed.table
    points, counts = np.unique(table.codes, axis=0, return_counts=True)
    density = closed.sizes / closed.widths.prod(axis=0) / table.records
    arrays = compile_measure("suppressed", table.columns).arrays
    induced = kernels.induced_shares(arrays, closed.closures, density, points)
    share = counts / table.records
    return float((share * np.log2(share / induced)).sum())


def _pmi(closed: Closed, k: int) -> float:
    return float(pmi_by_column(closed).mean())


def _pmi_relative(closed: Closed, k: int) -> float:
    return float((pmi_by_column(closed) - pmi_by_column(closed, own_value=True)).mean())


def _pmi_l2(closed: Closed, k: int) -> float:
    gain = sensitive_entropy(closed) - pmi_by_column(closed)
    return float(sensitive_entropy(closed) - np.sqrt((gain**2).sum()) / gain.size)


def _pmi_max(closed: Closed, k: int) -> float:
    return float(pmi_by_column(closed).min())


WHOLE: dict[str, Whole] = {
    "pmi": Whole(_pmi, "bits unknown of the sensitive value, given one cell", "GT10 (14)"),
    "pmi_relative": Whole(_pmi_relative, "the same beyond the original table's", "GT10 §6.1"),
    "pmi_l2": Whole(_pmi_l2, "pmi, columns combined by the ℓ2 norm", "GT10 (16)"),
    "pmi_max": Whole(_pmi_max, "pmi of the most telling column (ℓ∞)", "GT10 (15)"),
    "am": Whole(_am, "mean number of records a released one may stand for", "GT10 (4)"),
    "dm": Whole(_dm, "sum of squared group sizes", "GT10, XU06"),
    "c_avg": Whole(_c_avg, "mean group size over k", "TCM07 (3), XU06"),
    "cm": Whole(_cm, "share of records outside their group's majority", "GT10"),
    "kl": Whole(_kl, "bits between the table's distribution and the release's", "GT10"),
}
NEEDS_SENSITIVE = frozenset({"pmi", "pmi_relative", "pmi_l2", "pmi_max", "wmi", "cm"})
MEASURES: dict[str, tuple[str, str]] = {
    **{name: (m.meaning, m.source) for name, m in ADDITIVE.items()},
    **{name: (m.meaning, m.source) for name, m in WHOLE.items()},
    "wmi": ("w·mi + (1 − w)·pmi", "GT10 §8.4"),
}


def check_measure(name: str, known: Mapping[str, object] = MEASURES) -> list[str]:
    """A sentence if `name` is no known measure."""
    if name in known:
        return []
    close = near_miss(name, known) or "."
    return [f"There is no measure '{name}'{close} Measures: {', '.join(known)}."]


def column_losses(
    closed: Closed, measure: str, weights: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Mean cost of a record in each quasi-identifier by an additive measure."""
    compiled = compile_measure(measure, closed.table.columns, weights)
    costs = kernels.group_costs(compiled.arrays, closed.closures) @ closed.sizes + compiled.offset
    means = costs / closed.table.records
    return dict(zip(closed.table.names, means.tolist(), strict=True))


def loss(
    closed: Closed,
    measure: str,
    *,
    k: int = 1,
    weights: Mapping[str, float] | None = None,
    aggregate: str | None = None,
    w: float = 0.5,
) -> float:
    """Compute any measure on a release.

    `aggregate` ("sum" or "mean") overrides how an additive measure is totalled; means are over records and
    quasi-identifiers, weighted like the sum. `k` matters to `c_avg` only, `w` to `wmi` only.
    """
    problems = check_measure(measure)
    if aggregate not in (None, "sum", "mean"):
        problems.append("The 'aggregate' parameter must be 'sum' or 'mean'.")
    if not problems and measure in NEEDS_SENSITIVE and not closed.table.sensitive:
        problems.append(f"Measure '{measure}' needs a sensitive column; name one.")
    if problems:
        raise InputError(problems)
    if measure == "wmi":
        return w * loss(closed, "mi", weights=weights) + (1 - w) * _pmi(closed, k)
    if measure in WHOLE:
        return WHOLE[measure].compute(closed, k)
    definition = ADDITIVE[measure]
    total = sum(column_losses(closed, measure, weights).values())
    if (aggregate or definition.aggregate) == "sum":
        return total * closed.table.records
    return total / _weight_sum(closed, weights if definition.weighted else None)


def _weight_sum(closed: Closed, weights: Mapping[str, float] | None) -> float:
    return sum((weights or {}).get(name, 1.0) for name in closed.table.names) or 1.0
