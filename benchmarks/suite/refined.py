"""What quick refinement makes of every method's groups, on Adult, 30,162 × 8; fails where it gains nothing."""

from __future__ import annotations

from benchmarks.tables import Tables
from benchmarks.timing import measure
from shoal.solve.methods import METHODS

KS = (10, 50)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per method that may be refined and k."""
    table = tables.adult_8_trees()
    rows: list[dict[str, object]] = []
    for name, method in METHODS.items():
        if name in ("auto", "exact") or not method().may_be_refined():
            continue
        for k in KS:
            own = measure(table, method=name, k=k, refine=False)
            better = measure(table, method=name, k=k, refine="quick")
            rows.append(
                {
                    "method": name,
                    "k": k,
                    "lm": round(own.loss, 4),
                    "refined": round(better.loss, 4),
                    "x": round(better.loss / own.loss, 3),
                    "cpu_s": round(own.cpu, 1),
                    "more_cpu_s": round(better.cpu - own.cpu, 1),
                    "met": better.loss < own.loss,
                }
            )
    return rows
