"""What a user can rely on, whatever the table, the models, the method and the objective."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import in_order
import narwhals as nw
import numba
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
import tables
from allowed import allowing
from examples import several
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import Sample

import shoal
from shoal.solve.methods import METHODS as METHOD_KINDS

METHODS: dict[str, Any] = {
    **{name: name for name in shoal.list_methods()},
    "mondrian, relaxed": shoal.Mondrian(strict=False),
    "cover, small lattices whole": shoal.Cover(max_points=5),
    "cover, proposals": shoal.Cover(max_points=1),
}
FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": pa.Table.to_pandas,
    "polars": pl.from_arrow,
    "arrow": lambda table: table,
}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
some_method = st.sampled_from(list(METHODS.values()))

MAY_FALL = ("entropy", "pmi", "wmi")  # objectives by which a larger closure may cost less


@st.composite
def people(draw: st.DrawFn, **options: Any) -> tuple[Sample, dict[str, Any]]:
    """A table with columns of every role, and what `anonymize` must know of it beside k and the method."""
    sample = draw(tables.samples(sensitive=1, max_records=14, **options))
    n = sample.records
    days = st.sampled_from([None, date(2020, 1, 1), date(2021, 2, 3)])
    sample = sample.with_columns(
        name=pa.array([f"person {i}" for i in range(n)]),
        other=pa.array(draw(st.lists(days, min_size=n, max_size=n)), pa.date32()),
    )
    order = draw(st.permutations(sample.frame.column_names))
    job = {
        "quasi_identifiers": sample.models,
        "sensitive": sample.sensitive,
        "identifiers": ["name"],
        "keep": ["other"],
        "allow": allowing("other"),
        "weights": sample.weights,
        "objective": draw(st.sampled_from(reference.OBJECTIVES)),
        "seed": draw(st.integers(0, 3)),
    }
    return replace(sample, frame=sample.frame.select(order)), job


def any_k(sample: Sample, data: st.DataObject) -> int:
    """Small values of k most of the time, and the largest ones."""
    n = sample.records
    return data.draw(st.integers(1, min(n, 5)) | st.sampled_from(sorted({n, max(1, n - 1)})))


def repeatably(frame: Any, **job: Any) -> shoal.Release:
    """A release in which all that is left to chance falls out as in any other such release."""
    fresh = np.random.default_rng
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.random, "default_rng", lambda seed=None: fresh(seed or 0))
        return in_order.anonymize(frame, **job)


def records_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of any frame; missing values as None."""
    rows = nw.from_native(frame, eager_only=True).rows(named=True)
    return [{key: None if pd.isna(v) else v for key, v in row.items()} for row in rows]


def multiset(records: list[dict[str, Any]], columns: list[str]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(record[name] for name in columns) for record in records)


def is_homogeneous(method: Any) -> bool:
    """Whether a method promises groups of records that look the same."""
    return method != "non_homogeneous"


@each_method
@given(drawn=people(), data=st.data())
def test_a_release_keeps_every_promise(method, drawn, data):
    sample, job = drawn
    k = any_k(sample, data)
    release = shoal.anonymize(sample.frame, **job, k=k, method=method, keep_order=True)
    original, found = records_of(sample.frame), records_of(release.data)
    assert [*found[0]] == [name for name in sample.frame.column_names if name != "name"]
    for name in ("sensitive0", "other"):
        assert [record[name] for record in found] == [record[name] for record in original]
    closures = [
        tuple(reference.read(column, record[name]) for name, column in sample.columns.items())
        for record in found
    ]
    assert release.k >= k
    if is_homogeneous(method):
        assert_groups(sample, release.data, closures, k)
        if method != "incognito" and job["objective"] not in MAY_FALL:
            assert_tight(sample, closures)
        assert shoal.audit(release.data, settings=release.settings).k == release.k
    else:
        assert_compatible(sample, closures, k)


LOOSE = [name for name in shoal.list_methods() if METHOD_KINDS[name]().may_be_loosened()]


@pytest.mark.parametrize("method", LOOSE)
@settings(max_examples=several(60))
@given(drawn=people(), share=st.sampled_from([0.1, 0.5, 0.9]), data=st.data())
def test_a_loosened_release_keeps_every_promise(method, drawn, share, data):
    sample, job = drawn
    k = any_k(sample, data)
    job |= {"k": k, "method": method, "keep_order": True}
    tight = shoal.anonymize(sample.frame, **job)
    release = shoal.anonymize(sample.frame, **job, loosen=share)
    original, found = records_of(sample.frame), records_of(release.data)
    for name in ("sensitive0", "other"):
        assert [record[name] for record in found] == [record[name] for record in original]
    before, closures = (
        [
            tuple(reference.read(column, record[name]) for name, column in sample.columns.items())
            for record in records_of(either.data)
        ]
        for either in (tight, release)
    )
    assert release.k >= k
    assert_groups(sample, release.data, closures, k)
    for least, loose in zip(before, closures, strict=True):
        assert all(a <= b for a, b in zip(least, loose, strict=True))
    if job["objective"] not in MAY_FALL:
        assert release.loss() >= tight.loss() - 1e-9
    assert shoal.audit(release.data, settings=release.settings).k == release.k


def assert_groups(sample: Sample, data: pa.Table, closures: Any, k: int) -> None:
    """At least k records read the same, and every record lies in its closure."""
    sizes = data.to_pandas().groupby(list(sample.columns), dropna=False).size()
    assert sizes.sum() == sample.records
    assert sizes.min() >= k
    records = zip(*(column.values for column in sample.twins), strict=True)
    for record, released in zip(records, closures, strict=True):
        assert all(value in closure for value, closure in zip(record, released, strict=True))


def assert_tight(sample: Sample, closures: Any) -> None:
    """No closure is wider than its group needs."""
    for released, group in reference.cells(closures).items():
        assert released == reference.close(sample.twins, group)


def assert_compatible(sample: Sample, closures: Any, k: int) -> None:
    """Every record lies in its own closure and in k closures, every closure holds k records."""
    records = list(zip(*(column.values for column in sample.twins), strict=True))
    inside = [
        [all(v in b for v, b in zip(record, released, strict=True)) for released in closures]
        for record in records
    ]
    assert all(inside[i][i] for i in range(len(records)))
    assert min(map(sum, inside)) >= k
    assert min(map(sum, zip(*inside, strict=True))) >= k


@given(drawn=people(kinds=(*tables.ORDERED, "text")), method=some_method, data=st.data())
def test_bounds_say_the_same_as_text(drawn, method, data):
    sample, job = drawn
    job |= {"k": any_k(sample, data), "method": method, "keep_order": True}
    texts = records_of(repeatably(sample.frame, **job).data)
    bounds = records_of(repeatably(sample.frame, **job, render="bounds").data)
    for text, bound in zip(texts, bounds, strict=True):
        for name, twin in sample.columns.items():
            if twin.model in ("interval", "order"):
                ends = bounds_of(twin, reference.read(twin, text[name]))
                assert (bound[f"{name}_min"], bound[f"{name}_max"]) == ends
            else:
                assert bound[name] == text[name]


def bounds_of(twin: reference.Column, closure: reference.Closure) -> tuple[Any, Any]:
    """The ends of a closure; none where it holds null, alone or beside any value."""
    run = [value for value in twin.domain if value in closure]
    ends = [getattr(end, "bounds", (end, end)) for end in (run[0], run[-1])] if run else []
    return (None, None) if None in closure else (ends[0][0], ends[1][1])


@given(drawn=people(), method=some_method, data=st.data())
def test_records_are_shuffled_by_chance_alone_and_stay_whole(drawn, method, data):
    sample, job = drawn
    job |= {"k": any_k(sample, data), "method": method}
    kept = records_of(repeatably(sample.frame, **job, keep_order=True).data)
    seed = data.draw(st.integers(0, 9))
    shuffled = records_of(repeatably(sample.frame, **job, order_seed=seed).data)
    order = np.random.default_rng(seed).permutation(sample.records)
    assert shuffled == [kept[i] for i in order]


@pytest.mark.parametrize("method", ["cover", "mondrian"])
@given(drawn=people(), data=st.data())
def test_groups_of_a_method_do_not_depend_on_the_order_of_the_table(method, drawn, data):
    sample, job = drawn
    job |= {"k": any_k(sample, data), "method": method, "refine": False}  # whose ties follow it
    permuted = sample.permuted(data.draw(st.permutations(range(sample.records))))
    before, after = (records_of(shoal.anonymize(s.frame, **job).data) for s in (sample, permuted))
    assert multiset(before, list(sample.columns)) == multiset(after, list(sample.columns))


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """A way to set the number of threads, put back afterwards."""
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)


@each_method
@settings(max_examples=several(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=people(), data=st.data())
def test_the_same_seed_makes_the_same_release_on_one_thread_and_on_two(
    threads, method, drawn, data
):
    sample, job = drawn
    job |= {"k": any_k(sample, data), "method": method}
    threads(1)
    first = repeatably(sample.frame, **job)
    threads(min(2, numba.config.NUMBA_NUM_THREADS))
    second = repeatably(sample.frame, **job)
    assert first.data.equals(second.data)
    assert first.groups.tolist() == second.groups.tolist()


@given(drawn=people(), method=some_method, data=st.data())
def test_the_settings_of_a_release_make_it_again(drawn, method, data):
    sample, job = drawn
    job |= {"k": any_k(sample, data), "method": method}
    first = repeatably(sample.frame, **job)
    again = repeatably(sample.frame, settings=first.settings)
    assert again.data.equals(first.data)


@each_method
@settings(max_examples=several(60))
@given(drawn=people(), factor=st.sampled_from([2.0**-40, 2.0**40]), data=st.data())
def test_of_weights_only_their_ratios_matter(method, drawn, factor, data):
    sample, job = drawn
    job |= {"k": any_k(sample, data), "method": method}
    before = repeatably(sample.frame, **job)
    job["weights"] = {name: factor * weight for name, weight in sample.weights.items()}
    after = repeatably(sample.frame, **job)
    assert before.data.equals(after.data)


@given(drawn=people(), method=some_method, data=st.data())
def test_pandas_polars_and_arrow_make_the_same_release(drawn, method, data):
    sample, job = drawn
    job |= {"k": any_k(sample, data), "method": method}
    found = {kind: repeatably(make(sample.frame), **job).data for kind, make in FRAMES.items()}
    assert isinstance(found["pandas"], pd.DataFrame)
    assert isinstance(found["polars"], pl.DataFrame)
    assert isinstance(found["arrow"], pa.Table)
    assert records_of(found["pandas"]) == records_of(found["arrow"])
    assert records_of(found["polars"]) == records_of(found["arrow"])


@given(drawn=people(), data=st.data())
def test_the_index_of_a_pandas_frame_plays_no_part(drawn, data):
    sample, job = drawn
    job |= {"k": any_k(sample, data)}
    frame = sample.frame.to_pandas()
    indexed = frame.set_axis(data.draw(st.permutations(range(sample.records))), axis="index")
    before, after = (repeatably(f, **job).data for f in (frame, indexed))
    pd.testing.assert_frame_equal(before, after)


@each_method
@settings(max_examples=several(60))
@given(drawn=people())
def test_no_group_is_smaller_than_k_even_at_the_ends(method, drawn):
    sample, job = drawn
    n = sample.records
    for k in sorted({1, max(1, n - 1), n}):
        release = shoal.anonymize(sample.frame, **job, k=k, method=method)
        if is_homogeneous(method):
            assert min(Counter(release.groups.tolist()).values()) >= k
    assert set(release.groups.tolist()) == {0}


@given(drawn=people())
def test_more_than_all_records_cannot_be_asked_for(drawn):
    sample, job = drawn
    with pytest.raises(shoal.Infeasible, match=f"the table has {sample.records}"):
        shoal.anonymize(sample.frame, **job, k=sample.records + 1)
