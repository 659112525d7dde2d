"""Models, hierarchies and requirements as entries of a settings file, both ways, and the file itself."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from shoal.atomic import write_whole
from shoal.audits.requirements import REQUIREMENTS
from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import MODELS, Hierarchy, Model
from shoal.errors import InputError, near_miss, raise_problems
from shoal.settings.kinds import plain, unknown_keys


def read_hierarchy(
    entry: Mapping[str, Any], where: str, folder: Path, problems: list[str]
) -> Hierarchy | None:
    """The hierarchy that an entry names by `hierarchy`, the path of a file, or spells out in `rows`."""
    wrong = []
    if not isinstance(entry.get("hierarchy", ""), str):
        wrong.append(f"'hierarchy' in {where} must be the path of a CSV file.")
    rows = entry.get("rows", [])
    if not (isinstance(rows, list) and all(isinstance(row, list) for row in rows)):
        wrong.append(f"'rows' in {where} must be a list of lists: value, level 1, …, root.")
    if "hierarchy" in entry and "rows" in entry:
        wrong.append(f"{where} has both 'hierarchy' and 'rows'; give one.")
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
    """What `read_hierarchy` reads: the path of its file as seen from a folder, or all rows."""
    if not tree.source or folder is None:
        return {"rows": tree.rows()}
    source = Path(tree.source).resolve()  # `..` does not lead back out of a link
    with suppress(ValueError):  # no way leads from one drive of Windows to another
        source = Path(os.path.relpath(source, folder.resolve()))
    return {"hierarchy": source.as_posix()}


def entry_keys(kind: type[Requirement]) -> list[str]:
    """What an entry for a requirement may hold."""
    keys = [option.name for option in fields(kind) if option.name != "columns"]
    return [*keys, *(["rows"] if "hierarchy" in keys else []), "columns"]


def read_requirement(
    name: str, entry: Mapping[str, Any], where: str, folder: Path, problems: list[str]
) -> Requirement | None:
    """A requirement from its name and an entry; None, and `problems` say why, where that cannot be."""
    if name not in REQUIREMENTS:
        close = near_miss(name, REQUIREMENTS) or "."
        problems.append(
            f"There is no requirement '{name}'{close} Requirements: {', '.join(REQUIREMENTS)}."
        )
        return None
    kind, found = REQUIREMENTS[name], len(problems)
    unknown_keys(where, entry, entry_keys(kind), problems)
    missing = [f.name for f in fields(kind) if f.default is MISSING and f.name not in entry]
    problems.extend(f"{where} needs '{key}'; give it." for key in missing)
    given = {key: value for key, value in entry.items() if key not in ("hierarchy", "rows")}
    if "rows" in entry_keys(kind):
        given["hierarchy"] = read_hierarchy(entry, where, folder, problems)
    return None if len(problems) > found else kind(**given)


def write_requirement(requirement: Requirement, folder: Path | None) -> dict[str, Any]:
    """What `read_requirement` reads: all that is not as by default."""
    entry: dict[str, Any] = {}
    for option in fields(requirement):
        value = getattr(requirement, option.name)
        if isinstance(value, Hierarchy):
            entry.update(write_hierarchy(value, folder))
        elif isinstance(value, tuple) and value:
            entry[option.name] = [plain(item) for item in value]
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
    """What the entry of a model may hold beside its name and weight."""
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
    """One column's model from its table in a section of the file; quasi-identifiers have a weight, too."""
    kind = entry.get("model")
    where = f"[{section}.{name}]"
    if kind is not None and not (isinstance(kind, str) and kind in MODELS):
        close = near_miss(str(kind), MODELS) or "."
        problems.append(
            f"There is no model '{kind}' (column '{name}'){close} Models: {', '.join(MODELS)}."
        )
        return None
    own = ("model", "weight") if section == "quasi_identifiers" else ("model",)
    unknown_keys(where, entry, (*own, *model_keys(kind)), problems)
    if kind is None:
        return None
    if kind == "hierarchy" and not ("hierarchy" in entry or "rows" in entry):
        problems.append(
            f"Column '{name}' needs 'hierarchy', the path of a CSV file, or 'rows'; give one."
        )
    options = {
        key: entry[key] for key in model_keys(kind) if key in entry and key not in _OF_A_FILE
    }
    tree = read_hierarchy(entry, where, folder, problems) if kind == "hierarchy" else None
    if kind == "hierarchy" and tree is None:
        return None
    return made_model(kind, options, where, problems, tree)


def made_model(
    kind: str,
    options: Mapping[str, Any],
    where: str,
    problems: list[str],
    tree: Hierarchy | None = None,
) -> Model | None:
    """A model with its options; None, and `problems` say why, where that cannot be."""
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
    """What `read_model` reads: the name, and all that is not as by default."""
    if model is None:
        return {}
    entry: dict[str, Any] = {"model": model.name}
    if isinstance(model, Hierarchy):
        entry.update(write_hierarchy(model, folder))
    for option in fields(model):  # type: ignore[arg-type]
        value = getattr(model, option.name)
        if option.name not in _OF_A_TREE and value is not None:
            listed = not isinstance(value, str) and hasattr(value, "__iter__")
            items = [plain(item) for item in value if item is not None] if listed else plain(value)
            if listed or value != option.default:
                entry[option.name] = items
    if model.name == "calendar" and tuple(entry["levels"]) == type(model)().levels:  # type: ignore[attr-defined]
        del entry["levels"]
    return entry


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a settings file."""
    try:
        raise_problems(_path_problems(Path(path)))
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"Settings file '{path}' cannot be read: {error.strerror}; check the path."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"Settings file '{path}' is not UTF-8 text; save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at (line \d+|end of document)", str(error))
        where = f" at {line[1]}" if line else ""
        raise InputError(f"Settings file '{path}' is not valid TOML{where}; mend it.") from None
    except RecursionError:
        raise InputError(f"Settings file '{path}' is nested too deeply; mend it.") from None


def _path_problems(path: Path) -> list[str]:
    """A sentence where opening a file could wait for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        return [f"Settings file '{path}' is not a regular file; copy its content to one."]
    return []


def write_toml(content: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the content of a settings file, whole or not at all."""
    import tomli_w

    text = tomli_w.dumps(content)
    write_whole(
        Path(path), True, lambda file: file.write_text(text, encoding="utf-8", newline="\n")
    )
