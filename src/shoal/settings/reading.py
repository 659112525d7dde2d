"""How to read a table's file, checked: the `[input]` of a settings file and `input=` in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from shoal.errors import near_miss, shown
from shoal.table.source import TYPES, Input


def read_input(given: Any, problems: list[str]) -> Input:
    """An `Input` from one, or from a mapping of its fields; what the values mean is checked when a file is read."""
    if not isinstance(given, Input | Mapping):
        problems.append(
            f"The 'input' parameter must be a dict like {{'encoding': 'cp1252'}}. Got {shown(given)} instead."
        )
        return Input()
    known = [field.name for field in fields(Input)]
    entries = dict(given) if isinstance(given, Mapping) else vars(given)
    for name in entries:
        if name not in known:
            close = near_miss(str(name), known) or f"; known: {', '.join(known)}."
            problems.append(f"Unknown key '{name}' in [input]{close}")
    entries = {
        name: value for name, value in entries.items() if name in known and value is not None
    }
    missing = entries.get("missing", ())
    missing = (missing,) if isinstance(missing, str) else missing
    if not (isinstance(missing, list | tuple) and all(isinstance(item, str) for item in missing)):
        problems.append("'missing' in [input] must be a list of texts, like ['?', '99'].")
        missing = ()
    types = entries.get("types", {})
    if not (isinstance(types, Mapping) and all(kind in TYPES for kind in types.values())):
        problems.append(
            f"'types' in [input] must say {', '.join(TYPES[:-1])} or {TYPES[-1]} of columns, like {{'region': 'text'}} "
            "(--type region:text)."
        )
        types = {}
    texts = {name: value for name, value in entries.items() if name not in ("missing", "types")}
    for name, value in texts.items():
        if not isinstance(value, str) or not value:
            problems.append(f"'{name}' in [input] must be text. Got {shown(value)} instead.")
    known_texts = {n: v for n, v in texts.items() if isinstance(v, str) and v}
    return Input(**known_texts, missing=tuple(missing), types=dict(types))
