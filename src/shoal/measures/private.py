"""Measures of what a release still tells about the sensitive value (GT10 §5)."""

from __future__ import annotations

import numpy as np

from shoal.generalization.forms import Floats, Ints
from shoal.table.closed import Closed


def pmi_by_column(closed: Closed, own_value: bool = False) -> Floats:
    """Mean of −log2 Pr(Y = s | X ∈ B) per quasi-identifier, B the closure or the record's own value.

    With several sensitive columns, their mean.
    """
    table = closed.table
    totals = np.zeros(len(table.columns))
    for sensitive in table.sensitive.values():
        y = _from_zero(sensitive)
        for j, column in enumerate(table.columns):
            joint = np.zeros((column.form.size, y.max() + 1))
            np.add.at(joint, (table.codes[:, j], y), 1.0)
            if own_value:
                per_closure, place = joint, table.codes[:, j]
            else:
                per_closure, place = column.form.sums(closed.of_column(j), joint), closed.groups
            share = per_closure[place, y] / per_closure.sum(axis=1)[place]
            totals[j] -= np.log2(share).mean()
    return totals / len(table.sensitive)


def sensitive_entropy(closed: Closed) -> float:
    """Entropy of the sensitive column in bits; with several, their mean."""
    bits = []
    for sensitive in closed.table.sensitive.values():
        share = np.bincount(_from_zero(sensitive)) / sensitive.size
        share = share[share > 0]
        bits.append(-(share * np.log2(share)).sum())
    return float(np.mean(bits))


def _from_zero(codes: Ints) -> Ints:
    """Codes with null (−1) as a value of its own."""
    return codes + 1
