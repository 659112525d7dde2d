"""XU06 on synthetic data: bottom-up and top-down beside Mondrian, ncp and dm, uniform and Gaussian."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.tables import Table, Tables
from benchmarks.timing import measure

RECORDS, DIMENSIONS = 10_000, 4
METHODS = ("mondrian", "bottom_up", "top_down")


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per distribution, k and method, with ratios to Mondrian."""
    rng = np.random.default_rng(6)
    shape = (min(RECORDS, tables.records or RECORDS), DIMENSIONS)
    data = {
        "uniform": rng.integers(0, 1001, shape),
        "gaussian": np.clip(np.rint(500 + 200 * rng.standard_normal(shape)), 0, 1000),
    }
    rows: list[dict[str, object]] = []
    for name, numbers in data.items():
        columns = {f"x{j}": numbers[:, j].astype(np.int64) for j in range(DIMENSIONS)}
        table = Table(name, pa.table(columns), {column: shoal.Interval() for column in columns})
        for k in (10, 25, 50):
            losses = {}
            for method in METHODS:
                release = measure(table, method=method, k=k, objective="ncp").release
                losses[method] = release.loss("ncp"), release.loss("dm")
                ncp, dm = losses[method]
                rows.append(
                    {
                        "data": name,
                        "k": k,
                        "method": method,
                        "ncp": round(ncp),
                        "ncp / mondrian": round(ncp / losses["mondrian"][0], 3),
                        "dm": round(dm),
                        "dm / mondrian": round(dm / losses["mondrian"][1], 3),
                    }
                )
    return rows
