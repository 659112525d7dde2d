"""Hierarchies of numbers, dates, codes and orders are made without a file, saved, previewed and checked."""

from __future__ import annotations

import json
from datetime import date, datetime
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from examples import several
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, InputError
from shoal.encoding.models.hierarchy_preview import LEAST, rows_by_height

AGES = [17, 18, 23, 24, 25, 31, 38, 44, 59, 60, 90]


def labels_of_level(tree: Hierarchy, level: int) -> list[str]:
    return list(dict.fromkeys(row[level] for row in rows_by_height(tree)))


def test_numbers_are_binned_at_multiples_of_each_width() -> None:
    tree = Hierarchy.from_numbers(AGES, widths=(5, 10, 20))
    assert tree.rows()[2] == ["23", "20–24", "20–29", "20–39", "*"]
    # Bins of one width that hold the same values as those of another read like the narrower one.
    assert labels_of_level(tree, 3) == ["15–19", "20–39", "40–59", "60", "90"]


def test_fractions_have_bins_that_are_open_above() -> None:
    tree = Hierarchy.from_numbers([0.1, 0.3, 0.25, 0.75, 1.5, -0.1, -0.25], widths=(0.5, 1))
    rows = {row[0]: row[1:] for row in tree.rows()}
    assert rows["0.3"] == ["0–<0.5", "0–<1", "*"]
    assert "-0.5 – <0" in rows["-0.1"]


@given(
    st.sets(st.integers(-500, 500), min_size=1, max_size=40),
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
)
def test_a_bin_holds_the_numbers_between_its_bounds(numbers: set[int], factors: list[int]) -> None:
    widths = [2]
    for factor in factors:
        widths.append(widths[-1] * factor)
    for row in Hierarchy.from_numbers(sorted(numbers), widths=widths).rows():
        for label in (label for label in row if label != "*"):
            low, dash, high = label.partition("–")  # numbers may have spaces around them
            assert int(low) <= int(row[0]) <= int(high if dash else low)
            assert not dash or int(high) - int(low) + 1 in widths


def test_without_widths_bins_are_round_and_few() -> None:
    tree = Hierarchy.from_numbers(range(17, 91))
    assert labels_of_level(tree, 1)[:2] == ["15–19", "20–24"]
    assert len(labels_of_level(tree, 1)) <= 20
    alone = Hierarchy.from_numbers([3.0])
    assert (alone.leaves, alone.inner) == (("3",), ("*",))


def test_dates_are_joined_by_periods() -> None:
    days = [date(2019, 12, 31), date(2020, 1, 1), date(2020, 1, 2), date(2020, 5, 1)]
    tree = Hierarchy.from_dates(days)
    rows = {row[0]: row for row in tree.rows()}
    assert rows["2020-01-01"] == ["2020-01-01", "2020-01", "2020", "*"]
    assert "2010–2019" not in tree.inner  # one day alone stays a day
    weeks = Hierarchy.from_dates(days, levels=("day", "week"))
    assert rows.keys() == set(weeks.leaves)
    assert labels_of_level(weeks, 1) == ["2020-W01", "2020-05-01"]


@pytest.mark.parametrize(
    "kind", [list, pd.Series, pl.Series, pa.array, lambda v: pa.chunked_array([v])]
)
def test_columns_of_every_kind_make_the_same_tree(kind) -> None:
    days = [
        date(2020, 1, 1),
        date(2020, 1, 2),
        date(2020, 5, 1),
        date(2021, 5, 1),
        date(2020, 1, 1),
    ]
    assert Hierarchy.from_dates(kind(days)) == Hierarchy.from_dates(days)
    assert Hierarchy.from_numbers(kind(AGES)) == Hierarchy.from_numbers(AGES)
    codes = ["02139", "02138", "10001"]
    assert Hierarchy.from_codes(kind(codes)) == Hierarchy.from_codes(codes)


def test_texts_and_times_are_dates_too() -> None:
    texts = ["2020-01-01", "2020-01-02", "2021-03-01"]
    assert Hierarchy.from_dates(texts).rows()[0] == ["2020-01-01", "2020-01", "*"]
    times = [datetime(2020, 1, 1, 8), datetime(2020, 1, 1, 9), datetime(2020, 2, 1, 9)]
    assert Hierarchy.from_dates(times).rows()[0] == ["2020-01-01 08:00:00", "2020-01-01", "*"]


def test_codes_are_joined_by_how_they_begin() -> None:
    tree = Hierarchy.from_codes(["02139", "02138", "02144", "10001"])
    assert tree.rows()[1] == ["02139", "0213*", "021**", "*"]
    parts = Hierarchy.from_codes(["C34", "C34.1", "C34.1.2", "E11.9"], separator=".")
    assert parts.rows()[1] == ["C34.1", "C34.1.*", "C34.*", "*"]
    assert parts.rows()[0] == ["C34", "C34", "C34.*", "*"]


def test_orders_are_halved_or_cut_into_levels() -> None:
    schools = ["none", "primary", "secondary", "college", "degree"]
    tree = Hierarchy.from_order(schools)
    assert labels_of_level(tree, len(tree.rows()[0]) - 2) == [
        "none .. primary",
        "secondary .. degree",
    ]
    flat = Hierarchy.from_order(schools, levels=1)
    assert flat.inner == ("*",)
    column = pd.Series(pd.Categorical(["none", "degree"], schools, ordered=True))
    for own in (column, shoal.Order(schools), pl.Series(["none"], dtype=pl.Enum(schools))):
        assert Hierarchy.from_order(own) == tree


@given(st.integers(1, 60), st.one_of(st.none(), st.integers(1, 5)))
def test_runs_of_an_order_are_balanced(many: int, levels: int | None) -> None:
    order = [f"c{number:02}" for number in range(many)]
    tree = Hierarchy.from_order(order, levels)
    assert tree.leaves == tuple(order)
    if levels is not None:
        assert len(rows_by_height(tree)[0]) <= levels + 1
    top = [row[-2] for row in rows_by_height(tree)]
    sizes = [top.count(label) for label in set(top)]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Hierarchy.from_numbers(["a", "b"]), "not numbers"),
        (lambda: Hierarchy.from_numbers([1, 2], widths=(5, 12)), "multiple of the one before"),
        (lambda: Hierarchy.from_numbers([1, 2], widths=(0,)), "numbers above 0"),
        (lambda: Hierarchy.from_numbers([1, 2], widths=()), "numbers above 0"),
        (lambda: Hierarchy.from_numbers(pa.array([1.0, float("inf")])), "infinite"),
        (lambda: Hierarchy.from_numbers([]), "not numbers"),
        (lambda: Hierarchy.from_dates(["SECRET", "2020-01-01"]), "1 of the 2 distinct value"),
        (lambda: Hierarchy.from_dates([date(2020, 1, 1)], levels=("week", "month")), "week"),
        (lambda: Hierarchy.from_codes(["SECRET*", "1"]), "1 of the 2 distinct codes"),
        (lambda: Hierarchy.from_codes(["1"], lengths=(1, 0)), "whole numbers of at least 1"),
        (lambda: Hierarchy.from_codes(["1"], separator=""), "separator"),
        (lambda: Hierarchy.from_codes([]), "no values"),
        (lambda: Hierarchy.from_order(shoal.Order("names")), "names no categories"),
        (lambda: Hierarchy.from_order(["a", "a"]), "listed again"),
        (lambda: Hierarchy.from_order(["a"], levels=0), "'levels'"),
        (lambda: Hierarchy.from_codes([1, "SECRET", b"x"]), "mix types"),
        (lambda: Hierarchy.from_codes("SECRET"), "a column of a table"),
    ],
)
def test_what_cannot_be_a_tree_is_refused_in_a_sentence_without_a_value(make, said: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert said in str(error.value)
    assert "SECRET" not in str(error.value)


def test_trees_that_are_made_fit_the_column_in_a_release() -> None:
    table = pd.DataFrame({"age": AGES * 3, "zip": ["02139", "02138", "10001"] * 11})
    release = shoal.anonymize(
        table,
        quasi_identifiers={
            "age": Hierarchy.from_numbers(table["age"]),
            "zip": Hierarchy.from_codes(table["zip"]),
        },
        k=4,
    )
    assert release.k >= 4


# ---- saving


NAMES = st.text(alphabet='ab ,;"|\t\né', min_size=1, max_size=4).filter(lambda t: t == t.strip())
TREES = st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=8, unique_by=lambda pair: pair[0])


@settings(max_examples=several(60))
@given(TREES)
def test_a_saved_tree_is_read_back_as_it_was(tmp_path_factory, pairs) -> None:
    try:
        tree = Hierarchy.from_rows([value, f"set {group}", "*"] for value, group in pairs)
    except InputError:
        reject()
    path = tmp_path_factory.mktemp("trees") / "tree.csv"
    tree.save(path)
    again = Hierarchy.from_csv(path)
    assert again.rows() == tree.rows()
    assert again == tree


def test_cells_with_lines_and_delimiters_do_not_mislead_the_reader(tmp_path: Path) -> None:
    rows = [["a;b", "one;\n;two", "*"], ["c", "one;\n;two", "*"], ["d", "d", "*"]]
    tree = Hierarchy.from_rows(rows)
    tree.save(tmp_path / "tree.csv")
    assert Hierarchy.from_csv(tmp_path / "tree.csv") == tree


def test_an_existing_file_is_replaced_only_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("mine")
    tree = Hierarchy.from_codes(["11", "12", "21", "22"])
    with pytest.raises(InputError, match="exists"):
        tree.save(path)
    assert path.read_text() == "mine"
    tree.save(path, overwrite=True)
    assert path.read_text() == "11,1*,*\n12,1*,*\n21,2*,*\n22,2*,*\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("value", ["", " SECRET"])
def test_what_a_file_cannot_hold_is_refused(tmp_path: Path, value: str) -> None:
    tree = Hierarchy.from_rows([[value, "*"], ["b", "*"]])
    with pytest.raises(InputError, match="Rename it") as error:
        tree.save(tmp_path / "tree.csv")
    assert "SECRET" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


# ---- preview and check

TOWNS = Hierarchy.from_dict({"*": {"France": ["Lille", "Lyon"], "Spain": ["Vigo", "Elx", "Jaén"]}})
COLUMN = ["Lyon"] * 30 + ["Lille"] * 9 + ["Vigo"] * 20 + ["Elx"] * 3 + [None] * 2 + ["Porto"] * 4


def test_a_preview_counts_records_by_node() -> None:
    found = TOWNS.preview(COLUMN)
    assert (found.records, found.outside, found.missing) == (62, 4, 2)
    values, countries, root = found.levels
    assert (values.count, values.rarer, values.empty) == (5, 2, 1)
    assert values.rarer_share == pytest.approx(12 / 62)
    assert [(node.label, node.records, node.values) for node in countries.nodes] == [
        ("France", 39, 2),
        ("Spain", 23, 3),
    ]
    assert [node.share for node in root.nodes] == [1.0]


def test_a_preview_names_no_rare_value() -> None:
    found = TOWNS.preview(COLUMN)
    for text in (str(found), json.dumps(found.to_dict(), ensure_ascii=False), found._repr_html_()):
        assert "Lyon" in text
        assert not any(rare in text for rare in ("Lille", "Elx", "Jaén", "Porto"))


def test_a_label_that_lists_a_rare_value_is_not_shown() -> None:
    table = pa.table({"job": list("a" * 30 + "b" * 2 + "c" * 30), "pay": [1] * 32 + [9] * 30})
    tree = Hierarchy.from_data(table, "job", levels=2)
    assert tree.inner[0] == "a, b"
    found = tree.preview(table["job"])
    assert "a, b" not in str(found)
    assert "(2 values)" in str(found)
    order = Hierarchy.from_order(["a", "c", "b", "d"]).preview(table["job"])
    assert ".." not in str(order).replace("a .. c", "")


def test_bounds_of_bins_are_shown() -> None:
    text = str(Hierarchy.from_numbers([20, 21] * 8 + [35]).preview([20] * 30 + [21, 35]))
    assert "20–21" in text
    assert "35" not in text


def test_rare_values_are_folded_at_the_limit() -> None:
    for count, is_named in ((LEAST - 1, False), (LEAST, True)):
        text = str(TOWNS.preview(["Lyon"] * count + ["Vigo"] * 50))
        assert ("Lyon" in text) == is_named


def test_previews_are_html_that_closes_what_it_opens() -> None:
    tree = Hierarchy.from_dict({"*": {"<b>": ["<i>", "x"], "y": None}})
    text = tree.preview(["<i>"] * 20 + ["x"] * 20 + ["y"] * 20)._repr_html_()
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Reader().feed(text)
    assert opened == []
    assert "<b>" not in text
    assert "<i>" not in text


def test_a_check_finds_what_does_not_fit() -> None:
    found = TOWNS.check(COLUMN)
    assert not found.fits
    assert (found.missing_values, found.missing_records, found.unused) == (1, 4, 1)
    assert (found.idle_levels, found.single, found.repeated) == ((), 0, 0)
    assert "Porto" not in str(found) + json.dumps(found.to_dict()) + found._repr_html_()
    assert found.to_dict()["fits"] is False


def test_a_check_finds_levels_and_sets_that_do_nothing(tmp_path: Path) -> None:
    path = tmp_path / "town.csv"
    path.write_text(
        "Lyon,France,Europe,*\nLille,France,Europe,*\nVigo,Spain,Europe,*\nOslo,North,Nord,*\n"
    )
    found = Hierarchy.from_csv(path).check(["Lyon", "Vigo"])
    assert found.fits
    assert found.unused == 2
    assert found.idle_levels == (1,)
    assert found.single == 2  # France, and the root, of which Europe alone has records
    assert found.repeated == 3  # Spain, North and Nord
    assert len(found.problems) == 4


def test_a_tree_that_fits_has_no_problems() -> None:
    found = TOWNS.check(list(TOWNS.leaves))
    assert found.fits
    assert found.problems == ()
    assert str(found) == "The hierarchy fits 5 records."
