"""People on engines: tests take the fixtures `engine`, `carrier` or `on`, and so say the same of every engine."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fuzz.engines import collected, frame_on

from shoal.data.open import library_problem

ENGINES = ("duckdb", "polars")
needs_duckdb = pytest.mark.skipif(bool(library_problem("duckdb")), reason="needs DuckDB")

ASKED: dict[str, Any] = {
    "quasi_identifiers": ["age", "town"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "keep": ["ward"],
    "allow": {"ward": "unique"},
    "k": 4,
    "method": "cover",
    "refine": False,
}


def people(records: int = 400, seed: int = 0) -> pa.Table:
    """A table of patients, to be asked for as `ASKED` says."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(records)],
            "age": rng.integers(20, 60, records),
            "town": rng.choice(["Lyon", "Paris", "Porto", None], records, p=[0.5, 0.3, 0.15, 0.05]),
            "ill": rng.choice(["flu", "cold", "none"], records),
            "ward": rng.integers(0, 5, records),
        }
    )


def skip_without(engine: str) -> None:
    """Skip a test whose engine is not installed."""
    for reason in library_problem(engine) if engine != "memory" else ():
        pytest.skip(reason)


def put_on(carrier: str, table: pa.Table, session: Any = None) -> Any:
    """A table where a carrier has it: as it is in memory, or as a lazy frame of an engine."""
    if carrier == "memory":
        return table
    if carrier == "polars":
        import polars as pl

        return pl.from_arrow(table).lazy()
    return frame_on(carrier, table, session)


def as_arrow(data: Any) -> pa.Table:
    """The data of a release, wherever it is."""
    found = collected(data)
    return found if isinstance(found, pa.Table) else found.to_arrow()


def rows_of(data: Any) -> Counter[str]:
    """The records of a release in no order."""
    return Counter(str(tuple(row.values())) for row in as_arrow(data).to_pylist())
