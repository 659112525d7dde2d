"""The test of GT10's conjecture counts, encodes and tests as slow, obvious computations do."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
WHERE = "benchmarks.papers.conjecture"


def _load(name: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        return import_module(name)


statistics = _load(f"{WHERE}.statistics")
learners = _load(f"{WHERE}.learners")
releases = _load(f"{WHERE}.releases")
labelled = _load("benchmarks.labelled")

few_differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def _slow_signed_rank(differences: list[int]) -> float:
    """Every assignment of signs, as likely as any other: how often the sum is at least as extreme."""
    sizes = [abs(one) for one in differences if one]
    if not sizes:
        return 1.0
    ranks = [
        sum(other < one for other in sizes) + (sum(other == one for other in sizes) + 1) / 2
        for one in sizes
    ]
    positive = [one > 0 for one in differences if one]
    found = sum(rank for rank, up in zip(ranks, positive, strict=True) if up)
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up)
        for signs in product((False, True), repeat=len(ranks))
    ]
    low = sum(one <= found for one in sums) / len(sums)
    high = sum(one >= found for one in sums) / len(sums)
    return min(1.0, 2 * min(low, high))


@given(few_differences)
def test_the_signed_rank_test_counts_all_assignments_of_signs(differences: list[int]) -> None:
    assert statistics.signed_rank(differences) == pytest.approx(_slow_signed_rank(differences))


def test_the_signed_rank_test_agrees_with_scipy_where_nothing_is_tied() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    for seed in range(20):
        differences = np.random.default_rng(seed).normal(0.4, 1.0, 11)
        expected = scipy_stats.wilcoxon(differences, method="exact").pvalue
        assert statistics.signed_rank(differences.tolist()) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_corrected_p_values_reject_what_holms_steps_reject(p: list[float], level: float) -> None:
    rejected = set()
    for step, which in enumerate(sorted(range(len(p)), key=lambda one: p[one])):
        if p[which] * (len(p) - step) >= level:
            break
        rejected.add(which)
    corrected = statistics.holm(p)
    assert {which for which, one in enumerate(corrected) if one < level} == rejected


def test_a_test_says_which_way_only_where_chance_is_unlikely() -> None:
    up, unclear, down = statistics.paired(
        [[float(i + 1) for i in range(11)], [1.0, -2.0] * 5, [-float(i + 1) for i in range(11)]]
    )
    assert (up.verdict, up.better, up.tables) == ("higher", 11, 11)
    assert up.p == pytest.approx(2 / 2**11)
    assert up.corrected == pytest.approx(3 * up.p)
    assert unclear.verdict == "undecided"
    assert down.verdict == "lower"
    assert down.mean == -6


def test_naive_bayes_counts_kept_cells_only() -> None:
    rng = np.random.default_rng(1)
    values = (3, 4, 2)
    x = np.column_stack([rng.integers(-1, size, 60) for size in values])
    y = rng.choice([0, 2], 60)
    test = np.column_stack([rng.integers(-1, size, 40) for size in values])
    predicted = learners.NaiveBayes(values).fit(x, y).predict(test)
    for row, own in zip(test, predicted, strict=True):
        scores = {}
        for one in (0, 2):
            score = log(np.mean(y == one))
            for j, value in enumerate(row):
                if value >= 0:
                    known = [a for a, b in zip(x[:, j], y, strict=True) if b == one and a >= 0]
                    score += log((known.count(value) + 1) / (len(known) + values[j]))
            scores[one] = score
        assert own == max(scores, key=scores.__getitem__)


CODES = np.array([[0, 1], [1, 0], [2, 1]])
KEPT = np.array([[True, True], [False, True], [True, False]])


def test_a_suppressed_cell_is_an_equal_share_of_each_value_or_a_value_of_its_own() -> None:
    shares = learners.as_shares(CODES, KEPT, (3, 2))
    third = 1 / 3
    assert shares.tolist() == [
        [1, 0, 0, 0, 1],
        [third, third, third, 1, 0],
        [0, 0, 1, 0.5, 0.5],
    ]
    own = learners.as_value(CODES, KEPT, (3, 2))
    assert own.tolist() == [
        [1, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 1, 1, 0, 0],
        [0, 0, 1, 0, 0, 0, 1],
    ]


def test_drawn_cells_are_kept_values_of_their_column_and_hide_what_was_suppressed() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, (200, 2))
    kept = (codes < 2) & (rng.random((200, 2)) < 0.7)
    drawn = learners.as_drawn(codes, kept, (4, 4), seed=3)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert drawn.reshape(200, 2, 4)[:, :, 2:].sum() == 0
    found = drawn.reshape(200, 2, 4).argmax(axis=2)
    assert (found[kept] == codes[kept]).all()


def test_records_of_a_group_are_never_learned_from_and_tested() -> None:
    groups = np.random.default_rng(4).integers(0, 30, 300)
    fold = learners.folds(groups)
    assert all(np.unique(fold[groups == one]).size == 1 for one in range(30))
    assert np.bincount(fold).min() > 50

    class Memory:
        """Knows a record again by its group, and is right only then."""

        def fit(self, x: Any, y: Any) -> Memory:
            self.known = dict(zip(x.ravel(), y, strict=True))
            return self

        def predict(self, x: Any) -> Any:
            return np.array([self.known.get(one, -1) for one in x.ravel()])

    y = groups % 2
    assert learners.cross_validated(Memory, groups[:, None], y, groups) == 0


def test_a_value_speaks_for_a_target_that_is_more_frequent_with_it() -> None:
    codes, y = np.array([[0], [0], [0], [1]]), np.array([0, 0, 1, 1])
    split = releases.Split(None, codes, y, codes, y, (2,))
    expected = [log(4 / 3, 2), log(4 / 3, 2), log(2 / 3, 2), 1.0]
    assert releases.speaks_for(split).ravel().tolist() == pytest.approx(expected)


def test_diversity_is_asked_for_that_every_table_can_have() -> None:
    asked = releases.diversity(np.array([0, 0, 0, 1]))
    assert 1 / asked.l == pytest.approx((0.75 + 1) / 2)


def test_numbers_are_cut_at_quantiles_and_equal_ones_stay_together() -> None:
    assert labelled.cut(np.arange(8.0), 4).to_pylist() == [
        *("r1", "r1", "r2", "r2", "r3", "r3", "r4", "r4")
    ]
    assert labelled.cut(np.array([0.0, 0, 0, 0, 0, 9]), 4).to_pylist() == [*["r1"] * 5, "r2"]
