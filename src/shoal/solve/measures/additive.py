"""Measures that add up over quasi-identifiers, from their features, and those of the sensitive value (GT10 §5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.encoding.closed import Closed
from shoal.encoding.encode import Column, Table
from shoal.encoding.forms import Floats, Form, RangeForm, SetForm, TreeForm
from shoal.kernels.shared.forms import (
    ENTROPY,
    LINEAR,
    LOG,
    RANGE,
    SET,
    TREE,
    WEIGHED_ENTROPY,
    Compiled,
)


@dataclass(frozen=True)
class Feature:
    """A feature compiled for one column."""

    cost: Floats  # tree: per node; range: prefix sums; set: addends
    kind: int = LINEAR
    jump: float = 0.0  # LINEAR: what any closure of several values costs beside its sum
    scale: float = 1.0  # what the other kinds are multiplied by
    blend: float = 0.0  # LOG: how much the log of the class's own records is taken off
    own: Floats | None = None  # LOG: records of the class by value
    offset: float = 0.0  # what all records together add whatever their closures


Maker = Callable[[Form, Floats], Feature]


def several(form: Form, counts: Floats) -> Feature:
    """1 if B is not a single value."""
    if isinstance(form, TreeForm):
        return Feature((form.leaf_counts > 1).astype(np.float64))
    return Feature(np.zeros(form.entries), jump=1.0)


def value_count(form: Form, counts: Floats) -> Feature:
    """(|B| − 1) / (m − 1)."""
    whole = max(1, form.size - 1)
    if isinstance(form, TreeForm):
        return Feature((form.leaf_counts - 1) / whole)
    if isinstance(form, RangeForm):
        return Feature(_ranks(form) / whole)
    return Feature(np.full(form.entries, 1 / whole), jump=-1 / whole)


def proportion(form: Form, counts: Floats) -> Feature:
    """|B| / m, and 0 for a single value; on ranges the width."""
    if isinstance(form, TreeForm):
        return Feature(np.where(form.leaf_counts > 1, form.leaf_counts / form.size, 0.0))
    if isinstance(form, SetForm):
        return Feature(np.full(form.entries, 1 / form.size))
    return width(form, counts)


def width(form: Form, counts: Floats) -> Feature:
    """(hi − lo) / (max − min) of a range."""
    assert isinstance(form, RangeForm)
    low, high = form.positions[0], form.positions[-1]
    cost = np.zeros(form.entries)
    cost[: form.positions.size] = (form.positions - low) / ((high - low) or 1.0)
    cost[form.positions.size :] = 1.0  # mixed with null: the whole domain
    return Feature(cost)


def height(form: Form, counts: Floats) -> Feature:
    """Height of B in the hierarchy as given over that of its top; on ranges and sets this is `value_count`."""
    if isinstance(form, TreeForm):
        return Feature((form.leaf_counts > 1) * form.relative_heights)
    return value_count(form, counts)


def height_or_width(form: Form, counts: Floats) -> Feature:
    """Width of a range, height of anything else."""
    return width(form, counts) if isinstance(form, RangeForm) else height(form, counts)


def entropy(form: Form, counts: Floats) -> Feature:
    """H(X | X ∈ B)."""
    if not isinstance(form, TreeForm):
        return Feature(np.zeros(form.entries), kind=ENTROPY)
    total = form.sum_up(counts)
    return Feature(
        np.divide(_unknown(form, counts), total, out=np.zeros_like(total), where=total > 0)
    )


def weighed_entropy(form: Form, counts: Floats) -> Feature:
    """Pr(B)·H(X | X ∈ B)."""
    if not isinstance(form, TreeForm):
        return Feature(np.zeros(form.entries), kind=WEIGHED_ENTROPY, scale=1 / counts.sum())
    return Feature(_unknown(form, counts) / counts.sum())


def log_share(form: Form, counts: Floats) -> Feature:
    """log of the records in B, beside −log of those with the record's own value: −log Pr(v | B) in all."""
    return log_shares(form, counts, counts, 1.0)


def log_shares(form: Form, counts: Floats, own: Floats, w: float) -> Feature:
    """w·mi + (1 − w)·pmi for records of one class, `own` counting that class by value.

    That is log n(B) − (1 − w)·log own(B) − w·log n(v): the last term is the same whatever B.
    """
    offset = -w * float(counts @ log2(counts))
    if isinstance(form, TreeForm):
        cost = log2(form.sum_up(counts)) - (1 - w) * log2(form.sum_up(own))
        return Feature(cost, offset=offset)
    return Feature(np.zeros(form.entries), kind=LOG, blend=1 - w, own=own, offset=offset)


def log2(counts: Floats) -> Floats:
    """log2 where it exists, 0 elsewhere: sets that no record falls into never cost anything."""
    return np.log2(counts, out=np.zeros_like(counts), where=counts > 0)


def _unknown(form: TreeForm, counts: Floats) -> Floats:
    """Records below each node times the entropy of their values."""
    total = form.sum_up(counts)
    bits = np.maximum(0.0, total * log2(total) - form.sum_up(counts * log2(counts)))
    bits[: form.size] = 0.0
    return bits


def _ranks(form: RangeForm) -> Floats:
    return np.minimum(np.arange(form.entries), form.size - 1).astype(np.float64)


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

    feature: Maker
    aggregate: str = "mean"  # "mean": over records and quasi-identifiers; "sum"
    weighted: bool = True
    monotone: bool = True  # a closure never costs less when it grows
    adds_up: bool = True
    is_objective: bool = True


ADDITIVE: dict[str, Additive] = {
    "suppressed": Additive(
        feature=several,
        aggregate="sum",
        meaning="how many cells are generalized",
        source="GiT09 (MW04)",
    ),
    "tree": Additive(feature=height, meaning="levels climbed", source="GiT09 (AFK+05)"),
    "lm": Additive(
        feature=value_count,
        meaning="detail: how precise released values are, from 0 (exact) to 1 (hidden)",
        source="GT10 (3)",
    ),
    "ncp": Additive(
        feature=proportion,
        aggregate="sum",
        meaning="weighted certainty penalty",
        source="XU06 §3.2",
    ),
    "gcp": Additive(
        feature=proportion,
        meaning="like lm, but numbers and dates are measured by the width of their range",
        source="HE12",
        weighted=False,
    ),
    "il": Additive(
        feature=height_or_width,
        aggregate="sum",
        meaning="ranges and levels",
        source="TCM07 (4), (5)",
    ),
    "entropy": Additive(
        feature=entropy,
        meaning="how hard it is to guess the original value of a cell, in bits",
        source="GiT09 (4)",
        monotone=False,
    ),
    "monotone_entropy": Additive(
        feature=weighed_entropy,
        meaning="entropy, adjusted so that it never falls as groups grow",
        source="GiT09 (5)",
    ),
    "mi": Additive(
        feature=log_share,
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
    columns: Sequence[Column], compiled: Sequence[Sequence[Feature]], monotone: bool
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
                own = feature.own if feature.own is not None else counts * log2(counts)
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


def scaled(feature: Feature, weight: float) -> Feature:
    """A feature times a column's weight."""
    return replace(
        feature,
        cost=weight * feature.cost,
        jump=weight * feature.jump,
        scale=weight * feature.scale,
        offset=weight * feature.offset,
    )


def _step(form: Form, feature: Feature) -> float:
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
        per_class = [log_shares(column.form, column.counts, own, w) for own in joint]
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
