"""HE12's claim: two-means (CB) loses less than non-homogeneous (NH), gcp for 4 to 6 quasi-identifiers."""

from __future__ import annotations

import numpy as np

from benchmarks.tables import Table, Tables
from benchmarks.timing import measure

COLUMNS = ("age", "sex", "education", "marital_status", "race", "class_of_worker")
RECORDS = 50_000


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per number of quasi-identifiers and k, on random records of a census as large as HE12's k asks for."""
    whole = tables.census_kdd()
    few = min(RECORDS, whole.data.num_rows)
    chosen = np.sort(np.random.default_rng(0).choice(whole.data.num_rows, few, replace=False))
    data = whole.data.take(chosen)
    rows: list[dict[str, object]] = []
    for count in (4, 5, 6):
        models = {name: whole.models[name] for name in COLUMNS[:count]}
        table = Table(f"census_{count}", data.select(list(models)), models)
        for k in (50, 100, 150, 200, 250):
            cb = measure(table, method="two_means", k=k, objective="gcp").loss
            nh = measure(table, method="non_homogeneous", k=k, objective="gcp").loss
            rows.append(
                {
                    "quasi-identifiers": count,
                    "k": k,
                    "two_means": round(cb, 4),
                    "non_homogeneous": round(nh, 4),
                    "ratio": round(cb / nh, 3),
                }
            )
    return rows
