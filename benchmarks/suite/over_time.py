"""Ten nights with 5 % coming and 5 % going: what an attacker with all releases guesses, with previous= and without."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import shoal
from benchmarks.tables import Tables

K, L = 10, 3
SENSITIVE = "occupation"
NIGHTS, PEOPLE, SHARE = 10, 20_000, 0.05
SEED = 0

Beliefs = dict[int, dict[str, float]]


def run(tables: Tables) -> list[dict[str, object]]:
    """A row for every night and way to release it."""
    whole = tables.adult_sample()
    models = {name: model for name, model in whole.models.items() if name != SENSITIVE}
    data = whole.data.filter(pc.is_valid(whole.data[SENSITIVE])).select([*models, SENSITIVE])
    rng = np.random.default_rng(SEED)
    order = rng.permutation(data.num_rows).tolist()
    people = min(PEOPLE, data.num_rows * 2 // 3)
    here, away = order[:people], order[people:]
    previous: list[shoal.Release[Any]] = []
    beliefs: dict[str, Beliefs] = {"previous": {}, "fresh": {}}
    rows = []
    for night in range(NIGHTS):
        if night:
            going = rng.random(len(here)) < SHARE
            gone = [who for who, goes in zip(here, going, strict=True) if goes]
            stay = [who for who, goes in zip(here, going, strict=True) if not goes]
            here, away = stay + away[: len(gone)], away[len(gone) :] + gone
        table = data.take(here).append_column("id", pa.array(here))
        for how in beliefs:
            more: dict[str, Any] = {}
            if how == "previous":
                more = {"previous": previous[-1:], "suppression_limit": 0.1}
            start = time.perf_counter()
            # The secret draws of a series are repeated, too.
            with shoal.testing.fixed_order(SEED):
                release = shoal.anonymize(
                    table,
                    quasi_identifiers=models,
                    sensitive=[SENSITIVE],
                    person="id",
                    k=K,
                    requirements=[shoal.LDiversity(L)],
                    **more,
                )
            seconds = time.perf_counter() - start
            if more:
                previous.append(release)
            _learn(beliefs[how], table, release)
            surest = [max(own.values()) / sum(own.values()) for own in beliefs[how].values()]
            rows.append(
                {
                    "night": night + 1,
                    "release": how,
                    "lm": round(release.loss(), 4),
                    "left_out": release.suppressed,
                    "beyond_promise": round(float(np.mean(np.array(surest) > 1 / L + 1e-9)), 4),
                    "surest": round(max(surest), 3),
                    "seconds": round(seconds, 1),
                }
            )
    return rows


def _learn(beliefs: Beliefs, table: pa.Table, release: shoal.Release[Any]) -> None:
    """Multiply the shares of values in everybody's group over the nights, as if each night was news."""
    values, groups = table[SENSITIVE].to_pylist(), release.groups.tolist()
    counts: dict[int, Counter[str]] = {}
    for group, value in zip(groups, values, strict=True):
        counts.setdefault(group, Counter())[value] += 1
    for who, group in zip(table["id"].to_pylist(), groups, strict=True):
        if group >= 0:
            own = counts[group]
            before = beliefs.get(who, dict.fromkeys(own, 1.0))
            beliefs[who] = {v: before.get(v, 0.0) * own[v] / own.total() for v in own}
