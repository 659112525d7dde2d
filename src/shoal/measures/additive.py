"""Measures that add up over quasi-identifiers: each is one feature per column, times the column's weight.

These can be minimized; `compile_measure` turns one into the arrays that kernels read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.generalization.forms import Floats, RangeForm, TreeForm
from shoal.kernels.forms import RANGE, SET, TREE, WEIGHED_ENTROPY, Compiled
from shoal.measures import features
from shoal.table import Column


@dataclass(frozen=True)
class Additive:
    """A measure that is a sum over quasi-identifiers."""

    feature: features.Maker
    aggregate: str  # "mean": over records and quasi-identifiers; "sum"
    meaning: str
    source: str
    weighted: bool = True


ADDITIVE: dict[str, Additive] = {
    "suppressed": Additive(features.several, "sum", "generalized cells", "GiT09 (MW04)"),
    "tree": Additive(features.height, "mean", "levels climbed", "GiT09 (AFK+05)"),
    "lm": Additive(features.count, "mean", "share of the values a cell may stand for", "GT10 (3)"),
    "ncp": Additive(features.proportion, "sum", "weighted certainty penalty", "XU06 §3.2"),
    "gcp": Additive(
        features.proportion, "mean", "ncp per cell, unweighted", "HE12", weighted=False
    ),
    "il": Additive(features.height_or_width, "sum", "ranges and levels", "TCM07 (4), (5)"),
    "entropy": Additive(features.entropy, "mean", "bits unknown of a cell", "GiT09 (4)"),
    "monotone_entropy": Additive(
        features.weighed_entropy, "mean", "the same, weighed to be monotone", "GiT09 (5)"
    ),
    "mi": Additive(
        features.log_share, "mean", "bits lost of a value (non-uniform entropy)", "GT10 (10)"
    ),
}


@dataclass(frozen=True)
class CompiledMeasure:
    """Kernel arrays of a measure, and what records add per column whatever their closure."""

    arrays: Compiled
    offset: Floats  # per column, summed over all records


def compile_measure(
    name: str, columns: Sequence[Column], weights: Mapping[str, float] | None = None
) -> CompiledMeasure:
    """Compile an additive measure for these columns."""
    measure = ADDITIVE[name]
    weight = [
        float((weights or {}).get(column.name, 1.0)) if measure.weighted else 1.0
        for column in columns
    ]
    start = np.concatenate([[0], np.cumsum([column.form.entries for column in columns])])
    slot = np.concatenate([[0], np.cumsum([column.form.slots for column in columns])])
    parent = np.zeros(start[-1], dtype=np.int32)
    cost, count, count_log = np.zeros(start[-1]), np.zeros(start[-1]), np.zeros(start[-1])
    form, kind = np.zeros(len(columns), np.int64), np.zeros(len(columns), np.int64)
    jump, scale = np.zeros(len(columns)), np.array(weight)
    base, offset = np.zeros(start[-1]), np.zeros(len(columns))
    for j, column in enumerate(columns):
        at = slice(start[j], start[j + 1])
        counts = column.counts
        feature = measure.feature(column.form, counts)
        cost[at] = weight[j] * feature.cost
        kind[j], jump[j] = feature.kind, weight[j] * feature.jump
        if feature.kind == WEIGHED_ENTROPY:
            scale[j] /= counts.sum()
        if feature.base is not None:
            base[start[j] : start[j] + counts.size] = weight[j] * feature.base
            offset[j] = weight[j] * feature.base @ counts
        logs = counts * features.log2(counts)
        if isinstance(column.form, TreeForm):
            form[j], parent[at] = TREE, column.form.parent
        elif isinstance(column.form, RangeForm):
            form[j] = RANGE
            count[at], count_log[at] = _prefix(counts), _prefix(logs)
        else:
            form[j] = SET
            count[at], count_log[at] = counts, logs
    arrays = Compiled(
        form=form,
        start=start.astype(np.int64),
        slot=slot.astype(np.int64),
        null=np.array([column.form.null for column in columns], dtype=np.int64),
        kind=kind,
        jump=jump,
        scale=scale,
        parent=parent,
        cost=cost,
        records=count,
        records_log=count_log,
        base=base,
    )
    return CompiledMeasure(arrays, offset)


def _prefix(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])
