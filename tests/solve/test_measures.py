"""Every measure is its formula, on any release of a table."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import reference
import tables
from hypothesis import given
from hypothesis import strategies as st
from tables import Sample

import shoal

pytestmark = pytest.mark.usefixtures("briefly")

METHODS = st.sampled_from(sorted(shoal.list_methods()))


def options(sample: Sample) -> dict[str, Any]:
    return {
        "quasi_identifiers": sample.models,
        "sensitive": sample.sensitive,
        "weights": sample.weights,
    }


def released(sample: Sample, closures: reference.Closures) -> pa.Table:
    """A release as someone else might have written it."""
    return pa.table(
        {
            name: pa.array([reference.text(column, row[j]) for row in closures], type=pa.string())
            for j, (name, column) in enumerate(sample.columns.items())
        }
    )


def closed(sample: Sample, partition: list[int]) -> reference.Closures:
    """The closures of a partition, record by record."""
    per_group = [reference.close(sample.twins, group) for group in tables.members(partition)]
    return [per_group[g] for g in partition]


def twin_loss(sample: Sample, measure: str, closures: reference.Closures, **more: Any) -> float:
    weights = list(sample.weights.values())
    return reference.loss(
        measure, sample.twins, closures, sensitive=sample.secrets, weights=weights, **more
    )


@st.composite
def releases(draw: st.DrawFn, sensitive: int = 1) -> tuple[Sample, reference.Closures]:
    """A table and a release of it whose closures are allowed, but wider than need be here and there."""
    sample, partition = draw(tables.partitioned_samples(max_records=10, sensitive=sensitive))
    closures = [
        tuple(draw(grown(column, b)) for column, b in zip(sample.twins, row, strict=True))
        for row in closed(sample, partition)
    ]
    return sample, closures


@st.composite
def grown(draw: st.DrawFn, column: reference.Column, closure: reference.Closure) -> Any:
    """An allowed set that holds a closure."""
    more = draw(st.none() | st.sampled_from([*column.domain]))
    return closure if more is None else reference.closure(column, {*closure, more})


def test_the_twin_knows_every_measure():
    assert sorted(shoal.list_measures()) == sorted(reference.MEASURES)


@given(releases(), st.integers(1, 4))
def test_the_loss_of_a_given_release_is_the_formula(drawn, k):
    sample, closures = drawn
    given_release = released(sample, closures)
    found, expected = {}, {}
    for m in reference.MEASURES:
        found[m] = shoal.loss(
            sample.frame, given_release, shoal.WMI(0.3) if m == "wmi" else m, **options(sample), k=k
        )
        expected[m] = twin_loss(sample, m, closures, k=k, w=0.3)
    assert found == pytest.approx(expected, abs=1e-9)


@given(releases(sensitive=2))
def test_several_sensitive_columns_count_as_their_combination(drawn):
    sample, closures = drawn
    given_release = released(sample, closures)
    found, expected = {}, {}
    for m in reference.PRIVATE:
        found[m] = shoal.loss(sample.frame, given_release, m, **options(sample))
        expected[m] = twin_loss(sample, m, closures)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("aggregate", ["sum", "mean"])
@given(drawn=releases(), measure=st.sampled_from(reference.ADDS_UP))
def test_a_measure_that_adds_up_can_be_totalled_either_way(aggregate, drawn, measure):
    sample, closures = drawn
    release = released(sample, closures)
    found = shoal.loss(sample.frame, release, measure, **options(sample), aggregate=aggregate)
    expected = twin_loss(sample, measure, closures, aggregate=aggregate)
    assert found == pytest.approx(expected, abs=1e-9)


@given(tables.samples(sensitive=1), METHODS, st.data())
def test_our_own_release_read_back_loses_what_it_says(sample, method, data):
    k = data.draw(st.integers(1, sample.records))
    release = shoal.anonymize(sample.frame, **options(sample), k=k, method=method, keep_order=True)
    texts = [release.data[name].to_pylist() for name in sample.columns]
    closures = [
        tuple(reference.read(c, t) for c, t in zip(sample.twins, row, strict=True))
        for row in zip(*texts, strict=True)
    ]
    told, expected, read_back = {}, {}, {}
    for m in reference.MEASURES:
        told[m] = release.loss(m)
        expected[m] = twin_loss(sample, m, closures, k=k)
        read_back[m] = shoal.loss(sample.frame, release.data, m, **options(sample), k=k)
    assert told == pytest.approx(expected, abs=1e-9)
    assert told == pytest.approx(read_back, abs=1e-12)


@given(tables.samples(kinds=tables.ORDERED), st.data())
def test_bounds_read_back_lose_what_the_release_says(sample, data):
    k = data.draw(st.integers(1, sample.records))
    release = shoal.anonymize(
        sample.frame, **options(sample), k=k, render="bounds", keep_order=True
    )
    for measure in reference.MONOTONE:
        told = release.loss(measure)
        read_back = shoal.loss(sample.frame, release.data, measure, **options(sample), k=k)
        if any(None in twin.whole for twin in sample.twins):
            assert read_back >= told - 1e-9  # `*` and the whole range read the same
        else:
            assert read_back == pytest.approx(told, abs=1e-9)


def test_bounds_do_not_pass_a_missing_value_off_as_the_only_known_one():
    table = pa.table({"x": [1, 1, None]})
    release = shoal.anonymize(table, quasi_identifiers=["x"], k=3, render="bounds", keep_order=True)
    assert shoal.loss(table, release.data, "lm", quasi_identifiers=["x"]) == release.loss("lm") == 1


@given(tables.samples(sensitive=1), st.sampled_from(reference.ADDS_UP))
def test_column_losses_are_unweighted_means(sample, measure):
    release = shoal.anonymize(sample.frame, **options(sample), k=1 + sample.records // 2)
    closures = closed(sample, release.groups.tolist())
    expected = {
        name: reference.loss(
            measure,
            [twin],
            [(row[j],) for row in closures],
            sensitive=sample.secrets,
            aggregate="mean",
        )
        for j, (name, twin) in enumerate(sample.columns.items())
    }
    assert release.column_losses(measure) == pytest.approx(expected, abs=1e-9)


@given(releases(sensitive=0), st.data())
def test_a_monotone_measure_never_falls_when_closures_grow(drawn, data):
    sample, closures = drawn
    wider = [
        tuple(data.draw(grown(column, b)) for column, b in zip(sample.twins, row, strict=True))
        for row in closures
    ]
    for measure in reference.MONOTONE:
        before, after = (
            shoal.loss(sample.frame, released(sample, c), measure, **options(sample))
            for c in (closures, wider)
        )
        assert after >= before - 1e-9, measure


@given(tables.samples(sensitive=0), st.data())
def test_entropy_and_mi_agree_where_closures_are_equal_or_disjoint(sample, data):
    """Lemma 4.13 of GiT09."""
    recoded = [data.draw(global_recodings(column)) for column in sample.twins]
    closures = [
        tuple(sets[column.values[i]] for column, sets in zip(sample.twins, recoded, strict=True))
        for i in range(sample.records)
    ]
    entropy, mi = (
        shoal.loss(sample.frame, released(sample, closures), m, **options(sample), aggregate="sum")
        for m in ("entropy", "mi")
    )
    assert entropy == pytest.approx(mi, abs=1e-9)


@st.composite
def global_recodings(draw: st.DrawFn, column: reference.Column) -> dict[Any, reference.Closure]:
    """One closure per value, any two of them equal or disjoint."""
    if draw(st.booleans()):
        return dict.fromkeys(column.whole, column.whole)
    blocks: list[reference.Closure] = [frozenset([v]) for v in column.whole]
    for values in draw(
        st.lists(st.sets(st.sampled_from(list(column.domain)), min_size=1), max_size=3)
    ):
        union = reference.closure(column, values)
        if all(block <= union or not block & union for block in blocks):
            blocks = [block for block in blocks if not block <= union] + [union]
    return {value: block for block in blocks for value in block}


# Given releases


@pytest.mark.parametrize("model", [shoal.Suppression(), shoal.Interval(), shoal.Subset()])
@pytest.mark.parametrize("measure", reference.ADDITIVE)
def test_a_star_over_a_single_value_loses_nothing(model, measure):
    table, release = pd.DataFrame({"x": [1, 1]}), pd.DataFrame({"x": ["*", "*"]})
    assert shoal.loss(table, release, measure, quasi_identifiers={"x": model}) == 0


def test_an_interval_may_end_between_values():
    table = pd.DataFrame({"age": [20, 30, 40, 50]})
    release = pd.DataFrame({"age": ["[15, 34]", "[15, 34]", "[35, 50]", "[35, 50]"]})
    assert shoal.loss(table, release, "lm", quasi_identifiers=["age"]) == pytest.approx(1 / 3)


def test_an_interval_of_dates_may_end_between_values():
    table = pd.DataFrame({"day": pd.to_datetime(["2020-01-02", "2020-01-05"]).date})
    release = pd.DataFrame({"day": ["[2020-01-01, 2020-01-31]"] * 2})
    assert shoal.loss(table, release, "lm", quasi_identifiers=["day"]) == 1


def test_every_label_of_a_hierarchy_can_be_read():
    tree = shoal.Hierarchy.from_rows([["Lyon", "France", "Europe"], ["Rome", "Italy", "Europe"]])
    table = pd.DataFrame({"city": ["Lyon", "Rome"]})
    release = pd.DataFrame({"city": ["France", "Europe"]})
    assert shoal.loss(table, release, "lm", quasi_identifiers={"city": tree}) == 0.5


def test_a_numeric_release_is_read_as_it_is():
    table, release = pd.DataFrame({"age": [20, 30]}), pd.DataFrame({"age": [20.0, 30.0]})
    assert shoal.loss(table, release, "suppressed", quasi_identifiers=["age"]) == 0


@pytest.mark.parametrize(
    ("release", "sentence"),
    [
        (["old", "old", "old"], "interval model cannot read"),
        (["[30, 20]", "30", "40"], "interval model cannot read"),
        (["30", "20", "40"], "2 released values of column"),
        ([None, "30", "40"], "interval model cannot read"),
        (["20", "30"], "The release has 2 records but the table has 3"),
    ],
)
def test_a_release_that_is_not_of_this_table_is_refused(release, sentence):
    table = pd.DataFrame({"age": [20, 30, 40]})
    with pytest.raises(shoal.InputError, match=sentence):
        shoal.loss(table, pd.DataFrame({"age": release}), "lm", quasi_identifiers=["age"])


@pytest.mark.parametrize("measure", reference.PRIVATE)
def test_a_measure_of_the_sensitive_value_asks_for_one(measure):
    table = pd.DataFrame({"age": [20, 30]})
    with pytest.raises(shoal.InputError, match="needs a sensitive column"):
        shoal.loss(table, table, measure, quasi_identifiers=["age"])


def test_an_unknown_measure_is_refused_with_the_near_miss():
    table = pd.DataFrame({"age": [20, 30]})
    with pytest.raises(shoal.InputError, match="did you mean 'ncp'"):
        shoal.loss(table, table, "npc", quasi_identifiers=["age"])


def test_groups_of_a_foreign_release_are_records_that_read_the_same():
    """`1–2` and `*` cover the same values, and are two groups to whoever reads them, as the audit counts them."""
    table = pd.DataFrame({"age": [1, 2, 1, 2], "s": ["u", "u", "v", "v"]})
    release = table.assign(age=["1–2", "1–2", "*", "*"])
    own = {"quasi_identifiers": {"age": shoal.Interval()}}
    assert shoal.audit(release[["age"]], k=2, **own).groups == 2
    assert shoal.loss(table, release, "c_avg", k=2, **own) == 1
    apart = pd.DataFrame({"age": [1, 2, 1, 2, 3, 3], "s": ["u", "u", "v", "v", "u", "u"]})
    release = apart.assign(age=["1–2", "1–2", "[1, 2]", "[1, 2]", "3", "3"])
    assert shoal.loss(apart, release, "dm", **own) == 12
    assert shoal.loss(apart, release, "cm", sensitive=["s"], **own) == 0


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_an_impossible_k_is_refused(k):
    table = pd.DataFrame({"age": [1, 2]})
    with pytest.raises(shoal.InputError, match=r"\bk\b"):
        shoal.loss(table, table, "c_avg", quasi_identifiers=["age"], k=k)


def test_a_level_that_repeats_a_set_counts_as_a_level():
    """GiT09 §4.1, AFK+05 and TCM07 (4): level over levels, here 1/3; so it does after a round trip through settings."""
    rows = [["a", "A1", "A2", "*"], ["b", "A1", "A2", "*"], ["c", "C1", "C2", "*"]]
    table = pd.DataFrame({"q": list("abc")})
    release = pd.DataFrame({"q": ["A1", "A1", "c"]})
    tree = shoal.Hierarchy.from_rows(rows)
    for own in (tree, shoal.Hierarchy.from_rows(tree.rows())):
        assert shoal.loss(table, release, "il", quasi_identifiers={"q": own}) == pytest.approx(
            2 / 3
        )
        hidden = pd.DataFrame({"q": ["*"] * 3})
        assert shoal.loss(table, hidden, "tree", quasi_identifiers={"q": own}) == 1


@pytest.mark.parametrize(
    ("model", "values", "released", "expected"),
    [
        (shoal.Calendar(), ["2020-03-01", "2020-03-02"], "2020-03", 1 / 5),
        (shoal.Calendar(), ["2020-03-01", "2020-05-02"], "2020", 3 / 5),
        (shoal.Calendar(finest="month"), ["2020-03-01", "2021-05-02"], "2020–2029", 3 / 4),
        (shoal.Prefix(), ["02139", "02138"], "0213*", 1 / 5),
        (shoal.Prefix(), ["02139", "02238"], "02***", 3 / 5),
        (shoal.Prefix((3, 2)), ["02139", "02138"], "021**", 1 / 3),
        (shoal.Prefix(finest=4), ["02139", "02148"], "021**", 1 / 4),
    ],
)
@pytest.mark.parametrize("others", [False, True])
def test_heights_do_not_depend_on_which_other_values_occur(
    model, values, released, expected, others
):
    is_date = isinstance(model, shoal.Calendar)
    more = ["1999-12-31", "1999-11-11", "2020-11-11"] if is_date else ["90210", "90310", "02999"]
    cells = [*values, *(more if others else [])]
    table = pd.DataFrame({"q": pd.to_datetime(cells) if is_date else cells})
    rest = ["*"] * (len(cells) - 2)
    release = pd.DataFrame({"q": [released, released, *rest]})
    found = shoal.loss(table, release, "tree", quasi_identifiers={"q": model}, aggregate="sum")
    assert found == pytest.approx(2 * expected + len(rest))
