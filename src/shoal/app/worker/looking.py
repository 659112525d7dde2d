"""A first look at a table: what its columns hold, a role for each with its reason, how values are spread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import samples
from shoal.app.files import read_toml_file, write_json, write_toml_file
from shoal.app.worker.charts import bars_of
from shoal.app.worker.tables import codes_of, column_of, input_of, open_project, path_of
from shoal.errors import InputError, raise_problems
from shoal.generalization import Suppression
from shoal.generalization.models import is_ordered
from shoal.settings import Settings
from shoal.settings.content import content_of
from shoal.suggesting import Suggestions, suggest
from shoal.suggesting.printed import short_lists
from shoal.suggesting.singling import grouped
from shoal.table.encode import encode_column
from shoal.table.inference import infer
from shoal.table.source import Input, Source
from shoal.whole import make_private_folder

PREVIEWED = 20  # rows
LONGEST = 60  # characters of a cell in the preview


def look(answer: Any, project: str) -> dict[str, Any]:
    """Read the table, suggest, and write `look.json`; also `settings.toml` where there is none yet."""
    folder = Path(project)
    answer("progress", {"stage": "reading the table", "done": 0, "total": 1})
    found = suggest(path_of(project), input=input_of(project))
    answer("progress", {"stage": "counting values", "done": 0, "total": 1})
    source = open_project(project, found.input)
    facts = _facts(source, found)
    if not (folder / "settings.toml").exists():
        _first_settings(folder, found)
    write_json(folder / "look.json", facts)
    return {"records": facts["records"]}


def _first_settings(folder: Path, found: Suggestions) -> None:
    """Settings as suggested; of the sample those of `shoal demo`."""
    settings = found.settings()
    if read_toml_file(folder / "project.toml").get("is_sample"):
        settings = Settings.load(samples.adult_settings())
    content = content_of(settings, None)
    for name, entry in content["quasi_identifiers"].items():
        if "rows" in entry:  # a tree is a file of the project, where it can be edited
            model: Any = settings.quasi_identifiers[name]
            make_private_folder(folder / "trees")
            number = list(content["quasi_identifiers"]).index(name)
            model.save(folder / "trees" / f"first-{number}.csv", overwrite=True)
            del entry["rows"]
            entry["hierarchy"] = f"trees/first-{number}.csv"
    write_toml_file(folder / "settings.toml", content)


def _facts(source: Source, found: Suggestions) -> dict[str, Any]:
    """What the pages show of a table: counts, and values that at least ten records have."""
    columns = []
    for column in found.columns:
        try:
            values = column_of(source, column.name, found.input)
            if found.input.is_text(column.name):
                values = values.cast(pa.large_string())
            bars, missing = bars_of(values), int(values.null_count)
            kind = _type_read(values, column.name, found.input)
        except InputError:
            bars, missing, kind = [], 0, "cannot be read"
        columns.append(
            {
                "name": column.name,
                "holds": column.holds,
                "type": _type_in_words(kind),
                "values": column.values,
                "missing": missing,
                "role": column.role,
                "reason": column.reason,
                "is_sure": column.is_sure and not column.doubts,
                "doubts": list(column.doubts),
                "model": column.model,
                "model_reason": column.model_reason,
                "options": dict(column.options),
                "bars": bars,
            }
        )
    dialect = source.dialect
    return {
        "records": found.records,
        "columns": columns,
        "remarks": list(found.remarks),
        "lists": short_lists(found),
        "persons": list(found.persons),
        "encoding": dialect.encoding if dialect else None,
        "delimiter": dialect.delimiter if dialect else None,
        "input": {
            "encoding": found.input.encoding,
            "delimiter": found.input.delimiter,
            "decimal": found.input.decimal,
            "date_format": found.input.date_format,
            "missing": found.input.missing,
            "sheet": found.input.sheet,
        },
    }


def _type_read(values: pa.ChunkedArray, name: str, how: Input) -> str:
    """The type of a column as it is used: texts may be numbers or dates."""
    is_string = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if not is_string or how.is_text(name):
        return str(values.type)
    distinct = values.unique().cast(pa.large_string()).drop_null()
    typed = infer(distinct, how.of_column(name)).type
    return str(typed if is_ordered(typed) else values.type)


def _type_in_words(kind: str) -> str:
    words = {
        "null": "nothing",
        "int": "whole numbers",
        "uint": "whole numbers",
        "float": "numbers",
        "double": "numbers",
        "decimal": "numbers",
        "date": "dates",
        "timestamp": "dates with a time",
        "bool": "true or false",
        "large_string": "text",
        "string": "text",
        "dictionary": "text",
    }
    return next((text for start, text in words.items() if kind.startswith(start)), kind)


def rows(answer: Any, project: str) -> dict[str, Any]:
    """The first rows as texts, for the preview that was asked for."""
    source = open_project(project)
    frame = source.data
    few = frame[: min(PREVIEWED, frame.shape[0])]
    cells = [
        ["" if value is None else str(value)[:LONGEST] for value in few.get_column(name).to_list()]
        for name in frame.columns
    ]
    return {"columns": list(frame.columns), "rows": [list(row) for row in zip(*cells, strict=True)]}


def types(answer: Any, project: str, types: dict[str, str]) -> dict[str, Any]:
    """Check that columns hold what they are said to; what does not fit is raised."""
    how = replace(input_of(project), types=types)
    source = open_project(project, how)
    problems: list[str] = []
    for name in types:
        try:
            encode_column(source.data, name, Suppression(), how, True)
        except InputError as error:
            problems += error.problems
    raise_problems(problems)
    return {}


def single(answer: Any, project: str, columns: list[str]) -> dict[str, Any]:
    """How many records some columns single out together."""
    how = input_of(project)
    source = open_project(project, how)
    codes, records = codes_of(source, columns, how), source.data.shape[0]
    steps = []
    for number in range(1, len(columns) + 1):
        found = grouped(codes, columns[:number], records).singled()
        steps.append({"column": columns[number - 1], "unique": found.unique})
    return {"records": records, "steps": steps}
