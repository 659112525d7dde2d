"""Mondrian's recursion: split a segment of records on its widest column while all parts keep k records."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels.forms import LOG, TREE, column_cost, open_closure, value_cost, widen_closure


@njit(cache=True)
def cut_segment(codes, null, k, relaxed):
    """Sort codes and cut them in two: (order, size of the first part), 0 when no cut is allowed.

    Null is cut off where possible. Otherwise the cut is at the median: exactly there when `relaxed`, and
    else at the nearer end of the median's run of equal codes.
    """
    order = np.argsort(codes, kind="mergesort")
    n = codes.size
    nulls = 0
    if null >= 0:
        nulls = np.sum(codes == null)
        if nulls >= k and n - nulls >= k:
            return order, n - nulls
    middle = n // 2
    if relaxed:
        return order, middle
    value = codes[order[middle]]
    below, above = middle, middle
    while below > 0 and codes[order[below - 1]] == value:
        below -= 1
    while above < n and codes[order[above]] == value:
        above += 1
    near, far = (below, above) if middle - below <= above - middle else (above, below)
    for cut in (near, far):
        if cut >= k and n - cut >= k:
            return order, cut
    return order, 0


@njit(cache=True)
def part_children(children, k):
    """Sort records into parts by child node: children with k records alone, the others pooled.

    A pool below k takes in the smallest children until it has k records. Returns (order, ends of parts).
    """
    order = np.argsort(children, kind="mergesort")
    n = children.size
    starts = [0]
    for i in range(1, n):
        if children[order[i]] != children[order[i - 1]]:
            starts.append(i)
    starts.append(n)
    sizes = np.diff(np.array(starts))
    by_size = np.argsort(sizes, kind="mergesort")
    pooled, pool = 0, 0
    while pooled < sizes.size and (sizes[by_size[pooled]] < k or 0 < pool < k):
        pool += sizes[by_size[pooled]]
        pooled += 1
    arranged = np.empty(n, np.int64)
    ends = np.empty(sizes.size - pooled + (pooled > 0), np.int64)
    at = 0
    for rank in range(sizes.size):
        run = by_size[rank]
        for i in range(starts[run], starts[run + 1]):
            arranged[at] = order[i]
            at += 1
        if rank >= pooled - 1:
            ends[rank - max(0, pooled - 1)] = at
    return arranged, ends


@njit(cache=True)
def split_column(c, j, codes, segment, closure, k, relaxed):
    """Split a segment of records on column j: (order within the segment, ends of parts; one part = no split)."""
    values = np.empty(segment.size, np.int32)
    for i in range(segment.size):
        values[i] = codes[segment[i], j]
    if c.form[j] == TREE:
        s, node = c.start[j], closure[c.slot[j], 0]
        for i in range(values.size):
            while c.parent[s + values[i]] != node:
                values[i] = c.parent[s + values[i]]
        return part_children(values, k)
    order, cut = cut_segment(values, c.null[j], k, relaxed)
    if cut == 0:
        return order, np.array([segment.size])
    return order, np.array([cut, segment.size])


@njit(cache=True)
def split_records(c, codes, classes, records, k, relaxed):
    """Group number of each of `records`."""
    order = records.copy()
    group = np.empty(records.size, np.int32)  # by place in `order`
    stack = [(0, records.size)]
    closure = np.empty((c.slot[-1], 1), np.int32)
    width = np.empty(c.form.size)
    by_class = np.empty(c.cost.shape[0])
    groups = 0
    while len(stack) > 0:
        low, high = stack.pop()
        segment = order[low:high].copy()
        done = True
        if high - low >= 2 * k:
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
            for _ in range(width.size):
                j = np.argmax(width)
                if width[j] <= 1e-9:
                    break
                arranged, ends = split_column(c, j, codes, segment, closure, k, relaxed)
                if ends.size > 1:
                    for i in range(segment.size):
                        order[low + i] = segment[arranged[i]]
                    start = low
                    for end in ends:
                        stack.append((start, low + end))
                        start = low + end
                    done = False
                    break
                width[j] = 0.0
        if done:
            group[low:high] = groups
            groups += 1
    by_record = np.empty(records.size, np.int32)
    place = np.argsort(order, kind="mergesort")
    rank = np.argsort(records, kind="mergesort")
    by_record[rank] = group[place]
    return by_record
