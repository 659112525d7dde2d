"""Loss (lm) and seconds of every method on the sample table."""

from __future__ import annotations

import shoal
from benchmarks.tables import Tables
from benchmarks.timing import measure, times

SIZES = (5, 10, 25, 50, 100)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per method and k; a method that refuses the table says why."""
    table = tables.adult_sample()
    rows: list[dict[str, object]] = []
    for method in shoal.methods():
        for k in SIZES:
            row: dict[str, object] = {"method": method, "k": k}
            try:
                found = measure(table, method=method, k=k)
            except shoal.ShoalError as refusal:
                row["note"] = str(refusal)
            else:
                row |= {"lm": round(found.loss, 4), "groups": found.groups, **times(found, table)}
            rows.append(row)
    return rows
