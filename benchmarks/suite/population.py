"""How near estimates of unique people come: a census as all people, random parts of it as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.tables import Tables
from shoal.assess.population import estimate_uniqueness

SHARES = (0.01, 0.05, 0.1, 0.3, 0.5, 0.9)
CHOICES = {"first 5": (0, 1, 2, 3, 4), "5 others": (0, 2, 3, 4, 6), "all 8": tuple(range(8))}


def run(tables: Tables) -> list[dict[str, Any]]:
    """A row for each choice of quasi-identifiers and share of people in the table."""
    data = tables.census_kdd().data
    names = list(tables.census_kdd().models)
    codes = np.stack([_codes(data[name]) for name in names], axis=1)
    rows = []
    for name, columns in CHOICES.items():
        people = codes[:, list(columns)]
        unique = int(np.count_nonzero(_sizes(people) == 1))
        for share in SHARES:
            drawn = np.random.default_rng(1).choice(
                len(people), int(share * len(people)), replace=False
            )
            found = estimate_uniqueness(_sizes(people[drawn]), len(people))
            estimates = {"pitman": found.pitman, "zayatz": found.zayatz, "snb": found.snb}
            rows.append(
                {
                    "quasi_identifiers": name,
                    "share": share,
                    "unique": unique,
                    **{
                        model: None if value is None else round(value / unique, 2)
                        for model, value in estimates.items()
                    },
                    "chosen": found.chosen,
                    "chosen_x": round(found.people / unique, 2),
                }
            )
    return rows


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.dictionary_encode(column.combine_chunks()).indices)


def _sizes(records: np.ndarray) -> np.ndarray:
    return np.unique(records, axis=0, return_counts=True)[1]
