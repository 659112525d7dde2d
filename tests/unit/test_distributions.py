"""Distances are those of closures spread out by hand, and histograms show no rare value."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_evaluation import compared, spread_cells
from tables import partitioned_samples

import shoal
from shoal.evaluation.comparison import read_comparison
from shoal.evaluation.distributions import compare_distributions, earth_movers, total_variation
from shoal.evaluation.histograms import draw_histogram
from shoal.settings import make_settings
from shoal.table import open_frame


@given(partitioned_samples(sensitive=1))
def test_columns_and_pairs_are_what_spreading_record_by_record_gives(drawn: Any) -> None:
    comparison = compared(*drawn)
    table, found = comparison.table, compare_distributions(comparison)
    n = table.records
    spread = spread_cells(comparison)
    secret = table.sensitive["sensitive0"].codes
    codes = [*table.codes.T.tolist(), secret.tolist()]
    for j, distance in enumerate(found.columns):
        after = pd.DataFrame(spread[j]).fillna(0.0).sum() / n
        before = pd.Series(codes[j]).value_counts(normalize=True)
        expected = before.sub(after, fill_value=0.0).abs().sum() / 2
        assert distance.total_variation == pytest.approx(expected, abs=1e-9)
    numbers = {name: j for j, name in enumerate([*table.names, "sensitive0"])}
    for pair in found.pairs:
        a, b = (numbers[name] for name in pair.columns)
        if max(len(set(codes[a])), len(set(codes[b]))) > 8:
            continue  # cut into parts
        joint: dict[tuple[int, int], float] = {}
        for i in range(n):
            joint[codes[a][i], codes[b][i]] = joint.get((codes[a][i], codes[b][i]), 0.0) + 1 / n
            for v, p in spread[a][i].items():
                for u, q in spread[b][i].items():
                    joint[v, u] = joint.get((v, u), 0.0) - p * q / n
        exact = sum(map(abs, joint.values())) / 2
        assert pair.total_variation <= exact + 1e-9  # parts may join values, never tell more apart


def test_distances_of_a_small_release_are_those_found_by_hand() -> None:
    table = pd.DataFrame({"age": [10, 10, 20, 30], "job": list("aabb")})
    release = pd.DataFrame(
        {"age": ["10", "10", "[20, 30]", "[20, 30]"], "job": list("aa") + ["*"] * 2}
    )
    job = {"quasi_identifiers": {"age": None, "job": shoal.Suppression()}, "k": 2}
    comparison = read_comparison(open_frame(table), open_frame(release), make_settings(None, **job))
    found = compare_distributions(comparison)
    age, work = found.columns
    assert (age.total_variation, age.earth_movers) == (0.0, 0.0)
    assert (work.total_variation, work.earth_movers) == (0.25, None)
    [pair] = compare_distributions(comparison).pairs
    # (20, b) and (30, b) had a quarter each and now have an eighth, as have (20, a) and (30, a)
    assert pair.total_variation == 0.25
    alone = compare_distributions(comparison, pairs=False)
    assert (alone.columns, alone.histograms) == (found.columns, found.histograms)
    assert (len(alone.pairs), len(found.pairs)) == (0, 1)


def test_earth_is_moved_along_the_range() -> None:
    places = np.array([0.0, 1.0, 4.0])
    assert earth_movers(places, np.array([1.0, 0, 0]), np.array([0, 0, 1.0])) == 1.0
    assert earth_movers(places, np.array([2.0, 0, 0]), np.array([0, 1.0, 0])) == 0.25
    assert total_variation(np.array([2.0, 2.0]), np.array([1.0, 0.0])) == 0.5


@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from(["text", "number", "date"]))
def test_no_bin_stands_for_fewer_than_k_originals(seed: int, k: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    cells = np.rint(rng.exponential(6, 60)).astype(int)
    if kind == "date":
        values: Any = [date(2000 + v // 12, 1 + v % 12, 1 + v % 28) for v in cells]
    else:
        values = [f"v{v}" if kind == "text" else int(v) for v in cells]
    column = pa.array([*values, None, None])
    frame = pa.table({"a": column})
    model = shoal.Suppression() if kind == "text" else shoal.Interval()
    release = shoal.anonymize(frame, quasi_identifiers={"a": model}, k=k, refine=False)
    [histogram] = release.distributions.histograms
    assert min(histogram.before) >= k
    assert sum(histogram.before) == 62
    assert sum(histogram.after) == pytest.approx(62)
    assert len(histogram.labels) == len(set(histogram.labels)) <= 13
    if kind == "text":
        counts = pd.Series(column.to_pylist()).fillna("missing").value_counts()
        named = [label for label in histogram.labels if label != "other"]
        assert all(counts[label] >= k for label in named)


def test_bins_have_round_ends() -> None:
    numbers = pa.array([1, 7, 12, 38, 39, 61])
    counts = np.array([5.0, 5, 5, 5, 5, 5])
    drawn = draw_histogram("n", (), numbers, counts, counts, 5)
    assert drawn.labels == ("0 to 9", "10 to 19", "30 to 39", "60 to 69")
    assert drawn.before == (10, 5, 10, 5)
    joined = draw_histogram("n", (), numbers, counts, counts, 6)
    assert joined.labels == ("0 to 9", "10 to 69")
