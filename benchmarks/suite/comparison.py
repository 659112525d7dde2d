"""All methods on Adult, 30,162 × 8: loss by four measures and seconds."""

from __future__ import annotations

import shoal
from benchmarks.tables import Tables
from benchmarks.timing import measure, times

SIZES = (5, 10, 25, 50, 100)
MEASURES = ("lm", "gcp", "dm", "c_avg")


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per method and k; a method that refuses the table says why."""
    table = tables.adult_8_trees()
    rows: list[dict[str, object]] = []
    for method in shoal.methods():
        for k in SIZES:
            row: dict[str, object] = {"method": method, "k": k}
            try:
                found = measure(table, method=method, k=k)
            except shoal.ShoalError as refusal:
                rows.append(row | {"note": str(refusal)})
                break
            losses = {name: float(f"{found.release.loss(name):.4g}") for name in MEASURES}
            rows.append(row | losses | times(found, table))
    return rows
