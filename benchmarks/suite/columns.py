"""Loss and seconds as quasi-identifiers grow from 10 to 30: no step where the lattice gets too large to walk whole."""

from __future__ import annotations

from benchmarks.tables import Tables
from benchmarks.timing import measure, times

COLUMNS = (10, 14, 17, 20, 25, 30)
METHODS = ("cover", "mondrian", "sequential")
SIZES = (10, 50)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per number of columns, k and method, without refinement."""
    rows: list[dict[str, object]] = []
    for columns in COLUMNS:
        table = tables.census_wide(columns)
        for k in SIZES:
            for method in METHODS:
                found = measure(table, method=method, k=k)
                rows.append(
                    {
                        "columns": columns,
                        "k": k,
                        "method": method,
                        "lm": round(found.loss, 4),
                        "groups": found.groups,
                        **times(found, table),
                    }
                )
    return rows
