"""The few numbers that measures are made of, for one column in each kernel form.

A feature says what a closure B costs: on a tree as a number per node, on a range or a set as numbers whose
sums give the cost (see `spread_cost` in `kernels/shared/forms.py`). All are zero for a single value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.encoding.forms import Floats, Form, RangeForm, SetForm, TreeForm
from shoal.kernels.shared.forms import ENTROPY, LINEAR, LOG, WEIGHED_ENTROPY


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
