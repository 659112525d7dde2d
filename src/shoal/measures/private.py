"""Measures of what a release still tells about the sensitive value (GT10 §5).

With several sensitive columns the sensitive value is their combination.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.generalization.forms import Floats
from shoal.measures import features
from shoal.measures.additive import CompiledMeasure, assemble, scaled
from shoal.table import Table
from shoal.table.closed import Closed


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
    return assemble(table.columns, compiled, monotone=False)


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
