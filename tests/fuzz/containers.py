"""Tables of a case as frames and files, and whatever comes back as lists of plain values."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from datetime import datetime
from pathlib import Path
from typing import Any

from .cases import KINDS, Case
from .readings import TEXT

DELIMITED = (".csv", ".csv.gz", ".tsv")


def build_frame(case: Case) -> Any:
    """The table of a case as the frame that it asks for."""
    rng = random.Random(case.seed)
    library, _, style = case.container.partition(" ")
    if library == "pandas":
        return _pandas(case, bool(style), rng)
    if library == "polars":
        import polars as pl

        frame = pl.DataFrame(case.columns, strict=True)
        texts = [name for name in case.columns if _is_text(case, name) and style]
        return frame.with_columns(pl.col(name).cast(pl.Categorical) for name in texts)
    import pyarrow as pa

    arrays = {name: pa.array(values) for name, values in case.columns.items()}
    for name in arrays:
        if style and _is_text(case, name):
            arrays[name] = arrays[name].dictionary_encode()
    return pa.table(arrays)


def _pandas(case: Case, as_category: bool, rng: random.Random) -> Any:
    import pandas as pd

    columns: dict[str, Any] = {}
    for name, values in case.columns.items():
        match case.kinds[name]:
            case "huge":
                columns[name] = pd.array(values, dtype="Int64")
            case "whole" if rng.random() < 0.5:
                columns[name] = pd.array(values, dtype="Int64")
            case "whole" | "float":
                columns[name] = pd.Series(values)  # missing whole numbers make floats of it
            case "flag":
                columns[name] = pd.array(values, dtype="boolean")
            case "stamp":
                columns[name] = pd.to_datetime(pd.Series(values))
            case "few" | "text":
                text = pd.Series(values, dtype=rng.choice(("object", "str")))
                columns[name] = text.astype("category") if as_category else text
            case _:
                columns[name] = pd.Series(values, dtype="object")
    frame = pd.DataFrame(columns)
    if rng.random() < 0.3:
        frame.index = pd.Index(rng.sample(range(1000), len(frame)))
    return frame


def _is_text(case: Case, name: str) -> bool:
    return KINDS[case.kinds[name]] == TEXT and case.kinds[name] != "flag"


def lists_of(frame: Any) -> dict[str, list[Any]]:
    """A frame's columns as lists of Python's own values, None for missing."""
    if hasattr(frame, "to_pylist"):
        return {name: frame.column(name).to_pylist() for name in frame.column_names}
    if hasattr(frame, "get_columns"):
        return {column.name: column.to_list() for column in frame.get_columns()}
    return {name: [_plain(value) for value in frame[name].tolist()] for name in frame.columns}


def _plain(value: Any) -> Any:
    import pandas as pd

    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    return None if value is None or value is pd.NA or value is pd.NaT or value != value else value


def categories_of(frame: Any, name: str) -> list[Any]:
    """What a column's categories or dictionary list, used or not; nothing for plain columns."""
    if hasattr(frame, "to_pylist"):
        import pyarrow as pa

        column = frame.column(name)
        if pa.types.is_dictionary(column.type):
            return [value for chunk in column.chunks for value in chunk.dictionary.to_pylist()]
        return []
    if hasattr(frame, "get_columns"):
        return []  # polars keeps the categories of the whole process
    dtype = frame[name].dtype
    return list(dtype.categories) if hasattr(dtype, "categories") else []


def fields_of(case: Case) -> dict[str, list[str]]:
    """The fields of a delimited file, as they are written."""
    rng = random.Random(case.seed)
    token = case.options.get("reading", {}).get("missing", [""])[0]
    named = {*case.rules, *case.sensitive}
    found = {}
    for name, values in case.columns.items():
        blanks = ("", token) if name in named else ("",)
        found[name] = [
            rng.choice(blanks) if value is None else field_of(value, rng, name in named)
            for value in values
        ]
    return found


def field_of(value: Any, rng: random.Random, is_plain: bool) -> str:
    """A value as text, sometimes in another spelling than the shortest."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not is_plain and rng.random() < 0.3:
        return f"{value}0"
    return str(value)


def write_file(case: Case, folder: Path) -> Path:
    """The table of a case as a file."""
    path = folder / f"table{case.container}"
    names = list(case.columns)
    match case.container:
        case ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table(case.columns), path)
        case ".jsonl":
            rows = zip(*case.columns.values(), strict=True)
            lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        case ".xlsx":
            from openpyxl import Workbook

            book = Workbook()
            book.active.append(names)
            for row in zip(*case.columns.values(), strict=True):
                book.active.append(row)
            book.save(path)
        case _:
            path.write_bytes(_delimited(case))
    return path


def _delimited(case: Case) -> bytes:
    rng = random.Random(case.seed)
    end = rng.choice(("\n", "\r\n"))
    delimiter = "\t" if case.container == ".tsv" else rng.choice((",", ",", ";", "|"))
    if len(case.columns) == 1:
        delimiter = ","
    fields = fields_of(case)
    rows = [list(fields), *zip(*fields.values(), strict=True)]
    lines = [delimiter.join(_quoted(field, delimiter) for field in row) for row in rows]
    mark = "\ufeff" if rng.random() < 0.1 else ""
    data = (mark + "".join(line + end for line in lines)).encode()
    return gzip.compress(data) if case.container.endswith(".gz") else data


def _quoted(field: str, delimiter: str) -> str:
    """A field in quotes where it needs them; Python's own writer leaves a lone CR bare."""
    doubled = field.replace('"', '""')
    return f'"{doubled}"' if {delimiter, '"', "\r", "\n"} & set(field) else field


def read_delimited(path: Path, names: list[str]) -> dict[str, list[str]]:
    """A delimited file with these columns, by Python's own csv module; ValueError if it is none."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig")
    for delimiter in ",;\t|":
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), None)
        if header != names:
            continue
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        records = [row or [""] for row in lines][1:]  # a single empty field is an empty line
        if all(len(row) == len(names) for row in records):
            return {name: [row[i] for row in records] for i, name in enumerate(names)}
    raise ValueError("other columns or rows of different lengths")


def read_saved(path: Path) -> dict[str, list[Any]]:
    """A saved release that is not delimited text, by other libraries than shoal's own code."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return lists_of(pq.read_table(path))
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return {name: [row.get(name) for row in rows] for name in rows[0]}
    from openpyxl import load_workbook

    book = load_workbook(path)
    header, *records = book.active.iter_rows(values_only=True)
    return {str(name): [_date(row[i]) for row in records] for i, name in enumerate(header)}


def _date(value: Any) -> Any:
    is_day = isinstance(value, datetime) and not (value.hour or value.minute or value.second)
    return value.date() if is_day else value
