"""Kept columns: how many people a single one identifies together with the released quasi-identifiers.

Shows what `identified_limit` would have to be for a column to be kept without being allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

import shoal
from benchmarks.tables import Table, Tables, Unavailable

SIZES = (5, 10, 100)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table, kept column and k; each quasi-identifier of the table is kept in turn."""
    return [row for table in _tables(tables) for row in _rows(table)]


def _tables(tables: Tables) -> Iterator[Table]:
    yield tables.adult_sample()
    for load in (tables.fars, tables.census_kdd):
        try:
            yield load()
        except Unavailable:
            continue


def _rows(table: Table) -> Iterator[dict[str, object]]:
    for kept in table.models:
        others = {name: model for name, model in table.models.items() if name != kept}
        for k in SIZES:
            release = shoal.anonymize(
                table.data,
                quasi_identifiers=others,
                keep=[kept],
                others="drop",
                allow={kept: ["unique", "reveals"]},
                k=k,
                method="mondrian",
                refine=False,
            )
            found = release.verdict.unprotected
            yield {
                "table": table.name,
                "kept": kept,
                "values": len(table.data[kept].unique()),
                "k": k,
                "identified": found.identified,
                "share": round(found.identified / found.of, 4),
            }
