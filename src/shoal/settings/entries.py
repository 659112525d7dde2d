"""Hierarchies and requirements as entries of a settings file, both ways; paths are relative to the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from shoal.errors import InputError, near_miss
from shoal.generalization import Hierarchy
from shoal.privacy import REQUIREMENTS, Requirement
from shoal.settings.checks import plain, unknown_keys
from shoal.settings.kinds import requirement_kinds


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


def keys_of(kind: type[Requirement]) -> list[str]:
    """What an entry for a requirement may hold."""
    keys = [option.name for option in fields(kind) if option.name != "columns"]
    return [*keys, *(["rows"] if "hierarchy" in keys else []), "columns"]


def read_requirement(
    name: str, entry: Mapping[str, Any], where: str, folder: Path, problems: list[str]
) -> Requirement | None:
    """A requirement from its name and an entry; None, and `problems` say why, where that cannot be."""
    kinds = requirement_kinds()
    if name not in kinds:
        close = near_miss(name, REQUIREMENTS) or "."
        problems.append(
            f"There is no requirement '{name}'{close} Requirements: {', '.join(REQUIREMENTS)}."
        )
        return None
    kind, found = kinds[name], len(problems)
    unknown_keys(where, entry, keys_of(kind), problems)
    missing = [f.name for f in fields(kind) if f.default is MISSING and f.name not in entry]
    problems.extend(f"{where} needs '{key}'; give it." for key in missing)
    given = {key: value for key, value in entry.items() if key not in ("hierarchy", "rows")}
    if "rows" in keys_of(kind):
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
    return {key: entry[key] for key in keys_of(type(requirement)) if key in entry}
