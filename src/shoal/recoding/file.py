"""The file of a recoding: JSON, readable by its owner alone, written whole or not at all, and read with suspicion."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shoal.errors import InputError, raise_problems
from shoal.io import place_problems
from shoal.io.own_files import OwnFile, read_own
from shoal.settings import Settings
from shoal.whole import write_whole

if TYPE_CHECKING:
    from shoal.recoding.recoding import Recoding

OWN = OwnFile(
    kind="recoding",
    version=1,
    name="Recoding",
    what="no recoding; give a file that release.recoding.save or --save-recoding wrote",
    remedy="make it anew from a release",
)
MOST = 10**12  # records that read the same: more are a mistake


def write_content(recoding: Recoding, path: str | os.PathLike[str], overwrite: bool) -> None:
    """Write a recoding."""
    target = Path(path)
    raise_problems(place_problems(target, overwrite))
    columns = recoding.rows.to_pydict()
    content = {
        "shoal": OWN.kind,
        "version": OWN.version,
        "batches": recoding.batches,
        "settings": recoding.settings.to_dict(),
        "columns": list(columns),
        "rows": [list(row) for row in zip(*columns.values(), strict=True)],
        "counts": list(recoding.counts),
    }
    text = json.dumps(content, ensure_ascii=False, indent=None) + "\n"
    write_whole(
        target, overwrite, lambda file: file.write_text(text, encoding="utf-8"), private=True
    )


def read_content(path: str | os.PathLike[str]) -> tuple[Settings, pa.Table, list[int], int]:
    """The settings, rows, counts and number of batches in the file of a recoding."""
    content = _read(Path(path))
    settings = Settings.from_dict(content["settings"])
    raise_problems(settings.problems())
    names = [*settings.quasi_identifiers, *settings.sensitive]
    rows, counts, batches = content["rows"], content["counts"], content["batches"]
    is_whole = (
        content["columns"] == names
        and isinstance(rows, list)
        and isinstance(counts, list)
        and len(rows) == len(counts) > 0
        and all(_is_count(count) for count in counts)
        and all(_is_row(row, len(names)) for row in rows)
        and (batches == 0 or _is_count(batches))
    )
    if not is_whole:
        raise InputError(_spoilt(path))
    columns = zip(*rows, strict=True)
    kind = pa.large_string()
    table = pa.table({n: pa.array(own, kind) for n, own in zip(names, columns, strict=True)})
    return settings, table, counts, batches


def _read(path: Path) -> dict[str, Any]:
    """The content of the file of a recoding, with all entries that belong there."""
    content = read_own(OWN, path)
    if not {"settings", "columns", "rows", "counts", "batches"} <= set(content):
        raise InputError(_spoilt(path))
    if not isinstance(content["settings"], dict):
        raise InputError(_spoilt(path))
    return content


def _spoilt(path: str | os.PathLike[str]) -> str:
    return f"Recoding '{path}' is damaged; make it anew from a release."


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value <= MOST


def _is_row(row: Any, width: int) -> bool:
    texts = isinstance(row, list) and all(text is None or isinstance(text, str) for text in row)
    return texts and len(row) == width
