"""What every reader of settings needs: plain values, methods by name, and sentences for what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from shoal.errors import near_miss, shown
from shoal.methods import METHODS, Method
from shoal.settings.kinds import clash_problems, method_kinds


def make_method(given: Any, options: Mapping[str, Any], problems: list[str]) -> Method | None:
    """A method from its name and options, or as it is."""
    if isinstance(given, type) and issubclass(given, Method):
        given = given()
    if isinstance(given, Method):
        problems.extend(clash_problems(given))
        return given
    if not isinstance(given, str):
        problems.append(wrong("method", "the name of a method", given))
        return None
    kinds = method_kinds()
    if given not in kinds:
        known = near_miss(given, METHODS) or "; if it is your own, import it first."
        problems.append(f"There is no method '{given}'{known} Methods: {', '.join(METHODS)}.")
        return None
    kind = kinds[given]
    names = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    unknown_keys(f"method {given}", options, names, problems)
    return kind(**{key: value for key, value in options.items() if key in names})


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
