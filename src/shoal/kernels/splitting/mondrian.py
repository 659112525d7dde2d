"""Mondrian's recursion: split a segment on its widest column while all parts meet the requirement, by records or
persons.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.persons.counting import HEADS, begin_group, count_member, suffices
from shoal.kernels.shared.arrays import largest_at, order_of, order_of_codes, taken_rows
from shoal.kernels.shared.forms import (
    LOG,
    TREE,
    column_cost,
    open_closure,
    value_cost,
    widen_closure,
)
from shoal.kernels.shared.rules import complies, count_values


@allocating
def both_comply(q, whole, first, cut, size):
    """Return whether both parts of a segment of `size` records meet the requirement.

    `whole` and `first` are the counts of the segment and of its first part, which has `cut` records.
    """
    if not complies(q, first, cut):
        return False
    rest = np.empty(whole.size, np.int32)
    for v in range(whole.size):
        rest[v] = whole[v] - first[v]
    return complies(q, rest, size - cut)


@allocating
def cut_segment(q, codes, values, null, relaxed):
    """Sort the codes and cut them in two: (order, size of the first part), or size 0 if no cut is allowed.

    Null is cut off if possible. Otherwise the cut is the one nearest to the median at which both parts meet the
    requirement, the lower one of two; equal codes stay together unless `relaxed`.
    """
    order = order_of_codes(codes)
    n = codes.size
    whole, below = np.zeros(q.start[-1], np.int32), np.zeros(q.start[-1], np.int32)
    count_values(values, order, whole)
    if null >= 0:
        known = 0
        for code in codes:
            known += code != null
        count_values(values, order[:known], below)
        if known < n and both_comply(q, whole, below, known, n):
            return order, known
        below[:] = 0
    low, high = n // 2, n // 2
    count_values(values, order[:low], below)
    above = below.copy()
    while low >= q.k or n - high >= q.k:
        if low >= q.k:
            if relaxed or codes[order[low - 1]] != codes[order[low]]:
                if both_comply(q, whole, below, low, n):
                    return order, low
            low -= 1
            for t in range(values.shape[1]):
                below[values[order[low], t]] -= 1
        if n - high >= q.k:
            if relaxed or codes[order[high - 1]] != codes[order[high]]:
                if both_comply(q, whole, above, high, n):
                    return order, high
            for t in range(values.shape[1]):
                above[values[order[high], t]] += 1
            high += 1
    return order, 0


@allocating
def runs_of_children(children):
    """Sort records by child node: (order, where each child's run starts and the last ends, runs by ascending size)."""
    order = order_of_codes(children)
    n = children.size
    starts, runs = np.empty(n + 1, np.int64), 0
    for i in range(n):
        if i == 0 or children[order[i]] != children[order[i - 1]]:
            starts[runs] = i
            runs += 1
    starts[runs] = n
    sizes = np.empty(runs, np.int64)
    for run in range(runs):
        sizes[run] = starts[run + 1] - starts[run]
    return order, starts[: runs + 1], order_of(sizes)


@allocating
def pool_first(order, starts, by_size, alone, pooled):
    """Arrange runs such that those that are not `alone`, of `pooled` records, come first: (order, ends of parts)."""
    arranged, ends = np.empty(order.size, np.int64), np.empty(by_size.size + 1, np.int64)
    in_pool, at, parts = 0, pooled, 0
    if pooled > 0:
        ends[0], parts = pooled, 1
    for run in by_size:
        for place in range(starts[run], starts[run + 1]):
            if alone[run]:
                arranged[at] = order[place]
                at += 1
            else:
                arranged[in_pool] = order[place]
                in_pool += 1
        if alone[run]:
            ends[parts] = at
            parts += 1
    return arranged, ends[:parts]


@allocating
def part_children(q, children, values):
    """Sort records into parts by child node: (order, ends of parts).

    Each child that meets the requirement alone is a part; the others are pooled. A pool that does not meet it takes
    in the smallest children until it does.
    """
    order, starts, by_size = runs_of_children(children)
    alone = np.empty(by_size.size, np.bool_)
    counts, pool = np.zeros(q.start[-1], np.int32), np.zeros(q.start[-1], np.int32)
    pooled = 0
    for run in range(by_size.size):
        size = starts[run + 1] - starts[run]
        counts[:] = 0
        count_values(values, order[starts[run] : starts[run + 1]], counts)
        alone[run] = complies(q, counts, size)
        if not alone[run]:
            for v in range(pool.size):
                pool[v] += counts[v]
            pooled += size
    for run in by_size:
        if pooled == 0 or complies(q, pool, pooled):
            break
        if alone[run]:
            alone[run] = False
            count_values(values, order[starts[run] : starts[run + 1]], pool)
            pooled += starts[run + 1] - starts[run]
    return pool_first(order, starts, by_size, alone, pooled)


@allocating
def split_column(c, q, j, codes, values, segment, closure, relaxed):
    """Split a segment of records on column j: (order within the segment, ends of parts); one part means no split.

    `values` are the sensitive values of the segment's records, `closure` is that of the segment.
    """
    own = codes_to_part(c, j, codes, segment, closure)
    if c.form[j] == TREE:
        return part_children(q, own, values)
    order, cut = cut_segment(q, own, values, c.null[j], relaxed)
    return order, ends_of(cut, segment.size)


@allocating
def ends_of(cut, size):
    """Return the ends of the parts of a segment that is cut in two, or of the whole one if the cut is at 0."""
    ends = np.empty(1 if cut == 0 else 2, np.int64)
    ends[0] = cut
    ends[ends.size - 1] = size
    return ends


@inner
def weigh_columns(c, codes, classes, segment, closure, width, by_class):
    """Fill width[j] with what the closure of a segment costs its records in column j beyond their own values.

    `closure` is filled; `by_class` is scratch.
    """
    open_closure(c, closure, 0, codes[segment[0]])
    for i in range(1, segment.size):
        widen_closure(c, closure, 0, codes[segment[i]])
    for j in range(width.size):
        width[j] = 0.0
        for y in range(by_class.size):
            by_class[y] = column_cost(c, y, j, closure, 0)
        for i in segment:
            width[j] += by_class[classes[i]]
        if c.form[j] == TREE:
            for i in segment:
                width[j] -= c.cost[classes[i], c.start[j] + codes[i, j]]
        elif c.kind[j] == LOG:
            for i in segment:
                width[j] -= value_cost(c, classes[i], j, codes[i, j])


@allocating
def codes_to_part(c, j, codes, segment, closure):
    """Return what a segment is split by in column j: the children of its closure's node in a tree, else the codes."""
    own = np.empty(segment.size, np.int32)
    for i in range(segment.size):
        own[i] = codes[segment[i], j]
    if c.form[j] == TREE:
        base, node = c.start[j], closure[c.slot[j], 0]
        for i in range(own.size):
            while c.parent[base + own[i]] != node:
                own[i] = c.parent[base + own[i]]
    return own


@allocating
def by_place(order, group, records):
    """Return the group of each of `records`, given that of the record at each place of `order`."""
    by_record = np.empty(records.size, np.int32)
    place, rank = order_of_codes(order), order_of_codes(records)
    for at in range(records.size):
        by_record[rank[at]] = group[place[at]]
    return by_record


@kernel
def split_records(c, q, codes, classes, values, records, relaxed):
    """Return the group of each of `records`; if these meet the requirement together, so does every group."""
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
            counted = taken_rows(values, segment)
            weigh_columns(c, codes, classes, segment, closure, width, by_class)
            for _ in range(width.size):
                j = largest_at(width, 0, width.size)
                if width[j] <= 1e-9:
                    break
                arranged, ends = split_column(c, q, j, codes, counted, segment, closure, relaxed)
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


@inner
def part_complies(q, w, segment, order, low, high):
    """Return whether the records at places low..high of an order of a segment comply as a group."""
    begin_group(w)
    for at in range(low, high):
        count_member(w, segment[order[at]])
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
    begin_group(w)
    for at in range(n):
        count_member(w, segment[order[at]])
        below[at + 1] = w.number[HEADS]
    begin_group(w)
    for at in range(n - 1, -1, -1):
        count_member(w, segment[order[at]])
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
    begin_group(w)
    pooled = 0
    for run in range(by_size.size):
        if not alone[run]:
            pooled += starts[run + 1] - starts[run]
            for at in range(starts[run], starts[run + 1]):
                count_member(w, segment[order[at]])
    for run in by_size:
        if pooled == 0 or suffices(q, w):
            break
        if alone[run]:
            alone[run] = False
            pooled += starts[run + 1] - starts[run]
            for at in range(starts[run], starts[run + 1]):
                count_member(w, segment[order[at]])
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
