"""GT10 Figures 5 and 6: loss of sequential against frequency ℓ-diversity, Adult 45,222, suppression, lm, k = 50."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.tables import Table, Tables
from shoal.methods.sequential import Sequential
from shoal.privacy import LDiversity, check_feasible
from shoal.problem import Problem
from shoal.progress import silent
from shoal.table import encode, open_frame

K = 50
FIGURES = {
    "5": ("income", (1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.32)),
    "6": ("education", (1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0)),
}


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per figure and ℓ; met where there is more than one group, which is where GT10 gives up."""
    table = tables.adult_15()
    return [
        _row(table, figure, sensitive, l)
        for figure, (sensitive, diversities) in FIGURES.items()
        for l in diversities
    ]


def _row(table: Table, figure: str, sensitive: str, l: float) -> dict[str, object]:
    models = {
        name: model for name, model in table.models.items() if name not in (sensitive, "income")
    }
    encoded = encode(open_frame(table.data), models, [sensitive])
    requirement = LDiversity(l)
    check_feasible(encoded, K, [requirement])
    problem = Problem.of(encoded, "lm", K, requirements=[requirement])
    method = Sequential()
    method.partition(problem.head(4 * K), 0, silent)
    start = time.process_time()
    found = method.partition(problem, 0, silent)
    seconds = time.process_time() - start
    groups = int(found.groups.max()) + 1
    secret = encoded.sensitive[sensitive]
    counts = np.zeros((groups, secret.size))
    np.add.at(counts, (found.groups, secret.codes), 1.0)
    return {
        "figure": figure,
        "sensitive": sensitive,
        "l": l,
        "reached": round(float((counts.sum(axis=1) / counts.max(axis=1)).min()), 4),
        "lm": round(problem.cost(found.groups) / encoded.records / len(models), 4),
        "groups": groups,
        "largest": int(counts.sum(axis=1).max()),
        "cpu_s": round(seconds, 1),
        "met": groups > 1,
        "note": " ".join(found.notes),
    }
