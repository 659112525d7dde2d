"""How a run is measured: kernels warm, from the table in memory to the audited release, the best of a few."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import shoal
from benchmarks.tables import Table
from shoal.audits.requirements.base import Requirement
from shoal.solve.methods import Method

REPEATS = 3
ENOUGH = 5.0  # seconds after which a run is not repeated
WARM_UP = 500  # records

YARDSTICK = "mondrian, k = 10, lm, on the same table in the same run"


@dataclass(frozen=True, eq=False)
class Run:
    """What a run cost, in information and in seconds."""

    release: shoal.Release
    wall: float
    cpu: float

    @property
    def loss(self) -> float:
        return self.release.loss()

    @property
    def groups(self) -> int:
        return self.release.audit.groups


def measure(
    table: Table,
    *,
    method: str | Method,
    k: int,
    objective: str = "lm",
    seed: int = 0,
    requirements: Sequence[Requirement] = (),
    refine: bool | str | float | shoal.Refine = False,
    weights: Mapping[str, float] | None = None,
    repeats: int = REPEATS,
) -> Run:
    """Anonymize a table, a small part of it first so that nothing is compiled while the clock runs."""
    job = {
        "method": method,
        "k": k,
        "objective": objective,
        "seed": seed,
        "requirements": requirements,
        "refine": refine,
        "weights": weights,
    }
    warm_up = {**job, "refine": shoal.Refine(steps=30)} if isinstance(refine, float) else job
    with suppress(shoal.Infeasible):  # the small part may not allow what the table does
        _anonymize(table.sample(max(WARM_UP, k)), warm_up)
    runs: list[Run] = []
    while len(runs) < repeats and sum(run.wall for run in runs) < ENOUGH:
        wall, cpu = time.perf_counter(), time.process_time()
        release = _anonymize(table, job)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        runs.append(Run(release, wall, cpu))
    return min(runs, key=lambda run: run.wall)


def times(run: Run, table: Table) -> dict[str, float]:
    """Seconds of a run, and the same as multiples (x) of the yardstick, which other machines can compare."""
    yardstick = _yardstick(table)
    return {
        "wall_s": round(run.wall, 3),
        "wall_x": round(run.wall / yardstick.wall, 1),
        "cpu_s": round(run.cpu, 3),
        "cpu_x": round(run.cpu / yardstick.cpu, 1),
    }


@cache
def _yardstick(table: Table) -> Run:
    return measure(table, method="mondrian", k=min(10, table.data.num_rows))


def _anonymize(table: Table, job: Mapping[str, Any]) -> shoal.Release:
    return shoal.anonymize(
        table.data,
        quasi_identifiers=table.models,
        sensitive=table.sensitive,
        others="drop",
        allow=table.sensitive,
        **job,
    )
