"""New records under the closures of a release: ten batches in a row, what they lose and what their differences tell."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.tables import Tables

K, L = 10, 2
SENSITIVE = "occupation"
FIRST = 0.8  # share of the records in the first release
BATCHES = 10
SEED = 0


def run(tables: Tables) -> list[dict[str, object]]:
    """A row for the last fifth at once, then one for each of ten batches of it."""
    whole = tables.adult_sample()
    models = {name: model for name, model in whole.models.items() if name != SENSITIVE}
    data = whole.data.select([*models, SENSITIVE])
    data = data.take(np.random.default_rng(SEED).permutation(data.num_rows))
    cut = int(FIRST * data.num_rows)
    old, new = data.slice(0, cut), data.slice(cut)
    job: dict[str, Any] = {
        "quasi_identifiers": models,
        "sensitive": [SENSITIVE],
        "k": K,
        "requirements": [shoal.LDiversity(L)],
        "keep_order": True,
    }
    first = shoal.anonymize(old, **job)
    rows = [_row("all at once", first.recoding.apply(new), models)]
    rows[0] |= {
        "lm_first": round(first.loss(), 4),
        "lm_fresh": round(shoal.anonymize(new, **job).loss(), 4),
        "lm_all_fresh": round(shoal.anonymize(data, **job).loss(), 4),
        "lm_batch": round(_loss(new, first.recoding.apply(new), models), 4),
    }
    recoding, held = first.recoding, None
    size = -(-new.num_rows // BATCHES)
    for number in range(BATCHES):
        batch = recoding.apply(new.slice(number * size, size), held=held)
        rows.append(_row(f"batch {number + 1}", batch, models))
        recoding, held = batch.recoding, batch.held
    return rows


def _row(name: str, batch: shoal.Batch[Any], models: Any) -> dict[str, object]:
    """What became of a batch, and what the difference that it makes tells at most."""
    groups: dict[Any, Counter[Any]] = {}
    for row in batch.data.to_pylist() if batch.data is not None else ():
        groups.setdefault(tuple(row[n] for n in models), Counter())[row[SENSITIVE]] += 1
    shares = [max(own.values()) / own.total() for own in groups.values()]
    return {
        "batch": name,
        "taken": batch.taken,
        "regrouped": batch.regrouped,
        "held": batch.held_back,
        "fewest_alike": min((own.total() for own in groups.values()), default=None),
        "surest_value": round(max(shares), 3) if shares else None,
        "singled_out": sum(own.total() for own in groups.values() if own.total() < K),
    }


def _loss(table: pa.Table, batch: shoal.Batch[Any], models: Any) -> float:
    """The loss of the released records of a table, measured in their own values."""
    kept = table.filter(pa.array(batch.is_released))
    return shoal.loss(kept, batch.data, "lm", quasi_identifiers=models)
