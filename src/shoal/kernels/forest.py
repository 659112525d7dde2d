"""A forest of short links with trees of at least k records, and its cutting into small trees (GiT09 §6.4).

Vertices are distinct points with a number of records each; links between equal records have length 0 and
are not spelled out. `link[p]` is the point that p links to, −1 for the root of a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels.forms import open_closure, value_cost
from shoal.kernels.rows import cover_costs


class Forest(NamedTuple):
    """Trees in the making, each known by its root."""

    link: np.ndarray  # int32[points]
    length: np.ndarray  # float64[points], of the link
    tree: np.ndarray  # int32[points], the root of the point's tree
    after: np.ndarray  # int32[points], the next point of the same tree, −1 at the end
    last: np.ndarray  # int32[points], of a root: the last point of its tree
    size: np.ndarray  # int64[points], of a root: the records of its tree
    near: np.ndarray  # int32[points], of a root below k: the nearest point found outside its tree
    gap: np.ndarray  # float64[points], its distance, a lower bound once it is inside; else infinite


def make_forest(weights):
    """Every point a tree of its own."""
    points = weights.size
    own = np.arange(points, dtype=np.int32)
    return Forest(
        np.full(points, -1, np.int32),
        np.zeros(points),
        own.copy(),
        np.full(points, -1, np.int32),
        own.copy(),
        weights.astype(np.int64),
        np.full(points, -1, np.int32),
        np.full(points, np.inf),
    )


@njit(cache=True)
def nearest_outside(c, pairs, codes, columns, classes, tree, p, closure, out):
    """The point closest to p outside its tree, lowest number first, and what meeting it adds to p's cost."""
    open_closure(c, closure, 0, codes[p])
    cover_costs(c, pairs, columns, tree.size, closure, 0, classes[p], out)
    best, least = -1, np.inf
    for i in range(tree.size):
        if out[i] < least and tree[i] != tree[p]:
            best, least = i, out[i]
    for j in range(c.form.size):
        least -= value_cost(c, classes[p], j, codes[p, j])
    return best, least


@njit(cache=True)
def all_nearest(c, pairs, codes, columns, classes, f, k, start, stop):
    """Fill `near` and `gap` for those of the points start..stop that have fewer than k records."""
    closure, out = np.empty((c.slot[-1], 1), np.int32), np.empty(f.tree.size)
    for p in range(start, stop):
        if f.size[p] < k:
            f.near[p], f.gap[p] = nearest_outside(
                c, pairs, codes, columns, classes, f.tree, p, closure, out
            )


@njit(cache=True)
def link_trees(c, pairs, codes, columns, classes, f, k, steps):
    """Link the root of a tree below k, the one with the shortest link first, up to `steps` times.

    Returns the links made: fewer than `steps` once every tree has k records.
    """
    closure, out = np.empty((c.slot[-1], 1), np.int32), np.empty(f.tree.size)
    done = 0
    while done < steps:
        p = np.argmin(f.gap)
        if f.near[p] < 0 or f.gap[p] == np.inf:
            break
        root = f.tree[f.near[p]]
        if root == p:
            f.near[p], f.gap[p] = nearest_outside(
                c, pairs, codes, columns, classes, f.tree, p, closure, out
            )
            continue
        f.link[p], f.length[p] = f.near[p], f.gap[p]
        f.gap[p] = np.inf
        i = p
        while i >= 0:
            f.tree[i] = root
            i = f.after[i]
        f.after[f.last[root]] = p
        f.last[root] = f.last[p]
        f.size[root] += f.size[p]
        if f.size[root] >= k:
            f.gap[root] = np.inf
        done += 1
    return done


@njit(cache=True)
def records_below(link, weights):
    """Records of each point and of all that link to it, directly or not."""
    below = np.zeros(link.size, np.int64)
    for p in range(link.size):
        q = p
        while q >= 0:
            below[q] += weights[p]
            q = link[q]
    return below


@njit(cache=True)
def cut_links(link, below, longest_first, k):
    """Cut every link that leaves at least k records on both sides, in the order given, in place."""
    for p in longest_first:
        if link[p] < 0 or below[p] < k:
            continue
        root = p
        while link[root] >= 0:
            root = link[root]
        if below[root] - below[p] < k:
            continue
        q = link[p]
        while q >= 0:
            below[q] -= below[p]
            q = link[q]
        link[p] = -1


@njit(cache=True)
def gather(sizes, single, k, most):
    """Sort branches of fewer than k records, and single records, into bins of k to `most` records.

    Branches are gathered in the order given until a bin has k. Single records complete what is left over;
    if they are too few, all of it joins the smallest bin. Should that exceed `most` the bin has two parts,
    one of them of k − 1 records: that one and a single record are a bin, and the other part takes the rest.
    Returns the bin of each branch and the number of single records in each bin.
    """
    bins = np.empty(sizes.size, np.int64)
    total, last = np.zeros(sizes.size + 1, np.int64), np.zeros(sizes.size + 1, np.int64)
    full = 0
    for b in range(sizes.size):
        bins[b], last[full] = full, b
        total[full] += sizes[b]
        if total[full] >= k:
            full += 1
    singles = np.zeros(full + 1 + single // k, np.int64)
    left = total[full] + single
    if left >= k:
        more = left // k
        singles[full] = single - (more - 1) * k
        singles[full + 1 : full + more] = k
        return bins, singles[: full + more]
    best = np.argmin(total[:full])
    if total[best] + left <= most:
        for b in range(sizes.size):
            bins[b] = best if bins[b] == full else bins[b]
        singles[best] = single
        return bins, singles[:full]
    keeps_last = sizes[last[best]] == k - 1
    for b in range(sizes.size):
        if bins[b] == best and (b == last[best]) != keeps_last:
            bins[b] = full
    singles[best], singles[full] = 1, single - 1
    return bins, singles[: full + 1]


@njit(cache=True)
def split_hub(length, child, sibling, below, weights, root, k, most, part, first):
    """Sort the branches of a tree without links to cut into groups `first`, `first + 1`, ….

    They are the branches of its hub, each with fewer than k records: the one above, known by the root, and
    one for each point that links to the hub. Far ones are gathered first, so that near ones stay with the
    hub's own records. Returns the hub and the number of its own records in each group.
    """
    hub, q = root, child[root]
    while q >= 0:
        if below[q] >= k:
            hub, q = q, child[q]
        else:
            q = sibling[q]
    tops, lengths = [root], [length[hub]]
    sizes = [below[root] - below[hub]]
    q = child[hub]
    while q >= 0:
        tops.append(q)
        lengths.append(length[q])
        sizes.append(below[q])
        q = sibling[q]
    order = np.argsort(-np.array(lengths), kind="mergesort")
    bins, singles = gather(np.array(sizes)[order], weights[hub], k, most)
    for b in range(order.size):
        part[tops[order[b]]] = first + bins[b]
    return hub, singles


@njit(cache=True)
def give(groups, members, given, p, count, g):
    """Put the next `count` records of point p into group g."""
    groups[members[given[p] : given[p] + count]] = g
    given[p] += count


@njit(cache=True)
def part_records(link, length, below, weights, k, most, members, bounds):
    """A group per record: its tree, or its part of one of 2k records and more, where that can be split.

    Of each point's records, members[bounds[p]:bounds[p + 1]], all but weights[p] become groups of k.
    """
    groups, given = np.empty(members.size, np.int32), bounds[:-1].copy()
    child, sibling = np.full(link.size, -1, np.int32), np.full(link.size, -1, np.int32)
    count = 0
    for p in range(link.size - 1, -1, -1):
        while bounds[p + 1] - given[p] > weights[p]:
            give(groups, members, given, p, k, count)
            count += 1
        if link[p] >= 0:
            sibling[p], child[link[p]] = child[link[p]], p
    part = np.full(link.size, -1, np.int32)
    for root in range(link.size):
        if link[root] >= 0:
            continue
        if below[root] < 2 * k:
            part[root] = count
            count += 1
            continue
        hub, singles = split_hub(length, child, sibling, below, weights, root, k, most, part, count)
        for b in range(singles.size):
            give(groups, members, given, hub, singles[b], count + b)
        count += singles.size
    for p in range(link.size):
        q = p
        while part[q] < 0:
            q = link[q]
        give(groups, members, given, p, bounds[p + 1] - given[p], part[q])
    return groups
