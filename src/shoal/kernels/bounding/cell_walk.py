"""Where a walk over closed cells stands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle


@bundle
class Walk(NamedTuple):
    """Where a walk stands: a stack of cells, each a stretch of `order`; the lowest stands for no cell.

    The parts of a cell in a tree's column are stretches inside its own. Ranges overlap, so those parts are
    copied behind it.
    """

    order: np.ndarray  # int32[points × (1 + columns of ranges)]
    low: np.ndarray  # int64[stack]
    high: np.ndarray
    free: np.ndarray  # int64[stack], where `order` is not in use
    first: np.ndarray  # int64[stack], columns before this one stay as they are below the cell
    column: np.ndarray  # int64[stack], the column its parts differ in
    part: np.ndarray  # int64[stack], where its next part begins
    last: np.ndarray  # int64[stack], where its parts of at least k records end
    stop: np.ndarray  # int64[stack], ranges: where its latest part ends
    mass: np.ndarray  # int64[stack], ranges: records in its latest part
    largest: (
        np.ndarray
    )  # float64[stack, top + 1], ranges: the largest numbers in its latest part, descending
    heavy: np.ndarray  # int64[stack, top + 1], their weights
    held: np.ndarray  # int64[stack, 2], how many those are and of how many records
    sum: np.ndarray  # float64[stack], over all of these
    reach: np.ndarray  # float64[stack], cells that cost this much are not wanted below it
    floor: np.ndarray  # float64[stack], the least that cells below it cost that are still to come
    depth: np.ndarray  # int64[stack, r], steps from the root
    at: np.ndarray  # int64[stack, r], nodes; ranges: lowest codes
    to: np.ndarray  # int64[stack, r], ranges: highest codes
    cost: np.ndarray  # float64[stack, r], what the closure costs
    least: np.ndarray  # float64[stack, r], what closures of k records at or below it cost at least
    has_parts: np.ndarray  # bool[stack, r], whether there are any below it
    end: np.ndarray  # int64[points × (1 + columns of ranges)], where the part that begins here ends
    moved: np.ndarray  # int32[points], scratch
    values: np.ndarray  # float64[points], scratch
    weights: np.ndarray  # int64[points], scratch
    tally: np.ndarray  # int64[nodes of a column], scratch, zero between uses
    weight: np.ndarray  # likewise
    touched: np.ndarray  # int64[nodes of a column], scratch
    top: np.ndarray  # int64[2]: the cell at which the walk stands, points looked at so far


def make_walk(trees, top):
    """A walk at its beginning, to cells whose `top` largest numbers are above their cost on average."""
    n, r = trees.paths.shape[0], trees.root.size
    stack = trees.paths.shape[1] + 3
    nodes = np.diff(trees.node).max()
    room = n * (1 + (trees.ranged >= 0).sum())
    place = np.zeros(2, np.int64)
    place[0] = -1
    return Walk(
        order=np.arange(room, dtype=np.int32),
        low=np.zeros(stack, np.int64),
        high=np.zeros(stack, np.int64),
        free=np.zeros(stack, np.int64),
        first=np.zeros(stack, np.int64),
        column=np.zeros(stack, np.int64),
        part=np.zeros(stack, np.int64),
        last=np.zeros(stack, np.int64),
        stop=np.zeros(stack, np.int64),
        mass=np.zeros(stack, np.int64),
        largest=np.zeros((stack, top + 1)),
        heavy=np.zeros((stack, top + 1), np.int64),
        held=np.zeros((stack, 2), np.int64),
        sum=np.zeros(stack),
        reach=np.zeros(stack),
        floor=np.zeros(stack),
        depth=np.zeros((stack, r), np.int64),
        at=np.zeros((stack, r), np.int64),
        to=np.zeros((stack, r), np.int64),
        cost=np.zeros((stack, r)),
        least=np.zeros((stack, r)),
        has_parts=np.zeros((stack, r), np.bool_),
        end=np.zeros(room, np.int64),
        moved=np.zeros(n, np.int32),
        values=np.zeros(n),
        weights=np.zeros(n, np.int64),
        tally=np.zeros(nodes, np.int64),
        weight=np.zeros(nodes, np.int64),
        touched=np.zeros(nodes, np.int64),
        top=place,
    )
