"""What more time gives on Adult, 30,162 × 9: no refinement, the default, and more steps."""

from __future__ import annotations

import shoal
from benchmarks.tables import Tables
from benchmarks.timing import measure, times

KS = (10, 100)
WAYS = {
    "off": False,
    "quick": "quick",
    "steps=10": shoal.Refine(steps=10),
    "steps=40": shoal.Refine(steps=40),
}


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per k and value of `refine`."""
    table = tables.adult_9()
    return [
        {
            "table": table.name,
            "k": k,
            "refine": name,
            "loss": round(found.loss, 4),
            **times(found, table),
        }
        for k in KS
        for name, way in WAYS.items()
        for found in [measure(table, method="auto", k=k, refine=way)]
    ]
