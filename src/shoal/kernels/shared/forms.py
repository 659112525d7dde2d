"""The three forms a quasi-identifier compiles to, and the arithmetic of closures in them.

A group's closure is one column of an int32 array `closures[slot, group]`:

- TREE takes one slot, a node id. Children have smaller ids than their parents and values are the first ids, so the
  lower of two different nodes is never an ancestor of the other.
- RANGE takes two slots, the lowest and the highest code. A null has the highest code of all; a range that reaches
  it from below is the whole domain.
- SET takes a bit for each code, 31 to a slot. A set that holds null and anything else is the whole domain.

What a closure costs a record may depend on the record's class (its sensitive value, for `pmi`); most measures have
a single class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel

TREE, RANGE, SET = 0, 1, 2
LINEAR, LOG, ENTROPY, WEIGHED_ENTROPY = 0, 1, 2, 3
BITS = 31  # codes per slot of a set; the sign bit of the int32 stays unused


@bundle
class Compiled(NamedTuple):
    """All quasi-identifiers and what their closures cost, in flat arrays.

    Column j owns the entries start[j]:start[j + 1]. An entry is a node of a tree, or a code of a range or set;
    ranges have one entry more than codes.
    """

    form: np.ndarray  # int64[r], TREE, RANGE or SET
    start: np.ndarray  # int64[r + 1], the first entry of each column in the entry arrays below
    slot: np.ndarray  # int64[r + 1], the first row of each column in an array of closures
    null: np.ndarray  # int64[r], the code of null, -1 if the column has none
    kind: np.ndarray  # int64[r], how RANGE and SET costs follow from their sums: LINEAR, LOG, …
    jump: np.ndarray  # float64[r], LINEAR: added to the cost of any closure of several values
    scale: np.ndarray  # float64[r], the factor of all kinds but LINEAR
    blend: np.ndarray  # float64[r], LOG: the factor of the logarithm of the class's own records
    unit: np.ndarray  # float64[r], RANGE and LINEAR: cost per code if all steps are equal, else 0
    parent: np.ndarray  # int32[entries], TREE: the parent of each node
    cost: np.ndarray  # float64[classes, entries], TREE: of a node; RANGE: prefix sums; SET: addends
    records: np.ndarray  # float64[entries], number of records. RANGE: prefix sums; SET: addends
    # float64[classes, entries], the same for n·log2(n) (ENTROPY) or the class's records (LOG)
    second: np.ndarray


@njit(inline="always")
def meet(parent, start, a, b):
    """Return the lowest common ancestor of two nodes of the tree whose entries begin at `start`."""
    while a != b:
        if a < b:
            a = parent[start + a]
        else:
            b = parent[start + b]
    return a


@inner
def spread_cost(c, j, several, linear, records, second):
    """Return the cost of a RANGE or SET closure of column j from the sums over its values.

    `several` says whether it holds more than one value; `linear`, `records` and `second` are the sums of the three
    entry arrays `cost`, `records` and `second` of `Compiled`.
    """
    kind = c.kind[j]
    if kind == LINEAR:
        return c.jump[j] + linear if several else 0.0
    if records <= 0.0:
        return 0.0
    if kind == LOG:
        own = c.blend[j] * np.log2(second) if second > 0.0 else 0.0
        return c.scale[j] * (np.log2(records) - own)
    if not several:
        return 0.0
    if kind == ENTROPY:
        return c.scale[j] * max(0.0, np.log2(records) - second / records)
    return c.scale[j] * max(0.0, records * np.log2(records) - second)


@inner
def range_cost(c, y, j, low, high):
    """Return what the range low..high (both included) of column j costs a record of class y."""
    if high == c.null[j]:
        low = low if low == high else 0
    if c.unit[j] > 0.0:
        return c.jump[j] + (high - low) * c.unit[j] if low < high else 0.0
    base = c.start[j]
    return spread_cost(
        c,
        j,
        low < high,
        c.cost[y, base + high] - c.cost[y, base + low],
        c.records[base + high + 1] - c.records[base + low],
        c.second[y, base + high + 1] - c.second[y, base + low],
    )


@inner
def set_sums(c, y, j, closures, g, others, h, extra):
    """Return the size and the three sums of the union of up to two sets of column j and one more code.

    The sets are those of closures[:, g] and others[:, h]; h is -1 without a second set, `extra` is -1 without a
    further code. The sums are those that `spread_cost` takes.
    """
    base, first = c.start[j], c.slot[j]
    size, linear, records, second = 0, 0.0, 0.0, 0.0
    has_null = False
    for word_at in range(c.slot[j + 1] - first):
        word = closures[first + word_at, g]
        if h >= 0:
            word |= others[first + word_at, h]
        if extra >= 0 and extra // BITS == word_at:
            word |= 1 << (extra % BITS)
        e = base + word_at * BITS
        while word:
            if word & 1:
                size += 1
                linear += c.cost[y, e]
                records += c.records[e]
                second += c.second[y, e]
                has_null |= e - base == c.null[j]
            word >>= 1
            e += 1
    if has_null and size > 1:
        linear, records, second = 0.0, 0.0, 0.0
        for e in range(base, c.start[j + 1]):
            linear += c.cost[y, e]
            records += c.records[e]
            second += c.second[y, e]
    return size, linear, records, second


@inner
def set_cost(c, y, j, closures, g, others, h, extra):
    """Return what the union that `set_sums` describes costs a record of class y."""
    size, linear, records, second = set_sums(c, y, j, closures, g, others, h, extra)
    return spread_cost(c, j, size > 1, linear, records, second)


@inner
def column_cost(c, y, j, closures, g):
    """Return what column j of closure g costs a record of class y."""
    first = c.slot[j]
    if c.form[j] == TREE:
        return c.cost[y, c.start[j] + closures[first, g]]
    if c.form[j] == RANGE:
        return range_cost(c, y, j, closures[first, g], closures[first + 1, g])
    return set_cost(c, y, j, closures, g, closures, -1, -1)


@inner
def value_cost(c, y, j, code):
    """Return what the closure of a single value of column j costs: 0 except for the kind LOG."""
    e = c.start[j] + code
    if c.form[j] == TREE:
        return c.cost[y, e]
    if c.form[j] == RANGE:
        return range_cost(c, y, j, code, code)
    return spread_cost(c, j, False, 0.0, c.records[e], c.second[y, e])


@inner
def closure_cost(c, y, closures, g):
    """Return what closure g costs a record of class y, summed over all columns."""
    total = 0.0
    for j in range(c.form.size):
        total += column_cost(c, y, j, closures, g)
    return total


@kernel
def cost_of_closure(c, y, closures, g):
    """Return what closure g costs a record of class y; `closure_cost` for calls from Python."""
    return closure_cost(c, y, closures, g)


@inner
def total_cost(c, closures, counts, g):
    """Return what closure g costs all records of a group together; counts[y, g] of them are of class y."""
    total = 0.0
    for y in range(counts.shape[0]):
        if counts[y, g] > 0.0:
            total += counts[y, g] * closure_cost(c, y, closures, g)
    return total


@inner
def open_closure(c, closures, g, record):
    """Set closure g to that of a single record, given by its codes."""
    for j in range(c.form.size):
        first = c.slot[j]
        code = record[j]
        if c.form[j] == SET:
            for slot in range(first, c.slot[j + 1]):
                closures[slot, g] = 0
            closures[first + code // BITS, g] = 1 << (code % BITS)
        else:
            closures[first, g] = code
            if c.form[j] == RANGE:
                closures[first + 1, g] = code


@inner
def widen_closure(c, closures, g, record):
    """Widen closure g so that it also covers a record, given by its codes."""
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


@inner
def join_closures(c, closures, g, others, h):
    """Widen closure g so that it also covers closure h of `others`."""
    for j in range(c.form.size):
        first = c.slot[j]
        if c.form[j] == TREE:
            closures[first, g] = meet(c.parent, c.start[j], closures[first, g], others[first, h])
        elif c.form[j] == RANGE:
            closures[first, g] = min(closures[first, g], others[first, h])
            closures[first + 1, g] = max(closures[first + 1, g], others[first + 1, h])
        else:
            for slot in range(first, c.slot[j + 1]):
                closures[slot, g] |= others[slot, h]
