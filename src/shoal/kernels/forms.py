"""The three forms a quasi-identifier compiles to, and the arithmetic of closures in them.

A group's closure is one column of an int32 array `closures[slot, group]`:

- TREE takes one slot, a node id. Children have smaller ids than their parents and values are the first
  ids, so the lower of two different nodes is never an ancestor of the other.
- RANGE takes two slots, the lowest and the highest code. A null has the highest code of all; a range
  that reaches it from below is the whole domain.
- SET takes a bit for each code, 31 to a slot. A set that holds null and anything else is the whole domain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

TREE, RANGE, SET = 0, 1, 2
LINEAR, LOG, ENTROPY, WEIGHED_ENTROPY = 0, 1, 2, 3
BITS = 31  # codes to a slot of a set: the sign bit stays out of it


class Compiled(NamedTuple):
    """All quasi-identifiers and what their closures cost, flat: column j owns entries start[j]:start[j+1]."""

    form: np.ndarray  # int64[r]
    start: np.ndarray  # int64[r + 1], into the entry arrays below
    slot: np.ndarray  # int64[r + 1], into the rows of a closure array
    null: np.ndarray  # int64[r], the code of null, -1 where there is none
    kind: np.ndarray  # int64[r], how RANGE and SET costs follow from their sums
    jump: np.ndarray  # float64[r], LINEAR: what any closure of several values costs beside its sum
    scale: np.ndarray  # float64[r], what the other kinds are multiplied by
    parent: np.ndarray  # int32[entries], TREE
    cost: np.ndarray  # float64[entries], TREE: of a node; RANGE: prefix sums; SET: addends
    records: np.ndarray  # float64[entries], records: RANGE: prefix sums; SET: addends
    records_log: np.ndarray  # float64[entries], n·log2(n) of each value's records likewise
    base: np.ndarray  # float64[entries], what a record adds by its own code, whatever its closure


@njit(cache=True, inline="always")
def meet(parent, start, a, b):
    """Lowest common ancestor of two nodes of the tree whose entries begin at `start`."""
    while a != b:
        if a < b:
            a = parent[start + a]
        else:
            b = parent[start + b]
    return a


@njit(cache=True)
def spread_cost(kind, jump, scale, several, linear, p, q):
    """Cost of a RANGE or SET closure from the sums over its values."""
    if kind == LINEAR:
        return jump + linear if several else 0.0
    if kind == LOG:
        return scale * np.log2(p) if p > 0.0 else 0.0
    if not several or p <= 0.0:
        return 0.0
    if kind == ENTROPY:
        return scale * max(0.0, np.log2(p) - q / p)
    return scale * max(0.0, p * np.log2(p) - q)


@njit(cache=True)
def range_cost(c, j, low, high):
    """Cost of the range low..high of column j."""
    if high == c.null[j]:
        low = low if low == high else 0
    s = c.start[j]
    return spread_cost(
        c.kind[j],
        c.jump[j],
        c.scale[j],
        low < high,
        c.cost[s + high] - c.cost[s + low],
        c.records[s + high + 1] - c.records[s + low],
        c.records_log[s + high + 1] - c.records_log[s + low],
    )


@njit(cache=True)
def set_cost(c, j, closures, g, extra):
    """Cost of the set of column j in closure g, with one code more when `extra` is not negative."""
    s, first = c.start[j], c.slot[j]
    words = c.slot[j + 1] - first
    size, linear, p, q = 0, 0.0, 0.0, 0.0
    has_null = False
    for w in range(words):
        word = closures[first + w, g]
        if extra >= 0 and extra // BITS == w:
            word |= 1 << (extra % BITS)
        while word:
            low = word & -word
            code = w * BITS
            while low > 1:
                low >>= 1
                code += 1
            word &= word - 1
            size += 1
            linear += c.cost[s + code]
            p += c.records[s + code]
            q += c.records_log[s + code]
            has_null |= code == c.null[j]
    if has_null and size > 1:
        linear, p, q = 0.0, 0.0, 0.0
        for e in range(s, c.start[j + 1]):
            linear += c.cost[e]
            p += c.records[e]
            q += c.records_log[e]
    return spread_cost(c.kind[j], c.jump[j], c.scale[j], size > 1, linear, p, q)


@njit(cache=True)
def column_cost(c, j, closures, g):
    """What closure g costs a record in column j."""
    first = c.slot[j]
    if c.form[j] == TREE:
        return c.cost[c.start[j] + closures[first, g]]
    if c.form[j] == RANGE:
        return range_cost(c, j, closures[first, g], closures[first + 1, g])
    return set_cost(c, j, closures, g, -1)


@njit(cache=True)
def closure_cost(c, closures, g):
    """What closure g costs a record in all columns."""
    total = 0.0
    for j in range(c.form.size):
        total += column_cost(c, j, closures, g)
    return total


@njit(cache=True)
def cost_with(c, closures, g, record):
    """What closure g would cost a record if it also covered `record` (one code per column)."""
    total = 0.0
    for j in range(c.form.size):
        first = c.slot[j]
        code = record[j]
        if c.form[j] == TREE:
            s = c.start[j]
            total += c.cost[s + meet(c.parent, s, closures[first, g], code)]
        elif c.form[j] == RANGE:
            low, high = closures[first, g], closures[first + 1, g]
            total += range_cost(c, j, min(low, code), max(high, code))
        else:
            total += set_cost(c, j, closures, g, code)
    return total


@njit(cache=True)
def open_closure(c, closures, g, record):
    """Make closure g that of a single record."""
    for j in range(c.form.size):
        first = c.slot[j]
        code = record[j]
        closures[first, g] = code
        if c.form[j] == RANGE:
            closures[first + 1, g] = code
        elif c.form[j] == SET:
            for s in range(first, c.slot[j + 1]):
                closures[s, g] = 0
            closures[first + code // BITS, g] = 1 << (code % BITS)


@njit(cache=True)
def widen_closure(c, closures, g, record):
    """Let closure g also cover a record."""
    for j in range(c.form.size):
        first = c.slot[j]
        code = record[j]
        if c.form[j] == TREE:
            closures[first, g] = meet(c.parent, c.start[j], closures[first, g], code)
        elif c.form[j] == RANGE:
            closures[first, g] = min(closures[first, g], code)
            closures[first + 1, g] = max(closures[first + 1, g], code)
        else:
            closures[first + code // BITS, g] |= 1 << (code % BITS)
