"""Categories with an order: runs that are as short as can be, read back the same, and name nothing that is hidden."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference
import tables
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import InputError, Order
from shoal.encoding.models import OrderForm

SCHOOLS = ["none", "primary", "secondary", "degree", "doctorate"]
CELLS = ["primary", "degree", None, "none", "primary", "degree", "none", "degree"]
Shell = Callable[..., tuple[int, str, str]]


def released(table: Any, model: Order, **more: Any) -> list[str | None]:
    release = shoal.anonymize(
        table, quasi_identifiers={"x": model}, **{"k": 2, "keep_order": True, **more}
    )
    return pa.table({"x": release.data["x"]})["x"].to_pylist()


def ordered(frame: str, values: list[str | None], order: list[str]) -> Any:
    """A column with an order of its own in a frame of some kind."""
    if frame == "pandas":
        return pd.DataFrame({"x": pd.Categorical(values, categories=order, ordered=True)})
    if frame == "polars":
        return pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(order))})
    return pa.table({"x": dictionary(values, order)})


def dictionary(values: list[str | None], order: list[str], is_ordered: bool = True) -> pa.Array:
    places = pa.array([None if v is None else order.index(v) for v in values], pa.int32())
    return pa.DictionaryArray.from_arrays(places, pa.array(order), ordered=is_ordered)


# Runs and how they read


@given(st.lists(st.sampled_from([*tables.AWKWARD, None]), min_size=1, max_size=16), st.data())
def test_a_group_is_released_as_the_least_run_that_holds_it(drawn, data):
    cells = ["a", *(v for v in drawn if v is None or tables.is_allowed(v, "order"))]
    known = [v for v in dict.fromkeys(cells) if v is not None]
    order = data.draw(st.permutations([*known, "more", "still more"]))
    twin = reference.Column("order", cells, order)
    texts = released(
        pa.table({"x": pa.array(cells, pa.string())}), Order(order), k=1 + len(cells) // 3
    )
    for text in set(texts):
        group = [v for v, own in zip(cells, texts, strict=True) if own == text]
        assert reference.read(twin, text) == reference.closure(twin, group)
        assert text == reference.text(twin, reference.closure(twin, group))


@given(st.lists(st.text(" .a", max_size=6), min_size=2, max_size=9, unique=True), st.booleans())
def test_no_two_closures_of_any_order_read_the_same_and_all_are_read_back(labels, has_null):
    labels = [label for label in labels if tables.is_allowed(label, "order")] or ["a"]
    form, _ = Order(labels).compile("x", pa.array(labels), has_null)
    ends = [*combinations(range(len(labels)), 2), *((c, c) for c in range(len(labels)))]
    closures = [*ends, *([(form.null, form.null), (0, form.null)] if has_null else [])]
    texts = form.text(np.array(closures, np.int32).T)
    assert len(set(texts)) == len(closures)
    assert [tuple(form.parse(text)) for text in texts] == closures


@pytest.mark.parametrize(
    "text", ["high .. low", "low .. top", "low..high", "[low, high]", "", None]
)
def test_what_is_no_run_is_not_read(text):
    form, _ = Order(["low", "high"]).compile("x", pa.array(["high", "low"]), False)
    assert form.parse(text) is None


def test_categories_may_look_like_intervals_sets_and_numbers():
    labels = ["[1, 2]", "{a}", "07", "7.0", "", " ", "1..2", "..", "a..", "<5", "-"]
    form, _ = Order(labels).compile("x", pa.array(labels), False)
    assert form.parse("[1, 2] .. 07") == (0, 2)
    assert form.parse("..") == (7, 7)
    assert form.parse("{a} .. ..") == (1, 7)
    assert form.parse("7.0 .. ") == (3, 4)


def test_a_single_category_is_released_as_it_is():
    assert released(pa.table({"x": ["only"] * 3}), Order(["only"])) == ["only"] * 3
    assert (
        released(pa.table({"x": ["only", "only", None, None]}), Order(["only"]), k=3) == ["*"] * 4
    )


def test_a_domain_that_is_larger_than_what_occurs_makes_runs_cheaper():
    table = pa.table({"x": ["a", "b", "c", "c"]})
    losses = [
        shoal.anonymize(table, quasi_identifiers={"x": order}, k=4).loss("ncp")
        for order in (Order("names"), Order(["a", "b", "c", "d", "e"]))
    ]
    assert losses == [4.0, 4 * 2 / 4]


@pytest.mark.parametrize("measure", reference.ADDITIVE)
def test_measures_take_the_places_in_the_order_for_numbers(measure):
    order = ["c", "a", "d", "b"]
    texts = {"x": ["c", "c", "a", "b", "b", "d"]}
    places = {"x": [order.index(v) for v in texts["x"]]}
    by_order, by_number = (
        shoal.anonymize(pa.table(t), quasi_identifiers={"x": m}, k=2, objective=measure)
        for t, m in ((texts, Order(order)), (places, shoal.Interval()))
    )
    assert by_order.loss(measure) == by_number.loss(measure)
    assert by_order.certificate == by_number.certificate


# Where the order comes from


@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow"])
def test_an_ordered_column_brings_its_order(frame):
    table = ordered(frame, CELLS, SCHOOLS)
    assert released(table, Order()) == released(
        pa.table({"x": CELLS}), Order([*SCHOOLS[:2], "degree"])
    )


@pytest.mark.parametrize("frame", ["pandas", "polars", "arrow"])
def test_categories_that_no_record_has_play_no_part(frame):
    much, little = (
        ordered(frame, CELLS, order) for order in (SCHOOLS, ["none", "primary", "degree"])
    )
    releases = [shoal.anonymize(t, quasi_identifiers={"x": Order()}, k=2) for t in (much, little)]
    assert releases[0].loss("ncp") == releases[1].loss("ncp")
    assert releases[0].settings == releases[1].settings


def test_by_name_is_said_not_guessed():
    assert released(pa.table({"x": ["b", "a", "c", "c"]}), Order("names"))[:2] == ["a .. b"] * 2


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"x": CELLS}),
        pa.table({"x": dictionary(CELLS, SCHOOLS, is_ordered=False)}),
        pd.DataFrame({"x": pd.Categorical(CELLS, categories=SCHOOLS)}),
        pl.DataFrame({"x": pl.Series(CELLS, dtype=pl.Categorical)}),
        pa.table(
            {"x": pa.chunked_array([dictionary(CELLS, SCHOOLS), dictionary(CELLS, SCHOOLS[::-1])])}
        ),
    ],
    ids=["text", "dictionary", "category", "polars category", "two orders"],
)
def test_without_an_order_of_its_own_a_column_needs_one(table):
    with pytest.raises(InputError, match=r"^Column 'x' has no order of its own. List its values "):
        released(table, Order())


def test_a_parquet_file_brings_its_order_if_it_holds_one(tmp_path: Path):
    table = pa.table({"x": dictionary(["degree", "none", "primary", "degree"] * 2, SCHOOLS)})
    pq.write_table(table, tmp_path / "whole.parquet")
    pq.write_table(table, tmp_path / "plain.parquet", use_dictionary=False)
    texts = released(tmp_path / "whole.parquet", Order(), k=4)
    assert set(texts) <= {"none .. primary", "degree"}
    with pytest.raises(InputError, match="has no order of its own"):
        released(tmp_path / "plain.parquet", Order(), k=4)


def test_missing_values_are_not_in_the_order():
    table = pa.table({"x": ["a", "?", "b", "?", "b", "a"]})
    texts = released(table, Order(["a", "b"]), reading={"missing": ["?"]}, k=2)
    assert texts == ["a", None, "b", None, "b", "a"]


def test_numbers_are_ordered_as_they_are_written():
    table = pa.table({"x": [3.0, 1.0, 2.0, 3.0]})
    assert released(table, Order([3, 1, 2])) == ["3", "1 .. 2", "1 .. 2", "3"]


# What is refused


@pytest.mark.parametrize("values", ["", "name", {"a"}, {"a": 1}, [], 5, object], ids=repr)
def test_what_has_no_order_is_refused(values):
    with pytest.raises(InputError, match=r"^Order: give a list of values from the lowest"):
        Order(values)


@pytest.mark.parametrize("item", [None, float("nan"), np.nan, ["a"], b"a", pd.NaT, pd.NA])
def test_an_order_holds_texts_and_numbers_only(item):
    with pytest.raises(InputError, match=r"^Order: values must be texts or numbers\. "):
        Order(["a", item])


@pytest.mark.parametrize("values", [["a", "b", "a"], [1, 1.0], ["1", 1]])
def test_an_order_names_each_value_once(values):
    with pytest.raises(InputError, match=r"^Order: 1 value is listed again\. List each once\.$"):
        Order(values)


@pytest.mark.parametrize("label", ["a .. b", " .. ", "a ..", "*"])
@pytest.mark.parametrize("model", [None, "names"])
def test_categories_that_read_like_runs_are_refused(label, model):
    table = ordered("arrow", [label, "b"], [label, "b"])
    with pytest.raises(InputError, match=r"^Column 'x' contains .*\. Rename") as refused:
        released(table, Order(model))
    assert len(refused.value.problems) == 1
    with pytest.raises(InputError, match=r"^Order contains "):
        Order([label, "b"])


def test_values_outside_of_the_order_are_counted_not_shown():
    with pytest.raises(InputError) as refused:
        released(pa.table({"x": CELLS}), Order(["none", "doctorate"]))
    assert str(refused.value) == (
        "2 of the 3 distinct values of column 'x' are not in its order. Add them in the right place."
    )


# What is told of a release


def people(records: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    schools = rng.choice(SCHOOLS, records, p=[0.3, 0.3, 0.2, 0.19, 0.01])
    return pd.DataFrame(
        {"x": schools, "age": rng.integers(20, 60, records), "s": rng.choice([*"ab"], records)}
    )


@pytest.mark.parametrize("render", ["text", "bounds"])
@pytest.mark.parametrize("model", [Order(SCHOOLS), Order("names")], ids=["given", "names"])
def test_a_release_is_evaluated_from_what_it_reads(model, render, tmp_path: Path):
    table = people()
    job = {"quasi_identifiers": {"x": model, "age": None}, "sensitive": ["s"], "k": 4}
    release = shoal.anonymize(table, **job, render=render, keep_order=True)
    release.save_report(tmp_path / "report.html")
    found = shoal.evaluate(table, release.data, settings=release.settings)
    assert found.distributions == release.distributions
    assert found.distributions.columns[0].earth_movers is not None
    assert shoal.loss(table, release.data, "ncp", quasi_identifiers=job["quasi_identifiers"]) == (
        pytest.approx(release.loss("ncp"))
    )


def test_a_histogram_names_no_category_that_the_release_hides():
    table = pd.DataFrame({"x": [*"aaaa", "m", *"zzzz"]})
    hidden, given = (
        shoal.anonymize(table, quasi_identifiers={"x": order}, k=9).distributions.histograms[0]
        for order in (Order("names"), Order([*"amz"]))
    )
    assert not any("m" in label.split() for label in hidden.labels)
    assert hidden.ordered
    assert sum(hidden.after) == sum(given.after) == 9


def test_bins_are_named_by_categories_in_their_order():
    table = pd.DataFrame({"x": np.repeat(SCHOOLS, 20)})
    release = shoal.anonymize(table, quasi_identifiers={"x": Order(SCHOOLS)}, k=5)
    histogram = release.distributions.histograms[0]
    assert histogram.labels == tuple(SCHOOLS)
    assert histogram.before == (20,) * 5


def test_many_categories_share_bins_that_are_runs():
    order = [f"<{i:03}" for i in range(60)]
    table = pd.DataFrame({"x": np.repeat(order, 20)})
    release = shoal.anonymize(table, quasi_identifiers={"x": Order(order)}, k=5)
    histogram = release.distributions.histograms[0]
    assert 6 <= len(histogram.labels) <= 12
    assert histogram.labels[0].startswith("<000 to <0")
    assert histogram.labels[-1].endswith(" to <059")
    assert sum(histogram.before) == 1200
    assert np.array(histogram.before) == pytest.approx(np.array(histogram.after))


# On the command line and in settings files


def test_an_order_file_has_a_value_per_line(shell: Shell, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("people.csv", index=False)
    Path("school.txt").write_text("\ufeff" + "\r\n".join(SCHOOLS) + "\n\n", encoding="utf-8")
    roles = ("-q", "x:order:school.txt", "-q", "age", "-s", "s", "-k", 4)
    done = shell(
        "anonymize", "people.csv", *roles, "-o", "out.csv", "--save-settings", "out.toml", "--quiet"
    )
    assert done[0] == 0
    assert shoal.Settings.load("out.toml").quasi_identifiers["x"] == Order(SCHOOLS)
    assert shell("audit", "out.csv", "--settings", "out.toml")[0] == 0
    texts = set(pd.read_csv("out.csv", keep_default_na=False)["x"])
    form, _ = Order(SCHOOLS).compile("x", pa.array(SCHOOLS), False)
    assert isinstance(form, OrderForm)
    assert all(form.parse(text) for text in texts)
    assert any(" .. " in text for text in texts)


def test_a_file_in_an_old_encoding_can_hold_runs(shell: Shell, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_bytes("x\nniño\nadulto\nniño\nviejo\n".encode("latin-1"))
    command = ("anonymize", "people.csv", "-q", "x:order:names", "-k", 4, "-o", "out.csv")
    assert shell(*command, "--encoding", "latin-1", "--quiet")[0] == 0
    assert Path("out.csv").read_bytes().decode("latin-1").split("\n")[1] == "adulto .. viejo"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("\n \n", "Order file 'x.txt' has no values. Give one per line, lowest first."),
        (b"\xff\xfe", "Order file 'x.txt' cannot be read: not a UTF-8 text file. Save it as one."),
        (None, "Order file 'x.txt' cannot be read: No such file or directory. Check the path."),
        ("a\nb\na\n", "Order: 1 value is listed again. List each once."),
    ],
    ids=["empty", "not UTF-8", "missing", "twice"],
)
def test_a_bad_order_file_is_named(shell: Shell, tmp_path: Path, monkeypatch, content, says):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("x\na\nb\n")
    if content is not None:
        Path("x.txt").write_bytes(content.encode() if isinstance(content, str) else content)
    done = shell("anonymize", "people.csv", "-q", "x:order:x.txt", "-k", 2, "-o", "out.csv")
    assert done == (2, "", f"shoal: {says}\n")


def test_init_knows_columns_that_have_an_order(shell: Shell, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"x": dictionary(CELLS, SCHOOLS), "y": ["a"] * len(CELLS)})
    pq.write_table(table, "people.parquet")
    assert shell("init", "people.parquet")[0] == 0
    models = shoal.Settings.load("people.toml").quasi_identifiers
    assert models == {"x": Order()}
    settings = Path("people.toml").read_text().replace("k = 10", "k = 2")
    Path("people.toml").write_text(settings)
    done = shell("anonymize", "people.parquet", "--settings", "people.toml", "-o", "out.csv")
    assert done[0] == 0
