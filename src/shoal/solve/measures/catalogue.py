"""Every measure of information loss by name, for any release of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.encoding.closed import Closed
from shoal.encoding.rows import distinct_rows
from shoal.errors import near_miss, raise_problems
from shoal.kernels.shared import groups as kernels
from shoal.solve.measures.additive import (
    ADDITIVE,
    compile_measure,
    pmi_by_column,
    sensitive_entropy,
)

# For editors; a test compares both with OBJECTIVES and MEASURES.
ObjectiveName = Literal[
    "suppressed",
    "tree",
    "lm",
    "ncp",
    "gcp",
    "il",
    "entropy",
    "monotone_entropy",
    "mi",
    "pmi",
    "wmi",
]
MeasureName = (
    ObjectiveName | Literal["pmi_relative", "pmi_l2", "pmi_max", "am", "dm", "c_avg", "cm", "kl"]
)
Aggregate = Literal["sum", "mean"]


@dataclass(frozen=True)
class Whole:
    """A measure of a whole release that is no plain sum over quasi-identifiers."""

    compute: Callable[[Closed, int], float]
    meaning: str
    source: str


def _suppressed(closed: Closed) -> npt.NDArray[np.bool_]:
    """Which groups release nothing: the whole domain in every quasi-identifier."""
    values = np.array([[column.form.size] for column in closed.table.columns])
    return (closed.widths == values).all(axis=0) & (values > 1).any()


def _dm(closed: Closed, k: int) -> float:
    n = closed.records
    released = (closed.sizes * np.where(_suppressed(closed), n, closed.sizes)).sum()
    return float(released + closed.left_out * n)


def _c_avg(closed: Closed, k: int) -> float:
    return closed.records / (closed.sizes.size * k)


def _am(closed: Closed, k: int) -> float:
    whole = np.prod([float(column.form.size) for column in closed.table.columns])
    released = (closed.sizes * closed.widths.prod(axis=0)).sum()
    return float((released + closed.left_out * whole) / closed.records)


def _cm(closed: Closed, k: int) -> float:
    pairs, place = np.unique(
        np.stack([closed.groups, closed.table.classes]), axis=1, return_inverse=True
    )
    counts = closed.table.count(place.reshape(-1))
    majority = np.zeros(closed.sizes.size)
    np.maximum.at(majority, pairs[0], counts)
    majority[_suppressed(closed)] = 0
    return float(1 - majority.sum() / closed.records)


def _kl(closed: Closed, k: int) -> float:
    table = closed.table
    found = distinct_rows(table.codes)
    density = closed.sizes / closed.widths.prod(axis=0) / closed.records
    arrays = compile_measure("suppressed", table.columns).arrays
    everywhere = np.prod([float(column.form.size) for column in table.columns])
    induced = closed.left_out / closed.records / everywhere + kernels.induced_shares(
        arrays, closed.closures, density, table.codes[found.first]
    )
    share = table.count(found.place) / table.records
    return float((share * np.log2(share / induced)).sum())


def _pmi_l2(closed: Closed, k: int) -> float:
    gain = sensitive_entropy(closed) - pmi_by_column(closed)
    return float(sensitive_entropy(closed) - np.sqrt((gain**2).sum()) / gain.size)


def _pmi_max(closed: Closed, k: int) -> float:
    return float(pmi_by_column(closed).min())


WHOLE: dict[str, Whole] = {
    "pmi_l2": Whole(_pmi_l2, "pmi, columns combined by the ℓ2 norm", "GT10 (16)"),
    "pmi_max": Whole(_pmi_max, "pmi of the most telling column (ℓ∞)", "GT10 (15)"),
    "am": Whole(_am, "mean number of records a released one may stand for", "GT10 (4)"),
    "dm": Whole(_dm, "sum of squared group sizes", "GT10, XU06"),
    "c_avg": Whole(_c_avg, "mean group size, in multiples of k", "TCM07 (3), XU06"),
    "cm": Whole(
        _cm,
        "share of records that are hidden or have another sensitive value than most of their group",
        "GT10",
    ),
    "kl": Whole(_kl, "bits between the table's distribution and the release's", "GT10"),
}
PRIVATE: dict[str, tuple[str, str]] = {
    "pmi": ("bits unknown of the sensitive value, given one cell", "GT10 (14)"),
    "pmi_relative": ("the same beyond the original table's", "GT10 §6.1"),
    "wmi": ("w·mi + (1 − w)·pmi", "GT10 §8.4"),
}
NEEDS_SENSITIVE = frozenset({*PRIVATE, "pmi_l2", "pmi_max", "cm"})
OBJECTIVES = (*ADDITIVE, "pmi", "wmi")
ADDS_UP = (*ADDITIVE, *PRIVATE)
MEASURES: dict[str, tuple[str, str]] = {
    **{name: (m.meaning, m.source) for name, m in ADDITIVE.items()},
    **PRIVATE,
    **{name: (m.meaning, m.source) for name, m in WHOLE.items()},
}


def check_measure(name: str, known: Iterable[str] = MEASURES) -> list[str]:
    """A sentence if `name` is no known measure."""
    names = list(known)
    if isinstance(name, str) and name in names:
        return []
    close = near_miss(str(name), names) or "."
    return [f"There is no measure '{name}'{close} Measures: {', '.join(names)}."]


def column_losses(
    closed: Closed,
    measure: str,
    weights: Mapping[str, float] | None = None,
    w: float = 0.5,
) -> dict[str, float]:
    """Mean cost of a record in each quasi-identifier, by a measure that adds up over them.

    A record that was left out costs what hiding all released records would cost each of them.
    """
    table = closed.table
    if measure in PRIVATE:
        means = pmi_by_column(closed)
        if measure == "pmi_relative":
            means = means - pmi_by_column(closed, own_value=True)
        if measure == "wmi":
            mi = np.array(list(column_losses(closed, "mi").values()))
            means = w * mi + (1 - w) * means
        means = means * [float((weights or {}).get(name, 1.0)) for name in table.names]
    else:
        compiled = compile_measure(measure, table.columns, weights)
        costs = kernels.group_costs(compiled.arrays, closed.closures, closed.sizes[None, :])
        means = (costs.sum(axis=1) + compiled.offset) / table.records
        if closed.left_out:
            whole = np.array([slot for column in table.columns for slot in column.form.whole])
            released = np.array([[float(table.records)]])
            hidden = kernels.group_costs(compiled.arrays, whole[:, None].astype(np.int32), released)
            share = closed.left_out / closed.records
            all_hidden = (hidden.sum(axis=1) + compiled.offset) / table.records
            means = (1 - share) * means + share * all_hidden
    return dict(zip(table.names, means.tolist(), strict=True))


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

    `aggregate` ("sum" or "mean") overrides how a measure that adds up over quasi-identifiers is totalled;
    means are over records and quasi-identifiers, weighted like the sum. `k` matters to `c_avg` only, `w` to
    `wmi` only.
    """
    problems = check_measure(measure)
    if aggregate not in (None, "sum", "mean"):
        problems.append("The 'aggregate' parameter must be 'sum' or 'mean'.")
    if not problems and measure in NEEDS_SENSITIVE and not closed.table.sensitive:
        problems.append(f"Measure '{measure}' needs a sensitive column; name one.")
    raise_problems(problems)
    if measure in WHOLE:
        return WHOLE[measure].compute(closed, k)
    total = sum(column_losses(closed, measure, weights, w).values())
    definition = ADDITIVE.get(measure)
    usual = definition.aggregate if definition else "mean"
    if (aggregate or usual) == "sum":
        return total * closed.records
    known = {} if definition and not definition.weighted else weights or {}
    return total / sum(known.get(name, 1.0) for name in closed.table.names)
