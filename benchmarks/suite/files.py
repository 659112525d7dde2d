"""A CSV file of a million records: seconds of every step around the grouping, as multiples of Arrow's own writer."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv

import shoal
from benchmarks.tables import Tables

RECORDS = 1_000_000
RUNS = 3  # the best counts
COLUMNS = [
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"
]  # fmt: skip
STAGES = ("reading", "encoding", "rendering", "auditing", "saving")


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per step; saving includes the audit of the file."""
    table = shoal.samples.adult()
    places = np.random.default_rng(0).integers(0, len(table), tables.records or RECORDS)
    data = table.take(places)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        yardstick = min(_seconds(lambda: pyarrow.csv.write_csv(data, path)) for _ in range(RUNS))
        found = [_steps(path) for _ in range(RUNS)]
    best = {stage: min(steps[stage] for steps in found) for stage in STAGES}
    best["encoding + auditing + saving"] = sum(best[s] for s in ("encoding", "auditing", "saving"))
    return [
        {"step": stage, "wall_s": round(seconds, 2), "× writing": round(seconds / yardstick, 2)}
        for stage, seconds in best.items()
    ]


def _steps(path: Path) -> dict[str, float]:
    """Seconds of one run."""
    release = shoal.anonymize(
        path,
        quasi_identifiers=COLUMNS,
        sensitive=["income"],
        keep=["hours-per-week"],
        others="drop",
        allow=["income", "hours-per-week"],
        k=10,
        method="mondrian",
    )
    saving = _seconds(lambda: release.save(path.with_name("release.csv"), overwrite=True))
    return {**release.seconds, "saving": saving}


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
