"""Groups with their closures, tight or coarsened further at random: what a release says about every record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.encoding.encode import Table
from shoal.encoding.forms import Floats, Form, Ints, RangeForm, SetForm, TreeForm

_BLOCK = 4096  # sets grown at a time, to bound memory

Bools = npt.NDArray[np.bool_]


def loosen(form: Form, closures: Ints, share: float, rng: np.random.Generator) -> Ints:
    """The closures of one column (slots × groups), some of them drawn above the tight ones."""
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
    is_hidden = is_mixed | (draws < loosening_chance(is_mixed.sum(), (~is_mixed).sum(), share))
    wider[:, is_hidden] = np.array(form.whole, dtype=np.int32)[:, None]
    return wider


def loosening_chance(needed: npt.ArrayLike, others: npt.ArrayLike, share: float) -> Floats:
    """With what probability others get what so many need, so that about a share of all that show it do not need it."""
    wanted = share / (1.0 - share) * np.asarray(needed, dtype=np.float64)
    return np.minimum(share, wanted / np.maximum(1, others))


def raise_nodes(form: TreeForm, closures: Ints, share: float, draws: Floats) -> Ints:
    """Nodes; those with small draws are replaced by the next node above that is in use."""
    nodes = closures[0]
    needed = np.bincount(nodes, minlength=form.entries)
    above = form.parent.copy()  # the next shown node above each, the root if there is none
    for node in range(form.entries - 2, -1, -1):
        if not needed[above[node]]:
            above[node] = above[above[node]]
    can_rise = nodes != form.entries - 1
    others = np.bincount(above[nodes[can_rise]], minlength=form.entries)
    chances = loosening_chance(needed, others, share)
    rises = can_rise & (draws < chances[above[nodes]])
    return np.where(rises, above[nodes], nodes)[None, :]


def widen_ranges(form: RangeForm, closures: Ints, share: float, draws: Floats) -> Ints:
    """Ranges; ends with small draws (2 × groups) are replaced by the next end outwards that is in use.

    Ranges that contain a missing value do not change.
    """
    low, high = closures
    is_plain = high != form.null
    is_range = is_plain & (low < high)
    wider = closures.copy()
    wider[0, is_plain] = -_move_up(-low[is_plain], -low[is_range], share, draws[0, is_plain])
    wider[1, is_plain] = _move_up(high[is_plain], high[is_range], share, draws[1, is_plain])
    return wider


def _move_up(ends: Ints, needed: Ints, share: float, draws: Floats) -> Ints:
    """Ends; those with small draws are replaced by the next larger one of `needed`."""
    known, counts = np.unique(needed, return_counts=True)
    place = np.searchsorted(known, ends, side="right")
    can_move = place < known.size
    others = np.bincount(place[can_move], minlength=known.size)
    moves = can_move.copy()
    moves[can_move] = draws[can_move] < loosening_chance(counts, others, share)[place[can_move]]
    moved = ends.copy()
    moved[moves] = known[place[moves]]
    return moved


def set_chances(form: SetForm, closures: Ints, share: float) -> Floats:
    """With what probability each value joins sets that do not contain it; null joins none."""
    needed, others = np.zeros(form.size), np.zeros(form.size)
    for at in range(0, closures.shape[1], _BLOCK):
        holds = form.holds(closures[:, at : at + _BLOCK])
        if form.has_null:
            holds = holds[:, holds[form.null] == 0]
        needed += holds[:, holds.sum(axis=0) > 1].sum(axis=1)
        others += (1.0 - holds).sum(axis=1)
    if form.has_null:
        needed[form.null] = 0.0
    return loosening_chance(needed, others, share)


def grow_sets(form: SetForm, closures: Ints, chances: Floats, draws: Floats) -> Ints:
    """Sets and the values with small draws (values × groups); sets with a missing value do not change."""
    holds = form.holds(closures) > 0
    joins = draws < chances[:, None]
    if form.has_null:
        joins[:, holds[form.null]] = False
    grown = [form.pack(np.flatnonzero(codes).tolist()) for codes in (holds | joins).T]
    return np.array(grown, dtype=np.int32).reshape(-1, form.slots).T


def _is_mixed(form: Form, closures: Ints) -> Bools:
    """Which closures are the whole because they contain null and a value."""
    if not form.has_null:
        return np.zeros(closures.shape[1], dtype=np.bool_)
    whole = np.array(form.whole, dtype=np.int32)[:, None]
    return (closures == whole).all(axis=0)


_OWN_DRAWS = (
    1  # together with a seed, so that they are independent of the order drawn from the same seed
)


@dataclass(frozen=True)
class Closed:
    """Groups of equal released records and the closure of each: ours, or read from a given release.

    Only released records are in the table; of those left out, only their number is known here.
    """

    table: Table
    groups: Ints  # a number per row of the table, 0 … groups − 1
    closures: Ints  # slots × groups
    left_out: int = 0  # records that are not released

    @property
    def records(self) -> int:
        """Records of the original table, released or not."""
        return self.table.records + self.left_out

    @cached_property
    def sizes(self) -> Floats:
        """Records in each group."""
        return self.table.count(self.groups, self.closures.shape[1]).astype(np.float64)

    def of_column(self, j: int) -> Ints:
        """The closures of quasi-identifier j."""
        return self.closures[self.table.slots[j]]

    @cached_property
    def widths(self) -> Floats:
        """Number of allowed values in each closure: quasi-identifiers × groups."""
        columns = enumerate(self.table.columns)
        return np.stack([column.form.sizes(self.of_column(j)) for j, column in columns])


def merge_equal(table: Table, groups: Ints, closures: Ints) -> Closed:
    """Number groups by their closures, so that groups with equal closures are one; every record has a group."""
    assert groups.min(initial=0) >= 0
    distinct, place = np.unique(closures, axis=1, return_inverse=True)
    contiguous = np.ascontiguousarray(distinct)  # as kernels are compiled for
    return Closed(table, place.reshape(-1)[groups].astype(np.int32), contiguous)


def loosened(closed: Closed, share: float, seed: int | None = None) -> Closed:
    """Draw closures at random above those of the groups; groups with equal closures then become one.

    The draws are new in every run: anyone who could repeat them would know which closures are tight. A seed makes
    them repeatable, which only tests may use.
    """
    rng = np.random.default_rng(None if seed is None else [seed, _OWN_DRAWS])
    closures = closed.closures.copy()
    for j, column in enumerate(closed.table.columns):
        slots = closed.table.slots[j]
        closures[slots] = loosen(column.form, closures[slots], share, rng)
    merged = merge_equal(closed.table, closed.groups, closures)
    return replace(merged, left_out=closed.left_out)
