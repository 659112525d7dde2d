"""All releases of tiny tables, and what each loses by the plain definitions: the optimum that no bound may exceed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, log2
from typing import Any

import numpy as np
import pandas as pd
from allowed import allowing

import shoal

TREE = {"1": ["1"], "2": ["2"], "3": ["3"], "4": ["4"], "12": ["1", "2"], "34": ["3", "4"]}
FLAT = {value: [value] for value in "abc"}
WHOLE = {"x": ["1", "2", "3", "4"], "y": ["a", "b", "c"]}
SETS = {"x": [*TREE.values(), WHOLE["x"]], "y": [*FLAT.values(), WHOLE["y"]]}
MODELS = {
    "x": shoal.Hierarchy.from_dict({"*": {"12": ["1", "2"], "34": ["3", "4"]}}),
    "y": shoal.Suppression(domain=WHOLE["y"]),
}
Cost = Callable[[pd.DataFrame, str, list[str], int], float]


def entropy(table: pd.DataFrame, column: str, closure: list[str], record: int) -> float:
    inside = table[column][table[column].isin(closure)].value_counts(normalize=True)
    return float(-(inside * np.log2(inside)).sum())


def monotone_entropy(table: pd.DataFrame, column: str, closure: list[str], record: int) -> float:
    return float(table[column].isin(closure).mean()) * entropy(table, column, closure, record)


def mi(table: pd.DataFrame, column: str, closure: list[str], record: int) -> float:
    own = (table[column] == table[column][record]).sum()
    return -log2(own / table[column].isin(closure).sum())


def pmi(table: pd.DataFrame, column: str, closure: list[str], record: int) -> float:
    inside = table["s"][table[column].isin(closure)]
    return -log2((inside == table["s"][record]).mean())


def wmi(table: pd.DataFrame, column: str, closure: list[str], record: int) -> float:
    both = mi(table, column, closure, record), pmi(table, column, closure, record)
    return sum(both) / 2


def lm(table: pd.DataFrame, column: str, closure: list[str], record: int) -> float:
    return (len(closure) - 1) / (len(WHOLE[column]) - 1)


COSTS: dict[str, Cost] = {
    "entropy": entropy,
    "monotone_entropy": monotone_entropy,
    "mi": mi,
    "pmi": pmi,
    "wmi": wmi,
    "lm": lm,
}


def partitions(records: list[int], k: int) -> Iterator[list[list[int]]]:
    """All ways to cut records into groups of at least k."""
    if not records:
        yield []
        return
    first, *rest = records
    for mask in range(1 << len(rest)):
        group = [first, *(r for i, r in enumerate(rest) if mask >> i & 1)]
        if len(group) >= k:
            left = [r for i, r in enumerate(rest) if not mask >> i & 1]
            yield from ([group, *more] for more in partitions(left, k))


def least_loss(table: pd.DataFrame, k: int, cost: Cost, distinct: int = 1) -> float:
    """The least loss of all releases: any groups of k, any allowed closures that cover them.

    With `distinct`, every group has so many values of `s`; the loss is infinite if there are no such groups.
    """
    records = range(len(table))
    covered = {
        column: [table[column].isin(closure).tolist() for closure in sets]
        for column, sets in SETS.items()
    }
    costs = {
        column: [
            [
                cost(table, column, closure, record) if covered[column][c][record] else inf
                for record in records
            ]
            for c, closure in enumerate(sets)
        ]
        for column, sets in SETS.items()
    }

    def of_group(group: list[int]) -> float:
        return sum(
            min(
                sum(costs[column][c][record] for record in group)
                for c, inside in enumerate(covered[column])
                if all(inside[record] for record in group)
            )
            for column in SETS
        )

    known: dict[tuple[int, ...], float] = {}
    least = inf
    for groups in partitions(list(records), k):
        total = 0.0
        for group in groups:
            key = tuple(group)
            if key not in known:
                is_met = table["s"][group].nunique() >= distinct
                known[key] = of_group(group) if is_met else inf
            total += known[key]
        least = min(least, total)
    return least / (len(table) * len(SETS))


def random_table(seed: int) -> tuple[pd.DataFrame, int]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    shares = rng.dirichlet([0.6] * 4)
    table = pd.DataFrame(
        {
            "x": rng.choice(WHOLE["x"], n, p=shares),
            "y": rng.choice(WHOLE["y"], n),
            "s": rng.choice(list("uv"), n),
        }
    )
    return table, int(rng.integers(2, 4))


def release_of(
    table: pd.DataFrame, k: int, objective: str, distinct: int = 1, **options: Any
) -> shoal.Release:
    """What shoal makes of a table, with so many values of `s` in every group."""
    return shoal.anonymize(
        table,
        quasi_identifiers=MODELS,
        sensitive=["s"],
        allow=allowing("s"),
        k=k,
        objective=objective,
        requirements=[shoal.LDiversity(distinct, kind="distinct")] if distinct > 1 else (),
        **options,
    )
