"""Every measure of information loss by name, for any release of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.encoding.closed import Closed
from shoal.encoding.encode import distinct_rows
from shoal.errors import near_miss, raise_problems
from shoal.kernels.shared import groups as kernels
from shoal.solve.measures.additive import (
    ADDITIVE,
    Additive,
    Measure,
    compile_measure,
    pmi_by_column,
    sensitive_entropy,
)

# For editors; a test compares both with MEASURES.
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


@dataclass(frozen=True, kw_only=True)
class ReleaseMeasure(Measure):
    """A measure of a whole release that is no plain sum over quasi-identifiers."""

    compute: Callable[[Closed, int], float]  # of the closed table and k


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


# Every measure by name; `add_measure` enters users' own.
MEASURES: dict[str, Measure] = {
    **ADDITIVE,
    "pmi": Measure(
        meaning="bits unknown of the sensitive value, given one cell",
        source="GT10 (14)",
        needs_sensitive=True,
        adds_up=True,
        is_objective=True,
    ),
    "pmi_relative": Measure(
        meaning="mi beyond that of the original table",
        source="GT10 §6.1",
        needs_sensitive=True,
        adds_up=True,
    ),
    "wmi": Measure(
        meaning="w·mi + (1 − w)·pmi",
        source="GT10 §8.4",
        needs_sensitive=True,
        adds_up=True,
        is_objective=True,
    ),
    "pmi_l2": ReleaseMeasure(
        compute=_pmi_l2,
        meaning="pmi, columns combined by the ℓ2 norm",
        source="GT10 (16)",
        needs_sensitive=True,
    ),
    "pmi_max": ReleaseMeasure(
        compute=_pmi_max,
        meaning="pmi of the most informative column (ℓ∞)",
        source="GT10 (15)",
        needs_sensitive=True,
    ),
    "am": ReleaseMeasure(
        compute=_am,
        meaning="mean number of records that a released one may be",
        source="GT10 (4)",
    ),
    "dm": ReleaseMeasure(compute=_dm, meaning="sum of squared group sizes", source="GT10, XU06"),
    "c_avg": ReleaseMeasure(
        compute=_c_avg, meaning="mean group size, in multiples of k", source="TCM07 (3), XU06"
    ),
    "cm": ReleaseMeasure(
        compute=_cm,
        meaning="share of records that are hidden or have another sensitive value than most of their group",
        source="GT10",
        needs_sensitive=True,
    ),
    "kl": ReleaseMeasure(
        compute=_kl,
        meaning="bits between the distributions of the table and the release",
        source="GT10",
    ),
}


def add_measure(name: str, measure: Additive | ReleaseMeasure) -> None:
    """Let a measure be used by name."""
    MEASURES[name] = measure
    if isinstance(measure, Additive):
        ADDITIVE[name] = measure


def objectives() -> list[str]:
    """The measures that methods can minimize."""
    return [name for name, measure in MEASURES.items() if measure.is_objective]


def measures_by_column() -> list[str]:
    """The measures that add up over quasi-identifiers."""
    return [name for name, measure in MEASURES.items() if measure.adds_up]


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
    if measure not in ADDITIVE:
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


def compute_loss(
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
    if not problems and MEASURES[measure].needs_sensitive and not closed.table.sensitive:
        problems.append(f"Measure '{measure}' needs a sensitive column. Name one.")
    raise_problems(problems)
    definition = MEASURES[measure]
    if isinstance(definition, ReleaseMeasure):
        return definition.compute(closed, k)
    total = sum(column_losses(closed, measure, weights, w).values())
    additive = ADDITIVE.get(measure)
    usual = additive.aggregate if additive else "mean"
    if (aggregate or usual) == "sum":
        return total * closed.records
    known = {} if additive and not additive.weighted else weights or {}
    return total / sum(known.get(name, 1.0) for name in closed.table.names)
