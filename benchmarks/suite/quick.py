"""What quick refinement does with its seconds: none, carving, and choosing cells after more and more passes."""

from __future__ import annotations

from unittest.mock import patch

from benchmarks.tables import Tables
from benchmarks.timing import measure, times

KS = (10, 100)
PASSES = (0, 2, 3, 4, 5, 6, 8)  # of the relaxed problem, before cells are chosen


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per k and schedule, on Adult with nine hierarchies; the default is four passes."""
    table = tables.adult_9()
    rows: list[dict[str, object]] = []
    for k in KS:
        for schedule in ("none", "carving", *PASSES):
            with (
                patch(
                    "shoal.solve.local_search.schedule.MANY", 0 if schedule == "carving" else 10**9
                ),
                patch("shoal.solve.local_search.repack.PASSES", schedule),
            ):
                refine = "quick" if schedule != "none" else False
                found = measure(table, method="auto", k=k, refine=refine)
            what = f"cells after {schedule} passes" if isinstance(schedule, int) else schedule
            rows.append(
                {
                    "table": table.name,
                    "k": k,
                    "refinement": what,
                    "loss": round(found.loss, 4),
                    **times(found, table),
                }
            )
    return rows
