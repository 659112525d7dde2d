"""Settings as a TOML file, both ways; hierarchy paths are relative to the file."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from shoal.errors import InputError, near_miss, raise_problems
from shoal.generalization import MODELS, Hierarchy, Model
from shoal.methods import Auto
from shoal.privacy import REQUIREMENTS, Requirement
from shoal.refine import Refine, read_refine
from shoal.settings.entries import (
    read_hierarchy,
    read_requirement,
    write_hierarchy,
    write_requirement,
)
from shoal.settings.reading import read_input
from shoal.settings.settings import Settings, make_method, plain, unknown_keys
from shoal.table.source import Input
from shoal.whole import write_whole

_SECTIONS = {
    "columns": ("identifiers", "sensitive", "keep", "others", "allow"),
    "quasi_identifiers": None,
    "requirement": ("k", "suppression_limit", *REQUIREMENTS),
    "objective": ("measure", "w"),
    "method": None,
    "output": ("keep_order", "render", "title"),
    "input": None,
}
_ROLES = ("identifiers", "sensitive", "keep", "allow")


def load(path: str | os.PathLike[str], problems: list[str]) -> Settings:
    """Settings from a file; what is wrong with its content is added to `problems`."""
    try:
        raise_problems(_path_problems(Path(path)))
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
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
    return _from_toml(raw, Path(path).parent, problems)


def _path_problems(path: Path) -> list[str]:
    """A sentence where opening a file could wait for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        return [f"Settings file '{path}' is not a regular file; copy its content to one."]
    return []


def _from_toml(raw: Mapping[str, Any], folder: Path, problems: list[str]) -> Settings:
    unknown_keys("the settings", raw, _SECTIONS, problems)
    sections: dict[str, Mapping[str, Any]] = {}
    for section, keys in _SECTIONS.items():
        sections[section] = raw.get(section, {})
        if not isinstance(sections[section], Mapping):
            problems.append(f"'{section}' must be a table: [{section}].")
            sections[section] = {}
        if keys is not None:
            unknown_keys(f"[{section}]", sections[section], keys, problems)
    models: dict[str, Model | None] = {}
    weights: dict[str, float] = {}
    for name, entry in sections["quasi_identifiers"].items():
        models[name] = None
        if not isinstance(entry, Mapping):
            problems.append(
                f"Quasi-identifier '{name}' must be a table: [quasi_identifiers.{name}]."
            )
            continue
        models[name] = _model_from_toml(name, entry, folder, problems)
        if "weight" in entry:
            weights[name] = entry["weight"]
    options = dict(sections["method"])
    seed = options.pop("seed", 0)
    refine = _refine_from_toml(options.pop("refine", "quick"), problems)
    method = make_method(options.pop("name", "auto"), options, problems)
    columns = dict(sections["columns"])
    for role in _ROLES:
        if not _is_list_of(str, columns.setdefault(role, [])):
            problems.append(f"'{role}' in [columns] must be a list of column names.")
            columns[role] = []
    return Settings(
        quasi_identifiers=models,
        sensitive=tuple(columns["sensitive"]),
        identifiers=tuple(columns["identifiers"]),
        keep=tuple(columns["keep"]),
        others=columns.get("others", "refuse"),
        allow=tuple(columns["allow"]),
        k=sections["requirement"].get("k", 0),
        suppression_limit=sections["requirement"].get("suppression_limit", 0.0),
        requirements=_requirements_from_toml(sections["requirement"], folder, problems),
        objective=sections["objective"].get("measure", "lm"),
        w=sections["objective"].get("w", 0.5),
        weights=weights,
        method=method or Auto(),
        refine=refine,
        seed=seed,
        keep_order=sections["output"].get("keep_order", False),
        render=sections["output"].get("render", "text"),
        title=sections["output"].get("title", ""),
        input=read_input(sections["input"], problems),
    )


def _refine_from_toml(given: Any, problems: list[str]) -> Any:
    """How long to refine; a number of steps stands in a table of its own."""
    if not isinstance(given, Mapping):
        found = read_refine(given)
        return given if found is None else found
    known = [field.name for field in fields(Refine)]
    unknown_keys("refine of [method]", given, known, problems)
    return Refine(**{key: value for key, value in given.items() if key in known})


def _refine_to_toml(refine: Any) -> Any:
    if not isinstance(refine, Refine):
        return refine
    given = {key: value for key, value in asdict(refine).items() if value is not None}
    return given or "quick"


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _requirements_from_toml(
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


def _model_from_toml(
    name: str, entry: Mapping[str, Any], folder: Path, problems: list[str]
) -> Model | None:
    """One quasi-identifier's model from its table in the file."""
    kind = entry.get("model")
    where = f"[quasi_identifiers.{name}]"
    if kind is not None and not (isinstance(kind, str) and kind in MODELS):
        close = near_miss(str(kind), MODELS) or "."
        problems.append(
            f"There is no model '{kind}' (column '{name}'){close} Models: {', '.join(MODELS)}."
        )
        return None
    own = {None: (), "hierarchy": ("hierarchy", "rows")}.get(kind, ("domain",))
    unknown_keys(where, entry, ("model", "weight", *own), problems)
    if kind == "hierarchy":
        if not ("hierarchy" in entry or "rows" in entry):
            problems.append(
                f"Column '{name}' needs 'hierarchy', the path of a CSV file, or 'rows'; give one."
            )
        return read_hierarchy(entry, where, folder, problems)
    domain = entry.get("domain")
    if domain is not None and not isinstance(domain, list):
        problems.append(f"'domain' in {where} must be a list of values.")
        return None
    if kind is None:
        return None
    return MODELS[kind](domain=None if domain is None else tuple(domain))  # type: ignore[call-arg]


def to_toml(settings: Settings, folder: Path) -> dict[str, Any]:
    """Settings as the content of a file in `folder`."""
    entries: dict[str, Any] = {}
    for name, model in settings.quasi_identifiers.items():
        entry: dict[str, Any] = {} if model is None else {"model": model.name}
        if isinstance(model, Hierarchy):
            entry.update(write_hierarchy(model, folder))
        elif getattr(model, "domain", None) is not None:
            domain = model.domain  # type: ignore[union-attr]
            entry["domain"] = [plain(value) for value in domain if value is not None]
        if name in settings.weights:
            entry["weight"] = settings.weights[name]
        entries[name] = entry
    requirement: dict[str, Any] = {
        "k": settings.k,
        "suppression_limit": settings.suppression_limit,
    }
    for item in settings.requirements:
        requirement.setdefault(item.name, []).append(write_requirement(item, folder))
    method = settings.method
    options = {f.name: getattr(method, f.name) for f in fields(method)}  # type: ignore[arg-type]
    return {
        "columns": {
            "identifiers": list(settings.identifiers),
            "sensitive": list(settings.sensitive),
            "keep": list(settings.keep),
            "others": settings.others,
            **({"allow": list(settings.allow)} if settings.allow else {}),
        },
        "quasi_identifiers": entries,
        "requirement": requirement,
        "objective": {"measure": settings.objective, "w": settings.w},
        "method": {
            "name": method.name,
            "refine": _refine_to_toml(settings.refine),
            "seed": settings.seed,
            **options,
        },
        "output": {
            "keep_order": settings.keep_order,
            "render": settings.render,
            **({"title": settings.title} if settings.title else {}),
        },
        **_input_to_toml(settings.input),
    }


def _input_to_toml(reading: Input) -> dict[str, Any]:
    """The section about reading a file, if anything in it is not as usual."""
    entry = {
        option.name: list(value) if isinstance(value, tuple) else value
        for option in fields(reading)
        if (value := getattr(reading, option.name)) != option.default
    }
    return {"input": entry} if entry else {}


def save(settings: Settings, path: str | os.PathLike[str]) -> None:
    """Write settings to a file, whole or not at all."""
    import tomli_w

    target = Path(path)
    content = to_toml(settings, target.parent)
    text = tomli_w.dumps(content)
    write_whole(target, True, lambda file: file.write_text(text, encoding="utf-8", newline="\n"))
