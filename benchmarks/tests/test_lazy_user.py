"""The benchmark of the lazy user counts what it says, in a table whose answers are known."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.released import exact_dates, free_text, nearly_unique, unique_records
from benchmarks.suite import lazy_user
from benchmarks.tables import Tables


def test_unique_records_and_values_are_counted() -> None:
    assert unique_records([("a", "1"), ("a", "1"), ("a", "2")]) == 1
    assert nearly_unique(["1", "2", "3", "4"])
    assert not nearly_unique(["1", "1", "2", "2"])


def test_texts_addresses_and_days_are_found_in_released_values() -> None:
    assert free_text([f"seen by the nurse {number}" for number in range(50)])
    assert free_text(["red"] * 50 + ["ann@example.org"])
    assert not free_text(["very good", "not so good at all"] * 50)
    assert exact_dates(["2020-01-01", "2020-01-02", "2020-01-03"])
    assert not exact_dates(["2020", "2021-03", "*"])


@pytest.mark.parametrize(
    ("given", "right", "exposed"),
    [
        *(("K", "S", True), ("S", "Q", True), ("Q", "I", True), ("S", "ID", True)),
        *(("Q", "S", False), ("S", "QS", False), ("D", "Q", False), ("I", "S", False)),
    ],
)
def test_a_column_is_exposed_if_it_gets_less_protection_than_it_needs(
    given: str, right: str, exposed: bool
) -> None:
    assert lazy_user._is_exposed(given, right) == exposed


def test_the_lazy_user_of_a_small_table_gives_nothing_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazy_user, "MADE", ("messy",))
    module = import_module("suggested.messy")
    monkeypatch.setattr(module, "TABLES", (module.affairs,))
    [row] = lazy_user.run(Tables(tmp_path, None))
    assert (row["identified"], row["leaked"], row["exposed"], row["met"]) == (0, 0, 0, True)


def test_the_truths_name_each_column_once() -> None:
    for case in lazy_user.truths().values():
        columns = [column for letters, own in case.items() if letters.isupper() for column in own]
        assert len(columns) == len(set(columns))
