"""A partition under local search: changes of several groups at once, kept if they lower the cost, else undone.

A *change* is a sequence of calls of `transfer`, which moves one record each and writes an undo log.
`keep_if_better` ends it: it keeps the change if the total cost falls and all groups touched meet the requirement,
otherwise it takes the moves back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compile.bundles import bundle
from shoal.kernels.compile.jit import inner, kernel
from shoal.kernels.shared.arrays import least_at
from shoal.kernels.shared.forms import Compiled, closure_cost
from shoal.kernels.shared.groups import Pairs, totals_with_record
from shoal.kernels.shared.rules import Rules, tally_is_diverse
from shoal.kernels.shared.state import (
    State,
    add,
    close,
    group_complies,
    link,
    stays_diverse_with,
    stays_diverse_without,
    unlink,
)

GAIN = 1e-9  # the least decrease of cost that counts as an improvement
FAR = 1e6  # a cost above all others: of what is not allowed or not known
CHANGES, TOUCHED = 0, 1  # indices of the counters in Search.number


@bundle
class Search(NamedTuple):
    """A problem, its partition, and the undo log of the change under way.

    number[CHANGES] is the length of `moved` and `origin`, number[TOUCHED] that of `touched`.
    """

    c: Compiled  # the compiled columns
    pairs: Pairs  # costs of common ancestors in trees
    q: Rules  # the compiled requirement
    s: State  # the partition
    codes: np.ndarray  # int32[n, r], the quasi-identifiers of each record
    classes: np.ndarray  # int32[n], the class of each record
    price: np.ndarray  # float64[n], what each record costs in its group
    # float64[n], least cost it added to another group when last tried, FAR if unknown
    joins: np.ndarray
    rest: np.ndarray  # float64[groups], sum over members of price − joins: what dissolving may gain
    number: np.ndarray  # int64[2], lengths of the lists below
    moved: np.ndarray  # int32[2n], undo log: the records moved, in order
    origin: np.ndarray  # int32[2n], undo log: the group that each of them left
    touched: np.ndarray  # int32[groups], the groups touched by the change, in order
    # float64[groups], cost of a touched group before the change, -1 if it is not touched
    before: np.ndarray
    lost: np.ndarray  # bool[groups], touched groups that lost a record and must be closed anew


def make_search(c, pairs, q, s, codes, classes):
    """Make a search that begins with the partition s."""
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
    """Bring `price` of all members of group g, and `rest` of the group, up to date."""
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
    """Bring `price` and `rest` of all groups up to date."""
    reprice_groups(x)


@inner
def reprice_groups(x):
    """Bring `price` and `rest` of all groups up to date, as a part of another kernel."""
    for g in range(x.s.size.size):
        if x.s.size[g] > 0:
            reprice(x, g)


@inner
def free_group(x):
    """Return the number of a group without records that the change has not touched, -1 if there is none."""
    for g in range(x.s.size.size):
        if x.s.size[g] == 0 and x.before[g] < 0.0:
            return g
    return -1


@inner
def touch(x, g):
    """Note in the undo log what group g cost before the change, unless it is noted already."""
    if x.before[g] < 0.0:
        x.before[g] = max(0.0, x.s.cost[g]) if x.s.size[g] > 0 else 0.0
        x.touched[x.number[TOUCHED]] = g
        x.number[TOUCHED] += 1


@inner
def transfer(x, i, g):
    """Move record i to group g as part of the change; the closure of the group it leaves is renewed by `finish`."""
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
    """Return the best other group for record i, and the cost that i adds there: (group, cost), or (-1, FAR).

    The record's own group and `banned` are excluded, and groups that would break a limit with it. `added` and
    `scratch` are filled, float64[groups].
    """
    cost_everywhere(x, i, added, scratch)
    return cheapest_of(x, i, banned, added)


@inner
def cost_everywhere(x, i, added, scratch):
    """Fill added[g] with what group g would cost in total with record i, for all groups."""
    s = x.s
    totals_with_record(
        x.c, x.pairs, s.closures, s.counts, s.size.size, x.codes[i], x.classes[i], added, scratch
    )


@inner
def cheapest_of(x, i, banned, added):
    """Do the same as `cheapest_other`, given `added` as `cost_everywhere` fills it."""
    s = x.s
    best, least, own = -1, FAR, s.group[i]
    for g in range(s.size.size):
        if added[g] - s.cost[g] < least and s.size[g] > 0 and g != own and g != banned:
            if stays_diverse_with(x.q, s, i, g):
                best, least = g, added[g] - s.cost[g]
    return best, least


@inner
def finish(x):
    """Close the groups that lost records; return by how much the change raises the total cost."""
    change = 0.0
    for touched_at in range(x.number[TOUCHED]):
        g = x.touched[touched_at]
        if x.lost[g]:
            close(x.c, x.s, x.codes, g)
        change += x.s.cost[g] - x.before[g]
    return change


@inner
def all_comply(x):
    """Return whether every touched group that has members meets the requirement."""
    for touched_at in range(x.number[TOUCHED]):
        g = x.touched[touched_at]
        if x.s.size[g] > 0 and not group_complies(x.q, x.s, g):
            return False
    return True


@inner
def forget(x):
    """Clear the undo log."""
    for touched_at in range(x.number[TOUCHED]):
        x.before[x.touched[touched_at]] = -1.0
        x.lost[x.touched[touched_at]] = False
    x.number[:] = 0


@inner
def keep(x):
    """Keep the change: renew prices and clear the undo log."""
    for touched_at in range(x.number[TOUCHED]):
        if x.s.size[x.touched[touched_at]] > 0:
            reprice(x, x.touched[touched_at])
    forget(x)


@inner
def undo(x):
    """Take the change back by the undo log, and clear that."""
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
    """Keep the change if it lowers the cost and all groups comply, else undo it; return what it gained, 0 if undone."""
    change = finish(x)
    if change < -GAIN and all_comply(x):
        keep(x)
        return -change
    undo(x)
    return 0.0


@inner
def may_exchange(x, g, gone, come):
    """Return whether group g keeps all limits except k if record `come` takes the place of its member `gone`."""
    s = x.s
    for t in range(s.values.shape[1]):
        old, new = s.values[gone, t], s.values[come, t]
        if old != new:
            s.tally[g, old] -= 1
            s.tally[g, new] += 1
            kept = tally_is_diverse(x.q, t, s.tally[g], s.size[g])
            s.tally[g, old] += 1
            s.tally[g, new] -= 1
            if not kept:
                return False
    return True


@inner
def can_spare(x, i):
    """Return whether the group of record i meets the requirement without it."""
    return x.s.size[x.s.group[i]] > x.q.k and stays_diverse_without(x.q, x.s, i)


@kernel
def find_nearest(x, i, number):
    """Return up to `number` groups to which record i adds least cost, its own group first."""
    s, room = x.s, x.s.size.size
    added, scratch = np.empty(room), np.empty(room)
    cost_everywhere(x, i, added, scratch)
    for g in range(room):
        added[g] = added[g] - s.cost[g] if s.size[g] > 0 else np.inf
    added[s.group[i]] = -np.inf
    found = np.empty(number, np.int64)
    for at in range(number):
        found[at] = least_at(added, 0, room)
        if added[found[at]] == np.inf:
            return found[:at]
        added[found[at]] = np.inf
    return found
