"""How near the optimum releases are proved to be, at once and after two minutes."""

from __future__ import annotations

import time
from dataclasses import dataclass

import shoal
from benchmarks.tables import Tables, Unavailable

SECONDS = 120
WARM_UP = 500  # records


@dataclass(frozen=True)
class Bar:
    """What the ratio of loss to bound must not exceed, at once and later."""

    table: str
    k: int
    quick: float | None = None
    later: float | None = None


BARS = (
    Bar("adult_14", 10, 1.18, 1.065),
    Bar("adult_14", 50, 1.23, 1.075),
    Bar("adult_14", 100, 1.25, 1.09),
    Bar("adult_9", 10),
    Bar("adult_8", 10),
)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table and k."""
    if tables.records is not None:
        raise Unavailable("The bars hold for whole tables; leave out --records.")
    rows: list[dict[str, object]] = []
    for bar in BARS:
        table = getattr(tables, bar.table)()
        options = {"quasi_identifiers": table.models, "others": "drop", "k": bar.k}
        few = shoal.anonymize(table.sample(max(WARM_UP, bar.k)).data, **options)
        few.certify(passes=2)  # compiles the kernels
        release = shoal.anonymize(table.data, **options)
        start = time.process_time()
        quick = release.certificate
        cpu = time.process_time() - start
        later = release.certify(SECONDS)
        assert quick is not None
        assert later is not None
        row: dict[str, object] = {
            "table": bar.table,
            "k": bar.k,
            "loss": round(release.loss(), 5),
            "quick bound": round(quick.bound, 5),
            "ratio": round(quick.ratio, 4),
            "cpu_s": round(cpu, 2),
            f"bound after {SECONDS} s": round(later.bound, 5),
            "later": round(later.ratio, 4),
        }
        if bar.quick is not None and bar.later is not None:
            row["bars"] = f"{bar.quick} / {bar.later}"
            row["met"] = quick.ratio <= bar.quick and later.ratio <= bar.later
        rows.append(row)
    return rows
