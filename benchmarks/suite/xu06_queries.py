"""XU06 Figure 19: weights 8, 4, 2, 1 and errors of COUNT queries on the first columns, uniform data and Adult."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.tables import Table, Tables
from shoal.evaluation.queries import count_errors

WEIGHTS = (8.0, 4.0, 2.0, 1.0)
RECORDS, QUERIES, K = 10_000, 1_000, 10
METHODS = ("top_down", "cover")
ADULT = ("age", "education", "marital-status", "occupation")


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table, method and number of columns asked about; the paper prints curves, not numbers."""
    rng = np.random.default_rng(6)
    records = min(RECORDS, tables.records or RECORDS)
    uniform = pa.table({f"a{j}": rng.integers(0, 1001, records) for j in range(1, 5)})
    sample = tables.adult_sample()
    adult = Table("adult", sample.data.select(ADULT), {name: sample.models[name] for name in ADULT})
    rows: list[dict[str, object]] = []
    for table in (Table("uniform", uniform, dict.fromkeys(uniform.column_names)), adult):
        names = list(table.models)
        for method in METHODS:
            plain, weighted = (
                shoal.anonymize(
                    table.data,
                    quasi_identifiers=table.models,
                    k=K,
                    objective="ncp",
                    method=method,
                    refine=False,
                    weights=weights,
                ).comparison
                for weights in ({}, dict(zip(names, WEIGHTS, strict=True)))
            )
            for number in range(1, len(names) + 1):
                asked = names[:number]
                errors = [count_errors(c, asked, QUERIES).mean for c in (plain, weighted)]
                before, after = (error or 0.0 for error in errors)
                rows.append(
                    {
                        "table": table.name,
                        "method": method,
                        "columns": ", ".join(asked),
                        "error": round(before, 4),
                        "weighted": round(after, 4),
                        "ratio": round(after / before, 2) if before else None,
                    }
                )
    return rows
