"""A forest of short links with trees of at least k records, and its cutting into small trees (GiT09 §6.4).

Vertices are points with a number of records each; links between equal records have length 0 and are not stored.
link[p] is the point that p links to (its parent in the tree), −1 for the root of a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import allocating, inner, kernel
from shoal.kernels.shared.arrays import least_at, order_of, taken
from shoal.kernels.shared.forms import open_closure, value_cost
from shoal.kernels.shared.groups import cover_costs, totals_with_group
from shoal.kernels.shared.state import merge


@bundle
class LinkForest(NamedTuple):
    """Links between points. A `State` beside it has one group per tree, with the number of the tree's root."""

    link: np.ndarray  # int32[points], the point that each point links to, -1 for roots
    length: np.ndarray  # float64[points], the length of that link
    limit: np.ndarray  # float64[points], the distance of the (k − 1)-th nearest record
    # float64[points], for roots of trees below k: a lower bound of the distance to other trees
    gap: np.ndarray


def make_forest(points):
    """Make a forest of so many points without links."""
    return LinkForest(
        link=np.full(points, -1, np.int32),
        length=np.zeros(points),
        limit=np.zeros(points),
        gap=np.full(points, np.inf),
    )


@inner
def distances(c, pairs, codes, columns, classes, p, closure, out):
    """Fill `out` with the distance of each point to p: the cost that a common closure adds for a record of point p.

    `columns` holds the codes of all points, int32[r, points]; `closure` is scratch for one closure.
    """
    open_closure(c, closure, 0, codes[p])
    cover_costs(c, pairs, columns, out.size, closure, 0, classes[p], out)
    own = 0.0
    for j in range(c.form.size):
        own += value_cost(c, classes[p], j, codes[p, j])
    for i in range(out.size):
        out[i] -= own


@allocating
def kth_distance(out, weights, k):
    """Return the least distance within which there are k records; `out` holds the distances of all points.

    The nearest points that together have k records are kept in a heap, the farthest of them on top.
    """
    heap, size, records = np.empty(min(k, out.size) + 1, np.int64), 0, 0
    for i in range(out.size):
        if records >= k and out[i] >= out[heap[0]]:
            continue
        at = size
        while at > 0 and out[heap[(at - 1) >> 1]] < out[i]:
            heap[at] = heap[(at - 1) >> 1]
            at = (at - 1) >> 1
        heap[at] = i
        size += 1
        records += weights[i]
        while records - weights[heap[0]] >= k:
            records -= weights[heap[0]]
            size -= 1
            sink_nearer(out, heap, heap[size], size)
    return out[heap[0]]


@inner
def sink_nearer(out, heap, i, size):
    """Put point i in place of the top of a heap of `size` points and let it sink to where it belongs."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and out[heap[child + 1]] > out[heap[child]]:
            child += 1
        if out[heap[child]] <= out[i]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = i


@kernel
def measure_points(c, pairs, codes, columns, classes, weights, forest, k, start, stop):
    """Fill `limit` and `gap` for those of the points start..stop that have fewer than k records."""
    closure, out = np.empty((c.slot[-1], 1), np.int32), np.empty(weights.size)
    for p in range(start, stop):
        if weights[p] < k:
            distances(c, pairs, codes, columns, classes, p, closure, out)
            forest.limit[p] = kth_distance(out, weights, k)
            out[p] = np.inf
            forest.gap[p] = out[least_at(out, 0, out.size)]


@kernel
def link_trees(c, pairs, codes, columns, classes, first, forest, s, k, steps):
    """Link roots of trees with fewer than k records, up to `steps` times; return the number of links made.

    The next root is always the one with the nearest point outside its tree. Of the points outside within the root's
    limit, it links to the one whose tree costs least to unite with. `first` is one record of each point. Fewer than
    `steps` links mean that no tree is too small any more.
    """
    closure, out = np.empty((c.slot[-1], 1), np.int32), np.empty(first.size)
    totals, scratch = np.empty(first.size), np.empty(first.size)
    done = 0
    while done < steps:
        p = least_at(forest.gap, 0, forest.gap.size)
        if forest.gap[p] == np.inf:
            break
        distances(c, pairs, codes, columns, classes, p, closure, out)
        nearest = np.inf
        for i in range(first.size):
            if out[i] < nearest and s.group[first[i]] != p:
                nearest = out[i]
        if nearest > forest.gap[p]:  # the point that was nearest is in this tree by now
            forest.gap[p] = nearest
            continue
        totals_with_group(c, pairs, s.closures, s.counts, first.size, p, totals, scratch)
        best, least = -1, np.inf
        for i in range(first.size):
            tree = s.group[first[i]]
            if out[i] <= forest.limit[p] and tree != p and totals[tree] - s.cost[tree] < least:
                best, least = i, totals[tree] - s.cost[tree]
        tree = s.group[first[best]]
        forest.link[p], forest.length[p], forest.gap[p] = best, out[best], np.inf
        merge(c, s, tree, p)
        if s.size[tree] >= k:
            forest.gap[tree] = np.inf
        done += 1
    return done


@kernel
def records_below(link, weights):
    """Count the records of each point together with those of all points that link to it, directly or not."""
    below = np.zeros(link.size, np.int64)
    for p in range(link.size):
        above = p
        while above >= 0:
            below[above] += weights[p]
            above = link[above]
    return below


@kernel
def cut_links(link, below, longest_first, k):
    """Cut every link that leaves at least k records on both sides, in place, in the order `longest_first`.

    `below` is that of `records_below` and is kept up to date.
    """
    for p in longest_first:
        if link[p] < 0 or below[p] < k:
            continue
        root = p
        while link[root] >= 0:
            root = link[root]
        if below[root] - below[p] < k:
            continue
        above = link[p]
        while above >= 0:
            below[above] -= below[p]
            above = link[above]
        link[p] = -1


@allocating
def gather_branches(sizes, single, k, most):
    """Sort branches of fewer than k records, and single records, into bins of k to `most` records.

    Branches are gathered in the order given until a bin has k records. Single records complete the last bin. If
    they are too few for that, what is left over joins the smallest bin. If that bin would then exceed `most`, it
    consists of two branches, one of which has k − 1 records: that branch and a single record become one bin, and
    all the rest becomes the other. Returns the bin of each branch and the number of single records in each bin.
    """
    bins = np.empty(sizes.size, np.int64)
    total, last = np.zeros(sizes.size + 1, np.int64), np.zeros(sizes.size + 1, np.int64)
    full = 0
    for branch in range(sizes.size):
        bins[branch], last[full] = full, branch
        total[full] += sizes[branch]
        if total[full] >= k:
            full += 1
    singles = np.zeros(full + 1 + single // k, np.int64)
    left = total[full] + single
    if left >= k:
        more = left // k
        singles[full] = single - (more - 1) * k
        singles[full + 1 : full + more] = k
        return bins, singles[: full + more]
    best = least_at(total, 0, full)
    if total[best] + left <= most:
        for branch in range(sizes.size):
            bins[branch] = best if bins[branch] == full else bins[branch]
        singles[best] = single
        return bins, singles[:full]
    keeps_last = sizes[last[best]] == k - 1
    for branch in range(sizes.size):
        if bins[branch] == best and (branch == last[best]) != keeps_last:
            bins[branch] = full
    singles[best], singles[full] = 1, single - 1
    return bins, singles[: full + 1]


@allocating
def split_hub(length, child, sibling, below, weights, root, k, most, part, first):
    """Sort the branches of a tree that has no links left to cut into the groups `first`, `first + 1`, ….

    The *hub* is the point all of whose branches have fewer than k records: the branch above it, which is named by
    the root, and one for each point that links to the hub. Far branches are gathered first, so that near ones stay
    with the hub's own records. Fills `part` for the top of each branch. Returns the hub and the number of its own
    records in each group.
    """
    hub, branch = root, child[root]
    while branch >= 0:
        if below[branch] >= k:
            hub, branch = branch, child[branch]
        else:
            branch = sibling[branch]
    branches, branch = 1, child[hub]
    while branch >= 0:
        branches, branch = branches + 1, sibling[branch]
    tops, sizes = np.empty(branches, np.int64), np.empty(branches, np.int64)
    nearness = np.empty(branches)
    tops[0], sizes[0], nearness[0] = root, below[root] - below[hub], -length[hub]
    branch = child[hub]
    for at in range(1, branches):
        tops[at], sizes[at], nearness[at] = branch, below[branch], -length[branch]
        branch = sibling[branch]
    order = order_of(nearness)
    bins, singles = gather_branches(taken(sizes, order), weights[hub], k, most)
    for at in range(order.size):
        part[tops[order[at]]] = first + bins[at]
    return hub, singles


@inner
def give(groups, members, given, p, count, g):
    """Put the next `count` records of point p into group g."""
    for at in range(given[p], given[p] + count):
        groups[members[at]] = g
    given[p] += count


@kernel
def cut_trees(link, length, below, weights, k, most, members, bounds):
    """Return the group of each record: its tree or, for trees of 2k records and more, a part of it.

    The records of point p are members[bounds[p]:bounds[p + 1]]; all but weights[p] of them form groups of k on
    their own.
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
        for piece in range(singles.size):
            give(groups, members, given, hub, singles[piece], count + piece)
        count += singles.size
    for p in range(link.size):
        above = p
        while part[above] < 0:
            above = link[above]
        give(groups, members, given, p, bounds[p + 1] - given[p], part[above])
    return groups
