"""The charts of columns: numbers in ranges, dates in periods, codes as they are."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.app.context import breakable
from shoal.app.projects import Projects
from shoal.app.worker import look as looking
from shoal.app.worker.charts import BINS, LEAST, bars_of


def labels(values: list[Any], is_code: bool = False) -> list[str]:
    bars = bars_of(pa.chunked_array([pa.array(values)]), is_code)
    assert sum(own["records"] for own in bars) == len(values)
    return [own["label"] for own in bars]


def days(first: date, number: int) -> list[date]:
    return [first + timedelta(n) for n in range(number)]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (days(date(2024, 1, 1), 100), ["2024-01", "2024-02", "2024-03", "2024-04"]),
        (
            days(date(2023, 11, 5), 500),
            ["2023-Q4", *(f"2024-Q{n}" for n in (1, 2, 3, 4)), "2025-Q1"],
        ),
        (days(date(2020, 1, 1), 2000), ["2020", "2021", "2022", "2023", "2024", "2025"]),
    ],
)
def test_dates_are_drawn_by_periods_that_fit(values: list[date], shown: list[str]) -> None:
    assert labels(values) == shown


def test_dates_of_many_years_are_drawn_by_several_years() -> None:
    shown = labels(days(date(1930, 1, 1), 30_000))
    assert len(shown) <= BINS
    assert shown[0] == "1930–1936"


def test_codes_that_are_numbers_are_never_put_into_ranges() -> None:
    sites = [n % 20 for n in range(400)]
    assert any("–" in label for label in labels(sites)), "quantities are"
    shown = labels(sites, is_code=True)
    assert not any("–" in label for label in shown)
    assert shown == ["0…", "1…", *(f"{n}…" for n in range(2, 10))]


def test_many_codes_are_drawn_by_their_first_characters() -> None:
    codes = [f"{1 + n % 3}{n % 7}{n % 90:03}" for n in range(3000)]
    assert labels(codes, is_code=True) == ["1…", "2…", "3…"]


def test_few_values_of_a_number_are_drawn_in_their_order() -> None:
    assert labels([3] * 40 + [1] * 20 + [2] * 30) == ["1", "2", "3"]


def test_no_value_of_fewer_than_ten_records_is_shown() -> None:
    rare = ["x"] * (LEAST - 1) + ["usual"] * 50
    assert labels(rare) == ["usual", "1 other value"]
    codes = [f"A{n:04}" for n in range(500)] + ["Z0001"] * (LEAST - 1)
    assert not any("Z" in label for label in labels(codes, is_code=True))


def test_dates_as_text_are_drawn_as_dates(tmp_path: Path) -> None:
    lines = [f"{1 + n % 28}.{1 + n % 12}.{1950 + n % 60};{n % 3}" for n in range(600)]
    table = tmp_path / "clinic.csv"
    table.write_text("\n".join(["born;ward", *lines]), encoding="utf-8")
    project = Projects(tmp_path / "projects").new(table, "clinic.csv")
    looking.look(lambda *_: None, str(project.folder))
    assert project.look is not None
    born = project.look["columns"][0]
    assert born["type"] == "dates"
    assert born["bars"][0]["label"] == "1950–1954"


def test_a_name_may_wrap_only_between_its_words() -> None:
    assert breakable("years_since<b>_lastVisit") == "years_<wbr>since&lt;b&gt;_<wbr>last<wbr>Visit"
    assert breakable("Patient") == "Patient"
