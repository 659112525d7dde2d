"""Settings as a TOML file, both ways: sections, with models, hierarchies and requirements as entries."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, fields
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from shoal.atomic import write_atomically
from shoal.audits.requirements import REQUIREMENTS
from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import MODELS, Hierarchy, Model
from shoal.encoding.source import Input
from shoal.errors import InputError, near_miss
from shoal.settings.declaration import Setting, read_input, unknown_keys
from shoal.settings.kinds import make_method, python_number, read_allowed
from shoal.settings.registry import with_names, with_paths
from shoal.settings.settings import SETTINGS, Settings
from shoal.solve.local_search.budget import Refine, read_refine
from shoal.solve.methods import Auto

_SINGLE = [own for own in SETTINGS.values() if own.is_single]


def _keys(section: str) -> tuple[str, ...]:
    return tuple(own.key for own in _SINGLE if own.section == section)


# The sections of a file in order, each with its allowed keys; None if these depend on something else.
SECTIONS = {
    "columns": _keys("columns"),
    "quasi_identifiers": None,
    "requirement": (*_keys("requirement"), *REQUIREMENTS),
    "objective": _keys("objective"),
    "method": None,
    "output": _keys("output"),
    "input": None,
}


def fields_of(raw: Mapping[str, Any], folder: Path, problems: list[str]) -> dict[str, Any]:
    """Return the fields of `Settings` from a file's content; problems are added to `problems`.

    Paths of hierarchies are relative to `folder`. Settings that are not in the content have no field.
    """
    sections = _sections(with_names(raw, problems), problems)
    method = sections["method"].get("name", Auto.name)
    options = {key: own for key, own in sections["method"].items() if key not in _keys("method")}
    found: dict[str, Any] = {
        "weights": {
            name: entry["weight"]
            for name, entry in sections["quasi_identifiers"].items()
            if isinstance(entry, Mapping) and "weight" in entry
        },
        "quasi_identifiers": _read_models(sections["quasi_identifiers"], folder, problems),
        "requirements": _read_requirements(sections["requirement"], folder, problems),
        "method": make_method(method, options, problems) or Auto(),
        "reading": read_input(sections["input"], problems),
    }
    for own in _SINGLE:
        if own.key in sections[own.section] and own.name not in found:
            given, read = sections[own.section][own.key], _READERS.get(own.kind)
            found[own.name] = given if read is None else read(own.key, given, folder, problems)
    return found


def _sections(raw: Mapping[str, Any], problems: list[str]) -> dict[str, Mapping[str, Any]]:
    """Return the sections of a file's content by name; a missing section is empty."""
    unknown_keys("the settings", raw, SECTIONS, problems)
    sections: dict[str, Mapping[str, Any]] = {}
    for section, keys in SECTIONS.items():
        sections[section] = raw.get(section, {})
        if not isinstance(sections[section], Mapping):
            problems.append(f"'{section}' must be a table: [{section}].")
            sections[section] = {}
        if keys is not None:
            own = REQUIREMENTS if section == "requirement" else {}
            given = {key: value for key, value in sections[section].items() if key not in own}
            unknown_keys(f"[{section}]", given, keys, problems)
    return sections


def content_of(settings: Settings, folder: Path | None = None) -> dict[str, Any]:
    """Return settings as the content of a file in `folder`; without a folder, hierarchies are included in full."""
    content: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for own in _SINGLE:
        value = getattr(settings, own.name)
        if own.always or value != own.default():
            content[own.section][own.key] = _written(own, value, folder)
    for name, model in settings.quasi_identifiers.items():
        entry = content["quasi_identifiers"][name] = write_model(model, folder)
        if name in settings.weights:
            entry["weight"] = settings.weights[name]
    for item in settings.requirements:
        content["requirement"].setdefault(item.name, []).append(write_requirement(item, folder))
    for option in fields(settings.method):  # type: ignore[arg-type]
        value = getattr(settings.method, option.name)
        if value != {}:
            content["method"][option.name] = _option(value)
    given, usual = vars(settings.reading), vars(Input())
    content["input"] = {
        name: _listed(value) for name, value in given.items() if value != usual[name]
    }
    if not content["input"]:
        del content["input"]
    return with_paths(content)


def _read_models(
    section: Mapping[str, Any], folder: Path, problems: list[str]
) -> dict[str, Model | None]:
    """Read the models of quasi-identifiers, each a table in the file."""
    found: dict[str, Model | None] = dict.fromkeys(section)
    for name, entry in section.items():
        if isinstance(entry, Mapping):
            found[name] = read_model(name, entry, folder, problems)
            continue
        problems.append(f"Quasi-identifier '{name}' must be a table: [quasi_identifiers.{name}].")
    return found


def _read_names(key: str, given: Any, folder: Path, problems: list[str]) -> tuple[str, ...]:
    if _is_list_of(str, given):
        return tuple(given)
    problems.append(f"'{key}' in [columns] must be a list of column names.")
    return ()


def _read_column(key: str, given: Any, folder: Path, problems: list[str]) -> str | None:
    if not isinstance(given, str):
        problems.append(f"'{key}' in [columns] must be the name of a column.")
    return given or None if isinstance(given, str) else None


def _read_path(key: str, given: Any, folder: Path, problems: list[str]) -> str | None:
    if not isinstance(given, str):
        problems.append(f"'{key}' in [columns] must be the path of a file.")
    return str(folder / given) if given and isinstance(given, str) else None


def _read_coarsening(key: str, section: Any, folder: Path, problems: list[str]) -> dict[str, Model]:
    """Read the models that coarsen columns, each a table in the file."""
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


def _read_refine(key: str, given: Any, folder: Path, problems: list[str]) -> Any:
    """Read how long to refine; a number of steps is a table."""
    if not isinstance(given, Mapping):
        found = read_refine(given)
        return given if found is None else found
    known = [field.name for field in fields(Refine)]
    unknown_keys("refine of [method]", given, known, problems)
    return Refine(**{key: value for key, value in given.items() if key in known})


def _write_refine(refine: Any, folder: Path | None) -> Any:
    if not isinstance(refine, Refine):
        return refine
    given = {key: value for key, value in asdict(refine).items() if value is not None}
    return given or "quick"


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _read_requirements(
    section: Mapping[str, Any], folder: Path, problems: list[str]
) -> tuple[Requirement, ...]:
    """Read the requirements beyond k, each a table in the file."""
    found = []
    for name in REQUIREMENTS:
        where, entries = f"[[requirement.{name}]]", section.get(name, [])
        if not _is_list_of(dict, entries):
            problems.append(f"Requirement '{name}' must be a list of tables: {where}.")
            continue
        found += [read_requirement(name, entry, where, folder, problems) for entry in entries]
    return tuple(requirement for requirement in found if requirement is not None)


def _option(value: Any) -> Any:
    """Return an option of a method as plain numbers; an option with parts becomes a table."""
    if isinstance(value, Mapping):
        return {key: python_number(part) for key, part in value.items()}
    return value


def _listed(value: Any) -> Any:
    """Replace tuples by lists, also by column."""
    if isinstance(value, Mapping):
        return {name: _listed(own) for name, own in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _seen_from(path: str, folder: Path) -> str:
    """Return a path as seen from a folder."""
    source = Path(path).resolve()  # `..` does not lead back out of a link
    with suppress(ValueError):  # there is no relative path between two drives on Windows
        source = Path(os.path.relpath(source, folder.resolve()))
    return source.as_posix()


# Readers and writers by the kind of the setting; other settings are written unchanged.
_READERS: dict[str, Callable[[str, Any, Path, list[str]], Any]] = {
    "names": _read_names,
    "column": _read_column,
    "path": _read_path,
    "reasons": lambda key, given, folder, problems: read_allowed(given, problems),
    "coarsening": _read_coarsening,
    "refine": _read_refine,
}
_WRITERS: dict[str, Callable[[Any, Path | None], Any]] = {
    "names": lambda names, folder: list(names),
    "path": lambda path, folder: path if folder is None else _seen_from(path, folder),
    "reasons": lambda allow, folder: {name: list(own) for name, own in allow.items()},
    "coarsening": lambda models, folder: {
        name: write_model(model, folder) for name, model in models.items()
    },
    "method": lambda method, folder: method.name,
    "refine": _write_refine,
}


def _written(own: Setting, value: Any, folder: Path | None) -> Any:
    write = _WRITERS.get(own.kind)
    return value if write is None or value is None else write(value, folder)


def written(own: Setting) -> Any:
    """Return the default of a setting as it is written to a file."""
    return _written(own, own.default(), None)


def json_ready(value: Any) -> Any:
    """Replace what JSON does not know by texts that generalize columns in the same way."""
    if isinstance(value, Mapping):
        return {key: json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def read_hierarchy(
    entry: Mapping[str, Any], where: str, folder: Path, problems: list[str]
) -> Hierarchy | None:
    """Read the hierarchy of an entry: `hierarchy` is the path of a file, `rows` are its lines."""
    wrong = []
    if not isinstance(entry.get("hierarchy", ""), str):
        wrong.append(f"'hierarchy' in {where} must be the path of a CSV file.")
    rows = entry.get("rows", [])
    if not (isinstance(rows, list) and all(isinstance(row, list) for row in rows)):
        wrong.append(f"'rows' in {where} must be a list of lists: value, level 1, …, root.")
    if "hierarchy" in entry and "rows" in entry:
        wrong.append(f"{where} has both 'hierarchy' and 'rows'. Give only one.")
    problems.extend(wrong)
    if wrong or not ("hierarchy" in entry or "rows" in entry):
        return None
    try:
        if "rows" in entry:
            return Hierarchy.from_rows(rows)
        return Hierarchy.from_csv(folder / entry["hierarchy"])
    except InputError as error:
        problems.extend(error.problems)
        return None


def write_hierarchy(tree: Hierarchy, folder: Path | None) -> dict[str, Any]:
    """Write what `read_hierarchy` reads: the path as seen from a folder, or all rows."""
    if not tree.source or folder is None:
        return {"rows": tree.rows()}
    return {"hierarchy": _seen_from(tree.source, folder)}


def entry_keys(kind: type[Requirement]) -> list[str]:
    """Return the keys that an entry for a requirement may have."""
    keys = [option.name for option in fields(kind) if option.name != "columns"]
    return [*keys, *(["rows"] if "hierarchy" in keys else []), "columns"]


def read_requirement(
    name: str, entry: Mapping[str, Any], where: str, folder: Path, problems: list[str]
) -> Requirement | None:
    """Make a requirement from its name and an entry; None if that fails, with reasons in `problems`."""
    if name not in REQUIREMENTS:
        close = near_miss(name, REQUIREMENTS) or "."
        problems.append(
            f"Unknown requirement '{name}'{close} Requirements: {', '.join(REQUIREMENTS)}."
        )
        return None
    kind, found = REQUIREMENTS[name], len(problems)
    unknown_keys(where, entry, entry_keys(kind), problems)
    missing = [f.name for f in fields(kind) if f.default is MISSING and f.name not in entry]
    problems.extend(f"{where} needs '{key}'. Add it." for key in missing)
    given = {key: value for key, value in entry.items() if key not in ("hierarchy", "rows")}
    if "rows" in entry_keys(kind):
        given["hierarchy"] = read_hierarchy(entry, where, folder, problems)
    return None if len(problems) > found else kind(**given)


def write_requirement(requirement: Requirement, folder: Path | None) -> dict[str, Any]:
    """Write what `read_requirement` reads: all parameters that differ from the default."""
    entry: dict[str, Any] = {}
    for option in fields(requirement):
        value = getattr(requirement, option.name)
        if isinstance(value, Hierarchy):
            entry.update(write_hierarchy(value, folder))
        elif isinstance(value, tuple) and value:
            entry[option.name] = [python_number(item) for item in value]
        elif value != option.default:
            entry[option.name] = value
    return {key: entry[key] for key in entry_keys(type(requirement)) if key in entry}


_OF_A_FILE = ("hierarchy", "rows")
_OF_A_TREE = ("leaves", "inner", "parent", "source", "aliases")
_LISTS = {
    "domain": "a list of values",
    "levels": 'a list of levels, like ["month", "year"]',
    "lengths": "a list of whole numbers",
}


def model_keys(kind: str | None) -> tuple[str, ...]:
    """Return the keys that the entry of a model may have besides its name and weight."""
    if kind is None:
        return ()
    options = tuple(option.name for option in fields(MODELS[kind]))  # type: ignore[arg-type]
    if kind != "hierarchy":
        return options
    return (*_OF_A_FILE, *(name for name in options if name not in _OF_A_TREE))


def read_model(
    name: str,
    entry: Mapping[str, Any],
    folder: Path,
    problems: list[str],
    section: str = "quasi_identifiers",
) -> Model | None:
    """Read one column's model from its table in a section; quasi-identifiers also have a weight."""
    kind = entry.get("model")
    where = f"[{section}.{name}]"
    if kind is not None and not (isinstance(kind, str) and kind in MODELS):
        close = near_miss(str(kind), MODELS) or "."
        problems.append(
            f"Unknown model '{kind}' for column '{name}'{close} Models: {', '.join(MODELS)}."
        )
        return None
    own = ("model", "weight") if section == "quasi_identifiers" else ("model",)
    unknown_keys(where, entry, (*own, *model_keys(kind)), problems)
    if kind is None:
        return None
    if kind == "hierarchy" and not ("hierarchy" in entry or "rows" in entry):
        problems.append(
            f"Column '{name}' needs 'hierarchy', the path of a CSV file, or 'rows'. Add one of them."
        )
    options = {
        key: entry[key] for key in model_keys(kind) if key in entry and key not in _OF_A_FILE
    }
    tree = read_hierarchy(entry, where, folder, problems) if kind == "hierarchy" else None
    if kind == "hierarchy" and tree is None:
        return None
    return make_model(kind, options, where, problems, tree)


def make_model(
    kind: str,
    options: Mapping[str, Any],
    where: str,
    problems: list[str],
    tree: Hierarchy | None = None,
) -> Model | None:
    """Make a model with its options; None if that fails, with reasons in `problems`."""
    wrong = [
        f"'{key}' in {where} must be {_LISTS[key]}."
        for key, value in options.items()
        if key in _LISTS and not isinstance(value, list)
    ]
    values = options.get("values")
    if not isinstance(values, list | str | None):
        wrong.append(f"'values' in {where} must be a list, the lowest first, or \"names\".")
    problems.extend(wrong)
    if wrong:
        return None
    given: dict[str, Any] = {
        key: tuple(value) if key in _LISTS else value for key, value in options.items()
    }
    try:
        return tree.coarser(**given) if tree is not None else MODELS[kind](**given)
    except InputError as error:
        problems.extend(f"{where}: {problem}" for problem in error.problems)
        return None


def write_model(model: Model | None, folder: Path | None) -> dict[str, Any]:
    """Write what `read_model` reads: the name, and all options that differ from the default."""
    if model is None:
        return {}
    entry: dict[str, Any] = {"model": model.name}
    if isinstance(model, Hierarchy):
        entry.update(write_hierarchy(model, folder))
    for option in fields(model):  # type: ignore[arg-type]
        value = getattr(model, option.name)
        if option.name not in _OF_A_TREE and value is not None:
            if not isinstance(value, str) and hasattr(value, "__iter__"):
                entry[option.name] = [python_number(item) for item in value if item is not None]
            elif value != option.default:
                entry[option.name] = python_number(value)
    if model.name == "calendar" and tuple(entry["levels"]) == type(model)().levels:  # type: ignore[attr-defined]
        del entry["levels"]
    return entry


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the content of a settings file."""
    try:
        place = Path(path)
        if place.exists() and not (place.is_file() or place.is_dir()):  # reading it might never end
            raise InputError(
                f"Settings file '{path}' is not a regular file. Copy its content to one."
            )
        return tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"Settings file '{path}' cannot be read: {error.strerror}. Check the path."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"Settings file '{path}' is not UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at (line \d+|end of document)", str(error))
        where = f" at {line[1]}" if line else ""
        raise InputError(
            f"Settings file '{path}' is not valid TOML{where}. Correct it there."
        ) from None
    except RecursionError:
        raise InputError(
            f"Settings file '{path}' is nested too deeply. Use fewer levels."
        ) from None


def write_toml(content: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the content of a settings file, whole or not at all."""
    import tomli_w

    text = tomli_w.dumps(content)
    write_atomically(
        Path(path), True, lambda file: file.write_text(text, encoding="utf-8", newline="\n")
    )
