"""`auto` with quick refinement beside published figures and the best peer; fails where a bar is missed."""

from __future__ import annotations

from benchmarks.tables import Tables, Unavailable
from benchmarks.timing import measure, times

# table, k: loss at most, loss and CPU seconds of the best peer
BARS = {
    ("adult_14", 10): (0.252, "GT10 0.302", None),
    ("adult_14", 50): (0.324, "GT10 0.394", None),
    ("adult_14", 100): (0.360, "GT10 0.439", None),
    ("adult_9", 5): (0.0485, "ARX 0.0538", 19),
    ("adult_9", 10): (0.0722, "ARX 0.0762", 57),
    ("adult_9", 25): (0.1095, "ARX 0.1151", 50),
    ("adult_9", 50): (0.1440, "ARX 0.1490", 59),
    ("adult_9", 100): (0.1860, "ARX 0.1923", 76),
}
MOST_CPU, FLOOR = (
    5,
    3.0,
)  # times the CPU seconds of grouping alone, and seconds that are always allowed


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table and k; `met` is about loss and CPU: at most five times that of grouping alone."""
    if tables.records is not None:
        raise Unavailable("The bars hold for whole tables; leave out --records.")
    loaded = {name: getattr(tables, name)() for name in {name for name, _ in BARS}}
    rows: list[dict[str, object]] = []
    for (name, k), (bar, beside, seconds) in BARS.items():
        found = measure(loaded[name], method="auto", k=k, refine="quick")
        alone = measure(loaded[name], method="auto", k=k, refine=False)
        rows.append(
            {
                "table": name,
                "k": k,
                "best peer": beside,
                "bar": bar,
                "ours": round(found.loss, 4),
                "peer_cpu_s": seconds,
                **times(found, loaded[name]),
                "alone_cpu_s": round(alone.cpu, 2),
                "met": round(found.loss, 4) <= bar
                and found.cpu <= max(FLOOR, MOST_CPU * alone.cpu),
            }
        )
    return rows
