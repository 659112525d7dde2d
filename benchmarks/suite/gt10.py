"""GT10 Table 2 and the order of Figures 1 and 2: Adult 45,222 × 14, suppression, lm."""

from __future__ import annotations

import numpy as np

from benchmarks.tables import Tables
from benchmarks.timing import measure

PUBLISHED = {10: 0.302, 20: 0.340, 30: 0.364, 40: 0.380, 50: 0.394, 100: 0.439}
SEEDS = 3
WITHIN = 0.03
OTHERS = ("agglomerative", "k_member", "mondrian", "hilbert", "cover")


def run(tables: Tables) -> list[dict[str, object]]:
    """Sequential beside the published means, then the other methods for the order of the figures."""
    table = tables.adult_14()
    rows: list[dict[str, object]] = []
    for k, published in PUBLISHED.items():
        runs = [measure(table, method="sequential", k=k, seed=seed) for seed in range(SEEDS)]
        mean = float(np.mean([found.loss for found in runs]))
        rows.append(
            {
                "method": "sequential",
                "k": k,
                "published": published,
                "lm": round(mean, 4),
                "ratio": round(mean / published, 3),
                "wall_s": round(float(np.mean([found.wall for found in runs])), 1),
                "met": abs(mean / published - 1) <= WITHIN,
            }
        )
    for method in OTHERS:
        for k in (10, 50):
            found = measure(table, method=method, k=k)
            row = {"method": method, "k": k, "lm": round(found.loss, 4)}
            rows.append(row | {"wall_s": round(found.wall, 1)})
    return rows
