"""Closures drawn at random above the tight ones, so that nobody can rely on their being tight.

Tight closures tell more than their text: both ends of a range occur in its group, and so do at least two children
of a node and all values of a set. Cohen (2022) calls what follows from it downcoding. Here some closures are
replaced by ones that other groups of the same column need:

- in a tree by the next node above that the column shows;
- in a range, for each end by itself, the end by the next one outwards that a range of the column has;
- in a set by the set and one more value, or several, that other sets of the column show;
- in ranges and sets with missing values, by the whole.

Where T groups need a closure, end or value and N groups may get it beside, each of the N gets it with a chance of
T·s / (N·(1 − s)), s at most. So about a share s of those that show it do not need it, fewer where N is small
beside T, and a loosened column shows no value of the table that the tight one does not show.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Floats, Form, Ints, RangeForm, SetForm, TreeForm

_BLOCK = 4096  # sets grown at a time, to bound memory

Bools = npt.NDArray[np.bool_]


def loosen(form: Form, closures: Ints, share: float, rng: np.random.Generator) -> Ints:
    """The closures of one column (slots × groups), some of them drawn above what they are."""
    groups = int(closures.shape[1])
    if isinstance(form, TreeForm):
        return raise_nodes(form, closures, share, rng.random(groups))
    draws = rng.random(groups)
    is_mixed = _is_mixed(form, closures)
    if isinstance(form, RangeForm):
        wider = widen_ranges(form, closures, share, rng.random((2, groups)))
    else:
        assert isinstance(form, SetForm)
        wider = closures.copy()
        chances = set_chances(form, closures, share)
        for at in range(0, groups, _BLOCK):
            part = closures[:, at : at + _BLOCK]
            drawn = rng.random((form.size, part.shape[1]))
            wider[:, at : at + _BLOCK] = grow_sets(form, part, chances, drawn)
    is_hidden = is_mixed | (draws < chance(is_mixed.sum(), (~is_mixed).sum(), share))
    wider[:, is_hidden] = np.array(form.whole, dtype=np.int32)[:, None]
    return wider


def chance(needed: npt.ArrayLike, others: npt.ArrayLike, share: float) -> Floats:
    """With what chance others get what so many need, for about a share of all that show it not to need it."""
    wanted = share / (1.0 - share) * np.asarray(needed, dtype=np.float64)
    return np.minimum(share, wanted / np.maximum(1, others))


def raise_nodes(form: TreeForm, closures: Ints, share: float, draws: Floats) -> Ints:
    """Nodes, those with small draws replaced by the next node above that is among them."""
    nodes = closures[0]
    needed = np.bincount(nodes, minlength=form.entries)
    above = (
        form.parent.copy()
    )  # for each node the next one above that is shown, the root if there is none
    for node in range(form.entries - 2, -1, -1):
        if not needed[above[node]]:
            above[node] = above[above[node]]
    can_rise = nodes != form.entries - 1
    others = np.bincount(above[nodes[can_rise]], minlength=form.entries)
    chances = chance(needed, others, share)
    rises = can_rise & (draws < chances[above[nodes]])
    return np.where(rises, above[nodes], nodes)[None, :]


def widen_ranges(form: RangeForm, closures: Ints, share: float, draws: Floats) -> Ints:
    """Ranges, ends with small draws (2 × groups) replaced by the next end outwards of a range among them.

    What holds a missing value stays as it is.
    """
    low, high = closures
    is_plain = high != form.null
    is_range = is_plain & (low < high)
    wider = closures.copy()
    wider[0, is_plain] = -_move_up(-low[is_plain], -low[is_range], share, draws[0, is_plain])
    wider[1, is_plain] = _move_up(high[is_plain], high[is_range], share, draws[1, is_plain])
    return wider


def _move_up(ends: Ints, needed: Ints, share: float, draws: Floats) -> Ints:
    """Ends, those with small draws replaced by the next larger one of `needed`."""
    known, counts = np.unique(needed, return_counts=True)
    place = np.searchsorted(known, ends, side="right")
    can_move = place < known.size
    others = np.bincount(place[can_move], minlength=known.size)
    moves = can_move.copy()
    moves[can_move] = draws[can_move] < chance(counts, others, share)[place[can_move]]
    moved = ends.copy()
    moved[moves] = known[place[moves]]
    return moved


def set_chances(form: SetForm, closures: Ints, share: float) -> Floats:
    """With what chance each value joins sets that do not hold it; null joins none."""
    needed, others = np.zeros(form.size), np.zeros(form.size)
    for at in range(0, closures.shape[1], _BLOCK):
        holds = form.holds(closures[:, at : at + _BLOCK])
        if form.has_null:
            holds = holds[:, holds[form.null] == 0]
        needed += holds[:, holds.sum(axis=0) > 1].sum(axis=1)
        others += (1.0 - holds).sum(axis=1)
    if form.has_null:
        needed[form.null] = 0.0
    return chance(needed, others, share)


def grow_sets(form: SetForm, closures: Ints, chances: Floats, draws: Floats) -> Ints:
    """Sets and the values with small draws (values × groups); what holds a missing value stays as it is."""
    holds = form.holds(closures) > 0
    joins = draws < chances[:, None]
    if form.has_null:
        joins[:, holds[form.null]] = False
    grown = [form.pack(np.flatnonzero(codes).tolist()) for codes in (holds | joins).T]
    return np.array(grown, dtype=np.int32).reshape(-1, form.slots).T


def _is_mixed(form: Form, closures: Ints) -> Bools:
    """Which closures are the whole since they hold null and a value."""
    if not form.has_null:
        return np.zeros(closures.shape[1], dtype=np.bool_)
    whole = np.array(form.whole, dtype=np.int32)[:, None]
    return (closures == whole).all(axis=0)
