"""Distances are those of closures spread out by hand, and histograms show no rare value."""

from __future__ import annotations

import math
from datetime import date, timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.evaluation import compared, spread_cells
from tables import partitioned_samples

import shoal
from shoal.assess.comparison import read_comparison
from shoal.assess.distributions import compare_distributions, earth_movers, total_variation
from shoal.assess.histograms import HIDDEN
from shoal.assess.safe_bins import join_ordered, join_others
from shoal.encoding.frames import open_frame
from shoal.encoding.models.periods import days_of_label
from shoal.settings.settings import make_settings


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


def interval(label: str) -> tuple[float, float]:
    """The first and the last whole number of a bin."""
    if label.endswith(" or less"):
        return -math.inf, int(label.removesuffix(" or less"))
    if label.endswith(" or more"):
        return int(label.removesuffix(" or more")), math.inf
    first, _, last = label.partition(" to ")
    return int(first), int(last or first)


def members(label: str, values: list[Any], shown: list[str]) -> set[Any]:
    """The values that a bin of numbers stands for, or one of text beside the others."""
    if label in ("other", "all values"):
        return {v for v in values if ("missing" if v is None else str(v)) not in shown}
    plain = label.removesuffix(", or missing")
    null = {None} if label != plain or label == "missing" else set()
    if label == "missing":
        return null
    if isinstance(next(v for v in values if v is not None), str):
        return {label}
    low, high = interval(plain)
    return null | {v for v in values if v is not None and low <= v <= high}


def cell_members(text: str | None, values: list[Any]) -> set[Any]:
    """The values that a released text may stand for."""
    if text is None:
        return {None}
    if text == "*":
        return set(values)
    if "–" in text:
        low, high = map(int, text.split("–"))
        return {v for v in values if v is not None and low <= v <= high}
    if text.startswith("{"):
        return set(text[1:-1].split(", "))
    return {v for v in values if str(v) == text}


KINDS = {"text": shoal.Suppression(), "set": shoal.Subset(), "number": shoal.Interval()}


def release_of(seed: int, k: int, kind: str) -> tuple[list[Any], shoal.Release]:
    """A column of some values, rare ones among them, and a release of it beside another column."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([2, 6, 25])
    cells = np.rint(rng.exponential(spread, 60)).astype(int).tolist()
    values: list[Any] = cells if kind == "number" else [f"v{v}" for v in cells]
    nulls = int(rng.integers(0, 8))
    values[:nulls] = [None] * nulls
    frame = pa.table({"a": pa.array(values), "b": rng.integers(0, 9, 60)})
    models = {"a": KINDS[kind], "b": shoal.Interval()}
    return values, shoal.anonymize(frame, quasi_identifiers=models, k=k, refine=False)


@settings(max_examples=several(150), deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7), st.sampled_from([*KINDS]))
def test_no_count_and_no_difference_of_any_bins_stands_for_fewer_than_k(
    seed: int, k: int, kind: str
) -> None:
    values, release = release_of(seed, k, kind)
    histogram = release.distributions.histograms[0]
    domain = list(dict.fromkeys(values))
    cells = [cell_members(text, domain) for text in release.data["a"].to_pylist()]
    assert sum(histogram.after) == pytest.approx(60)
    assume(histogram.before)
    labels = [label for label in histogram.labels if label != HIDDEN]
    named = [label for label in labels if label != "other"]
    bins = [members(label, domain, named) for label in labels]
    assert [sum(v in one for v in values) for one in bins] == list(histogram.before)[: len(bins)]
    assert sum(histogram.before) == 60
    for size in range(1, len(bins) + 1):
        for chosen in combinations(range(len(bins)), size):
            union = set().union(*(bins[b] for b in chosen))
            held = sum(v in union for v in values)
            inside = sum(cell <= union for cell in cells)
            touching = sum(bool(cell & union) for cell in cells)
            for number in (held, held - inside, touching - held):
                assert number == 0 or number >= k
            if size > 3:
                break  # one of many unions of many bins


def days_of(label: str, universe: range) -> set[int]:
    """The days of a bin or of a released period, as numbers."""
    if label == "*":
        return {-1, *universe}
    if label == "missing":
        return {-1}
    plain = label.removesuffix(", or missing")
    if plain == "all values":
        return {*universe, *([-1] if label != plain else [])}
    for sign, cut in ((" or earlier", 1), (" or later", 0), ("≤ ", 1), ("≥ ", 0)):
        if sign in plain:
            day = days_of_label(plain.replace(sign, ""))[cut].toordinal()
            found = {d for d in universe if (d <= day if cut else d >= day)}
            break
    else:
        ends = [days_of_label(end) for end in plain.split(" to ")]
        found = set(range(ends[0][0].toordinal(), ends[-1][1].toordinal() + 1))
    return found | ({-1} if label != plain else set())


@settings(max_examples=several(150), deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(2, 7),
    st.sampled_from(
        [
            shoal.Calendar(),
            shoal.Calendar(finest="month"),
            shoal.Calendar(finest="quarter"),
            shoal.Calendar(("day", "year")),
            shoal.Calendar(finest="month", low="2001-05", high="2003"),
        ]
    ),
)
def test_bins_of_dates_tell_nothing_of_fewer_than_k(
    seed: int, k: int, model: shoal.Calendar
) -> None:
    rng = np.random.default_rng(seed)
    first = date(2001, 3, 14)
    values = [first + timedelta(int(d)) for d in rng.integers(0, rng.choice([9, 90, 900]), 80)]
    nulls = int(rng.integers(0, 8))
    frame = pa.table(
        {"a": pa.array([*values[nulls:], *[None] * nulls]), "b": rng.integers(0, 9, 80)}
    )
    release = shoal.anonymize(
        frame, quasi_identifiers={"a": model, "b": shoal.Interval()}, k=k, refine=False
    )
    histogram = release.distributions.histograms[0]
    assert sum(histogram.after) == pytest.approx(80)
    assume(histogram.before)
    universe = range(first.toordinal() - 5000, first.toordinal() + 5000)
    held = [-1 if v is None else v.toordinal() for v in frame["a"].to_pylist()]
    cells = [
        days_of("missing" if t is None else t, universe) for t in release.data["a"].to_pylist()
    ]
    bins = [days_of(label, universe) for label in histogram.labels if label != HIDDEN]
    assert [sum(v in one for v in held) for one in bins] == list(histogram.before)[: len(bins)]
    for size in (1, 2):
        for chosen in combinations(bins, size):
            union = set().union(*chosen)
            count = sum(v in union for v in held)
            inside = sum(cell <= union for cell in cells)
            for number in (count, count - inside):
                assert number == 0 or number >= k


def test_dates_are_drawn_by_periods_and_hidden_ones_apart() -> None:
    rng = np.random.default_rng(3)
    born = [date(1930, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 32_000, 1500)]
    born[::120] = [None] * len(born[::120])
    came = [date(2023, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 400, 1500)]
    table = pa.table(
        {"born": pa.array(born), "came": came, "place": rng.choice(list("ABCDEF"), 1500)}
    )
    models = {"born": shoal.Calendar(), "came": shoal.Calendar(), "place": None}
    release = shoal.anonymize(table, quasi_identifiers=models, k=10)
    assert "*" in release.data["born"].to_pylist()
    born_drawn, came_drawn, _ = release.distributions.histograms
    assert "1940 to 1949" in born_drawn.labels
    assert "2023-03 to 2023-04" in came_drawn.labels
    for drawn, name in ((born_drawn, "born"), (came_drawn, "came")):
        assert drawn.ordered
        assert drawn.differing < 0.06
        hidden = release.data[name].to_pylist().count("*")
        assert drawn.hidden == hidden / 1500
        told = [label for label in drawn.labels if label != HIDDEN]
        for before, after in zip(drawn.before[: len(told)], drawn.after, strict=False):
            assert abs(before - after) < 0.03 * 1500 + hidden
    assert born_drawn.labels[-1] == HIDDEN


def test_the_few_values_that_a_release_shows_are_not_scaled_up() -> None:
    """Of a hundred dates, ten are shown as one decade: the others are hidden, not spread like these."""
    days = [date(1950 + n // 2, 1, 1 + n % 28) for n in range(100)]
    shown = [10 * (day.year // 10) == 1990 for day in days]
    release = pa.table({"d": [f"{1990}–{1999}" if one else "*" for one in shown]})
    found = shoal.evaluate(
        pa.table({"d": days}), release, quasi_identifiers={"d": shoal.Calendar()}, k=10, queries=0
    )
    [drawn] = found.distributions.histograms
    after = dict(zip(drawn.labels, drawn.after, strict=True))
    assert after.pop(HIDDEN) == 80
    assert sum(after.values()) == pytest.approx(20)
    assert drawn.hidden == 0.8


def test_hidden_values_are_counted_apart_from_those_that_are_shown() -> None:
    table = pa.table({"town": ["a"] * 60 + ["b"] * 20 + ["c"] * 20, "n": [*range(100)]})
    hidden = ["a"] * 30 + ["*"] * 30 + ["b"] * 10 + ["*"] * 10 + ["c"] * 20
    release = pa.table({"town": hidden, "n": ["*"] * 100})
    models = {"town": shoal.Suppression(), "n": shoal.Suppression()}
    found = shoal.evaluate(table, release, quasi_identifiers=models, k=10, queries=0)
    drawn = found.distributions.histograms[0]
    assert drawn.labels == ("a", "b", "c", HIDDEN)
    assert drawn.before == (60, 20, 20, 0)
    assert drawn.after == pytest.approx((30, 10, 20, 40))
    assert drawn.differing == pytest.approx(1 / 2 * (0.1 + abs(0.2 - 1 / 6) + abs(0.2 - 1 / 3)))


def test_histograms_count_originals_where_they_may() -> None:
    counted = [
        bool(release_of(seed, k, kind)[1].distributions.histograms[0].before)
        for seed in range(12)
        for k in (2, 4)
        for kind in KINDS
    ]
    assert 20 < sum(counted) <= len(counted)


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), max_size=8),
    st.integers(2, 6),
)
def test_joined_neighbours_hide_every_difference(
    counts: list[int], closures: list[tuple[int, int, int]], k: int
) -> None:
    last = len(counts) - 1
    ranges = [(min(a, b, last), min(max(a, b), last), n) for a, b, n in closures]
    first, end, sizes = (np.array([row[i] for row in ranges], dtype=np.int64) for i in range(3))
    bins = join_ordered(np.array(counts, dtype=float), first, end, sizes, k)
    assert [i for one in bins for i in one] == list(range(len(counts)))
    assume(len(bins) > 1)
    for i, j in combinations(range(len(bins) + 1), 2):
        union = {b for one in bins[i:j] for b in one}
        held = sum(counts[b] for b in union)
        inside = sum(n for a, b, n in ranges if set(range(a, b + 1)) <= union)
        assert held == 0 or held >= k
        assert held == inside or held - inside >= k


def test_one_hidden_person_is_enough_to_join_bins() -> None:
    counts, first, last = np.array([10.0, 10.0]), np.array([0, 1, 0]), np.array([0, 1, 1])
    apart = join_ordered(counts, first, last, np.array([5, 5, 10]), 5)
    assert apart == [[0], [1]]  # five of ten are in each
    joined = join_ordered(counts, first, last, np.array([9, 6, 5]), 5)
    assert joined == [[0, 1]]  # the first bin has one more than the release says
    touched = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=bool)
    others = np.array([10.0, 10.0, 0.0])
    assert join_others(others, touched, np.array([5, 5, 10]), 5) == [[0], [1], [2]]
    assert len(join_others(others, touched, np.array([9, 6, 5]), 5)) == 1


def test_few_originals_are_joined_even_where_the_release_tells_them() -> None:
    counts, at, sizes = np.array([1.0, 9.0]), np.array([0, 1]), np.array([1, 9])
    assert join_ordered(counts, at, at, sizes, 2) == [[0, 1]]
    assert join_ordered(counts, at, at, sizes, 1) == [[0], [1]]
    assert join_others(counts, np.eye(2, dtype=bool), sizes, 2) == [[0, 1]]
    assert join_others(counts, np.eye(2, dtype=bool), sizes, 1) == [[0], [1]]


def test_many_records_left_out_of_a_release_made_elsewhere_are_in_no_histogram() -> None:
    table = pd.DataFrame({"n": [1] * 5 + [2] * 5 + [900] * 6})
    release = table.head(10).astype(str)
    found = shoal.evaluate(table, release, quasi_identifiers=["n"], k=3, queries=0)
    [n] = found.distributions.histograms
    assert (n.labels, n.before, n.after) == (("1", "2"), (), (5.0, 5.0))


def unchanged(values: pa.Array) -> Any:
    frame = pa.table({"q": ["a"] * len(values), "s": values})
    release = shoal.anonymize(frame, quasi_identifiers=["q"], sensitive=["s"], k=2)
    return release.distributions.histograms[1]


def test_bins_have_round_ends_and_extremes_have_no_name() -> None:
    numbers = [1, 7, 12, 22, 33, 38, 39, 41, 44, 49, 57, 58, 61]
    drawn = unchanged(pa.array(numbers))
    assert drawn.labels == (
        "9 or less", "10 to 19", "20 to 29", "30 to 39", "40 to 49", "50 to 59", "60 or more"
    )  # fmt: skip
    assert drawn.after == (2, 1, 1, 3, 3, 2, 1)
    days = unchanged(pa.array([date(1950 + 3 * n, 5, 1 + n) for n in range(14)]))
    assert days.labels[0] == "1954 or earlier"
    assert days.labels[-1] == "1985 or later"


def test_few_numbers_are_shown_as_values() -> None:
    codes = unchanged(pa.array([1, 2, 2, 97, 98, None] * 4))
    assert codes.labels == ("1", "2", "97", "98", "missing")
    table = pa.table({"age": range(100), "code": [1, 2, 2, 97, 98] * 20})
    release = shoal.anonymize(table, quasi_identifiers=["age", "code"], k=4)
    code = release.distributions.histograms[1]
    assert code.labels == ("1", "2", "97", "98")
    assert code.before == (20, 40, 20, 20)


def test_a_rare_code_is_joined_with_its_neighbour_and_not_named() -> None:
    table = pa.table({"kids": [0] * 20 + [1] * 20 + [2] * 20 + [3] * 10 + [11]})
    release = shoal.anonymize(table, quasi_identifiers=["kids"], k=5)
    [kids] = release.distributions.histograms
    assert "11" not in " ".join(kids.labels[:-1])
    assert release.data["kids"].to_pylist().count("11") == 0
    assert sum(kids.before) == 71


def test_no_bin_ends_at_a_value_that_few_have_and_the_release_hides() -> None:
    table = pd.DataFrame({"n": [*range(0, 1000, 110)] * 2})
    release = pd.DataFrame({"n": ["[0, 990]"] * 20})
    found = shoal.evaluate(table, release, quasi_identifiers=["n"], k=5, queries=0)
    [n] = found.distributions.histograms
    assert sum(n.before) == 20
    ends = {end for label in n.labels for end in interval(label) if math.isfinite(end)}
    assert ends
    assert all(end % 100 in (0, 99) for end in ends)  # round numbers, not 440 or 549


@pytest.mark.parametrize(
    "values",
    [
        pa.array([-1e308, 1e308, 0.0, 1.0] * 4 + [float(2**n) for n in range(16)]),
        pa.array([None] * 4, pa.int64()),
        pa.array([None] * 4, pa.date32()),
        pa.array([None] * 4, pa.timestamp("ns", tz="Europe/Berlin")),
        pa.array([None] * 4, pa.bool_()),
        pa.array([None] * 4, pa.decimal128(9, 2)),
        pa.array([-(2**63) + 1, 2**63 - 1, *range(20)], pa.int64()),
        pa.array([-(2**63) + 1, 2**63 - 1, *range(20)], pa.int64()).cast(pa.timestamp("ns")),
        pa.array([0, 2**64 - 1, *range(20)], pa.uint64()),
        pa.array([5e-324, 1e-323, 1.5e-323] * 2 + [n * 5e-324 for n in range(20)]),
        pa.array([date(1, 1, 1), date(9999, 12, 31)] * 2),
    ],
    ids=lambda values: str(values.type),
)
def test_any_values_have_a_histogram(values: pa.Array) -> None:
    frame = pa.table({"q": [*"ab"] * (len(values) // 2), "s": values})
    release = shoal.anonymize(frame, quasi_identifiers=["q"], sensitive=["s"], allow=["s"], k=2)
    drawn = release.distributions.histograms[1]
    assert sum(drawn.after) == len(values)
    assert len(set(drawn.labels)) == len(drawn.labels) > 0
    assert all(math.isfinite(item.total_variation) for item in release.distributions.columns)
    assert all(math.isfinite(item.earth_movers or 0) for item in release.distributions.columns)


def test_dates_beyond_the_years_that_can_be_written_are_refused() -> None:
    with pytest.raises(shoal.InputError, match="'s' contains dates outside the years 1 to 9999"):
        unchanged(pa.array([-(2**31) + 1, 2**31 - 1, *range(20)], pa.int32()).cast(pa.date32()))


def test_records_left_out_are_in_no_histogram() -> None:
    table = pd.DataFrame(
        {
            "n": [1] * 5 + [2] * 5 + [900],
            "zip": [*"aaaaaaaaaa", "z"],
            "ill": [*"ababaababa", "rare"],
        }
    )
    job: dict[str, Any] = {"quasi_identifiers": ["n", "zip"], "sensitive": ["ill"], "k": 3}
    release = shoal.anonymize(
        table, **job, suppression_limit=0.1, objective="ncp", method="mondrian"
    )
    assert release.suppressed == 1
    read = shoal.evaluate(table, release.data, **job, queries=0).distributions
    for histograms in (release.distributions.histograms, read.histograms):
        n, _, ill = histograms
        assert n.labels == ("1", "2")
        assert sum(n.after) == 10
        assert n.before in ((), (5, 5))
        assert ill.labels == ("a", "b")
        assert ill.before == ()
