"""Downcoding: what follows from closures being tight (Cohen 2022), and what `loosen` does to it, at what loss."""

from __future__ import annotations

from collections.abc import Iterator

import shoal
from benchmarks.tables import Table, Tables, Unavailable

SIZES = (5, 10, 50)
SHARES = (0.0, 0.1, 0.2, 0.4)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table, k and share; shares are of all statements, and of the groups they are about."""
    return [row for table in _tables(tables) for k in SIZES for row in _rows(table, k)]


def _tables(tables: Tables) -> Iterator[Table]:
    """Adult with hierarchies alone and with intervals beside; the shipped sample where there is no other."""
    try:
        yield tables.adult_9()
        yield tables.adult_8_trees()
    except Unavailable:
        yield tables.adult_sample()


def _rows(table: Table, k: int) -> Iterator[dict[str, object]]:
    tight = None
    for share in SHARES:
        # Nothing is published, so the numbers may be repeatable.
        with shoal.testing.fixed_order(0):
            release = shoal.anonymize(
                table.data,
                quasi_identifiers=table.models,
                others="drop",
                k=k,
                refine="quick",
                loosen=share,
            )
        found, loss = release.downcoding, release.loss()
        assert found is not None
        tight = loss if tight is None else tight
        yield {
            "table": table.name,
            "k": k,
            "loosen": share,
            "lm": round(loss, 4),
            "lm_ratio": round(loss / tight, 3) if tight else None,
            "statements": found.statements,
            "per_cell": round(found.cells, 3),
            "right": round(found.right, 3),
            "chance": round(found.chance, 3),
            "groups_right": round(found.groups, 3),
        }
