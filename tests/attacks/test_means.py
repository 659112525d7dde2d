"""Whoever knows all values of a group but one learns the last from an exact mean, and one bit at most from ours."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.forms import Ints, RangeForm
from shoal.encoding.released_texts import middles, part_counts, rounded_means

K = 10
COLUMNS = ("age", "hours-per-week")


def form_of(numbers: npt.ArrayLike) -> RangeForm:
    form, _ = shoal.Interval().compile("x", pa.array(numbers), has_null=False)
    assert isinstance(form, RangeForm)
    return form


def released(form: RangeForm, codes: Ints, low: int, high: int) -> float:
    """What a group whose closure runs from one code to another releases."""
    closure = np.array([[low], [high]], dtype=np.int32)
    group = np.zeros(len(codes), dtype=np.int32)
    return float(rounded_means(form, closure, np.asarray(codes, np.int32), group)[0].as_py())


@given(st.data())
def test_whatever_the_last_value_is_there_are_two_outcomes_at_most(data: st.DataObject) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(-50, 400), min_size=2, max_size=30)))
    form, last = form_of([float(n) for n in numbers]), len(numbers) - 1
    others = data.draw(st.lists(st.integers(0, last), min_size=1, max_size=60))
    outcomes = {released(form, np.array([*others, x]), 0, last) for x in range(last + 1)}
    assert len(outcomes) <= 2
    # The two lie on the two sides of one threshold: the outcome never falls as the value grows.
    in_order = [released(form, np.array([*others, x]), 0, last) for x in range(last + 1)]
    assert in_order == sorted(in_order)


@given(st.data())
def test_a_value_that_nobody_else_has_does_not_change_the_number_of_parts(
    data: st.DataObject,
) -> None:
    """The attack through a whole release: the table is one group, and its values are those that occur."""
    width = data.draw(st.integers(4, 20))
    others = [0, width, *data.draw(st.lists(st.integers(0, width), min_size=1, max_size=40))]
    shown = []
    for last in range(width + 1):
        table = pa.table({"x": [*others, last]})
        made = shoal.anonymize(table, quasi_identifiers=["x"], k=len(others) + 1, render="mean")
        shown.append(made.data["x"][0].as_py())
    assert len(set(shown)) <= 2
    assert shown == sorted(shown)


def test_sixteen_ages_of_which_one_is_unknown_tell_one_threshold() -> None:
    others = [0, 1, 2, 3, 4, 6, 7] * 2 + [0]  # nobody else is 5
    shown = [
        shoal.anonymize(
            pa.table({"x": [*others, last]}), quasi_identifiers=["x"], k=16, render="mean"
        ).data["x"][0]
        for last in range(8)
    ]
    assert len(set(shown)) <= 2


@pytest.mark.parametrize("model", [shoal.Interval(step=5), shoal.Interval(domain=range(41))])
def test_steps_and_declared_domains_tell_one_threshold(model: shoal.Interval) -> None:
    rng = np.random.default_rng(4)
    for _ in range(8):
        others = [0, 40, *rng.integers(0, 41, rng.integers(8, 40)).tolist()]
        shown = [
            shoal.anonymize(
                pa.table({"x": [*others, last]}),
                quasi_identifiers={"x": model},
                k=len(others) + 1,
                render="mean",
                method="mondrian",
                refine=False,
            ).data["x"][0]
            for last in range(0, 41, 4)
        ]
        assert len(set(shown)) <= 2


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=30, unique=True),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=40),
)
def test_means_lie_between_the_bounds(numbers: list[float], picks: list[int]) -> None:
    form = form_of(sorted(numbers))
    codes = np.array([pick % len(numbers) for pick in picks])
    mean = released(form, codes, 0, len(numbers) - 1)
    assert min(numbers) <= mean <= max(numbers)


def test_means_are_nearer_to_the_truth_than_middles() -> None:
    rng = np.random.default_rng(1)
    form = form_of(np.arange(101.0))
    errors = []
    for _ in range(300):
        codes = np.minimum(100, rng.exponential(15, 40).astype(np.int32))
        mean = released(form, codes, 0, 100)
        middle = middles(*(pa.array([bound]) for bound in (0.0, 100.0)))[0].as_py()
        errors.append((abs(mean - codes.mean()), abs(middle - codes.mean())))
    ours, middle_error = np.mean(errors, axis=0)
    assert ours < middle_error / 4


def test_a_group_of_fewer_than_four_releases_the_middle() -> None:
    assert part_counts(np.arange(10), np.full(10, 99)).tolist() == [1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
    form = form_of([0.0, 1.0, 10.0])
    assert released(form, np.array([0, 0, 2]), 0, 2) == 5.0


@cache
def adult() -> shoal.Release:
    return shoal.anonymize(
        shoal.samples.adult().slice(0, 2500),
        quasi_identifiers=[*COLUMNS, "sex", "race"],
        others="drop",
        k=K,
        render="mean",
        keep_order=True,
        refine=False,
    )


def attack(column: str) -> tuple[int, int, int, int]:
    """Let an attacker who knows all others of each group ask which values the last one may have.

    Returns records whose value an exact mean gives away, whose value ours gives away though the range alone does not,
    of which ours excludes anything, and all records in ranges.
    """
    release = adult()
    j = release.closed.table.names.index(column)
    codes, form = release.closed.table.codes[:, j], release.closed.table.columns[j].form
    assert isinstance(form, RangeForm)
    shown = np.asarray(release.data[column])
    exactly = certain = narrowed = total = 0
    for group, (low, high) in enumerate(release.closed.of_column(j).T.tolist()):
        own = codes[release.closed.groups == group]
        if low == high:
            continue
        published = shown[np.flatnonzero(release.closed.groups == group)[0]]
        for at in range(own.size):
            others = np.delete(own, at)
            ends = {low, high} - {int(others.min()), int(others.max())}
            possible = sorted(ends) if ends else range(low, high + 1)  # closures are tight
            left = [
                x for x in possible if released(form, np.append(others, x), low, high) == published
            ]
            assert own[at] in left
            numbers = np.asarray(form.values, dtype=np.float64)
            exact = [x for x in possible if numbers[[*others, x]].sum() == numbers[own].sum()]
            exactly += exact == [own[at]]
            certain += len(left) == 1 < len(possible)
            narrowed += len(left) < len(possible)
            total += 1
    return exactly, certain, narrowed, total


@pytest.mark.parametrize("column", COLUMNS)
def test_an_exact_mean_gives_the_last_value_away_and_ours_hardly_ever(column: str) -> None:
    exactly, certain, narrowed, total = attack(column)
    assert exactly == total > 1000
    assert certain / total < 0.01
    assert narrowed / total < 0.15


def test_a_range_of_few_values_releases_the_middle() -> None:
    assert part_counts(np.full(5, 100), np.array([1, 4, 8, 12, 80])).tolist() == [1, 1, 2, 3, 10]


def test_every_record_reads_like_k_others_in_numbers_too() -> None:
    release = adult()
    rows = list(
        zip(*(release.data[name].to_pylist() for name in release.data.column_names), strict=True)
    )
    assert min(rows.count(row) for row in set(rows)) >= K
