"""A partition under local search: changes of several groups at once that are kept if they gain, else undone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import inner, kernel
from shoal.kernels.shared.forms import Compiled, closure_cost
from shoal.kernels.shared.rows import Pairs, totals_with_record
from shoal.kernels.shared.rules import Rules, is_diverse
from shoal.kernels.shared.state import (
    State,
    add,
    close,
    group_complies,
    link,
    stays_diverse_with,
    unlink,
)

GAIN = 1e-9
FAR = 1e6
CHANGES, TOUCHED = 0, 1  # places in `number`


@bundle
class Search(NamedTuple):
    """A problem, its partition, and the change under way: `number` says how many entries of a list are meant."""

    c: Compiled
    pairs: Pairs
    q: Rules
    s: State
    codes: np.ndarray  # int32[n, r]
    classes: np.ndarray  # int32[n]
    price: np.ndarray  # float64[n], what each record costs in its group
    joins: np.ndarray  # float64[n], least that it added elsewhere when last looked, FAR if unknown
    rest: np.ndarray  # float64[groups], what records cost less their joins
    number: np.ndarray  # int64[2]
    moved: np.ndarray  # int32[2n], records in the order they moved
    origin: np.ndarray  # int32[2n], where each came from
    touched: np.ndarray  # int32[groups], groups in the order they were touched
    before: np.ndarray  # float64[groups], what a touched group cost before, -1 for others
    lost: np.ndarray  # bool[groups], touched groups to be closed again


def make_search(c, pairs, q, s, codes, classes):
    """A search that begins with a state."""
    n, room = classes.size, s.size.size
    x = Search(
        c=c,
        pairs=pairs,
        q=q,
        s=s,
        codes=codes,
        classes=classes,
        price=np.zeros(n),
        joins=np.full(n, FAR),
        rest=np.zeros(room),
        number=np.zeros(2, np.int64),
        moved=np.empty(2 * n, np.int32),
        origin=np.empty(2 * n, np.int32),
        touched=np.empty(room, np.int32),
        before=np.full(room, -1.0),
        lost=np.zeros(room, np.bool_),
    )
    reprice_all(x)
    return x


@inner
def reprice(x, g):
    """Note what every record of group g costs."""
    single = x.s.counts.shape[0] == 1
    cost = closure_cost(x.c, 0, x.s.closures, g)
    x.rest[g] = 0.0
    m = x.s.head[g]
    while m >= 0:
        x.price[m] = cost if single else closure_cost(x.c, x.classes[m], x.s.closures, g)
        x.rest[g] += x.price[m] - x.joins[m]
        m = x.s.after[m]


@kernel
def reprice_all(x):
    """Note what every record costs."""
    for g in range(x.s.size.size):
        if x.s.size[g] > 0:
            reprice(x, g)


@inner
def free_group(x):
    """The number of a group without records, -1 if there is none."""
    for g in range(x.s.size.size):
        if x.s.size[g] == 0 and x.before[g] < 0.0:
            return g
    return -1


@inner
def touch(x, g):
    """Remember what a group cost before the change."""
    if x.before[g] < 0.0:
        x.before[g] = max(0.0, x.s.cost[g]) if x.s.size[g] > 0 else 0.0
        x.touched[x.number[TOUCHED]] = g
        x.number[TOUCHED] += 1


@inner
def transfer(x, i, g):
    """Move record i to group g; the group it leaves is closed again in `finish`."""
    own = x.s.group[i]
    touch(x, own)
    touch(x, g)
    x.moved[x.number[CHANGES]], x.origin[x.number[CHANGES]] = i, own
    x.number[CHANGES] += 1
    x.lost[own] = True
    unlink(x.s, i)
    x.s.counts[x.classes[i], own] -= 1.0
    add(x.c, x.s, x.codes, x.classes, i, g)


@inner
def cheapest_other(x, i, banned, added, scratch):
    """The group but its own and `banned` where record i adds least and does no harm, -1 for none: (group, cost)."""
    cost_everywhere(x, i, added, scratch)
    return cheapest_of(x, i, banned, added)


@inner
def cost_everywhere(x, i, added, scratch):
    """Fill `added` with what every group would cost with record i."""
    s = x.s
    totals_with_record(
        x.c, x.pairs, s.closures, s.counts, s.size.size, x.codes[i], x.classes[i], added, scratch
    )


@inner
def cheapest_of(x, i, banned, added):
    """The same as `cheapest_other`, where `added` is known."""
    s = x.s
    best, least, own = -1, FAR, s.group[i]
    for g in range(s.size.size):
        if added[g] - s.cost[g] < least and s.size[g] > 0 and g != own and g != banned:
            if stays_diverse_with(x.q, s, i, g):
                best, least = g, added[g] - s.cost[g]
    return best, least


@inner
def finish(x):
    """Close groups that lost records; returns what all touched groups cost more than before."""
    change = 0.0
    for touched_at in range(x.number[TOUCHED]):
        g = x.touched[touched_at]
        if x.lost[g]:
            close(x.c, x.s, x.codes, g)
        change += x.s.cost[g] - x.before[g]
    return change


@inner
def all_comply(x):
    """Whether every touched group meets the requirement."""
    for touched_at in range(x.number[TOUCHED]):
        g = x.touched[touched_at]
        if x.s.size[g] > 0 and not group_complies(x.q, x.s, g):
            return False
    return True


@inner
def forget(x):
    """Begin anew."""
    for touched_at in range(x.number[TOUCHED]):
        x.before[x.touched[touched_at]] = -1.0
        x.lost[x.touched[touched_at]] = False
    x.number[:] = 0


@inner
def keep(x):
    """Let the change stand."""
    for touched_at in range(x.number[TOUCHED]):
        if x.s.size[x.touched[touched_at]] > 0:
            reprice(x, x.touched[touched_at])
    forget(x)


@inner
def undo(x):
    """Take the change back."""
    for at in range(x.number[CHANGES] - 1, -1, -1):
        i = x.moved[at]
        x.s.counts[x.classes[i], x.s.group[i]] -= 1.0
        unlink(x.s, i)
        link(x.s, i, x.origin[at])
        x.s.counts[x.classes[i], x.origin[at]] += 1.0
    for touched_at in range(x.number[TOUCHED]):
        close(x.c, x.s, x.codes, x.touched[touched_at])
        if x.s.size[x.touched[touched_at]] > 0:
            reprice(x, x.touched[touched_at])
    forget(x)


@inner
def keep_if_better(x):
    """Keep the change if it gains and breaks nothing, else undo it; returns what it gained."""
    change = finish(x)
    if change < -GAIN and all_comply(x):
        keep(x)
        return -change
    undo(x)
    return 0.0


@inner
def can_spare(x, i):
    """Whether the group of record i meets the requirement without it."""
    s = x.s
    g = s.group[i]
    if s.size[g] <= x.q.k:
        return False
    if s.values.shape[1] == 0:
        return True
    counts = s.tally[g]
    for t in range(s.values.shape[1]):
        counts[s.values[i, t]] -= 1
    kept = is_diverse(x.q, counts, s.size[g] - 1)
    for t in range(s.values.shape[1]):
        counts[s.values[i, t]] += 1
    return kept
