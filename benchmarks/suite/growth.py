"""Seconds of every method as the table grows, and the power of n they follow."""

from __future__ import annotations

import numpy as np

import shoal
from benchmarks.tables import Table, Tables
from benchmarks.timing import measure

SIZES = (5_000, 10_000, 20_000, 40_000)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per method: wall seconds at each n, and the slope between the last two on a log scale."""
    whole = tables.adult_8_trees(train_only=False)
    rows: list[dict[str, object]] = []
    for method in shoal.list_methods():
        seconds: dict[int, float] = {}
        row: dict[str, object] = {"method": method}
        for n in SIZES:
            part = Table(whole.name, whole.data.slice(0, n), whole.models)
            try:
                seconds[n] = measure(part, method=method, k=10).wall
            except shoal.ShoalError as refusal:
                row["note"] = str(refusal)
                break
            row[f"n={n:,}"] = round(seconds[n], 2)
        if len(seconds) == len(SIZES):
            last, longest = SIZES[-2:]
            row["power of n"] = round(
                float(np.log(seconds[longest] / seconds[last]) / np.log(longest / last)), 2
            )
        rows.append(row)
    return rows
