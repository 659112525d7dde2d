"""Roles, generalization, requirement, objective, method and seed in one frozen object, checked as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import narwhals as nw

from shoal.errors import InputError, near_miss, raise_problems, shown
from shoal.generalization import Hierarchy, Model
from shoal.measures.catalogue import NEEDS_SENSITIVE, OBJECTIVES, ObjectiveName, check_measure
from shoal.methods import Auto, Method
from shoal.privacy import REQUIREMENTS, Requirement, TCloseness
from shoal.refine import Refine, read_refine
from shoal.settings.checks import (
    is_number,
    is_weight,
    is_whole,
    make_method,
    option_problems,
    plain,
    wrong,
)
from shoal.settings.content import content_of, fields_of, json_ready
from shoal.settings.reading import read_input
from shoal.settings.toml import read_toml, write_toml
from shoal.table.render import STYLES, Style, bound_names
from shoal.table.source import Input

Others = Literal["refuse", "drop", "keep"]  # what becomes of columns without a role
OTHERS = get_args(Others)


@dataclass(frozen=True)
class Settings:
    """Everything that decides a release beside the table.

    Parameters are those of `shoal.anonymize`. A model of None means the column's default: interval for
    numbers and dates, suppression for the rest.
    """

    quasi_identifiers: Mapping[str, Model | None] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    others: Others = "refuse"
    allow: tuple[str, ...] = ()
    k: int = 0
    requirements: tuple[Requirement, ...] = ()
    suppression_limit: float = 0.0
    objective: ObjectiveName = "lm"
    w: float = 0.5
    weights: Mapping[str, float] = field(default_factory=dict)
    method: Method = field(default_factory=Auto)
    refine: Refine | Literal["quick", False] | float = field(default_factory=Refine)
    seed: int = 0
    keep_order: bool = False
    loosen: float = 0.0
    render: Style = "text"
    title: str = ""
    input: Input = field(default_factory=Input)

    def problems(self) -> list[str]:
        """Sentences for everything wrong with these settings, the table aside."""
        found = _role_problems(self)
        if not self.quasi_identifiers:
            found.append("There are no quasi-identifiers; name the columns to generalize.")
        if not self.k:
            found.append("k is missing or 0; say how many records at least must read the same.")
        elif not is_whole(self.k, 1):
            found.append(wrong("k", "a whole number of at least 1", self.k))
        found += _requirement_problems(self) + _suppression_problems(self)
        if not isinstance(self.objective, str):
            found.append(wrong("objective", "the name of a measure", self.objective))
        else:
            found += check_measure(self.objective, OBJECTIVES)
            if self.objective in NEEDS_SENSITIVE and not self.sensitive:
                found.append(f"Measure '{self.objective}' needs a sensitive column; name one.")
        if not (is_number(self.w) and 0 <= self.w <= 1):
            found.append(wrong("w", "a number from 0 to 1", self.w))
        for name, weight in self.weights.items():
            if name not in self.quasi_identifiers:
                known = near_miss(name, self.quasi_identifiers) or "; leave it out."
                found.append(f"Weight for '{name}', which is no quasi-identifier{known}")
            if not is_weight(weight):
                found.append(
                    f"The weight of '{name}' must be a finite number above 0. Got {shown(weight)} instead."
                )
        if not is_whole(self.seed, 0) or self.seed >= 2**64:
            found.append(wrong("seed", "a whole number from 0 to 2^64 - 1", self.seed))
        if not isinstance(self.keep_order, bool):
            found.append(wrong("keep_order", "true or false", self.keep_order))
        found += _loosen_problems(self)
        if self.others not in OTHERS:
            found.append(wrong("others", "'refuse', 'drop' or 'keep'", self.others))
        if not isinstance(self.title, str):
            found.append(wrong("title", "text", self.title))
        if self.render not in STYLES:
            found.append(wrong("render", "'text' or 'bounds'", self.render))
        if isinstance(self.refine, Refine):
            found += self.refine.problems()
        if self.requirements and not self.method.honours_requirements():
            which = " with these options" if type(self.method)().honours_requirements() else ""
            found.append(
                f"Method '{self.method.name}'{which} can keep k only; "
                "choose another method or drop the requirements."
            )
        options = option_problems(self.method) or self.method.problems()
        return found + (options or self.method.column_problems(self.sensitive))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Settings:
        """Read settings from a TOML file; hierarchy paths are relative to it."""
        problems: list[str] = []
        settings = cls._read(path, problems)
        raise_problems(problems)
        return settings

    @classmethod
    def _read(cls, path: str | os.PathLike[str], problems: list[str]) -> Settings:
        return cls(**fields_of(read_toml(path), Path(path).parent, problems))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write these settings to a TOML file that `load` reads back, whole or not at all."""
        write_toml(content_of(self._normalized(), Path(path).parent), path)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Settings:
        """Settings from what `to_dict` gives: the content of a settings file; paths are relative to this folder."""
        problems: list[str] = []
        settings = cls(**fields_of(content, Path(), problems))
        raise_problems(problems)
        return settings

    def to_dict(self) -> dict[str, Any]:
        """The content of a settings file as dicts, lists, texts and numbers, ready for JSON.

        Hierarchies are spelled out in `rows`, dates are ISO texts, so that no other file is needed.

        Examples
        --------
        >>> import shoal
        >>> settings = shoal.Settings(quasi_identifiers={"age": shoal.Interval()}, k=3)
        >>> settings.to_dict()["requirement"]
        {'k': 3, 'suppression_limit': 0.0}
        >>> shoal.Settings.from_dict(settings.to_dict()) == settings
        True
        """
        return json_ready(content_of(self._normalized()))

    def _normalized(self) -> Settings:
        problems: list[str] = []
        settings = normalized(self, problems)
        raise_problems(problems)
        return settings


def make_settings(
    base: Settings | str | os.PathLike[str] | None,
    reading: Mapping[str, Any] | None = None,
    **given: Any,
) -> Settings:
    """Settings from a file, an object or nothing, with whatever else was given put in its place.

    `reading` replaces single fields of `input`.
    """
    problems: list[str] = []
    settings = base
    if base is None:
        settings = Settings()
    elif isinstance(base, str | os.PathLike):
        settings = Settings._read(base, problems)
    if not isinstance(settings, Settings):
        raise InputError(
            wrong("settings", "a Settings object or the path of a TOML file", settings)
        )
    changes = {key: value for key, value in given.items() if value is not None}
    settings = normalized(replace(settings, **changes), problems)
    if reading:
        settings = replace(
            settings, input=read_input({**vars(settings.input), **reading}, problems)
        )
    if "quasi_identifiers" in changes and "weights" not in changes:
        kept = {n: w for n, w in settings.weights.items() if n in settings.quasi_identifiers}
        settings = replace(settings, weights=kept)
    raise_problems(problems + settings.problems())
    return settings


def normalized(settings: Settings, problems: list[str]) -> Settings:
    """The same settings with names as tuples, models and methods as objects, and plain numbers."""
    weights = settings.weights
    if not isinstance(weights, Mapping):
        problems.append(wrong("weights", "a dict of columns and numbers", weights))
        weights = {}
    return replace(
        settings,
        quasi_identifiers=_models(settings.quasi_identifiers, problems),
        sensitive=_names("sensitive", settings.sensitive, problems),
        identifiers=_names("identifiers", settings.identifiers, problems),
        keep=_names("keep", settings.keep, problems),
        allow=_names("allow", settings.allow, problems),
        input=read_input(settings.input, problems),
        k=plain(settings.k),
        requirements=_requirements(settings.requirements, problems),
        suppression_limit=plain(settings.suppression_limit),
        w=plain(settings.w),
        weights={name: plain(weight) for name, weight in weights.items()},
        method=make_method(settings.method, {}, problems) or Auto(),
        refine=_refinement(settings.refine, problems),
        seed=plain(settings.seed),
        keep_order=plain(settings.keep_order),
        loosen=plain(settings.loosen),
    )


def _names(role: str, given: Any, problems: list[str]) -> tuple[str, ...]:
    """Column names from a list of them; a column of a table in their place would show its cells."""
    names = (given,) if isinstance(given, str) else given
    is_column = isinstance(nw.from_native(given, series_only=True, pass_through=True), nw.Series)
    if is_column or not isinstance(names, Iterable):
        problems.append(wrong(role, "a list of column names", given))
        return ()
    names = tuple(names)
    if not all(isinstance(name, str) for name in names):
        problems.append(f"The '{role}' parameter must be a list of column names, all of them text.")
        return ()
    return names


def _models(given: Any, problems: list[str]) -> dict[str, Model | None]:
    """Models by column, from a mapping or a list of names."""
    models = given if isinstance(given, Mapping) else {}
    found: dict[str, Model | None] = {}
    for name in _names("quasi_identifiers", given, problems):
        if name in found:
            problems.append(f"Quasi-identifier '{name}' is named twice; name it once.")
        model = models.get(name)
        if isinstance(model, type) and issubclass(model, Model) and model is not Hierarchy:
            model = model()
        if model is not None and not isinstance(model, Model):
            problems.append(
                f"The model of quasi-identifier '{name}' must be shoal.Suppression(), Interval(), Order(), "
                f"Subset() or a Hierarchy. Got {shown(model)} instead."
            )
            model = None
        found[name] = model
    return found


def _requirements(given: Any, problems: list[str]) -> tuple[Requirement, ...]:
    """Requirements in the order of a settings file, which keeps those of a kind together."""
    kinds = list(REQUIREMENTS.values())
    if not isinstance(given, list | tuple):
        problems.append(
            wrong("requirements", "a list of requirements, like [shoal.LDiversity(2)]", given)
        )
        return ()
    strange = [item for item in given if type(item) not in kinds]
    if strange:
        problems.append(
            "Each of the requirements must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) or "
            f"TCloseness(…). Got {shown(strange[0])} instead."
        )
    known = [item for item in given if type(item) in kinds]
    return tuple(sorted(known, key=lambda item: kinds.index(type(item))))


def _refinement(given: Any, problems: list[str]) -> Refine | bool:
    """How long to refine, False for not at all."""
    found = read_refine(plain(given))
    if found is None:
        expected = "'quick', false, a number of seconds or shoal.Refine(…)"
        problems.append(wrong("refine", expected, given))
        return False
    return found


def _role_problems(settings: Settings) -> list[str]:
    """Columns with two roles, and bounds that would overwrite a column."""
    roles = {
        "quasi-identifier": tuple(settings.quasi_identifiers),
        "sensitive": settings.sensitive,
        "identifier": settings.identifiers,
        "kept": settings.keep,
    }
    seen: dict[str, str] = {}
    problems = []
    for role, names in roles.items():
        for name in names:
            if seen.get(name) == role:
                problems.append(f"Column '{name}' is named twice as {role}; name it once.")
            elif name in seen:
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


def _suppression_problems(settings: Settings) -> list[str]:
    limit = settings.suppression_limit
    if not (is_number(limit) and 0 <= limit < 1):
        return [wrong("suppression_limit", "a share from 0 to below 1", limit)]
    found = []
    if limit and not settings.method.homogeneous:
        found.append(
            f"Method '{settings.method.name}' cannot leave records out; set suppression_limit to 0."
        )
    if limit and any(isinstance(item, TCloseness) for item in settings.requirements):
        found.append(
            "Leaving records out changes the distribution that closeness compares groups with; "
            "set suppression_limit to 0 or drop closeness."
        )
    return found


def _loosen_problems(settings: Settings) -> list[str]:
    if not (is_number(settings.loosen) and 0 <= settings.loosen < 1):
        return [wrong("loosen", "a share from 0 to below 1", settings.loosen)]
    if settings.loosen and not settings.method.may_be_loosened():
        return [
            f"The closures of method '{settings.method.name}' cannot be loosened: it is chosen for how they fit "
            "together; set loosen to 0 or choose a method of local recoding."
        ]
    return []


def _requirement_problems(settings: Settings) -> list[str]:
    """Parameters that cannot be, and columns that are not sensitive."""
    found = [problem for item in settings.requirements for problem in item.problems()]
    if settings.requirements and not settings.sensitive:
        return [*found, "Requirements are about sensitive columns; name at least one."]
    for item in settings.requirements:
        named = item.columns if isinstance(item.columns, tuple) else ()
        for name in named:
            if isinstance(name, str) and name not in settings.sensitive:
                close = near_miss(name, settings.sensitive)
                remedy = close or f". Sensitive columns: {', '.join(settings.sensitive)}."
                found.append(f"Column '{name}' of {item.name} is not a sensitive column{remedy}")
    return found
