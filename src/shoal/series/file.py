"""The file of a history: JSON, readable by its owner alone, written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, raise_problems
from shoal.io.own_files import OwnFile, read_own
from shoal.whole import exists_already, write_whole

if TYPE_CHECKING:
    from shoal.series.history import History

OWN = OwnFile(
    kind="history",
    version=2,
    name="History",
    what="no history of a series; give a file that release.history.save or --save-history wrote",
    remedy="use that version, or begin another series",
)
MOST = 10**12  # records that read the same, or sets of people: more are a mistake


def write_history(history: History, path: str | os.PathLike[str], overwrite: bool) -> None:
    """Write a history."""
    target = Path(path)
    raise_problems([exists_already(target)] if target.exists() and not overwrite else [])
    content = {"shoal": OWN.kind, "version": OWN.version, **history.to_dict()}
    text = json.dumps(content, ensure_ascii=False) + "\n"
    write_whole(
        target, overwrite, lambda file: file.write_text(text, encoding="utf-8"), private=True
    )


def read_history(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of the file of a history, checked."""
    source = Path(path)
    content = read_own(OWN, source)
    if not _is_whole(content):
        raise InputError(f"History '{source}' is damaged; restore it from a backup.")
    return content


def _is_whole(content: dict[str, Any]) -> bool:
    texts = all(isinstance(content.get(name), str) for name in ("person", "sensitive", "salt"))
    signatures, persons = content.get("signatures"), content.get("persons")
    nights, m = content.get("nights"), content.get("m")
    if not (texts and isinstance(signatures, list) and isinstance(persons, dict)):
        return False
    if not (isinstance(nights, list) and type(m) is int and m >= 1):
        return False
    numbers = range(len(signatures))
    sets, spellings = content.get("sets"), content.get("spellings")
    if not (isinstance(sets, dict) and isinstance(spellings, dict)):
        return False
    return (
        all(_is_signature(own, m) for own in signatures)
        and all(type(number) is int and number in numbers for number in persons.values())
        and sets.keys() == persons.keys()
        and all(type(number) is int and 0 <= number <= MOST for number in sets.values())
        and all(isinstance(text, str) for text in spellings.values())
        and all(_is_night(night, len(signatures)) for night in nights)
    )


def _is_signature(own: Any, m: int) -> bool:
    values = isinstance(own, list) and all(v is None or isinstance(v, str) for v in own)
    return values and len(set(own)) == len(own) >= m


def _is_night(night: Any, signatures: int) -> bool:
    if not (isinstance(night, dict) and isinstance(night.get("name"), str)):
        return False
    groups, numbers = night.get("groups"), set(map(str, range(signatures)))
    return isinstance(groups, dict) and all(
        isinstance(own, dict)
        and all(
            number in numbers and type(copies) is int and 0 < copies <= MOST
            for number, copies in own.items()
        )
        for own in groups.values()
    )
