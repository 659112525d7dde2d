"""Methods by name, plain values, and sentences for what is wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import REASONS, near_miss, shown
from shoal.settings.registry import entry_problems, known_name
from shoal.solve.methods import METHODS, Auto, Cover, Method


def read_names(role: str, given: Any, problems: list[str]) -> tuple[str, ...]:
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


def read_allowed(given: Any, problems: list[str]) -> dict[str, tuple[str, ...]]:
    """What is allowed of each column, from a mapping or a list of names; a name alone allows that it identifies."""
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


def make_method(given: Any, options: Mapping[str, Any], problems: list[str]) -> Method | None:
    """A method from its name and options, or as it is."""
    if isinstance(given, type) and issubclass(given, Method):
        given = given()
    if isinstance(given, Method):
        problems.extend(entry_problems(type(given)))
        return given
    if not isinstance(given, str):
        problems.append(wrong("method", "the name of a method", given))
        return None
    given = known_name("method", given, problems)
    if given is None:
        return None
    if given not in METHODS:
        known = near_miss(given, METHODS) or "; if it is your own, import it first."
        problems.append(f"There is no method '{given}'{known} Methods: {', '.join(METHODS)}.")
        return None
    kind = METHODS[given]
    names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    unknown_keys(f"method {given}", options, names, problems)
    return kind(**{key: value for key, value in options.items() if key in names})


def with_options(method: Method, options: Mapping[str, Any], problems: list[str]) -> Method:
    """A method with some options changed; `auto` has none, and those given are of `cover`, which it takes."""
    chosen = Cover() if isinstance(method, Auto) else method
    changed = {own.name: getattr(chosen, own.name) for own in fields(chosen)}  # type: ignore[arg-type]
    for name, value in options.items():
        before = changed.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        changed[name] = {**before, **value} if both else value  # type: ignore[dict-item]
    return make_method(chosen.name, changed, problems) or chosen


_IN_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def option_problems(method: Method) -> list[str]:
    """Options of another type than their default."""
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


def wrong(parameter: str, expected: str, value: Any) -> str:
    return f"The '{parameter}' parameter must be {expected}. Got {shown(value)} instead."


def plain(value: Any) -> Any:
    """A number of NumPy's as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_weight(weight: Any) -> bool:
    return is_number(weight) and 0 < weight <= sys.float_info.max


def unknown_keys(where: str, given: Mapping[str, Any], known: Any, problems: list[str]) -> None:
    for key in given:
        if key not in known:
            close = near_miss(key, known) or f"; known: {', '.join(known) or 'none'}."
            problems.append(f"Unknown key '{key}' in {where}{close}")
