"""A first look at a table: the types and distributions of its columns, and a suggested role for each."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal import __version__, samples
from shoal.api.catalogue import list_hierarchies, list_methods
from shoal.app.projects import OWN_KEY, Project, read_toml_file, write_json, write_toml_file
from shoal.app.worker.charts import bars_of
from shoal.app.worker.preview import sheets_of
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
from shoal.suggestions.suggest import ColumnSuggestion, Suggestions, suggest
from shoal.suggestions.toml import short_lists

OBJECTIVES = ("lm", "entropy", "suppressed")  # that the app offers
SUGGESTED = ("name", "holds", "values", "role", "reason", "model", "model_reason")  # of a column


def look(answer: Any, project: str) -> dict[str, Any]:
    """Read the table, suggest roles and write `look.json`; also write `settings.toml` if there is none yet."""
    folder = Path(project)
    answer("progress", {"stage": "reading the table", "done": 0, "total": 1})
    write_json(folder / "sheets.json", sheets_of(path_of(project)))
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
            values = _typed(source, column.name, found.reading)
            bars, missing = bars_of(values, _is_code(column)), int(values.null_count)
            kind = str(values.type)
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
        "hierarchies": list_hierarchies(),
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


def _typed(source: Source, name: str, how: Input) -> pa.ChunkedArray:
    """The values of a column as they are used: texts may be numbers or dates."""
    values = column_of(source, name, how)
    if how.is_text(name):
        return values.cast(pa.large_string())
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    encoded = values.combine_chunks().dictionary_encode()
    typed = infer(encoded.dictionary.cast(pa.large_string()), how.of_column(name))
    if not is_ordered(typed.type):
        return values
    return pa.chunked_array([typed.take(encoded.indices)])


def _is_code(column: ColumnSuggestion) -> bool:
    """Whether a column's numbers are codes: as shoal recognized them, or by the model it suggests."""
    return column.holds == "codes" or column.model in ("prefix", "suppression", "hierarchy")


def type_of(source: Source, name: str, how: Input) -> str:
    """The type of a column as it is used, in words."""
    return _type_in_words(str(_typed(source, name, how).type))


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
