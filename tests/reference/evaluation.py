"""Slow, obvious twins of what evaluations compute."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from shoal.assess.comparison import Comparison, comparison_of
from shoal.settings.settings import Settings


def members_of(form: Any, closure: Any) -> list[int]:
    """The values of a closure, read from the closure itself."""
    kind = type(form).__name__
    if kind in ("RangeForm", "OrderForm"):
        return list(range(closure[0], closure[1] + 1))
    if kind == "SetForm":
        return [code for code in range(form.size) if closure[code // 31] >> (code % 31) & 1]
    found = []
    for code in range(form.size):
        node = code
        while node != closure[0] and node != form.parent[node]:
            node = form.parent[node]
        if node == closure[0]:
            found.append(code)
    return found


def compared(sample: Any, groups: list[int], k: int = 1) -> Comparison:
    """A sample beside its release in these groups."""
    settings = Settings(sample.models, tuple(sample.sensitive), k=k)
    closed = sample.problem("lm").close(np.array(groups, dtype=np.int32))
    return comparison_of(closed, settings)


def spread_cells(comparison: Comparison) -> list[list[dict[int, float]]]:
    """Per column and released record, each value's share of the record's cell; sensitive columns last."""
    found = []
    for j, column in enumerate(comparison.table.columns):
        closures = comparison.of_column(j)
        cells = [members_of(column.form, closures[:, g]) for g in comparison.groups]
        found.append([{v: 1 / len(cell) for v in cell} for cell in cells])
    for codes in comparison.released.values():
        found.append([{int(v): 1.0} for v in codes])
    return found


def original_cells(comparison: Comparison) -> list[list[dict[int, float]]]:
    """The same of the original records, whose cells are single values."""
    table = comparison.table
    codes = [*table.codes.T, *(column.codes for column in table.sensitive.values())]
    return [[{int(v): 1.0} for v in column] for column in codes]


def exact_answer(comparison: Comparison, query: dict[int, Any], amounts: Any) -> float:
    """The amounts of the original records that meet a query's condition, a closure, in every column."""
    columns = comparison.table.columns
    wanted = {j: members_of(columns[j].form, condition) for j, condition in query.items()}
    rows = enumerate(comparison.table.codes.tolist())
    return sum(amounts[i] for i, row in rows if all(row[j] in wanted[j] for j in query))


def estimated_answer(comparison: Comparison, query: dict[int, Any], amounts: Any) -> float:
    """The amounts of all groups, each times the share of its closures that meets a query's conditions."""
    columns, total = comparison.table.columns, 0.0
    for g, amount in enumerate(amounts):
        for j, condition in query.items():
            wanted = set(members_of(columns[j].form, condition))
            inside = members_of(columns[j].form, comparison.of_column(j)[:, g])
            amount *= len(wanted & set(inside)) / len(inside)
        total += amount
    return total


def in_parts(cells: list[list[dict[int, float]]], parts: list[list[int]]) -> Any:
    """Cells by part of their column instead of value."""
    found = []
    for column, part in zip(cells, parts, strict=True):
        found.append([])
        for cell in column:
            joined: dict[int, float] = {}
            for value, share in cell.items():
                joined[part[value]] = joined.get(part[value], 0.0) + share
            found[-1].append(joined)
    return found


Item = tuple[int, int]  # column, value


def rules_of(
    cells: list[list[dict[int, float]]], support: float, confidence: float
) -> dict[tuple[frozenset[Item], Item], float]:
    """Rules of two and three items with their confidence, by trying all of them."""
    records = range(len(cells[0]))
    items = sorted({(j, v) for j, column in enumerate(cells) for cell in column for v in cell})

    def supported(chosen: frozenset[Item]) -> float:
        shares = [np.prod([cells[j][i].get(v, 0.0) for j, v in chosen]) for i in records]
        return float(np.mean(shares))

    found = {}
    for size in (2, 3):
        for chosen in combinations(items, size):
            if len({j for j, _ in chosen}) < size:
                continue
            together = supported(frozenset(chosen))
            for item in chosen:
                first = frozenset(chosen) - {item}
                given = supported(first)
                sure = together / given if given else 0.0
                if together >= support * (1 - 1e-12) and sure >= confidence * (1 - 1e-12):
                    found[first, item] = sure
    return found
