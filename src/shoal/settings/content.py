"""Settings as the content of a settings file, both ways: sections of plain values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audits.requirements import REQUIREMENTS
from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import Model
from shoal.encoding.source import Input
from shoal.settings.input import read_input
from shoal.settings.kinds import make_method, plain, read_allowed, unknown_keys
from shoal.settings.registry import with_names, with_paths
from shoal.settings.toml import read_model, read_requirement, write_model, write_requirement
from shoal.solve.local_search.budget import Refine, read_refine
from shoal.solve.methods import Auto

if TYPE_CHECKING:
    from shoal.settings.settings import Settings

_SECTIONS = {
    "columns": (
        "identifiers",
        "pseudonyms",
        "key_file",
        "person",
        "sensitive",
        "keep",
        "others",
        "allow",
        "identified_limit",
        "coarsen",
    ),
    "quasi_identifiers": None,
    "requirement": ("k", "suppression_limit", "series", *REQUIREMENTS),
    "objective": ("measure", "w"),
    "method": None,
    "output": ("keep_order", "loosen", "render", "title"),
    "input": None,
}
_ROLES = ("identifiers", "pseudonyms", "sensitive", "keep")
_TEXTS = {"person": "the name of a column", "key_file": "the path of a file"}


def fields_of(raw: Mapping[str, Any], folder: Path, problems: list[str]) -> dict[str, Any]:
    """The fields of `Settings` from a file's content; what is wrong with it is added to `problems`.

    Paths of hierarchies are relative to `folder`.
    """
    sections = _sections(with_names(raw, problems), problems)
    models: dict[str, Model | None] = {}
    weights: dict[str, float] = {}
    for name, entry in sections["quasi_identifiers"].items():
        models[name] = None
        if not isinstance(entry, Mapping):
            problems.append(
                f"Quasi-identifier '{name}' must be a table: [quasi_identifiers.{name}]."
            )
            continue
        models[name] = read_model(name, entry, folder, problems)
        if "weight" in entry:
            weights[name] = entry["weight"]
    options = dict(sections["method"])
    seed = options.pop("seed", 0)
    refine = _read_refine(options.pop("refine", "quick"), problems)
    method = make_method(options.pop("name", "auto"), options, problems)
    columns = dict(sections["columns"])
    for role in _ROLES:
        if not _is_list_of(str, columns.setdefault(role, [])):
            problems.append(f"'{role}' in [columns] must be a list of column names.")
            columns[role] = []
    for name, expected in _TEXTS.items():
        if not isinstance(columns.setdefault(name, ""), str):
            problems.append(f"'{name}' in [columns] must be {expected}.")
            columns[name] = ""
    return {
        "quasi_identifiers": models,
        "sensitive": tuple(columns["sensitive"]),
        "identifiers": tuple(columns["identifiers"]),
        "pseudonyms": tuple(columns["pseudonyms"]),
        "key_file": str(folder / columns["key_file"]) if columns["key_file"] else None,
        "person": columns["person"] or None,
        "keep": tuple(columns["keep"]),
        "others": columns.get("others", "refuse"),
        "allow": read_allowed(columns.get("allow", {}), problems),
        "identified_limit": columns.get("identified_limit", 0.0),
        "coarsen": _read_coarsening(columns.get("coarsen", {}), folder, problems),
        "k": sections["requirement"].get("k", 0),
        "suppression_limit": sections["requirement"].get("suppression_limit", 0.0),
        "series": sections["requirement"].get("series", False),
        "requirements": _read_requirements(sections["requirement"], folder, problems),
        "objective": sections["objective"].get("measure", "lm"),
        "w": sections["objective"].get("w", 0.5),
        "weights": weights,
        "method": method or Auto(),
        "refine": refine,
        "seed": seed,
        "keep_order": sections["output"].get("keep_order", False),
        "loosen": sections["output"].get("loosen", 0.0),
        "render": sections["output"].get("render", "text"),
        "title": sections["output"].get("title", ""),
        "input": read_input(sections["input"], problems),
    }


def _sections(raw: Mapping[str, Any], problems: list[str]) -> dict[str, Mapping[str, Any]]:
    """The sections of a file's content by name, empty ones for those that it lacks."""
    unknown_keys("the settings", raw, _SECTIONS, problems)
    sections: dict[str, Mapping[str, Any]] = {}
    for section, keys in _SECTIONS.items():
        sections[section] = raw.get(section, {})
        if not isinstance(sections[section], Mapping):
            problems.append(f"'{section}' must be a table: [{section}].")
            sections[section] = {}
        if keys is not None:
            own = REQUIREMENTS if section == "requirement" else {}
            given = {key: value for key, value in sections[section].items() if key not in own}
            unknown_keys(f"[{section}]", given, keys, problems)
    return sections


def _read_refine(given: Any, problems: list[str]) -> Any:
    """How long to refine; a number of steps stands in a table of its own."""
    if not isinstance(given, Mapping):
        found = read_refine(given)
        return given if found is None else found
    known = [field.name for field in fields(Refine)]
    unknown_keys("refine of [method]", given, known, problems)
    return Refine(**{key: value for key, value in given.items() if key in known})


def _write_refine(refine: Any) -> Any:
    if not isinstance(refine, Refine):
        return refine
    given = {key: value for key, value in asdict(refine).items() if value is not None}
    return given or "quick"


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _read_requirements(
    section: Mapping[str, Any], folder: Path, problems: list[str]
) -> tuple[Requirement, ...]:
    """The requirements beyond k, each a table of its own in the file."""
    found = []
    for name in REQUIREMENTS:
        where, entries = f"[[requirement.{name}]]", section.get(name, [])
        if not _is_list_of(dict, entries):
            problems.append(f"Requirement '{name}' must be a list of tables: {where}.")
            continue
        found += [read_requirement(name, entry, where, folder, problems) for entry in entries]
    return tuple(requirement for requirement in found if requirement is not None)


def content_of(settings: Settings, folder: Path | None = None) -> dict[str, Any]:
    """Settings as the content of a file in `folder`; of no file, with all hierarchies spelled out."""
    entries: dict[str, Any] = {}
    for name, model in settings.quasi_identifiers.items():
        entry = write_model(model, folder)
        if name in settings.weights:
            entry["weight"] = settings.weights[name]
        entries[name] = entry
    requirement: dict[str, Any] = {
        "k": settings.k,
        "suppression_limit": settings.suppression_limit,
        **({"series": True} if settings.series else {}),
    }
    for item in settings.requirements:
        requirement.setdefault(item.name, []).append(write_requirement(item, folder))
    method = settings.method
    options = {f.name: _option(getattr(method, f.name)) for f in fields(method)}  # type: ignore[arg-type]
    content = {
        "columns": {
            "identifiers": list(settings.identifiers),
            **_write_persons(settings, folder),
            "sensitive": list(settings.sensitive),
            "keep": list(settings.keep),
            "others": settings.others,
            **({"identified_limit": limit} if (limit := settings.identified_limit) else {}),
            **(
                {"allow": {name: list(own) for name, own in settings.allow.items()}}
                if settings.allow
                else {}
            ),
            **_write_coarsening(settings, folder),
        },
        "quasi_identifiers": entries,
        "requirement": requirement,
        "objective": {"measure": settings.objective, "w": settings.w},
        "method": {
            "name": method.name,
            "refine": _write_refine(settings.refine),
            "seed": settings.seed,
            **{key: value for key, value in options.items() if value != {}},
        },
        "output": {
            "keep_order": settings.keep_order,
            **({"loosen": settings.loosen} if settings.loosen else {}),
            "render": settings.render,
            **({"title": settings.title} if settings.title else {}),
        },
        **_write_input(settings.input),
    }
    return with_paths(content)


def _read_coarsening(section: Any, folder: Path, problems: list[str]) -> dict[str, Model]:
    """The models that coarsen unprotected columns, each a table of its own in the file."""
    found = {}
    if not isinstance(section, Mapping):
        problems.append(
            "'coarsen' in [columns] must be a table for each column: [columns.coarsen.COLUMN]."
        )
        section = {}
    for name, entry in section.items():
        if not isinstance(entry, Mapping) or "model" not in entry:
            problems.append(
                f"Column '{name}' in [columns.coarsen] must be a table with a 'model': [columns.coarsen.{name}]."
            )
            continue
        model = read_model(name, entry, folder, problems, "columns.coarsen")
        if model is not None:
            found[name] = model
    return found


def _write_coarsening(settings: Settings, folder: Path | None) -> dict[str, Any]:
    """What `_read_coarsening` reads, if anything is coarsened."""
    entries = {name: write_model(model, folder) for name, model in settings.coarsen.items()}
    return {"coarsen": entries} if entries else {}


def _write_persons(settings: Settings, folder: Path | None) -> dict[str, Any]:
    """What is said of pseudonyms and persons, if anything is; of a key only where its file lies."""
    path = settings.key_file
    if path and folder is not None:
        source = Path(path).resolve()
        with suppress(ValueError):  # no way leads from one drive of Windows to another
            source = Path(os.path.relpath(source, folder.resolve()))
        path = source.as_posix()
    said = {
        "pseudonyms": list(settings.pseudonyms),
        "key_file": path,
        "person": settings.person,
    }
    return {name: value for name, value in said.items() if value}


def _option(value: Any) -> Any:
    """An option of a method in plain numbers; one that has parts as a table."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return value


def _write_input(reading: Input) -> dict[str, Any]:
    """The section about reading a file, if anything in it is not as usual."""
    entry = {
        option.name: _listed(value)
        for option in fields(reading)
        if (value := getattr(reading, option.name)) != getattr(Input(), option.name)
    }
    return {"input": entry} if entry else {}


def _listed(value: Any) -> Any:
    """Lists in place of tuples, also by column."""
    if isinstance(value, Mapping):
        return {name: _listed(own) for name, own in value.items()}
    return list(value) if isinstance(value, tuple) else value


def json_ready(value: Any) -> Any:
    """The same content with texts in place of what JSON does not know; columns are generalized by it alike."""
    if isinstance(value, Mapping):
        return {key: json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value
