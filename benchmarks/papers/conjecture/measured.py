"""What is measured of a release: accuracy on records that are not in it, and on its own; and means over tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from benchmarks.labelled import LOADERS
from benchmarks.papers.conjecture.learners import (
    LEARNERS,
    MAKERS,
    Bools,
    Ints,
    Learner,
    NaiveBayes,
    accuracy,
    as_drawn,
    as_shares,
    as_value,
    cross_validated,
)
from benchmarks.papers.conjecture.releases import (
    Case,
    Split,
    release_of,
    sizes,
    split_of,
    splits,
)
from benchmarks.papers.conjecture.statistics import Floats
from benchmarks.papers.figure import Scale

Value = Callable[[Case], float]
ENCODINGS = ("shares", "a value", "drawn")
MIDDLE = 10  # the k at which mechanism, encodings and w are looked at


@cache
def on_holdout(scale: Scale, case: Case, learner: str, encoding: str = "shares") -> float:
    """Accuracy on original records that were held out, after training on the release."""
    split, kept = split_of(scale, case.table, case.split), release_of(scale, case).kept
    return _tested(split, kept, learner, encoding, case.split)


@cache
def of_originals(scale: Scale, table: str, learner: str, split: int) -> float:
    """The same after training on the records as they were."""
    parts = split_of(scale, table, split)
    return _tested(parts, np.ones(parts.codes.shape, dtype=bool), learner, "shares", split)


@cache
def within(scale: Scale, case: Case, learner: str) -> float:
    """Accuracy on released records by cross-validation over groups: there `*` is in training and test."""
    split, released = split_of(scale, case.table, case.split), release_of(scale, case)
    x = _seen(split, split.codes, released.kept, learner, "shares", case.split)
    make = _maker(learner, split.values, case.split)
    return cross_validated(make, x, split.y, released.groups)


@cache
def from_mask(scale: Scale, case: Case, learner: str) -> float:
    """The same for learners that see of each cell only whether it was kept; less the majority's share."""
    split, released = split_of(scale, case.table, case.split), release_of(scale, case)
    mask = released.kept.astype(np.int64)
    make = _maker(learner, (2,) * mask.shape[1], case.split)
    found = cross_validated(make, mask, split.y, released.groups)
    return found - float(np.bincount(split.y).max() / split.y.size)


def by_table(scale: Scale, value: Value, objective: str, diverse: bool = False) -> Floats:
    """The mean over k and splits for each table: what tests compare."""
    return np.array(
        [
            np.mean(
                [
                    value(Case(table, objective, k, diverse, split))
                    for k in sizes(scale)
                    for split in splits(scale)
                ]
            )
            for table in LOADERS
        ]
    )


def at(scale: Scale, value: Value, objective: str, k: int, diverse: bool = False) -> Floats:
    """The mean over splits for each table, at one k."""
    return np.array(
        [
            np.mean([value(Case(table, objective, k, diverse, split)) for split in splits(scale)])
            for table in LOADERS
        ]
    )


def over_learners(value: Callable[[Case, str], float]) -> Value:
    """The mean over all learners."""
    return lambda case: float(np.mean([value(case, learner) for learner in LEARNERS]))


def _tested(split: Split, kept: Bools, learner: str, encoding: str, seed: int) -> float:
    whole = np.ones(split.test.shape, dtype=bool)
    trained = _seen(split, split.codes, kept, learner, encoding, seed)
    tested = _seen(split, split.test, whole, learner, encoding, seed)
    make = _maker(learner, split.values, seed)
    return accuracy(make(), trained, split.y, tested, split.truth)


def _seen(
    split: Split, codes: Ints, kept: Bools, learner: str, encoding: str, seed: int
) -> Floats | Ints:
    if learner == "bayes":
        return np.where(kept, codes, -1)
    if encoding == "drawn":
        return as_drawn(codes, kept, split.values, seed)
    return (as_shares if encoding == "shares" else as_value)(codes, kept, split.values)


def _maker(learner: str, values: tuple[int, ...], seed: int) -> Callable[[], Learner]:
    if learner == "bayes":
        return lambda: NaiveBayes(values)
    return lambda: MAKERS[learner](seed)
