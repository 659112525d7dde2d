"""The sample table is UCI Adult, whole, and its hierarchies are proper trees over its values."""

from __future__ import annotations

import csv
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shoal import samples

COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
NUMERIC = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
CATEGORICAL = [name for name in COLUMNS if name not in NUMERIC | {"income"}]


@pytest.fixture(scope="module")
def table() -> Any:
    return samples.adult()


def read_lines(column: str) -> list[list[str]]:
    with samples.adult_hierarchies()[column].open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def leaves_by_label(lines: list[list[str]], level: int) -> dict[str, frozenset[str]]:
    return {
        label: frozenset(line[0] for line in lines if line[level] == label)
        for label in {line[level] for line in lines}
    }


def test_the_table_has_every_record_under_the_published_names(table: Any) -> None:
    assert table.num_rows == 48_842
    assert table.column_names == COLUMNS


def test_numbers_are_int64_and_all_other_columns_plain_strings(table: Any) -> None:
    assert {field.name: str(field.type) for field in table.schema} == {
        name: "int64" if name in NUMERIC else "string" for name in COLUMNS
    }


def test_11687_records_earn_more_than_50k(table: Any) -> None:
    assert table["income"].to_pylist().count(">50K") == 11_687


def test_45222_records_are_complete(table: Any) -> None:
    assert table.drop_null().num_rows == 45_222


def test_only_three_columns_have_missing_values(table: Any) -> None:
    missing = {name: table[name].null_count for name in COLUMNS if table[name].null_count}
    assert missing == {"workclass": 2_799, "occupation": 2_809, "native-country": 857}


def test_no_question_mark_is_left(table: Any) -> None:
    assert all("?" not in table[name].unique().to_pylist() for name in COLUMNS)


def test_the_file_stays_below_one_megabyte() -> None:
    assert (Path(samples.__file__).parent / "adult.parquet").stat().st_size < 1_000_000


def test_every_categorical_column_but_income_has_a_hierarchy() -> None:
    assert sorted(samples.adult_hierarchies()) == sorted(CATEGORICAL)


@pytest.mark.parametrize("column", CATEGORICAL)
def test_leaves_are_exactly_the_values_of_the_column(table: Any, column: str) -> None:
    leaves = [line[0] for line in read_lines(column)]
    assert sorted(leaves) == sorted(table[column].drop_null().unique().to_pylist())


@pytest.mark.parametrize("column", CATEGORICAL)
def test_lines_have_equal_length_and_end_in_one_root(column: str) -> None:
    lines = read_lines(column)
    assert len({len(line) for line in lines}) == 1
    assert {line[-1] for line in lines} == {"*"}


@pytest.mark.parametrize("column", CATEGORICAL)
def test_a_label_names_one_set_and_a_set_has_one_label(column: str) -> None:
    lines = read_lines(column)
    pairs = {
        pair for level in range(len(lines[0])) for pair in leaves_by_label(lines, level).items()
    }
    assert len({label for label, _ in pairs}) == len(pairs)
    assert len({leaves for _, leaves in pairs}) == len(pairs)


@pytest.mark.parametrize("column", CATEGORICAL)
def test_every_label_has_one_parent(column: str) -> None:
    lines = read_lines(column)
    for level in range(len(lines[0]) - 1):
        steps = {(line[level], line[level + 1]) for line in lines}
        assert len({label for label, _ in steps}) == len(steps)


@pytest.mark.parametrize("column", CATEGORICAL)
def test_every_level_merges_something(column: str) -> None:
    lines = read_lines(column)
    sizes = [len({line[level] for line in lines}) for level in range(len(lines[0]))]
    assert all(above < below for below, above in pairwise(sizes))


@pytest.mark.parametrize("column", CATEGORICAL)
def test_labels_carry_no_stray_blanks(column: str) -> None:
    assert all(label and label == label.strip() for line in read_lines(column) for label in line)


def test_listing_the_hierarchies_does_not_import_pyarrow() -> None:
    code = (
        "import importlib.util, sys; "
        f"spec = importlib.util.spec_from_file_location('samples', {samples.__file__!r}); "
        "samples = importlib.util.module_from_spec(spec); "
        "spec.loader.exec_module(samples); "
        "samples.adult_hierarchies(); "
        "sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
