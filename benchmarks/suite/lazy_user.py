"""The lazy user: accept every suggestion for a table, release it as suggested, and count what leaves unprotected.

Tables are those of the benchmark data, messy ones included, and the made-up ones of the tests of suggestions. What a
person says about their columns is in `benchmarks/truths.toml` and in the tests. Everything is counted in the released
table, by code that shares nothing with shoal's own checks.

`left_out` counts useful columns that are left out, and must be at most a quarter. Columns whose truth has a D do not
count there: copies, and columns that say nothing without a code book. `strictly` counts every column that could be
released in some role, these included, and has no bar.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import shoal
from benchmarks.released import exact_dates, free_text, nearly_unique, unique_records
from benchmarks.tables import Tables, Unavailable

ROOT = Path(__file__).parents[2]
TRUTHS = Path(__file__).parents[1] / "truths.toml"
MADE = ("cases", "public", "unseen", "messy", "new")  # of tests/suggested
LETTER = {"identifier": "I", "quasi-identifier": "Q", "sensitive": "S", "keep": "K", "drop": "D"}
UNPROTECTED = "KSQ"  # roles that release a column, the least protected first
LEFT_OUT = 0.25  # share of useful columns that may be left out


@dataclass(frozen=True)
class Case:
    """A table with what is true of its columns."""

    name: str
    path: Path
    roles: Mapping[str, str]  # letters that are right
    person: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table."""
    with tempfile.TemporaryDirectory() as folder:
        cases = [*_real(tables), *_made(Path(folder))]
        if not cases:
            raise Unavailable("No table is there; name the folder that holds the data with --data.")
        return [_row(case, tables.records) for case in cases]


def truths() -> dict[str, dict[str, Any]]:
    """What is true of each table of the benchmark data, by its path."""
    found = tomllib.loads(TRUTHS.read_text(encoding="utf-8"))
    return {name: found[entry.get("same_as", name)] for name, entry in found.items()}


def _real(tables: Tables) -> Iterator[Case]:
    for name, truth in truths().items():
        path = tables.folder / name
        roles = {
            column: letters
            for letters, columns in truth.items()
            if letters.isupper()
            for column in columns
        }
        if path.is_file():
            sheet = {"sheet": truth["sheet"]} if "sheet" in truth else {}
            yield Case(name, path, roles, truth.get("person") or None, sheet)


def _made(folder: Path) -> Iterator[Case]:
    sys.path.insert(0, str(ROOT / "tests"))
    for module in MADE:
        if not (ROOT / "tests" / "suggested" / f"{module}.py").is_file():
            continue
        for make in import_module(f"suggested.{module}").TABLES:
            table = make()
            path = folder / f"{module}-{make.__name__}{table.suffix}"
            path.write_bytes(table.content)
            roles = {column: letters for column, (letters, _) in table.truth.items()}
            yield Case(path.stem, path, roles)


def _row(case: Case, records: int | None) -> dict[str, object]:
    try:
        found = shoal.suggest(case.path, reading=case.reading)
    except shoal.InputError as error:
        return {"table": case.name, "verdict": f"not opened: {error}"[:60], "met": False}
    given = {column.name: LETTER[column.role] for column in found.columns}
    right = sum(given[name] in case.roles[name] for name in given)
    useful = [name for name, letters in case.roles.items() if not set(letters) & set("DI")]
    left_out = [name for name in useful if given[name] in "DI"]
    releasable = [name for name, letters in case.roles.items() if set(letters) & set(UNPROTECTED)]
    missing = [name for name in releasable if given[name] in "DI"]
    row: dict[str, object] = {
        "table": case.name,
        "records": found.records,
        "columns": len(given),
        "right": right,
        "person": found.person or "",
        "left_out": f"{len(left_out)} of {len(useful)}",
        "strictly": f"{len(missing)} of {len(releasable)}",
    }
    exposed = [name for name in given if _is_exposed(given[name], case.roles[name])]
    row["exposed"] = ", ".join(exposed) or 0
    try:
        release = shoal.anonymize(case.path, settings=found.settings())
    except shoal.ShoalError as error:
        return row | {"verdict": f"refused: {error}"[:60], "met": False}
    counted = _counted(
        release, found.of("quasi-identifier"), found.of("keep"), found.of("sensitive")
    )
    share = len(left_out) / max(1, len(useful))
    return (
        row
        | counted
        | {
            "lost_%": round(100 * release.loss(), 1),
            "verdict": release.verdict.state,
            "met": not exposed
            and not any(counted.values())
            and share <= LEFT_OUT
            and (case.person or "") in ("", found.person),
        }
    )


def _is_exposed(given: str, letters: str) -> bool:
    """Whether a column is released with less protection than each of its right roles gives."""
    if given not in UNPROTECTED:
        return False
    safest = [UNPROTECTED.index(letter) for letter in letters if letter in UNPROTECTED]
    return not safest or UNPROTECTED.index(given) < min(safest)


def _counted(
    release: shoal.Release, known: Sequence[str], kept: Sequence[str], secret: Sequence[str]
) -> dict[str, object]:
    """What an independent look at the released table finds; 0 and empty are good."""
    columns = {name: _texts(release, name) for name in (*known, *kept, *secret)}
    rows = list(zip(*(columns[name] for name in (*known, *kept)), strict=True))
    unchanged = {name: columns[name] for name in (*kept, *secret)}
    betrayed = [name for name in secret if nearly_unique(columns[name])]
    betrayed += [n for n, texts in unchanged.items() if free_text(texts) or exact_dates(texts)]
    return {
        "identified": unique_records(rows),
        "leaked": ", ".join(dict.fromkeys(betrayed)) or 0,
    }


def _texts(release: shoal.Release, name: str) -> list[str]:
    return [str(value) for value in release.data[name].to_pylist()]
