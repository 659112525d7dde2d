"""Generalization models as entries of a settings file, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from shoal.errors import InputError, near_miss
from shoal.generalization import MODELS, Hierarchy, Model
from shoal.settings.checks import plain, unknown_keys
from shoal.settings.entries import read_hierarchy, write_hierarchy

_OF_A_FILE = ("hierarchy", "rows")
_OF_A_TREE = ("leaves", "inner", "parent", "source", "aliases")
_LISTS = {
    "domain": "a list of values",
    "levels": 'a list of levels, like ["month", "year"]',
    "lengths": "a list of whole numbers",
}


def keys_of(kind: str | None) -> tuple[str, ...]:
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
    unknown_keys(where, entry, (*own, *keys_of(kind)), problems)
    if kind is None:
        return None
    if kind == "hierarchy" and not ("hierarchy" in entry or "rows" in entry):
        problems.append(
            f"Column '{name}' needs 'hierarchy', the path of a CSV file, or 'rows'; give one."
        )
    options = {key: entry[key] for key in keys_of(kind) if key in entry and key not in _OF_A_FILE}
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
