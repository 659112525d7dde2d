"""How near the optimum releases are proved to be, at once and after more time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import shoal
from benchmarks.tables import Tables, Unavailable

WARM_UP = 500  # records


@dataclass(frozen=True)
class Bar:
    """What the ratio of loss to bound must not exceed, at once and after some seconds."""

    table: str
    k: int
    quick: float | None = None
    later: float | None = None
    seconds: float = 0.0


BARS = (
    Bar("adult_14", 10, 1.18, 1.065, 20),
    Bar("adult_14", 50, 1.23, 1.075, 20),
    Bar("adult_14", 100, 1.25, 1.09, 20),
    Bar("adult_9", 10),
    Bar("adult_8", 10, 1.15, 1.05, 60),
    Bar("adult_8", 100, 1.15, 1.05, 60),
    Bar("adult_8_trees", 10, 1.15),
    Bar("adult_8_trees", 100, 1.15),
    Bar("fars_deep", 10, 1.3),
    Bar("census_deep", 10, 1.3),
    Bar("million_deep", 10, 1.3),
)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table and k, in less than ten minutes."""
    if tables.records is not None:
        raise Unavailable("The bars hold for whole tables; leave out --records.")
    return [_row(bar, tables) for bar in BARS]


def _row(bar: Bar, tables: Tables) -> dict[str, object]:
    table = getattr(tables, bar.table)()
    options = {"quasi_identifiers": table.models, "others": "drop", "k": bar.k}
    few = shoal.anonymize(table.sample(max(WARM_UP, bar.k)).data, **options)
    few.certify(passes=2)  # compiles the kernels
    start = time.process_time()
    release = shoal.anonymize(table.data, **options)
    made = time.process_time()
    quick = release.certificate
    cpu = time.process_time() - made
    assert quick is not None
    later = release.certify(bar.seconds) if bar.seconds else None
    row: dict[str, object] = {
        "table": bar.table,
        "k": bar.k,
        "loss": round(release.loss(), 5),
        "release_cpu_s": round(made - start, 1),
        "quick": round(quick.ratio, 4),
        "cpu_s": round(cpu, 1),
        "spares": "some" in quick.how,
        "seconds": bar.seconds or "",
        "later": round(later.ratio, 4) if later else "",
    }
    if bar.quick is not None:
        row["bars"] = f"{bar.quick} / {bar.later}" if bar.later else f"{bar.quick}"
        row["met"] = quick.ratio <= bar.quick and (
            later is None or bar.later is None or later.ratio <= bar.later
        )
    return row
