"""Large tables by default settings: seconds and memory of the whole call; fails where a bar is missed."""

from __future__ import annotations

import multiprocessing
import resource
import sys

from benchmarks.tables import Tables, Unavailable
from benchmarks.timing import measure

# seconds and gigabytes at most
BARS = {
    "fars": (15, 2.0),
    "census_kdd": (30, 2.0),
    "adult_million": (60, 2.5),
    "hospital": (60, 2.0),
}
K = 10


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table, each measured in a process of its own; memory includes table and compiler."""
    if tables.records is not None:
        raise Unavailable("The bars hold for whole tables; leave out --records.")
    context = multiprocessing.get_context("spawn")
    rows: list[dict[str, object]] = []
    for name, (seconds, gigabytes) in BARS.items():
        with context.Pool(1) as pool:
            found = pool.apply(_measure, (tables, name))
        met = float(found["wall_s"]) <= seconds and float(found["peak_gb"]) <= gigabytes
        rows.append(
            {"table": name, "k": K, **found, "bar_s": seconds, "bar_gb": gigabytes, "met": met}
        )
    return rows


def _measure(tables: Tables, name: str) -> dict[str, float]:
    """Seconds, memory and loss of one table."""
    table = getattr(tables, name)()
    found = measure(table, method="auto", k=K, refine="quick")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "records": table.data.num_rows,
        "loss": round(found.loss, 4),
        "wall_s": round(found.wall, 1),
        "cpu_s": round(found.cpu, 1),
        "peak_gb": round(peak / (2**30 if sys.platform == "darwin" else 2**20), 2),
    }
