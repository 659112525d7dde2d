"""Loss (lm) and seconds of every method on the sample table."""

from __future__ import annotations

from collections.abc import Callable

import shoal
from benchmarks.tables import Table, Tables
from benchmarks.timing import Run, measure, times

SIZES = (5, 10, 25, 50, 100)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per method and k."""
    return compare(tables.adult_sample(), losses)


def losses(found: Run) -> dict[str, object]:
    """Loss and number of groups."""
    return {"lm": round(found.loss, 4), "groups": found.groups}


def compare(table: Table, losses: Callable[[Run], dict[str, object]]) -> list[dict[str, object]]:
    """One row per method and k; a method that refuses the table says why."""
    rows: list[dict[str, object]] = []
    for method in shoal.list_methods():
        for k in SIZES:
            row: dict[str, object] = {"method": method, "k": k}
            try:
                found = measure(table, method=method, k=k)
            except shoal.ShoalError as refusal:
                row["note"] = str(refusal)
            else:
                row |= losses(found) | times(found, table)
            rows.append(row)
    return rows
