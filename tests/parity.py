"""Every attribute and method of a release, asked for alike wherever the table is: in memory or on an engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

import shoal

ASKED: dict[str, Any] = {
    "quasi_identifiers": ["age", "town"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "keep": ["ward"],
    "allow": {"ward": "unique"},
    "k": 4,
    "method": "mondrian",
    "refine": False,
}
# What depends on where a table is, by its nature.
OF_THE_PLACE = {
    "data",
    "released",
    "seconds",
    "shown",
    "closed",
    "source",
    "making",
    "dialect",
    "comparison",
    "examination",
}
UNAVAILABLE_ON_ENGINES = {"groups", "is_released"}
ABSENT_ON_ENGINES = {"in_release", "duals", "persons"}  # None there; inner fields


def people(records: int = 240) -> pa.Table:
    """A table that every way through the code splits in the same manner: each combination is enough for itself."""
    numbers = range(records)
    return pa.table(
        {
            "name": [f"person {i}" for i in numbers],
            "age": [20 + i % 6 for i in numbers],
            "town": [("Lyon", "Paris", "Porto")[i % 3] for i in numbers],
            "ill": [("flu", "cold", "none")[i * 7 % 11 % 3] for i in numbers],
            "ward": [("a", "b")[i // 6 % 2] for i in numbers],
        }
    )


CALLS: dict[str, Callable[[Any, Path], Any]] = {
    "loss": lambda release, folder: [release.loss(name) for name in ("lm", "gcp", "dm", "c_avg")],
    "column_losses": lambda release, folder: release.column_losses("lm"),
    "alone_in": lambda release, folder: release.alone_in(["ward", "ill"]),
    "certify": lambda release, folder: release.certify(passes=1).ratio,
    "evaluate": lambda release, folder: plain(release.evaluate(queries=5)),
    "save": lambda release, folder: saved(release, folder),
    "save_report": lambda release, folder: release.save_report(folder / "report.html"),
    "to_dict": lambda release, folder: plain(release),
}
LAST = "close"  # after which nothing can be read


def names() -> list[str]:
    """Every public attribute and method of a release."""
    own = {field.name for field in fields(shoal.Release)}
    return sorted({*own, *(name for name in dir(shoal.Release) if not name.startswith("_"))})


def asked_of(release: shoal.Release[Any], folder: Path) -> dict[str, Any]:
    """What a release answers to everything, `NotAvailable` where it cannot."""
    found = {}
    for name in [name for name in names() if name != LAST]:
        try:
            call = CALLS.get(name)
            found[name] = call(release, folder) if call else getattr(release, name)
        except shoal.NotAvailable:
            found[name] = shoal.NotAvailable
    release.close()
    return found


def differing(found: dict[str, Any], expected: dict[str, Any]) -> Sequence[str]:
    """Names whose answers are not those of the same release in memory."""
    skipped = OF_THE_PLACE | UNAVAILABLE_ON_ENGINES | ABSENT_ON_ENGINES
    return [
        name
        for name in expected
        if name not in skipped and text(found[name]) != text(expected[name])
    ]


def text(value: Any) -> str:
    """A value as JSON, floats without their last digits."""
    return json.dumps(rounded(value), sort_keys=True, default=repr)


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {str(key): rounded(own) for key, own in value.items()}
    return [rounded(own) for own in value] if isinstance(value, list | tuple) else value


def plain(result: Any) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key != "seconds"}


def saved(release: shoal.Release[Any], folder: Path) -> list[str]:
    """The records of a folder or file that the release was saved to."""
    import pyarrow.parquet as pq

    place = folder / ("release" if "spark" in str(type(release.data)) else "release.parquet")
    release.save(place)
    table = pq.read_table(place)
    return sorted(str(row) for row in table.select(sorted(table.column_names)).to_pylist())
