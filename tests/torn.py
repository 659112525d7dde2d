"""Files to read and to break: one table of every kind, and the one sentence about a bad file."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest

from shoal.data.files.table_file import read_file
from shoal.encoding.source import Input
from shoal.errors import InputError

TEXT_SUFFIXES = [".csv", ".tsv", ".txt", ".jsonl", ".ndjson"]


SUFFIXES = [*TEXT_SUFFIXES, *(f"{suffix}.gz" for suffix in TEXT_SUFFIXES), ".parquet", ".xlsx"]


SECRET = "s3cret"


def people() -> pa.Table:
    return pa.table(
        {
            "age": pa.array([34, None, -7]),
            "income, €": [1.5, 1e20, None],
            "zip": ["02139", None, "00501"],
            "alive": [True, None, False],
            "born": [date(1989, 2, 28), date(2000, 2, 29), None],
            "seen": pa.array(
                [datetime(2024, 1, 2, 3, 4, 5, 678000), None, None], pa.timestamp("us")
            ),
            'no"te': ['a "b", c;\td|\ne', "=1+1", None],
            "code": ["#N/A", "Ωmega ", " 5"],
            "void": pa.nulls(3, pa.string()),
        }
    )


def assert_same(left: pa.Table, right: pa.Table) -> None:
    assert left.schema == right.schema
    assert left.to_pylist() == right.to_pylist()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def problem(path: Path, input: Input | None = None) -> str:
    """The one sentence about a bad file: it names the file and shows no cell."""
    with pytest.raises(InputError) as caught:
        read_file(path, input)
    assert len(caught.value.problems) == 1
    message = str(caught.value)
    assert str(path) in message
    assert SECRET not in message
    assert "\n" not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def torn(
    folder: Path,
    content: bytes | str,
    name: str = "people.csv",
    input: Input | None = None,
) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return problem(path, input)


def sheet(path: Path, rows: list[list[object]]) -> Path:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(path)
    return path
