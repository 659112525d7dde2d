"""Models that need no file: steps, ends, calendars, prefixes and finest levels, and what they refuse."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
import tables
from hypothesis import assume, given
from hypothesis import strategies as st
from round_trips import assert_round_trip, closures_of

import shoal
from shoal import Calendar, Hierarchy, InputError, Interval, Order, Prefix, Subset, Suppression
from shoal.encoding.forms import RangeForm
from shoal.encoding.models.base import label_of

Shell = Callable[..., tuple[int, str, str]]
DAYS = [date(1979, 12, 31), date(1980, 1, 1), date(2020, 3, 1), date(2020, 7, 9), date(2021, 1, 1)]
AGES = Hierarchy.from_sets(
    {"0-17": range(18), "18-64": range(18, 65), "65-94": range(65, 95), "95+": range(95, 121)}
)


def released(values: Any, model: Any, k: int = 2, **more: Any) -> list[str | None]:
    table = values if not isinstance(values, list) else pa.table({"x": values})
    made = shoal.anonymize(
        table, quasi_identifiers={"x": model}, k=k, **{"keep_order": True, **more}
    )
    return pa.table({"x": made.data["x"]})["x"].to_pylist()


def labels(model: Any, values: list[Any], has_null: bool = False) -> list[str | None]:
    """Every text under which a column may be released, single values first."""
    form, _ = model.compile("x", pa.array(values), has_null)
    closures = sorted(closures_of(form), key=lambda c: c[-1] - c[0])
    return form.text(np.array(closures, np.int32).T)


# Texts


@pytest.mark.parametrize(
    ("model", "values", "texts"),
    [
        (Interval(step=5), [20, 23, 25], ["20–24", "25–29", "20–29"]),
        (Interval(step=5, start=3), [20, 23], ["18–22", "23–27", "18–27"]),
        (Interval(step=10), [-1, 0, 5], ["-10 – -1", "0–9", "-10 – 9"]),
        (Interval(step=1), [7, 9], ["7", "9", "7–9"]),
        (Interval(step=2.5), [0, 2, 3], ["0–2", "3–4", "0–4"]),
        (Interval(step=10), [20.5, 30.0], ["20–<30", "30–<40", "20–<40"]),
        (Interval(step=10), [20.0, 31.0], ["20–29", "30–39", "20–39"]),
        (Interval(step=0.1), [-0.0, 0.1 + 0.2], ["0–<0.1", "0.3–<0.4", "0–<0.4"]),
        (Interval(step=Decimal("0.05")), [Decimal("0.10"), Decimal("0.17")], ["0.1–<0.15", "0.15–<0.2", "0.1–<0.2"]),
        (Interval(step=10), [2**60], [f"{2**60 // 10 * 10}–{2**60 // 10 * 10 + 9}"]),
        (Interval(high=90), [85, 90, 97], ["85", "≥ 90", "≥ 85"]),
        (Interval(low=17), [3, 17, 18], ["≤ 17", "18", "≤ 18"]),
        (Interval(low=17, high=90), [3, 50, 97], ["≤ 17", "50", "≥ 90", "≤ 50", "≥ 50", "*"]),
        (Interval(low=17, high=85, step=10), [3, 18, 84, 85], ["≤ 17", "18–19", "80–84", "≥ 85", "≤ 19", "18–84", "≥ 80", "≤ 84", "≥ 18", "*"]),
        (Interval(low=17, step=10), [3.5, 17.5], ["≤ 17", ">17 – <20", "< 20"]),
        (Interval(high=date(2020, 1, 1)), DAYS[1:4], ["1980-01-01", "≥ 2020-01-01", "≥ 1980-01-01"]),
        (Interval(step="month"), DAYS[2:4], ["2020-03", "2020-07", "2020-03 – 2020-07"]),
        (Interval(step="quarter"), DAYS[2:4], ["2020-Q1", "2020-Q3", "2020-Q1 – 2020-Q3"]),
        (Interval(step="week"), DAYS[3:], ["2020-W28", "2020-W53", "2020-W28 – 2020-W53"]),
        (Interval(step="year"), DAYS[:2], ["1979", "1980", "1979–1980"]),
        (Interval(step="decade"), DAYS[:2], ["1970–1979", "1980–1989", "1970–1989"]),
        (Interval(step="year", low="1979", high="2021"), DAYS, ["≤ 1979", "1980", "2020", "≥ 2021", "≤ 1980", "1980–2020", "≥ 2020", "≤ 2020", "≥ 1980", "*"]),
        (Order(["a", "b", "c"], high="b"), ["a", "c"], ["a", "b or higher", "a or higher"]),
        (Order(["a", "b", "c"], low="b"), ["a", "c"], ["b or lower", "c", "c or lower"]),
        (Order(["a", "b", "c"], low="a", high="b"), ["a"], ["a or lower", "b or higher", "*"]),
        (Subset(high=2), [1, 2, 3], ["1", "≥ 2", "{1, ≥ 2}"]),
        (Suppression(low=1), [0, 1, 2], ["≤ 1", "2", "*"]),
    ],
    ids=str,
)  # fmt: skip
def test_folded_values_read_as_documented(model, values, texts):
    assert set(labels(model, values)) == set(texts)


def test_what_lies_beyond_both_ends_is_told_from_a_missing_value():
    texts = labels(Interval(low=1, high=5), [0, 3, 9], has_null=True)
    assert {"≤ 1 – ≥ 5", "*"} <= set(texts)


@pytest.mark.parametrize("has_null", [False, True])
@pytest.mark.parametrize("ends", [{}, {"low": 17}, {"high": 85}, {"low": 17, "high": 85}], ids=str)
@pytest.mark.parametrize("model", [Interval, Subset, Suppression, AGES.coarser, Interval(step=10)])
def test_every_closure_is_read_back_in_both_spellings(model, ends, has_null):
    values = [3, 17, 18, 50, 84, 85, 99]
    made = replace(model, **ends) if isinstance(model, Interval) else model(**ends)
    form, _ = made.compile("x", pa.array(values), has_null)
    assert_round_trip(form)
    closures = closures_of(form)
    plain = [form.plainly(text) for text in form.text(np.array(closures, np.int32).T)]
    assert all(text is None or text.isascii() for text in plain)
    assert [list(form.parse(text) or ()) for text in plain] == closures


@pytest.mark.parametrize("has_null", [False, True])
@pytest.mark.parametrize(
    "model",
    [Calendar(), Calendar(["day", "week", "year"]), Calendar(finest="year", high="2020"), Calendar(["decade"])],
    ids=str,
)  # fmt: skip
def test_every_period_of_a_calendar_is_read_back(model, has_null):
    form, _ = model.compile("x", pa.array(DAYS), has_null)
    assert_round_trip(form)


@given(st.lists(st.text("01A.", max_size=5), min_size=1, unique=True), st.data())
def test_every_beginning_of_a_code_names_one_set_and_is_read_back(codes, data):
    model = data.draw(
        st.sampled_from([Prefix(), Prefix((2,)), Prefix(separator="."), Prefix(finest=2)])
    )
    form, found = model.compile("x", pa.array(codes, pa.large_string()), data.draw(st.booleans()))
    assert_round_trip(form)
    held = form.holds(np.arange(form.entries, dtype=np.int32)[None, :]) > 0
    for node, text in enumerate(form.text(np.arange(form.entries, dtype=np.int32)[None, :])):
        if text is not None and text.endswith("*") and text != "*":
            start = text.rstrip("*")
            inside = {c for c, own in zip(codes, found, strict=True) if held[own, node]}
            if model.separator is None:
                assert inside == {code for code in codes if code.startswith(start)}
            else:
                assert inside == {c for c in codes if f"{c}.".startswith(start)}


# What is released


def test_a_group_of_equal_values_reads_as_its_bin():
    assert released([21, 21, 34, 34], Interval(step=5)) == ["20–24"] * 2 + ["30–34"] * 2
    texts = released([date(1984, 3, 14)] * 2, Interval(step="month"))
    assert texts == ["1984-03"] * 2


def test_a_calendar_is_never_finer_than_its_finest_level():
    born = [date(1984, 3, 14)] * 3 + [date(1991, 1, 2), date(1992, 12, 31)]
    assert released(born, Calendar(finest="year")) == ["1984"] * 3 + ["1990–1999"] * 2
    assert released(born, Calendar(("week", "year"))) == ["1984-W11"] * 3 + ["*"] * 2


def test_years_of_a_calendar_by_weeks_are_those_of_the_weeks():
    days = [date(2020, 12, 31), date(2021, 1, 3), date(2021, 1, 4), date(2021, 12, 31)]
    assert released(days, Calendar(("day", "week", "year"))) == ["2020-W53"] * 2 + ["2021"] * 2


def test_the_day_of_a_time_is_that_of_the_column_s_own_zone():
    late = [datetime(2020, 12, 31, 23, 30, tzinfo=UTC)] * 2
    there = pa.array(late, pa.timestamp("us", "Europe/Berlin"))
    assert released(pa.table({"x": there}), Calendar(finest="year")) == ["2021"] * 2
    assert released(pa.table({"x": there}), Interval(step="day")) == ["2021-01-01"] * 2
    here = pa.array(late, pa.timestamp("ns", "UTC"))
    assert released(pa.table({"x": here}), Calendar(finest="year")) == ["2020"] * 2


def test_dates_of_files_are_read_as_their_format_says(tmp_path: Path):
    (tmp_path / "t.csv").write_text("x\n31.12.1979\n01.12.1979\n02.03.2020\n05.03.2020\n")
    reading = {"date_format": "%d.%m.%Y"}
    texts = released(tmp_path / "t.csv", Calendar(), reading=reading)
    assert texts == ["1979-12"] * 2 + ["2020-03"] * 2
    rings = shoal.NonHomogeneous("mondrian")
    for model in (Calendar(), Interval(step="quarter"), Interval(high="2020")):
        assert released(tmp_path / "t.csv", model, reading=reading, method=rings)


def test_leading_zeros_of_codes_in_a_file_are_kept(tmp_path: Path):
    (tmp_path / "t.csv").write_text("x\n02139\n02138\n10001\n10002\n")
    assert released(tmp_path / "t.csv", Prefix()) == ["0213*"] * 2 + ["1000*"] * 2
    (tmp_path / "t.csv").write_text("x\n7\n7\n10\n11\n")
    assert released(tmp_path / "t.csv", Prefix()) == ["7"] * 2 + ["1*"] * 2


def test_parts_of_codes_are_cut_at_their_separator():
    codes = ["192.168.1.7", "192.168.1.9", "192.168.2.1", "192.168.2.2", "A01", "A01.1"]
    texts = released(codes, Prefix(separator="."))
    assert texts == ["192.168.1.*"] * 2 + ["192.168.2.*"] * 2 + ["A01.*"] * 2


def test_a_hierarchy_is_never_finer_than_its_finest_level():
    rows = [
        ["Lille", "North", "France", "*"],
        ["Lyon", "East", "France", "*"],
        ["Porto", "Porto", "Portugal", "*"],
    ]
    tree = Hierarchy.from_rows(rows, finest=1)
    assert released(["Lille", "Lille", "Porto", "Porto"], tree) == ["North"] * 2 + ["Portugal"] * 2
    assert Hierarchy.from_rows(tree.rows(), finest=1) == tree


def test_values_beyond_an_end_of_a_hierarchy_are_one_leaf():
    tree = AGES.coarser(high=90, low=17)
    texts = released([3, 9, 92, 99, 70, 71, 88, 20, 30], tree)
    assert texts == ["≤ 17"] * 2 + ["≥ 90"] * 2 + ["65-94"] * 3 + ["18-64"] * 2
    assert released([92, 70], tree) == ["*"] * 2


@pytest.mark.parametrize(
    ("tree", "options", "values", "text"),
    [
        ({"outer": {"inner": [4, 8, 9]}}, {"finest": 1, "high": 8}, [4, 9], "outer"),
        ({"outer": {"inner": [4, 8, 9]}}, {"finest": 2, "high": 8}, [4, 9], "*"),
        ({"outer": {"inner": [4, 8], "other": [3]}}, {"finest": 2, "high": 8}, [3, 8], "*"),
        (
            {"outer": {"inner": [1, 8], "other": [3]}},
            {"finest": 2, "low": 1, "high": 8},
            [1, 8],
            "*",
        ),
    ],
    ids=["a further label", "no further label", "a value outside the set", "two ends"],
)
def test_an_end_is_joined_under_no_label_below_the_finest_level(tree, options, values, text):
    model = Hierarchy.from_dict({"*": {**tree, "rest": [5, 6]}}, **options)
    assert released([*values, 5, 6], model) == [text] * 2 + ["rest"] * 2


def test_an_end_of_a_single_value_is_no_level_more():
    tree = {"*": {"A": [0, 1], "B": [2, 3]}}
    for options in ({}, {"high": 3}, {"high": 2}, {"low": 0}):
        form, _ = Hierarchy.from_dict(tree, **options).compile("x", pa.array([0, 1, 2, 3]), False)
        assert form.levels[-1] == 2, options


def test_ends_that_no_value_reaches_change_nothing():
    values = [20, 30, 40, 40]
    for model in (Interval, Subset, Suppression):
        assert released(values, model(low=3, high=99)) == released(values, model())


@given(
    st.lists(st.floats(-1e9, 1e9) | st.integers(-40, 40).map(lambda n: n / 10), min_size=1),
    st.sampled_from([0.1, 0.25, 3, 1000, 1e-7]),
    st.sampled_from([None, -0.3, 0, 4.2]),
)
def test_floats_fall_into_the_bins_of_the_decimals_they_are_written_as(numbers, step, high):
    known = {number + 0.0 for number in numbers}
    values = sorted(v for v in known if Decimal(repr(v)) == round(Decimal(repr(v)), 17)) or [0.5]
    exact = pa.array([Decimal(repr(v)) for v in values], pa.decimal128(38, 17))
    (one, floats), (two, decimals) = (
        Interval(step=step, high=high).compile("x", column, False)
        for column in (pa.array(values), exact)
    )
    assert one.labels == two.labels
    assert floats.tolist() == decimals.tolist()


def test_the_domain_of_bins_is_that_of_the_declared_values():
    model = Interval(domain=range(121), step=10, high=90)
    form, codes = model.compile("x", pa.array([5, 95]), False)
    assert (form.labels[0], form.labels[-1], len(form.labels)) == ("0–9", "≥ 90", 10)
    assert codes.tolist() == [0, 9]


def test_losses_are_measured_from_the_bins_on():
    table = pa.table({"x": [20, 21, 22, 23, 35, 36]})
    release = shoal.anonymize(table, quasi_identifiers={"x": Interval(step=5)}, k=2)
    assert release.loss("lm") == 0


@pytest.mark.parametrize("style", ["text", "bounds"])
@pytest.mark.parametrize(
    "model",
    [Interval(step=5), Interval(high=40), Interval(low=25, high=40), Interval(step=2.5, high=40)],
    ids=str,
)
def test_evaluations_read_folded_releases(model, style):
    table = pd.DataFrame({"x": [20.0, 21, 24, 26, 31, 33.5, 41, 55, 60], "s": list("ababababa")})
    release = shoal.anonymize(
        table, quasi_identifiers={"x": model}, sensitive=["s"], k=3, render=style, keep_order=True
    )
    found = shoal.evaluate(table, release.data, settings=release.settings, queries=20)
    assert found.audit.k == release.k
    assert found.audit.k == release.k
    again = shoal.loss(table, release.data, "lm", settings=release.settings)
    assert again == pytest.approx(release.loss("lm"))


@given(tables.columns(8, (*tables.ORDERED, "text")))
def test_bounds_of_folded_columns_are_read_back(drawn):
    array, _, model = drawn
    own = {"own": None} if isinstance(model, Order) else {}
    values = pa.array(sorted({v for v in array.to_pylist() if v is not None}), array.type)
    form, _ = model.compile("x", values, array.null_count > 0, **own)
    assume(isinstance(form, RangeForm))
    closures = [c for c in closures_of(form) if c[1] != form.null]
    bounds = [labels_or_none(b) for b in form.bounds(np.array(closures, np.int32).T)]
    for closure, low, high in zip(closures, *bounds, strict=True):
        if low is not None or high is not None:
            assert list(form.of_bounds(low, high)) == closure


def labels_or_none(bounds: pa.Array) -> list[str | None]:
    return [None if b is None else label_of(b) for b in bounds.to_pylist()]


def test_ranges_that_end_where_the_highest_value_begins_are_read_back():
    form, _ = Interval(step=2.5, low=10, high=20).compile("x", pa.array([1, 11.5, 19.5, 30]), False)
    assert form.text(np.array([[1], [2]], np.int32)) == [">10 – <20"]
    assert form.of_bounds("10", "20") == (1, 2)
    assert form.of_bounds("17,5", None) == (2, 3)


def test_open_ends_have_no_bound():
    table = pa.table({"x": [20, 20, 95, 99]})
    made = shoal.anonymize(
        table,
        quasi_identifiers={"x": Interval(step=5, high=90)},
        k=2,
        render="bounds",
        keep_order=True,
    )
    assert made.data["x_min"].to_pylist() == [20, 20, 90, 90]
    assert made.data["x_max"].to_pylist() == [24, 24, None, None]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8"])
def test_a_file_that_cannot_hold_the_signs_gets_the_plain_spelling(encoding: str, tmp_path: Path):
    lines = ["age;town", "20;Köln", "29;Köln", "90;Köln", "99;Köln"]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding=encoding)
    release = shoal.anonymize(
        tmp_path / "t.csv",
        quasi_identifiers={"age": Interval(high=90), "town": Suppression()},
        k=2,
        keep_order=True,
        reading={"encoding": encoding},
    )
    release.save(tmp_path / "r.csv")
    texts = (tmp_path / "r.csv").read_text(encoding=encoding).splitlines()[1:]
    ages = [line.split(";")[0] for line in texts]
    usual = ["20–29"] * 2 + ["≥ 90"] * 2
    plain = ["[20, 29]"] * 2 + [">= 90"] * 2
    assert [age.strip('"') for age in ages] == (usual if encoding == "utf-8" else plain)
    again = shoal.loss(tmp_path / "t.csv", tmp_path / "r.csv", "lm", settings=release.settings)
    assert again == pytest.approx(release.loss("lm"))


def test_loosened_releases_of_folded_columns_pass_their_audit():
    rng = np.random.default_rng(3)
    days = [date(1980, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 9000, 300)]
    table = pd.DataFrame({"age": rng.integers(0, 100, 300), "born": days, "zip": [f"{z:05}" for z in rng.integers(0, 400, 300)]})  # fmt: skip
    table["born"] = pd.to_datetime(table["born"])
    models = {"age": Interval(step=5, high=85), "born": Calendar(finest="month"), "zip": Prefix()}
    release = shoal.anonymize(
        table, quasi_identifiers=models, k=4, loosen=0.3, method="mondrian", refine=False
    )
    assert release.k >= 4


# What is refused

WRONG = [
    (lambda: Interval(step=0), "Interval: 'step' must be a number above 0, or for dates one of day, week, month, quarter, year, decade."),
    (lambda: Interval(step="hour"), "Interval: 'step' must be a number above 0, or for dates one of day, week, month, quarter, year, decade."),
    (lambda: Interval(step=float("inf")), "Interval: 'step' must be a number above 0, or for dates one of day, week, month, quarter, year, decade."),
    (lambda: Interval(start=3), "Interval: 'start' must be a number and needs a 'step' that is also a number."),
    (lambda: Interval(step="day", start=3), "Interval: 'start' must be a number and needs a 'step' that is also a number."),
    (lambda: Interval(low=9, high=3), "Interval: 'low' must be less than 'high'."),
    (lambda: Subset(low=9, high=date(2020, 1, 1)), "Subset: 'low' must be less than 'high'."),
    (lambda: Suppression(low=[1]), "Suppression: 'low' must be a finite number, a date or its text."),
    (lambda: Suppression(high=float("nan")), "Suppression: 'high' must be a finite number, a date or its text."),
    (lambda: Order(["a", "b"], high="c"), "Order has no value that is its 'high'. Use one of the values in the order."),
    (lambda: Order(["a", "b"], low="b", high="a"), "Order: 'low' must be before 'high'."),
    (lambda: Order(["a or higher", "b"], low="b"), "Order contains texts that end in 'or higher' or 'or lower', which 'low' and 'high' add. Rename them."),
    (lambda: Calendar([]), "Calendar: 'levels' must be a list of some of day, week, month, quarter, year, decade."),
    (lambda: Calendar("month"), "Calendar: 'levels' must be a list of some of day, week, month, quarter, year, decade."),
    (lambda: Calendar(["week", "month"]), "Calendar: weeks do not fit into months or quarters. Leave out 'week', or both 'month' and 'quarter', from 'levels'."),
    (lambda: Calendar(["year"], finest="day"), "Calendar: 'finest' must be one of the 'levels'."),
    (lambda: Prefix([0]), "Prefix: 'lengths' must be a list of whole numbers of at least 1."),
    (lambda: Prefix(separator=""), "Prefix: 'separator' must be the text between the parts of codes."),
    (lambda: Prefix(fill="**"), "Prefix: 'fill' must be one character."),
    (lambda: Prefix(separator=".", fill="."), "Prefix: 'fill' must not be in 'separator'."),
    (lambda: Prefix(finest=True), "Prefix: 'finest' must be a whole number of at least 1."),
    (lambda: AGES.coarser(finest=2), "Hierarchy: 'finest' must be a level below the root, a whole number from 0 to 1."),
    (lambda: Hierarchy.from_dict({"*": ["a", "b"]}, high=3), "Hierarchy: 'low' and 'high' need a hierarchy of numbers, or of dates like 1990-12-31, and must be like them. Leave them out otherwise."),
]  # fmt: skip


@pytest.mark.parametrize(("make", "sentence"), WRONG)
def test_models_that_cannot_be_are_refused_with_a_sentence(make, sentence):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.problems == (sentence,)


CODES = pa.array(["02139", "31337*"], pa.large_string())
UNFIT = [
    (Suppression(high=3), CODES, "Column 'x' contains text, but 'low' and 'high' need numbers or dates. Leave them out."),
    (Interval(step=5), pa.array(DAYS), "Column 'x' contains dates. Set 'step' to one of day, week, month, quarter, year, decade."),
    (Interval(step="day"), pa.array([31337]), "Column 'x' contains numbers. Set 'step' to a number."),
    (Interval(step=5), pa.array([31337, np.inf]), "Column 'x' contains NaN or infinite numbers. Make them missing or drop these records."),
    (Interval(high="soon"), pa.array([31337]), "'high' of column 'x' is not a value like the column's. Give a number for numbers, a whole one for whole numbers, and a date like 1990-12-31 for dates."),
    (Subset(high=3.5), pa.array([31337]), "'high' of column 'x' is not a value like the column's. Give a number for numbers, a whole one for whole numbers, and a date like 1990-12-31 for dates."),
    (Interval(low="2020", high="2019"), pa.array(DAYS), "'low' of column 'x' must be less than 'high'."),
    (Interval(step="year", high=date(2020, 5, 1)), pa.array(DAYS), "'high' of column 'x' must be the first day of a year, because its values are folded to years. Change 'high'."),
    (Calendar(finest="month", low=date(2020, 5, 1)), pa.array(DAYS), "'low' of column 'x' must be the last day of a month, because its values are folded to months. Change 'low'."),
    (Calendar(), CODES, "Column 'x' contains text, but a calendar needs dates. Convert it, or give the format of its dates (date_format)."),
    (Prefix(), CODES, "Column 'x' contains texts with '*', which means the part that is not released. Choose another 'fill'."),
    (Prefix(fill="#"), pa.array(["*"]), "Column 'x' contains the text '*', which means any value. Rename it."),
    (Prefix(), pa.array([2139, 31337]), "Column 'x' contains numbers of different lengths, so its codes may have lost leading zeros. Read it as text."),
    (Prefix(), pa.array([0.5]), "Column 'x' contains values of type double, but a prefix needs codes. Convert it to text or choose another model."),
]  # fmt: skip


@pytest.mark.parametrize(("model", "values", "sentence"), UNFIT)
def test_columns_that_do_not_fit_are_refused_with_a_sentence(model, values, sentence):
    with pytest.raises(InputError) as caught:
        model.compile("x", values, False)
    assert caught.value.problems == (sentence,)


# On the command line


def test_options_of_models_stand_behind_colons(shell: Shell, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i},19{80 + i}-03-1{i},0213{i},none" for i in range(6)]
    Path("t.csv").write_text("\n".join(["age,born,zip,school", *rows]))
    Path("school.txt").write_text("none\nsome\n")
    Path("age.csv").write_text("".join(f"{20 + i},{'AABBCC'[i]},*\n" for i in range(6)))
    flags = ["-q", "age:interval:step=5:high=25", "-q", "born:calendar:levels=month,year,decade"]
    flags += ["-q", "zip:prefix:lengths=4,3:finest=4", "-q", "school:order:school.txt:high=some"]
    done = shell("anonymize", "t.csv", *flags, "-k", 3, "-o", "r.csv", "--save-settings", "r.toml")
    assert done[0] == 0, done
    assert shoal.Settings.load("r.toml").quasi_identifiers == {
        "age": Interval(step=5, high=25),
        "born": Calendar(["month", "year", "decade"]),
        "zip": Prefix([4, 3], finest=4),
        "school": Order(["none", "some"], high="some"),
    }
    flags = ["-q", "age:hierarchy:age.csv:finest=1:low=21", "-q", "born:interval:high=1984-01-01"]
    done = shell("anonymize", "t.csv", *flags, "--others", "drop", "-k", 2, "-o", "s.csv")
    assert done[0] == 0, done


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        ("age:interval:width=3", "Column 'age': unknown option of interval. Options: step, start, low, high."),
        ("age:interval:step=0", "-q age:interval: Interval: 'step' must be a number above 0, or for dates one of day, week, month, quarter, year, decade."),
        ("age:prefix:high=3", "Column 'age': unknown option of prefix. Options: lengths, separator, fill, finest."),
    ],
)  # fmt: skip
def test_wrong_options_of_models_are_named(shell: Shell, tmp_path: Path, monkeypatch, flag, says):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age\n20\n21\n")
    assert shell("anonymize", "t.csv", "-q", flag, "-k", 2, "-o", "r.csv") == (
        2,
        "",
        f"shoal: {says}\n",
    )


@given(tables.columns(8))
def test_every_folded_column_reads_as_its_plain_twin(drawn):
    array, twin, model = drawn
    own = {"own": None} if isinstance(model, Order) else {}
    values = sorted({v for v in array.to_pylist() if v is not None})
    form, codes = model.compile("x", pa.array(values, array.type), array.null_count > 0, **own)
    folded = dict(zip(array.to_pylist(), twin.values, strict=True))
    for value, code in zip(values, codes.tolist(), strict=True):
        text = reference.text(twin, frozenset([folded[value]]))
        single = form.text(form.alone[:, [code]])[0]
        assert single == text
    if isinstance(form, RangeForm):
        assert (np.diff(form.positions) > 0).all()
