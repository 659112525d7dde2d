"""The settings of a release as TOML for a report: everything but lists of values, which might name cells."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from shoal.settings import Settings
from shoal.settings.content import content_of

_LISTS = ("domain", "rows", "values", "protected")
_MAKING = ("method", "output")  # sections
_MARK = "left out of this report: "
_MOST = 16_000  # characters

_NO_LISTS = (
    "Values that the settings list one by one are left out here, since a report must not name values that the "
    "release hides; release.settings.save(…) or --save-settings keeps them."
)
_NO_FOLDERS = (
    "Files that are not beside this report are shown by name only; put the real path in its place."
)
_NO_KEY = "Where the key of the pseudonyms lies is left out; name it in key_file, or set SHOAL_KEY."
_NO_END = "These settings are too long for a report; release.settings.save(…) or --save-settings keeps all."


def settings_text(settings: Settings, folder: Path, whole: bool = True) -> tuple[str, list[str]]:
    """The text of a settings file in `folder`, and what keeps it from making the same release as it stands.

    Unless `whole`, how to make a release is left aside: roles, models, requirements and the measure stay.
    """
    import tomli_w

    content = content_of(settings, folder)
    if not whole:
        content = {name: part for name, part in content.items() if name not in _MAKING}
    key = content["columns"].pop("key_file", None)
    beyond = [item for value in content["requirement"].values() for item in _entries(value)]
    entries = [*content["quasi_identifiers"].values(), *beyond]
    lists, folders = sum(map(_hide_lists, entries)), sum(map(_hide_folder, entries))
    remarks = [*([_NO_LISTS] if lists else []), *([_NO_FOLDERS] if folders else [])]
    remarks += [_NO_KEY] if key else []
    text = tomli_w.dumps(content).strip()
    text = re.sub(rf'^(\w+) = "({_MARK}[\d, a-z]*)"$', r"# \1 \2", text, flags=re.MULTILINE)
    text = "".join(map(_visible, text))
    if len(text) > _MOST:
        lines = text[:_MOST].splitlines()[:-1]
        text = "\n".join([*lines, f"# and {text.count(chr(10)) + 1 - len(lines):,} more lines"])
        remarks.append(_NO_END)
    return text, remarks


def _visible(sign: str) -> str:
    """A character, as TOML escapes it where it would not show or would turn the reading direction."""
    if sign.isprintable() or sign == "\n":
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _entries(value: Any) -> list[dict[str, Any]]:
    return value if isinstance(value, list) else []


def _hide_lists(entry: dict[str, Any]) -> bool:
    """Put the number of values in place of every list of them, and say whether there was one."""
    lists = [key for key in _LISTS if isinstance(entry.get(key), list)]
    for key in lists:
        count = len(entry[key])
        entry[key] = f"{_MARK}{count:,} value{'s' if count > 1 else ''}"
    return bool(lists)


def _hide_folder(entry: dict[str, Any]) -> bool:
    """Keep only the name of a file outside of the folder, and say whether there was one."""
    path = Path(entry.get("hierarchy", ""))
    outside = path.is_absolute() or ".." in path.parts
    if outside:
        entry["hierarchy"] = path.name
    return outside
