"""Forms about how the file and its columns are read, as settings: types, rows, formats, missing values."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from starlette.datastructures import FormData

from shoal.app import words
from shoal.app.forms import Settings, text, whole
from shoal.encoding.source import ALL_COLUMNS
from shoal.settings.declaration import READING, Setting


def with_types(settings: Settings, form: FormData, look: Mapping[str, Any]) -> Settings:
    """Settings with the types of columns, `type-N` for each; a column with a new type gets the default model."""
    new = deepcopy(settings)
    given = new.pop("input", {})
    before = given.pop("types", {})
    types = {}
    for number, column in enumerate(look["columns"]):
        name, kind = column["name"], text(form, f"type-{number}")
        if kind in words.TYPES:
            types[name] = kind
        if types.get(name) == before.get(name):
            continue
        _forget_model(new, name)
    if types:
        given["types"] = types
    if given:
        new["input"] = given
    return new


ROWS = ("header_row", "skip_last", "sheet")  # of a file, that the preview sets by a click
BY_COLUMN = ("renamed", "types", "formats", "missing", "by_column")  # kinds of settings


def with_rows(settings: Settings, form: FormData) -> Settings:
    """Settings with the sheet, or the row of the column names, that was clicked in the preview."""
    new = deepcopy(settings)
    section = new.setdefault("input", {})
    for own in (READING[key] for key in ROWS):
        if own.name in form:
            given = text(form, own.name)
            section[own.key] = whole(given, "The row", 0) if own.takes is int else given
    if "sheet" in form:  # rows of another sheet
        for key in ("header_row", "skip_last"):
            section.pop(key, None)
    return new


def column_settings() -> list[Setting]:
    """How one column is read: each setting that can be given by column."""
    known = [own for own in READING.values() if own.name != "points"]  # which joins columns
    found = [own for own in known if own.kind in BY_COLUMN]
    return sorted(found, key=lambda own: BY_COLUMN.index(own.kind))


def column_label(own: Setting) -> tuple[str, str]:
    """What the form of a column calls a setting, and an example."""
    asked = own.ask.label if own.ask else own.name.replace("_", " ").capitalize()
    return words.OF_COLUMN.get(own.name, (asked, own.ask.hint if own.ask else ""))


def column_answer(own: Setting, settings: Mapping[str, Any], name: str) -> str:
    """The value of a setting for one column alone, as a form shows it."""
    said = settings.get("input", {}).get(own.key)
    if own.kind == "renamed":
        return name if isinstance(said, Mapping) and name in said.values() else ""
    value = said.get(name, "") if isinstance(said, Mapping) else ""
    return ", ".join(value) if isinstance(value, list) else str(value)


def with_column(settings: Settings, form: FormData, name: str) -> Settings:
    """Settings with how one column is read; those of other columns and of all stay."""
    new = deepcopy(settings)
    section = new.setdefault("input", {})
    for own in column_settings():
        given = text(form, own.name)
        if own.name not in form or given == column_answer(own, settings, name):
            continue
        said = section.get(own.key) or {}
        by_column = dict(said) if isinstance(said, Mapping) else {ALL_COLUMNS: said}
        if own.kind == "renamed":
            first = next((old for old, other in by_column.items() if other == name), name)
            by_column.pop(first, None)
            by_column |= {first: given} if given and given != first else {}
        else:
            by_column.pop(name, None)
            parts = [part.strip() for part in given.split(",") if part.strip()]
            if given:
                by_column[name] = parts if own.kind == "missing" else given
        if by_column.keys() <= {ALL_COLUMNS} and own.kind not in ("types", "renamed"):
            section[own.key] = by_column.get(ALL_COLUMNS)
        else:
            section[own.key] = by_column
        if not section[own.key]:
            del section[own.key]
        if own.kind == "types":
            _forget_model(new, name)
    if not section:
        del new["input"]
    return new


def _forget_model(settings: Settings, name: str) -> None:
    """A column with a new type gets the default model; its weight stays."""
    if (entry := settings.get("quasi_identifiers", {}).get(name)) is not None:
        kept = {key: value for key, value in entry.items() if key == "weight"}
        settings["quasi_identifiers"][name] = kept
    settings.get("columns", {}).get("coarsen", {}).pop(name, None)
