"""A first look at a table: the types and distributions of its columns, and a suggested role for each."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import __version__, samples
from shoal.api.catalogue import list_methods
from shoal.app.projects import OWN_KEY, Project, read_toml_file, write_json, write_toml_file
from shoal.app.worker.tables import codes_of, column_of, input_of, open_project, path_of
from shoal.encoding.encode import encode_column
from shoal.encoding.models import Suppression
from shoal.encoding.models.base import is_ordered
from shoal.encoding.other_columns import write_key
from shoal.encoding.source import Input, Source
from shoal.encoding.type_inference import infer
from shoal.errors import Infeasible, InputError, Refused, raise_problems
from shoal.pipeline.carriers.memory import Memory
from shoal.pipeline.plan import prepare
from shoal.settings.settings import Settings, make_settings
from shoal.settings.toml import content_of
from shoal.solve.measures import MEASURES
from shoal.suggestions.singling_out import group_by
from shoal.suggestions.suggest import Suggestions, suggest
from shoal.suggestions.toml import short_lists

LEAST = 10  # records that must share a value before it is shown
BARS = 8
OBJECTIVES = ("lm", "entropy", "suppressed")  # that the app offers
BINS = 12


def bars_of(values: pa.ChunkedArray) -> list[dict[str, Any]]:
    """The bars of a column's chart: bins for numbers and dates with many values, else the most frequent values."""
    known = values.drop_null()
    kind = known.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    is_date = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    if (is_number or is_date) and len(known) and pc.count_distinct(known).as_py() > BINS:
        return _binned(known, is_date)
    return _counted(known)


def _binned(known: pa.ChunkedArray, is_date: bool) -> list[dict[str, Any]]:
    """Bins of equal width, with round bounds so that they do not show anybody's value."""
    found = []
    if is_date:
        years = pc.year(known).to_numpy()
        counts = np.bincount(years - years.min())
        several = max(1, -(-counts.size // BINS))
        for start in range(0, counts.size, several):
            first = int(years.min()) + start
            label = str(first) if several == 1 else f"{first}–{first + several - 1}"
            found.append({"label": label, "records": int(counts[start : start + several].sum())})
        return found
    numbers = known.to_numpy().astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    width = _round_width((numbers.max() - numbers.min()) / BINS)
    is_whole = pa.types.is_integer(known.type)
    width = max(1.0, width) if is_whole else width
    first = np.floor(numbers.min() / width)
    counts = np.bincount((np.floor(numbers / width) - first).astype(np.int64))
    for place, count in enumerate(counts):
        low = (first + place) * width
        high = low + width - 1 if is_whole else low + width
        label = f"{low:,.10g}–{high:,.10g}" if is_whole else f"{low:,.6g} to {high:,.6g}"
        found.append({"label": label, "records": int(count)})
    return found


def _round_width(least: float) -> float:
    """The smallest of 1, 2, 5, 10, … (0.1, 0.2, …) that is not below a width."""
    power = 10.0 ** np.floor(np.log10(least)) if least > 0 else 1.0
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= least))


def _counted(known: pa.ChunkedArray) -> list[dict[str, Any]]:
    try:
        counted = pc.value_counts(known).to_pylist()
    except pa.ArrowException:  # lists and other nested values
        return []
    counted.sort(key=lambda item: -item["counts"])
    named = [item for item in counted[:BARS] if item["counts"] >= LEAST]
    found = [{"label": str(item["values"])[:40], "records": int(item["counts"])} for item in named]
    rest = counted[len(named) :]
    if rest:
        label = f"{len(rest):,} {'other' if named else 'different'} value{'s' * (len(rest) > 1)}"
        records = sum(item["counts"] for item in rest)
        found.append({"label": label, "records": records, "is_rest": True})
    return found


PREVIEWED = 20  # rows
LONGEST = 60  # characters of a cell in the preview
SUGGESTED = ("name", "holds", "values", "role", "reason", "model", "model_reason")  # of a column


def look(answer: Any, project: str) -> dict[str, Any]:
    """Read the table, suggest roles and write `look.json`; also write `settings.toml` if there is none yet."""
    folder = Path(project)
    answer("progress", {"stage": "reading the table", "done": 0, "total": 1})
    found = suggest(path_of(project), reading=input_of(project))
    answer("progress", {"stage": "counting values", "done": 0, "total": 1})
    source = open_project(project, found.reading)
    facts = _facts(source, found)
    if not (folder / "settings.toml").exists():
        _first_settings(folder, found)
    write_json(folder / "look.json", facts)
    return {"records": facts["records"]}


def _first_settings(folder: Path, found: Suggestions) -> None:
    """Write the suggested settings; for the sample, those of `shoal demo`."""
    settings = found.settings()
    if read_toml_file(folder / "project.toml").get("is_sample"):
        settings = Settings.load(samples.adult_settings())
    write_toml_file(folder / "settings.toml", project_content(Project(folder), settings))


def project_content(project: Project, settings: Settings) -> dict[str, Any]:
    """The content of a project's settings file. Hierarchies become files of the project, so that they can be edited."""
    content = content_of(settings, None)
    for number, (name, entry) in enumerate(content["quasi_identifiers"].items()):
        if "rows" in entry or "hierarchy" in entry:
            model: Any = settings.quasi_identifiers[name]
            target = project.new_tree(number)
            model.save(project.folder / target, overwrite=True)
            entry.pop("rows", None)
            entry["hierarchy"] = target
    return content


def _facts(source: Source, found: Suggestions) -> dict[str, Any]:
    """What the pages show of a table: counts, and values that at least ten records share."""
    columns = []
    for column in found.columns:
        try:
            values = column_of(source, column.name, found.reading)
            if found.reading.is_text(column.name):
                values = values.cast(pa.large_string())
            bars, missing = bars_of(values), int(values.null_count)
            kind = _type_read(values, column.name, found.reading)
        except InputError:
            bars, missing, kind = [], 0, "cannot be read"
        columns.append(
            {
                **{name: getattr(column, name) for name in SUGGESTED},
                "type": _type_in_words(kind),
                "missing": missing,
                "is_sure": column.is_sure and not column.doubts,
                "doubts": list(column.doubts),
                "options": dict(column.options),
                "bars": bars,
            }
        )
    dialect = source.dialect
    return {
        "version": __version__,
        "methods": list_methods(),  # here, because the server does not import what it takes to list them
        "objectives": {name: MEASURES[name].meaning for name in OBJECTIVES},
        "records": found.records,
        "columns": columns,
        "remarks": list(found.remarks),
        "lists": short_lists(found),
        "persons": list(found.persons),
        "encoding": dialect.encoding if dialect else None,
        "delimiter": dialect.delimiter if dialect else None,
        "input": vars(found.reading),
    }


def _type_read(values: pa.ChunkedArray, name: str, how: Input) -> str:
    """The type of a column as it is used: a text column may contain numbers or dates."""
    is_string = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if not is_string or how.is_text(name):
        return str(values.type)
    distinct = values.unique().cast(pa.large_string()).drop_null()
    typed = infer(distinct, how.of_column(name)).type
    return str(typed if is_ordered(typed) else values.type)


def type_of(source: Source, name: str, how: Input) -> str:
    """The type of a column as it is used, in words."""
    return _type_in_words(_type_read(column_of(source, name, how), name, how))


def _type_in_words(kind: str) -> str:
    starts = {
        "nothing": ("null",),
        "whole numbers": ("int", "uint"),
        "numbers": ("float", "double", "decimal"),
        "dates": ("date",),
        "dates with a time": ("timestamp",),
        "true or false": ("bool",),
        "text": ("large_string", "string", "dictionary"),
    }
    return next((words for words, start in starts.items() if kind.startswith(start)), kind)


def rows(answer: Any, project: str) -> dict[str, Any]:
    """The first rows as texts, for the preview that the user asked for."""
    source = open_project(project)
    frame = source.data
    few = frame[: min(PREVIEWED, frame.shape[0])]
    cells = [
        ["" if value is None else str(value)[:LONGEST] for value in few.get_column(name).to_list()]
        for name in frame.columns
    ]
    return {"columns": list(frame.columns), "rows": [list(row) for row in zip(*cells, strict=True)]}


def types(answer: Any, project: str, types: dict[str, str]) -> dict[str, Any]:
    """Check that columns have the types the user set; raise `InputError` if values do not fit."""
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
    """How many records some columns identify together."""
    how = input_of(project)
    source = open_project(project, how)
    codes, records = codes_of(source, columns, how), source.data.shape[0]
    steps = []
    for number in range(1, len(columns) + 1):
        found = group_by(codes, columns[:number], records).singled()
        steps.append({"column": columns[number - 1], "unique": found.unique})
    return {"records": records, "steps": steps}


def take_settings(answer: Any, project: str, path: str) -> dict[str, Any]:
    """The content of a settings file, once it fits the project's table; raises `InputError` with every problem found.

    Pseudonyms are made with the project's own key, because the file may be somebody else's.
    """
    own = Project(Path(project))
    settings = replace(make_settings(path), key_file=None)
    if settings.pseudonyms:
        settings = replace(settings, key_file=str(own.own_key))
        if not own.own_key.exists():
            write_key(own.own_key)
    if not own.is_check:  # a check says itself what does not fit
        with suppress(Infeasible, Refused):  # which the pages say, with what to do
            prepare(Memory(open_project(project, settings.reading)), settings)
    content = project_content(own, settings)
    if settings.pseudonyms:
        content["columns"]["key_file"] = OWN_KEY
    return {"content": content}
