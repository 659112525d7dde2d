"""Several records per person: what k of persons costs beside k of records, in loss and in seconds.

Persons are made up: one to five records each, drawn at random, or alike: neighbours when the table is sorted by its
quasi-identifiers, as the visits of a patient are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import shoal
from benchmarks.tables import Table, Tables, Unavailable

MOST = 5  # records of a person
K = 10
SEED = 7
METHODS = ("auto", "mondrian")
WARM_UP = 3_000  # records, so that nothing is compiled while the clock runs


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per way to make up persons, method, and what k counts."""
    try:
        table = tables.census_kdd()
    except Unavailable:
        table = tables.adult_sample()
    return [row for alike in (False, True) for row in _rows(table, alike)]


def _rows(table: Table, alike: bool) -> Iterator[dict[str, object]]:
    data = with_persons(table, alike)
    for method in METHODS:
        by_record = None
        for how in ({"identifiers": ["person"]}, {"person": "person"}):
            _released(data.slice(0, WARM_UP), table, method, how)
            start = time.perf_counter()
            release = _released(data, table, method, how)
            seconds = time.perf_counter() - start
            loss = release.loss()
            by_record = loss if by_record is None else by_record
            yield {
                "table": table.name,
                "persons": "alike" if alike else "at random",
                "method": method,
                "k_of": "persons" if "person" in how else "records",
                "groups": release.audit.groups,
                "fewest_persons": _fewest(release, data),
                "lm": round(loss, 5),
                "lm_ratio": round(loss / by_record, 3),
                "seconds": round(seconds, 1),
            }


def with_persons(table: Table, alike: bool) -> pa.Table:
    """The table with a column that tells persons apart."""
    rng = np.random.default_rng(SEED)
    records = table.data.num_rows
    owner = np.repeat(np.arange(records), rng.integers(1, MOST + 1, records))[:records]
    order = rng.permutation(records)
    if alike:
        texts = (table.data[name].cast(pa.string()) for name in reversed([*table.models]))
        keys = [np.asarray(pc.rank(column, tiebreaker="dense")) for column in texts]
        order = np.lexsort(keys)
    person = np.empty(records, dtype=np.int64)
    person[order] = owner
    return table.data.append_column("person", pa.array(person))


def _released(data: pa.Table, table: Table, method: str, how: dict[str, Any]) -> shoal.Release:
    return shoal.anonymize(
        data, quasi_identifiers=table.models, others="drop", k=K, method=method, **how
    )


def _fewest(release: shoal.Release, data: pa.Table) -> int:
    """The persons of the group that has fewest."""
    person = np.asarray(data["person"])
    width = int(person.max()) + 1
    pairs = np.unique(release.groups.astype(np.int64) * width + person)
    return int(np.bincount(pairs // width).min())
