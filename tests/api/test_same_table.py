"""One table gets the same suggestions and release as a file of any format, a frame or a table of a database."""

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.data.files.table_file import write_file

RECORDS = 240
_RNG = random.Random(7)


def _days(first: date, span: int) -> list[date]:
    return [first + timedelta(days=_RNG.randrange(span)) for _ in range(RECORDS)]


def _some(values: Any) -> list[Any]:
    return _RNG.choices(list(values), k=RECORDS)


def _dates() -> dict[str, list[Any]]:
    moments = [
        datetime(2024, 2, 1) + timedelta(minutes=_RNG.randrange(40_000)) for _ in range(RECORDS)
    ]
    return {
        "dob": [str(day) for day in _days(date(1950, 1, 1), 18_000)],
        "interview_start": [moment.strftime("%Y-%m-%d %H:%M") for moment in moments],
        "offence_date": [day.strftime("%d/%m/%Y") for day in _days(date(2013, 1, 1), 700)],
        "seen": [moment.strftime("%d.%m.%Y %H:%M") for moment in moments],
        "sex": _some("mf"),
    }


def _codes() -> dict[str, list[Any]]:
    return {
        "respondent": list(range(1, RECORDS + 1)),
        "zip": _some(range(10_115, 10_180)),
        "plz": [f"{number:05d}" for number in _some(range(1_067, 1_100))],
        "region": _some(range(1, 10)),
        "diagnosis": _some(["I50.1", "E11.9", "J45.0", "C50.4", "I10.9"]),
        "education": _some([1, 2, 3, 4, 99]),
    }


def _numbers() -> dict[str, list[Any]]:
    return {
        "age": _some([*range(18, 90), None]),
        "income_m": [float(value) for value in _some(range(400, 9_000, 10))],
        "wt_final": [round(_RNG.uniform(0.2, 3), 5) for _ in range(RECORDS)],
        "height": [round(_RNG.gauss(170, 9), 1) for _ in range(RECORDS)],
        "household": [float(value) for value in _some(range(1, 7))],
    }


def _texts_of_numbers() -> dict[str, list[Any]]:
    return {
        "age": [str(value) for value in _some(range(18, 90))],
        "weight": [f"{value:.2f}" for value in _some([60.5, 71.25, 80.1, 92.0, 55.75, 66.3])],
        "bmi": [f"{value:.1f}".replace(".", ",") for value in _some([20.5, 31.2, 24.1, 28.9])],
        "children": [str(value) for value in _some(range(5))],
        "sex": _some("mf"),
    }


def _flags() -> dict[str, list[Any]]:
    return {
        "smoker": _some(["true", "false"]),
        "married": _some([0, 1]),
        "insured": _some(["yes", "no"]),
        "consent": _some(["TRUE", "FALSE"]),
        "city": _some(["Bonn", "Jena", "Ulm"]),
    }


TABLES = {
    own.__name__[1:]: pa.table(own())
    for own in (_dates, _codes, _numbers, _texts_of_numbers, _flags)
}


def _written(suffix: str) -> Callable[[pa.Table, Path], Any]:
    def make(table: pa.Table, folder: Path) -> Path:
        path = folder / f"table{suffix}"
        write_file(table, path)
        return path

    return make


def _pandas(table: pa.Table, folder: Path) -> Any:
    return pytest.importorskip("pandas") and table.to_pandas()


def _polars(table: pa.Table, folder: Path) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def _statistics(suffix: str) -> Callable[[pa.Table, Path], Any]:
    def make(table: pa.Table, folder: Path) -> Path:
        pytest.importorskip("pyreadstat")
        return _written(suffix)(table, folder)

    return make


def _sqlite(table: pa.Table, folder: Path) -> Any:
    import sqlite3

    names = ", ".join(f'"{name}"' for name in table.column_names)
    marks = ", ".join("?" for _ in table.column_names)
    connection = sqlite3.connect(folder / "t.sqlite")
    connection.execute(f"CREATE TABLE people ({names})")
    rows = zip(*table.to_pydict().values(), strict=True)
    connection.executemany(f"INSERT INTO people VALUES ({marks})", rows)
    connection.commit()
    connection.close()
    return shoal.DatabaseTable(folder / "t.sqlite", "people")


def _duckdb(table: pa.Table, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return shoal.DatabaseTable(folder / "t.duckdb", "people")


CONTAINERS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda table, folder: table,
    "pandas": _pandas,
    "polars": _polars,
    ".parquet": _written(".parquet"),
    ".jsonl": _written(".jsonl"),
    ".xlsx": _written(".xlsx"),
    ".sav": _statistics(".sav"),
    ".dta": _statistics(".dta"),
    "sqlite": _sqlite,
    "duckdb": _duckdb,
}


def _seen(data: Any) -> list[tuple[Any, ...]]:
    return [
        (c.name, c.role, c.model, dict(c.options), c.reason, c.is_sure, c.missing, c.doubts)
        for c in shoal.suggest(data).columns
    ]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_gets_the_same_suggestions_as_a_csv_file(
    name: str, container: str, tmp_path: Path
) -> None:
    table = TABLES[name]
    as_file = _written(".csv")(table, tmp_path)
    assert _seen(CONTAINERS[container](table, tmp_path)) == _seen(as_file)
    found, file = (
        shoal.suggest(CONTAINERS["arrow"](table, tmp_path)),
        shoal.suggest(as_file),
    )
    assert (found.reading.date_format, found.reading.missing) == (
        file.reading.date_format,
        file.reading.missing,
    )


@pytest.mark.parametrize("name", TABLES)
def test_a_frame_gets_the_same_suggestions_as_the_csv_file_that_pandas_writes_of_it(
    name: str, tmp_path: Path
) -> None:
    frame = _pandas(TABLES[name], tmp_path)
    frame.to_csv(tmp_path / "t.csv", index=False)  # which writes 3.0 where a number is missing
    assert _seen(frame) == _seen(tmp_path / "t.csv")


@pytest.mark.parametrize("container", ["arrow", "pandas", "polars", ".parquet", "sqlite", "duckdb"])
def test_suggestions_for_dates_as_text_make_the_same_release(
    container: str, tmp_path: Path
) -> None:
    table = TABLES["dates"]
    released = []
    for number, own in enumerate((container, "csv")):
        folder = tmp_path / str(number)
        folder.mkdir()
        data = (CONTAINERS | {"csv": _written(".csv")})[own](table, folder)
        settings = shoal.suggest(data, k=5).settings()
        release = shoal.anonymize(data, settings=settings, keep_order=True)
        release.save(folder / "release.csv")
        released.append((folder / "release.csv").read_text())
    assert released[0] == released[1]
