"""The k largest of numbers are found, kept, capped and projected, each number standing for several records."""

from __future__ import annotations

import numpy as np
import pytest
import reference.bounds
from compiled import callable_here
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.kernels.bounding.ascent import cap_of, project
from shoal.kernels.bounding.closed_cells import keep_top, top_sum

cap_of, project, keep_top, top_sum = map(callable_here, (cap_of, project, keep_top, top_sum))


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=1, max_size=9),
    st.integers(1, 9),
)
def test_the_largest_numbers_are_summed_by_weight(numbers, k):
    assume(sum(weight for _, weight in numbers) >= k)
    values, weights = (np.array(column) for column in zip(*numbers, strict=True))
    spread = sorted((v for v, weight in numbers for _ in range(weight)), reverse=True)
    assert top_sum(values, weights, values.size, k) == pytest.approx(sum(spread[:k]))


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=1, max_size=9),
    st.integers(1, 9),
)
def test_the_largest_numbers_are_kept_as_others_come(numbers, k):
    values, weights = np.zeros(k + 1), np.zeros(k + 1, np.int64)
    size, held, total = 0, 0, 0.0
    for count, (value, weight) in enumerate(numbers, 1):
        if held < k or value > values[size - 1]:
            size, held, total = keep_top(values, weights, size, held, total, k, value, weight)
        spread = sorted((v for v, w in numbers[:count] for _ in range(w)), reverse=True)
        assert np.repeat(values[:size], weights[:size])[:k] == pytest.approx(spread[:k])
        assert total == pytest.approx((values[:size] * weights[:size]).sum())
        assert held == weights[:size].sum() >= min(k, len(spread))


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=1, max_size=9),
    st.integers(1, 9),
    st.floats(0.01, 3),
)
def test_capped_numbers_are_as_large_as_the_limit_allows(numbers, k, excess):
    assume(sum(weight for _, weight in numbers) >= k)
    values, weights = (
        np.array(column) for column in zip(*sorted(numbers, reverse=True), strict=True)
    )
    spread = list(np.repeat(values, weights))
    limit = reference.bounds.mean_of_largest(spread, k) - excess
    cap, mean = cap_of(values, weights, values.size, k, k * limit)
    assert mean == pytest.approx(limit + excess)
    shifted = [v + 20 for v in spread]  # above 0, where the twin looks for a cap
    expected = [v - 20 for v in reference.bounds.capped(shifted, k, limit + 20)]
    assert [min(v, cap) for v in spread] == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 3)), min_size=1, max_size=7),
    st.integers(1, 6),
    st.floats(0.1, 0.9),
)
@settings(max_examples=several(150))
def test_projected_numbers_are_the_nearest_that_keep_the_limit(numbers, k, share):
    assume(sum(weight for _, weight in numbers) >= k)
    ordered = sorted(numbers, reverse=True)
    z, weights = np.array([float(v) for v, _ in ordered]), np.array([w for _, w in ordered])
    spread = np.repeat(z, weights)
    limit = share * spread[:k].sum() - 0.5
    out = np.empty(z.size)
    project(z, weights, z.size, k, limit, out)
    found = np.repeat(out, weights)
    assert np.sort(found)[::-1][:k].sum() == pytest.approx(limit)
    # Nearest: z − found is a positive multiple of a mean of indicators of k largest ones.
    taken = (spread - found) / (spread - found).sum() * k
    assert taken.min() >= -1e-9
    assert taken.max() <= 1 + 1e-9
    assert taken @ found == pytest.approx(limit)
