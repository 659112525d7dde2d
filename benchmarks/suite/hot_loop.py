"""Costs of joining a record with a group that the hot loop evaluates per second on one core."""

from __future__ import annotations

import time

import numba
import numpy as np

from benchmarks.tables import Tables
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.shared.groups import record_joins
from shoal.solve.problem import Problem

GROUPS = 6_000
RECORDS = 2_000
REPEATS = 5
BAR = 5e8  # (record, group, column) costs per second for trees


@numba.njit
def _drive(c, pairs, closures, codes, out):  # type: ignore[no-untyped-def]
    for i in range(codes.shape[0]):
        record_joins(c, pairs, closures, closures.shape[1], codes[i], 0, out)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per form of column: flat trees (suppression), deep trees, ranges."""
    nine, intervals = tables.adult_9(), tables.adult_8()
    tables_by_form = {
        "tree (hierarchies)": (nine.data, nine.models),
        "tree (suppression)": (tables.adult_14().data, tables.adult_14().models),
        "range": (intervals.data, dict(list(intervals.models.items())[:2])),
    }
    rows = []
    for form, (data, models) in tables_by_form.items():
        problem = Problem.of(encode(open_frame(data), models), "lm", 10)
        groups = (np.arange(problem.table.records) % min(GROUPS, data.num_rows)).astype(np.int32)
        closures, _ = problem.closures(groups)
        codes, out = problem.codes[:RECORDS], np.empty(closures.shape[1])
        _drive(problem.arrays, problem.pairs, closures, codes[:1], out)
        seconds = min(_seconds(problem, closures, codes, out) for _ in range(REPEATS))
        speed = codes.size * closures.shape[1] / seconds
        row: dict[str, object] = {"form": form, "costs per second": f"{speed:.2e}"}
        if form.startswith("tree"):
            row |= {"bar": f"{BAR:.0e}", "reached": bool(speed >= BAR)}
        rows.append(row)
    return rows


def _seconds(problem: Problem, closures: np.ndarray, codes: np.ndarray, out: np.ndarray) -> float:
    start = time.perf_counter()
    _drive(problem.arrays, problem.pairs, closures, codes, out)
    return time.perf_counter() - start
