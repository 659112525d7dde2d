"""Values of settings as people give them, by kind: reads names, models, requirements and methods."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

import narwhals as nw
import numpy as np

from shoal.audits.requirements import REQUIREMENTS
from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import MODELS, Hierarchy, Model, Point, Ready
from shoal.errors import REASONS, near_miss, shown
from shoal.settings.declaration import is_number, read_input, unknown_keys, wrong
from shoal.settings.registry import entry_problems, known_name
from shoal.settings.settings import SETTINGS, WMI, Settings
from shoal.solve.local_search.budget import Refine, read_refine
from shoal.solve.measures.catalogue import MEASURES
from shoal.solve.methods import METHODS, Auto, Cover, Method


def read_names(role: str, given: Any, problems: list[str]) -> tuple[str, ...]:
    """Read column names from a list; a column of data is refused, because messages would show its cells."""
    names = (given,) if isinstance(given, str) else given
    is_column = isinstance(nw.from_native(given, series_only=True, pass_through=True), nw.Series)
    if is_column or not isinstance(names, Iterable):
        problems.append(wrong(role, "a list of column names", given))
        return ()
    names = tuple(names)
    if not all(isinstance(name, str) for name in names):
        problems.append(
            f"The '{role}' parameter must be a list of column names, each of them text."
        )
        return ()
    return names


def read_allowed(given: Any, problems: list[str]) -> dict[str, tuple[str, ...]]:
    """Read what is allowed, from a mapping or a list of names; a name alone means "unique"."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(read_names("allow", given, problems), ("unique",))
    found = {}
    for name, reasons in given.items():
        listed = (reasons,) if isinstance(reasons, str) else reasons
        known = isinstance(listed, list | tuple) and all(item in REASONS for item in listed)
        if not isinstance(name, str) or not known or not listed:
            problems.append(
                f"Each column of 'allow' needs reasons out of {', '.join(REASONS)}, as in "
                'allow={"salary": "unique"}.'
            )
            continue
        found[name] = tuple(dict.fromkeys(listed))
    return found


def _entry_problems(kind: type, known: Mapping[str, type]) -> list[str]:
    """Register a user's own class, so that settings can name it; problems are added."""
    return [] if kind in known.values() else entry_problems(kind)


def make_method(given: Any, options: Mapping[str, Any], problems: list[str]) -> Method | None:
    """Read a method from its name and options, or return it unchanged."""
    if isinstance(given, type) and issubclass(given, Method):
        given = given()
    if isinstance(given, Method):
        problems.extend(_entry_problems(type(given), METHODS))
        return given
    if not isinstance(given, str):
        problems.append(wrong("method", "the name of a method", given))
        return None
    given = given if given in METHODS else known_name("method", given, problems)
    if given is None:
        return None
    if given not in METHODS:
        known = near_miss(given, METHODS) or "; if it is your own method, import its module first."
        problems.append(f"Unknown method '{given}'{known} Methods: {', '.join(METHODS)}.")
        return None
    kind = METHODS[given]
    names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    unknown_keys(f"method {given}", options, names, problems)
    return kind(**{key: value for key, value in options.items() if key in names})


def with_options(method: Method, options: Mapping[str, Any], problems: list[str]) -> Method:
    """Return a method with some options changed; `auto` has none, so options given for it go to `cover`."""
    chosen = Cover() if isinstance(method, Auto) else method
    changed = {own.name: getattr(chosen, own.name) for own in fields(chosen)}  # type: ignore[arg-type]
    for name, value in options.items():
        before = changed.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        changed[name] = {**before, **value} if both else value  # type: ignore[dict-item]
    return make_method(chosen.name, changed, problems) or chosen


_IN_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def option_type_problems(method: Method) -> list[str]:
    """Return problems with options of another type than their default."""
    found = []
    for option in fields(method):  # type: ignore[arg-type]
        value, expected = getattr(method, option.name), type(option.default)
        fits = type(value) is expected or (expected is float and type(value) is int)
        if expected in _IN_WORDS and not fits:
            found.append(
                f"The '{option.name}' option of method {method.name} must be {_IN_WORDS[expected]}. "
                f"Got {shown(value)} instead."
            )
    return found


def python_number(value: Any) -> Any:
    """Convert a NumPy number to a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def is_weight(weight: Any) -> bool:
    return is_number(weight) and 0 < weight <= sys.float_info.max


def _column(name: str, given: Any, problems: list[str]) -> str | None:
    """Read the name of a column; an empty one means none."""
    if given is None or isinstance(given, str):
        return given or None
    problems.append(wrong(name, "the name of a column", given))
    return None


def _path(name: str, given: Any, problems: list[str]) -> str | None:
    """Read a path as text; an empty one means none. Messages do not show it, because it might be a key."""
    if given is None or isinstance(given, str | os.PathLike):
        return os.fspath(given) or None if given is not None else None
    problems.append(f"The '{name}' parameter must be the path of a file.")
    return None


def _models(_: str, given: Any, problems: list[str]) -> dict[str, Model | None]:
    """Read models by column, from a mapping or a list of names."""
    models = given if isinstance(given, Mapping) else {}
    found: dict[str, Model | None] = {}
    for name in read_names("quasi_identifiers", given, problems):
        if name in found:
            problems.append(f"Quasi-identifier '{name}' is named twice. Name it once.")
        model = _made(models.get(name))
        if model is not None and not isinstance(model, Model):
            problems.append(
                f"The model of quasi-identifier '{name}' must be shoal.Suppression(), Interval(), Order(), "
                f"Calendar(), Prefix(), Subset(), Point(…), Ready(…) or a Hierarchy. Got {shown(model)} instead."
            )
            model = None
        elif model is not None:
            problems.extend(_entry_problems(type(model), MODELS))
        found[name] = model
    return found


def _coarsening(_: str, given: Any, problems: list[str]) -> dict[str, Model]:
    """Read the models that coarsen columns, by column."""
    if not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
        expected = "a dict from columns to models, like {'salary': shoal.Interval(step=1000)}"
        problems.append(wrong("coarsen", expected, given))
        return {}
    models = {name: _made(model) for name, model in given.items()}
    problems.extend(
        f"The model that coarsens '{name}' must be shoal.Interval(step=…), Calendar(finest=…), Prefix(finest=…), "
        f"Order(…) or a Hierarchy. Got {shown(model)} instead."
        for name, model in models.items()
        if not isinstance(model, Model)
    )
    return {name: model for name, model in models.items() if isinstance(model, Model)}


def _made(model: Any) -> Any:
    """Instantiate a model of which only the class was given."""
    is_class = (
        isinstance(model, type) and issubclass(model, Model) and model not in (Hierarchy, Ready)
    )
    return model() if is_class else model


def _requirements(_: str, given: Any, problems: list[str]) -> tuple[Requirement, ...]:
    """Sort requirements as in a settings file, which keeps those of a kind together."""
    if not isinstance(given, list | tuple):
        problems.append(
            wrong("requirements", "a list of requirements, like [shoal.LDiversity(2)]", given)
        )
        return ()
    strange = [item for item in given if not isinstance(item, Requirement)]
    if strange:
        problems.append(
            "Each requirement must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) or TCloseness(…). Got "
            f"{shown(strange[0])} instead."
        )
    known = [item for item in given if isinstance(item, Requirement)]
    wrong_kinds = [
        sentence for item in known for sentence in _entry_problems(type(item), REQUIREMENTS)
    ]
    problems.extend(dict.fromkeys(wrong_kinds))
    order = list(REQUIREMENTS)
    return () if wrong_kinds else tuple(sorted(known, key=lambda item: order.index(item.name)))


def _refinement(_: str, given: Any, problems: list[str]) -> Refine | bool:
    """Read how long to refine; False means not at all."""
    found = read_refine(python_number(given))
    if found is None:
        expected = "'quick', false, a number of seconds or shoal.Refine(…)"
        problems.append(wrong("refine", expected, given))
        return False
    return found


def _weights(name: str, given: Any, problems: list[str]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        problems.append(wrong(name, "a dict from columns to numbers", given))
        return {}
    return {column: python_number(weight) for column, weight in given.items()}


# Readers of values by kind: each takes the setting's name, what was given, and a list for problems.
_READERS: dict[str, Callable[[str, Any, list[str]], Any]] = {
    "plain": lambda _, given, problems: python_number(given),
    "names": read_names,
    "column": _column,
    "path": _path,
    "reasons": lambda _, given, problems: read_allowed(given, problems),
    "models": _models,
    "coarsening": _coarsening,
    "requirements": _requirements,
    "objective": lambda _, given, problems: (
        given
        if isinstance(given, str) and given in MEASURES
        else known_name("measure", given, problems) or Settings.objective
    ),
    "weights": _weights,
    "method": lambda _, given, problems: make_method(given, {}, problems) or Auto(),
    "refine": _refinement,
    "input": lambda _, given, problems: read_input(given, problems),
}


def normalized(settings: Settings, problems: list[str]) -> Settings:
    """Return the settings with names as tuples, models and methods as objects, and plain numbers."""
    given = settings.objective
    if isinstance(given, WMI):
        settings = replace(settings, objective="wmi", w=given.w)
    found = replace(
        settings,
        **{
            name: _READERS[own.kind](name, getattr(settings, name), problems)
            for name, own in SETTINGS.items()
        },
    )
    return _with_points(found)


def _with_points(settings: Settings) -> Settings:
    """Settings that read the two columns of every point as one, so that models need not name them."""
    points: dict[str, tuple[str, ...]] = {}
    models = {"quasi_identifiers": settings.quasi_identifiers, "coarsen": settings.coarsen}
    for role, own in models.items():
        found = {n: m for n, m in own.items() if isinstance(m, Point) and m.latitude}
        points |= {name: (str(m.latitude), str(m.longitude)) for name, m in found.items()}
        plain = {name: replace(m, latitude=None, longitude=None) for name, m in found.items()}
        models[role] = {**own, **plain}
    if not points:
        return settings
    reading = replace(settings.reading, points={**settings.reading.points, **points})
    return replace(settings, reading=reading, **models)  # type: ignore[arg-type]
