"""Settings: roles, generalization, requirement, objective, method and seed in one frozen object; TOML both ways."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError, near_miss, raise_problems
from shoal.generalization import MODELS, Hierarchy, Model
from shoal.measures.additive import ADDITIVE
from shoal.measures.catalogue import check_measure
from shoal.methods import METHODS, Cover, Method
from shoal.table.render import STYLES, bound_names


@dataclass(frozen=True)
class Settings:
    """Everything that decides a release beside the table.

    Parameters are those of `shoal.anonymize`. A model of None means the column's default: interval for
    numbers and dates, suppression for the rest.
    """

    quasi_identifiers: Mapping[str, Model | None] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    k: int = 0
    objective: str = "lm"
    weights: Mapping[str, float] = field(default_factory=dict)
    method: Method = field(default_factory=Cover)
    seed: int = 0
    keep_order: bool = False
    render: str = "text"

    def check(self) -> None:
        """Raise one error that lists everything wrong with these settings, the table aside."""
        problems = _role_problems(self)
        if not self.quasi_identifiers:
            problems.append("There are no quasi-identifiers; name the columns to generalize.")
        if not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 1:
            problems.append(
                f"The 'k' parameter must be a whole number of at least 1. Got {self.k} instead."
            )
        problems += check_measure(self.objective, ADDITIVE)
        for name, weight in self.weights.items():
            if name not in self.quasi_identifiers:
                known = near_miss(name, self.quasi_identifiers) or "."
                problems.append(f"Weight for '{name}', which is no quasi-identifier{known}")
            if not _is_weight(weight):
                problems.append(
                    f"The weight of '{name}' must be a finite number above 0. Got {weight} instead."
                )
        if not isinstance(self.seed, int) or self.seed < 0:
            problems.append(
                f"The 'seed' parameter must be a whole number of at least 0. Got {self.seed} instead."
            )
        if self.render not in STYLES:
            problems.append(
                f"The 'render' parameter must be 'text' or 'bounds'. Got '{self.render}' instead."
            )
        raise_problems(problems + self.method.problems())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Settings:
        """Read settings from a TOML file; hierarchy paths are relative to it."""
        name = Path(path).name
        try:
            raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"Settings file '{name}' cannot be read: {error.strerror}.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            raise InputError(f"Settings file '{name}' is not valid TOML; mend it.") from None
        return _from_toml(raw, Path(path).parent)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write these settings to a TOML file that `load` reads back."""
        import tomli_w

        text = tomli_w.dumps(_to_toml(self, Path(path).parent))
        Path(path).write_text(text, encoding="utf-8")


def make_settings(base: Settings | str | os.PathLike[str] | None, **given: Any) -> Settings:
    """Settings from a file, an object or nothing, with whatever else was given put in its place."""
    settings = base if isinstance(base, Settings) else Settings.load(base) if base else Settings()
    changes = {key: value for key, value in given.items() if value is not None}
    problems: list[str] = []
    if "quasi_identifiers" in changes:
        changes["quasi_identifiers"] = _models(changes["quasi_identifiers"], problems)
    for role in ("sensitive", "identifiers"):
        if role in changes:
            names = changes[role]
            changes[role] = (names,) if isinstance(names, str) else tuple(names)
    if "method" in changes:
        changes["method"] = make_method(changes["method"], {}, problems) or Cover()
    raise_problems(problems)
    settings = replace(settings, **changes)
    settings.check()
    return settings


def _models(given: Any, problems: list[str]) -> dict[str, Model | None]:
    """Models by column, from a mapping or a list of names."""
    if isinstance(given, str):
        given = [given]
    pairs = given.items() if isinstance(given, Mapping) else [(name, None) for name in given]
    found: dict[str, Model | None] = {}
    for name, model in pairs:
        if name in found:
            problems.append(f"Quasi-identifier '{name}' is named twice; name it once.")
        if isinstance(model, type) and issubclass(model, Model) and model is not Hierarchy:
            model = model()
        if model is not None and not isinstance(model, Model):
            problems.append(
                f"The model of quasi-identifier '{name}' must be shoal.Suppression(), Hierarchy, "
                f"Interval() or Subset(). Got a {type(model).__name__} instead."
            )
        else:
            found[name] = model
    return found


def make_method(given: Any, options: Mapping[str, Any], problems: list[str]) -> Method | None:
    """A method from its name and options, or as it is."""
    if isinstance(given, Method):
        return given
    if given not in METHODS:
        known = near_miss(str(given), METHODS) or "."
        problems.append(f"There is no method '{given}'{known} Methods: {', '.join(METHODS)}.")
        return None
    kind = METHODS[given]
    names = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    _unknown_keys(f"method {given}", options, names, problems)
    chosen = {key: value for key, value in options.items() if key in names}
    for key, value in chosen.items():
        expected = type(names[key].default)
        if type(value) is not expected and not (expected is float and type(value) is int):
            problems.append(
                f"The '{key}' option of method {given} must be of type {expected.__name__}."
            )
            return None
    return kind(**chosen)


def _role_problems(settings: Settings) -> list[str]:
    """Columns with two roles, and bounds that would overwrite a column."""
    roles = {
        "quasi-identifier": tuple(settings.quasi_identifiers),
        "sensitive": settings.sensitive,
        "identifier": settings.identifiers,
    }
    seen: dict[str, str] = {}
    problems = []
    for role, names in roles.items():
        for name in names:
            if name in seen:
                problems.append(
                    f"Column '{name}' is both {seen[name]} and {role}; give it one role."
                )
            seen[name] = role
    if settings.render == "bounds":
        for name in settings.quasi_identifiers:
            for taken in set(bound_names(name)) & set(seen):
                problems.append(
                    f"Column '{taken}' is in the way of the bounds of '{name}'; rename it."
                )
    return problems


def _is_weight(weight: Any) -> bool:
    return (
        isinstance(weight, int | float)
        and not isinstance(weight, bool)
        and 0 < weight < float("inf")
    )


_SECTIONS = {
    "columns": ("identifiers", "sensitive"),
    "quasi_identifiers": None,
    "requirement": ("k",),
    "objective": ("measure",),
    "method": None,
    "output": ("keep_order", "render"),
}


def _unknown_keys(where: str, given: Mapping[str, Any], known: Any, problems: list[str]) -> None:
    for key in given:
        if key not in known:
            close = near_miss(key, known) or f"; known: {', '.join(known)}."
            problems.append(f"Unknown key '{key}' in {where}{close}")


def _from_toml(raw: Mapping[str, Any], folder: Path) -> Settings:
    problems: list[str] = []
    _unknown_keys("the settings", raw, _SECTIONS, problems)
    for section, value in raw.items():
        if section in _SECTIONS and not isinstance(value, Mapping):
            problems.append(f"'{section}' must be a table: [{section}].")
    raise_problems(problems)
    for section, keys in _SECTIONS.items():
        if keys is not None:
            _unknown_keys(f"[{section}]", raw.get(section, {}), keys, problems)
    models: dict[str, Model | None] = {}
    weights: dict[str, float] = {}
    for name, entry in raw.get("quasi_identifiers", {}).items():
        if not isinstance(entry, Mapping):
            problems.append(
                f"Quasi-identifier '{name}' must be a table: [quasi_identifiers.{name}]."
            )
            continue
        try:
            models[name] = _model_from_toml(name, entry, folder)
        except InputError as error:
            problems.extend(error.problems)
        if "weight" in entry:
            weights[name] = entry["weight"]
    options = dict(raw.get("method", {}))
    seed = options.pop("seed", 0)
    method = make_method(options.pop("name", "cover"), options, problems)
    columns, output = raw.get("columns", {}), raw.get("output", {})
    for role in ("identifiers", "sensitive"):
        names = columns.get(role, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            problems.append(f"'{role}' in [columns] must be a list of column names.")
    if not isinstance(output.get("keep_order", False), bool):
        problems.append("'keep_order' in [output] must be true or false.")
    raise_problems(problems)
    return Settings(
        quasi_identifiers=models,
        sensitive=tuple(columns.get("sensitive", ())),
        identifiers=tuple(columns.get("identifiers", ())),
        k=raw.get("requirement", {}).get("k", 0),
        objective=raw.get("objective", {}).get("measure", "lm"),
        weights=weights,
        method=method or Cover(),
        seed=seed,
        keep_order=output.get("keep_order", False),
        render=output.get("render", "text"),
    )


def _model_from_toml(name: str, entry: Mapping[str, Any], folder: Path) -> Model | None:
    """One quasi-identifier's model from its table in the file."""
    kind = entry.get("model")
    problems: list[str] = []
    known = ["model", "weight", "domain"]
    if kind == "hierarchy":
        known = ["model", "weight", "hierarchy", "rows"]
    _unknown_keys(f"[quasi_identifiers.{name}]", entry, known, problems)
    if kind is not None and kind not in MODELS:
        close = near_miss(str(kind), MODELS) or "."
        problems.append(
            f"There is no model '{kind}' (column '{name}'){close} Models: {', '.join(MODELS)}."
        )
    if kind == "hierarchy" and ("hierarchy" in entry) == ("rows" in entry):
        problems.append(
            f"Column '{name}' needs 'hierarchy', the path of a CSV file, or 'rows'; give one."
        )
    raise_problems(problems)
    if kind is None:
        return None
    if kind == "hierarchy":
        if "rows" in entry:
            return Hierarchy.from_rows(entry["rows"])
        return Hierarchy.from_csv(folder / entry["hierarchy"])
    domain = entry.get("domain")
    return MODELS[kind](domain=None if domain is None else tuple(domain))  # type: ignore[call-arg]


def _to_toml(settings: Settings, folder: Path) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, model in settings.quasi_identifiers.items():
        entry: dict[str, Any] = {} if model is None else {"model": model.name}
        if isinstance(model, Hierarchy):
            if model.source:
                entry["hierarchy"] = Path(os.path.relpath(model.source, folder)).as_posix()
            else:
                entry["rows"] = model.rows()
        elif getattr(model, "domain", None) is not None:
            entry["domain"] = list(model.domain)  # type: ignore[union-attr]
        if name in settings.weights:
            entry["weight"] = settings.weights[name]
        entries[name] = entry
    method = settings.method
    options = {f.name: getattr(method, f.name) for f in fields(method)}  # type: ignore[arg-type]
    return {
        "columns": {
            "identifiers": list(settings.identifiers),
            "sensitive": list(settings.sensitive),
        },
        "quasi_identifiers": entries,
        "requirement": {"k": settings.k},
        "objective": {"measure": settings.objective},
        "method": {"name": method.name, "seed": settings.seed, **options},
        "output": {"keep_order": settings.keep_order, "render": settings.render},
    }
