"""Measures that add up over quasi-identifiers, and those of what a release tells about the sensitive value (GT10
§5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.closed import Closed
from shoal.encoding.encode import Column, Table
from shoal.encoding.forms import Floats, Form, RangeForm, TreeForm
from shoal.kernels.shared.forms import (
    LINEAR,
    RANGE,
    SET,
    TREE,
    Compiled,
)
from shoal.solve.measures import features


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure of information loss: what it means, and where it is from."""

    meaning: str
    source: str
    needs_sensitive: bool = False
    adds_up: bool = False  # over quasi-identifiers
    is_objective: bool = False  # whether methods can minimize it


@dataclass(frozen=True, kw_only=True)
class Additive(Measure):
    """A measure that is a sum over quasi-identifiers."""

    feature: features.Maker
    aggregate: str = "mean"  # "mean": over records and quasi-identifiers; "sum"
    weighted: bool = True
    monotone: bool = True  # a closure never costs less when it grows
    adds_up: bool = True
    is_objective: bool = True


ADDITIVE: dict[str, Additive] = {
    "suppressed": Additive(
        feature=features.several,
        aggregate="sum",
        meaning="how many cells are not released as they are",
        source="GiT09 (MW04)",
    ),
    "tree": Additive(feature=features.height, meaning="levels climbed", source="GiT09 (AFK+05)"),
    "lm": Additive(
        feature=features.value_count,
        meaning="how much of a column a cell may stand for: 0 is exact, 1 is hidden",
        source="GT10 (3)",
    ),
    "ncp": Additive(
        feature=features.proportion,
        aggregate="sum",
        meaning="weighted certainty penalty",
        source="XU06 §3.2",
    ),
    "gcp": Additive(
        feature=features.proportion,
        meaning="how much of a column a cell may stand for, with numbers and dates measured by the width of their "
        "range",
        source="HE12",
        weighted=False,
    ),
    "il": Additive(
        feature=features.height_or_width,
        aggregate="sum",
        meaning="ranges and levels",
        source="TCM07 (4), (5)",
    ),
    "entropy": Additive(
        feature=features.entropy,
        meaning="how hard it is to guess the original value of a cell, in bits",
        source="GiT09 (4)",
        monotone=False,
    ),
    "monotone_entropy": Additive(
        feature=features.weighed_entropy,
        meaning="the same, weighed to be monotone",
        source="GiT09 (5)",
    ),
    "mi": Additive(
        feature=features.log_share,
        meaning="bits of information lost per cell",
        source="GT10 (10)",
    ),
}


@dataclass(frozen=True)
class CompiledMeasure:
    """Kernel arrays of a measure, and what records add per column whatever their closure."""

    arrays: Compiled
    offset: Floats  # per column, summed over all records
    monotone: bool  # whether a closure never costs less when it grows


def compile_measure(
    name: str, columns: Sequence[Column], weights: Mapping[str, float] | None = None
) -> CompiledMeasure:
    """Compile an additive measure for these columns."""
    measure = ADDITIVE[name]
    compiled = [
        [scaled(measure.feature(column.form, column.counts), weight)]
        for column, weight in zip(columns, _weights(measure, columns, weights), strict=True)
    ]
    return lay_out_features(columns, compiled, measure.monotone)


def lay_out_features(
    columns: Sequence[Column], compiled: Sequence[Sequence[features.Feature]], monotone: bool
) -> CompiledMeasure:
    """Lay features, per column and class, out as kernels read them."""
    start = np.concatenate([[0], np.cumsum([column.form.entries for column in columns])])
    slot = np.concatenate([[0], np.cumsum([column.form.slots for column in columns])])
    classes = len(compiled[0])
    cost, second = np.zeros((classes, start[-1])), np.zeros((classes, start[-1]))
    records, parent = np.zeros(start[-1]), np.zeros(start[-1], dtype=np.int32)
    form = np.zeros(len(columns), dtype=np.int64)
    for j, (column, per_class) in enumerate(zip(columns, compiled, strict=True)):
        at = slice(start[j], start[j + 1])
        counts = column.counts
        if isinstance(column.form, TreeForm):
            form[j], parent[at] = TREE, column.form.parent
        else:
            form[j] = RANGE if isinstance(column.form, RangeForm) else SET
            records[at] = _summable(column.form, counts)
        for y, feature in enumerate(per_class):
            cost[y, at] = feature.cost
            if not isinstance(column.form, TreeForm):
                own = feature.own if feature.own is not None else counts * features.log2(counts)
                second[y, at] = _summable(column.form, own)
    first = [per_class[0] for per_class in compiled]
    arrays = Compiled(
        form=form,
        start=start.astype(np.int64),
        slot=slot.astype(np.int64),
        null=np.array([column.form.null for column in columns], dtype=np.int64),
        kind=np.array([feature.kind for feature in first], dtype=np.int64),
        jump=np.array([feature.jump for feature in first]),
        scale=np.array([feature.scale for feature in first]),
        blend=np.array([feature.blend for feature in first]),
        unit=np.array([_step(c.form, f) for c, f in zip(columns, first, strict=True)]),
        parent=parent,
        cost=cost,
        records=records,
        second=second,
    )
    return CompiledMeasure(arrays, np.array([feature.offset for feature in first]), monotone)


def _weights(
    measure: Additive, columns: Sequence[Column], weights: Mapping[str, float] | None
) -> list[float]:
    known = (weights or {}) if measure.weighted else {}
    return [float(known.get(column.name, 1.0)) for column in columns]


def scaled(feature: features.Feature, weight: float) -> features.Feature:
    """A feature times a column's weight."""
    return replace(
        feature,
        cost=weight * feature.cost,
        jump=weight * feature.jump,
        scale=weight * feature.scale,
        offset=weight * feature.offset,
    )


def _step(form: Form, feature: features.Feature) -> float:
    """What one more code costs in a range where all steps cost the same, else 0."""
    if not isinstance(form, RangeForm) or feature.kind != LINEAR or form.size < 2:
        return 0.0
    steps = np.diff(feature.cost[: form.size])
    return float(steps[0]) if np.ptp(steps) < 1e-12 else 0.0


def _summable(form: Form, values: Floats) -> Floats:
    """Prefix sums for a range, the numbers themselves for a set."""
    if isinstance(form, RangeForm):
        return np.concatenate([[0.0], np.cumsum(values)])
    return values


def pmi_by_column(closed: Closed, own_value: bool = False) -> Floats:
    """Mean of −log2 Pr(Y = s | X ∈ B) per quasi-identifier, B the closure or the record's own value."""
    table = closed.table
    y = table.classes
    means = np.empty(len(table.columns))
    for j, column in enumerate(table.columns):
        joint = _joint(table, j)
        if own_value:
            per_closure, place = joint, table.codes[:, j]
        else:
            per_closure, place = column.form.sums(closed.of_column(j), joint), closed.groups
        share = per_closure[place, y] / per_closure.sum(axis=1)[place]
        means[j] = -_mean(np.log2(share), table)
    left_out = 0.0 if own_value else closed.left_out / closed.records
    return (1 - left_out) * means + left_out * sensitive_entropy(closed)


def sensitive_entropy(closed: Closed) -> float:
    """Entropy of the sensitive value in bits."""
    share = closed.table.count(closed.table.classes) / closed.table.records
    return float(-(share * np.log2(share)).sum())


def compile_wmi(table: Table, w: float, weights: Mapping[str, float]) -> CompiledMeasure:
    """Compile w·mi + (1 − w)·pmi as an objective; a record's class is its sensitive value."""
    compiled = []
    for j, column in enumerate(table.columns):
        weight = float(weights.get(column.name, 1.0))
        joint = _joint(table, j).T
        per_class = [features.log_shares(column.form, column.counts, own, w) for own in joint]
        compiled.append([scaled(feature, weight) for feature in per_class])
    return lay_out_features(table.columns, compiled, monotone=False)


def _joint(table: Table, j: int) -> Floats:
    """Records by value of quasi-identifier j and sensitive value."""
    y = table.classes
    joint = np.zeros((table.columns[j].form.size, int(y.max()) + 1))
    np.add.at(joint, (table.codes[:, j], y), 1.0 if table.counts is None else table.counts)
    return joint


def _mean(numbers: Floats, table: Table) -> float:
    """The mean over records of a number that each row has."""
    return float(
        numbers.mean() if table.counts is None else np.average(numbers, weights=table.counts)
    )
