"""Mondrian's recursion with persons counted: a segment is split while all parts comply by their persons.

It is that of `splitting.mondrian` but for what is asked of the parts.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.persons.counting import HEADS, begin, count, suffices
from shoal.kernels.shared.arrays import largest_at, order_of_codes
from shoal.kernels.shared.forms import TREE
from shoal.kernels.splitting.mondrian import (
    by_place,
    codes_to_part,
    ends_of,
    pool_first,
    runs_of_children,
    weigh_columns,
)


@inner
def part_complies(q, w, segment, order, low, high):
    """Return whether the records at places low..high of an order of a segment comply as a group."""
    begin(w)
    for at in range(low, high):
        count(w, segment[order[at]])
    return suffices(q, w)


@inner
def cut_complies(q, w, segment, order, cut, below, above):
    """Return whether both parts of a cut comply; `below` and `above` are the persons on either side of every cut."""
    if below[cut] < q.k or above[cut] < q.k:
        return False
    if w.total.size == 0:
        return True
    return part_complies(q, w, segment, order, 0, cut) and part_complies(
        q, w, segment, order, cut, order.size
    )


@allocating
def cut_persons(q, w, codes, segment, null, relaxed):
    """Sort the codes and cut them in two as `cut_segment` does: (order, size of the first part), or size 0."""
    order = order_of_codes(codes)
    n = codes.size
    below, above = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    begin(w)
    for at in range(n):
        count(w, segment[order[at]])
        below[at + 1] = w.number[HEADS]
    begin(w)
    for at in range(n - 1, -1, -1):
        count(w, segment[order[at]])
        above[at] = w.number[HEADS]
    if null >= 0:
        known = 0
        for code in codes:
            known += code != null
        if 0 < known < n and cut_complies(q, w, segment, order, known, below, above):
            return order, known
    low, high = n // 2, n // 2
    while low >= q.k or n - high >= q.k:
        if low >= q.k:
            if relaxed or codes[order[low - 1]] != codes[order[low]]:
                if cut_complies(q, w, segment, order, low, below, above):
                    return order, low
            low -= 1
        if n - high >= q.k:
            if relaxed or codes[order[high - 1]] != codes[order[high]]:
                if cut_complies(q, w, segment, order, high, below, above):
                    return order, high
            high += 1
    return order, 0


@allocating
def part_persons(q, w, children, segment):
    """Sort records into parts by child node as `part_children` does: (order, ends of parts)."""
    order, starts, by_size = runs_of_children(children)
    alone = np.empty(by_size.size, np.bool_)
    for run in range(by_size.size):
        alone[run] = part_complies(q, w, segment, order, starts[run], starts[run + 1])
    begin(w)
    pooled = 0
    for run in range(by_size.size):
        if not alone[run]:
            pooled += starts[run + 1] - starts[run]
            for at in range(starts[run], starts[run + 1]):
                count(w, segment[order[at]])
    for run in by_size:
        if pooled == 0 or suffices(q, w):
            break
        if alone[run]:
            alone[run] = False
            pooled += starts[run + 1] - starts[run]
            for at in range(starts[run], starts[run + 1]):
                count(w, segment[order[at]])
    if pooled > 0 and not suffices(q, w):  # all children together are the segment
        return order, ends_of(0, children.size)
    return pool_first(order, starts, by_size, alone, pooled)


@kernel
def split_by_persons(c, q, w, codes, classes, records, relaxed):
    """Return the group of each of `records`; if these comply together, so does every group."""
    order = records.copy()
    group = np.empty(records.size, np.int32)  # the group of the record at each place of `order`
    stack, depth = np.empty((records.size + 1, 2), np.int64), 1  # where segments begin and end
    stack[0, 0], stack[0, 1] = 0, records.size
    closure = np.empty((c.slot[-1], 1), np.int32)
    width = np.empty(c.form.size)
    by_class = np.empty(c.cost.shape[0])
    groups = 0
    while depth > 0:
        depth -= 1
        low, high = stack[depth, 0], stack[depth, 1]
        segment = order[low:high].copy()
        done = True
        if high - low >= 2 * q.k:
            weigh_columns(c, codes, classes, segment, closure, width, by_class)
            for _ in range(width.size):
                j = largest_at(width, 0, width.size)
                if width[j] <= 1e-9:
                    break
                own = codes_to_part(c, j, codes, segment, closure)
                if c.form[j] == TREE:
                    arranged, ends = part_persons(q, w, own, segment)
                else:
                    arranged, cut = cut_persons(q, w, own, segment, c.null[j], relaxed)
                    ends = ends_of(cut, segment.size)
                if ends.size > 1:
                    for i in range(segment.size):
                        order[low + i] = segment[arranged[i]]
                    start = low
                    for end in ends:
                        stack[depth, 0], stack[depth, 1] = start, low + end
                        start = low + end
                        depth += 1
                    done = False
                    break
                width[j] = 0.0
        if done:
            group[low:high] = groups
            groups += 1
    return by_place(order, group, records)
