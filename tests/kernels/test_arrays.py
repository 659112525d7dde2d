"""Loops that stand in for NumPy's functions in kernels do what those do, and bundles hold what they were given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from compiled import callable_here, needs_jit
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.shared import arrays

order_of = callable_here(arrays.order_of)
order_of_codes = callable_here(arrays.order_of_codes)
taken = callable_here(arrays.taken)
sort_numbers = callable_here(arrays.sort_numbers)
least_at = callable_here(arrays.least_at)
largest_at = callable_here(arrays.largest_at)

NUMBERS = st.lists(st.sampled_from([-np.inf, -1.5, 0.0, 0.25, 3.0, np.inf]), max_size=70)


@given(NUMBERS)
def test_places_are_ordered_by_value_and_equal_ones_as_they_stand(drawn: list[float]) -> None:
    values = np.array(drawn, np.float64)
    order = order_of(values)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()
    assert taken(values, order).tolist() == sorted(drawn)


@given(st.lists(st.integers(-5, 60) | st.integers(0, 10**6), max_size=30), st.integers(1, 99))
def test_places_of_codes_are_ordered_whether_they_are_close_or_not(
    drawn: list[int], close: int
) -> None:
    for codes in (np.array(drawn, np.int32), np.array(drawn, np.int32) % close):
        assert order_of_codes(codes).tolist() == np.argsort(codes, kind="stable").tolist()


@given(st.lists(st.integers(-5, 60), max_size=90))
def test_integers_are_sorted_in_place(drawn: list[int]) -> None:
    values = np.array(drawn, np.int64)
    sort_numbers(values)
    assert values.tolist() == sorted(drawn)


@given(NUMBERS.filter(len), st.data())
def test_the_first_of_the_least_and_of_the_largest_values_is_found(
    drawn: list[float], data: st.DataObject
) -> None:
    begin = data.draw(st.integers(0, len(drawn) - 1))
    end = data.draw(st.integers(begin + 1, len(drawn)))
    values = np.array(drawn, np.float64)
    assert least_at(values, begin, end) == begin + np.argmin(values[begin:end])
    assert largest_at(values, begin, end) == begin + np.argmax(values[begin:end])


@given(st.lists(st.integers(0, 7), max_size=20))
def test_rows_are_taken_as_they_are_or_turned(drawn: list[int]) -> None:
    table, places = np.arange(24, dtype=np.int32).reshape(8, 3), np.array(drawn, np.int64)
    rows = callable_here(arrays.taken_rows)(table, places)
    columns = callable_here(arrays.taken_columns)(table, places)
    assert rows.tolist() == table[places].tolist()
    assert columns.tolist() == table[places].T.tolist()


def test_columns_are_compared_and_copied() -> None:
    equal_columns = callable_here(arrays.equal_columns)
    first, second = np.array([[1, 2], [3, 4]], np.int32), np.array([[2, 1], [4, 0]], np.int32)
    assert equal_columns(first, 1, second, 0)
    assert not equal_columns(first, 0, second, 1)
    callable_here(arrays.copy_column)(first, 0, second, 1)
    assert second.tolist() == [[2, 1], [4, 3]]
    assert equal_columns(first, 0, second, 1)


@bundle
class Inside(NamedTuple):
    k: int
    table: np.ndarray


@bundle
class Outside(NamedTuple):
    share: float
    is_large: bool
    first: np.ndarray
    inside: Inside
    last: np.ndarray


def made() -> Outside:
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    return Outside(0.25, True, np.array([1.5, 2.5]), Inside(7, table), np.array([True, False]))


@njit
def read(x):  # type: ignore[no-untyped-def]
    return (
        x.share,
        x.is_large,
        x.first[1],
        x.first.size,
        x.inside.k,
        x.inside.table[1, 2],
        x.inside.table.shape[1],
        x.inside.table[:, 1].sum(),
        x.last[0],
    )


@njit
def write(x):  # type: ignore[no-untyped-def]
    x.first[0] = x.inside.k
    x.inside.table[0, :] = 9


@njit
def give_back(x):  # type: ignore[no-untyped-def]
    return x.inside


def test_kernels_read_what_a_bundle_was_made_of() -> None:
    assert read(made()) == (0.25, True, 2.5, 2, 7, 5, 3, 5, True)


def test_kernels_write_into_the_arrays_of_a_bundle() -> None:
    x = made()
    write(x)
    assert x.first.tolist() == [7.0, 2.5]
    assert x.inside.table.tolist() == [[9, 9, 9], [3, 4, 5]]


def test_bundles_of_other_types_and_strides_are_told_apart() -> None:
    table = np.arange(12, dtype=np.int64).reshape(3, 4).T[::2]
    x = made()._replace(inside=Inside(7, table))
    assert read(x)[5:8] == (table[1, 2], 3, table[:, 1].sum())


@needs_jit
def test_a_kernel_that_would_return_a_bundle_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot return a bundle"):
        give_back(made())
