"""Splitting in two: segments of an order of records are parted again and again until each is a group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.bundles import bundle
from shoal.kernels.compilation import allocating, inner

EPSILON = 1e-9  # costs that differ by less than this count as equal


@bundle
class Segments(NamedTuple):
    """A stack of segments that are still to be parted, and the groups made so far."""

    order: np.ndarray  # int64[n], the records; a segment is a stretch of it
    stack: np.ndarray  # int64[n + 1, 2], where in `order` each segment begins and ends
    depth: np.ndarray  # int64[1], the number of segments on the stack
    group: np.ndarray  # int32[n], the group of each record, −1 for none yet
    groups: np.ndarray  # int64[1], the number of groups so far


def make_segments(order):
    """Make a stack that holds the whole order as one segment."""
    stack = np.empty((order.size + 1, 2), np.int64)
    stack[0] = 0, order.size
    group = np.full(order.size, -1, np.int32)
    return Segments(
        order=order,
        stack=stack,
        depth=np.ones(1, np.int64),
        group=group,
        groups=np.zeros(1, np.int64),
    )


@allocating
def take_segment(segments):
    """Take the segment on top of the stack and return its records; `keep_whole` or `part_segment` must follow."""
    segments.depth[0] -= 1
    low, high = segments.stack[segments.depth[0], 0], segments.stack[segments.depth[0], 1]
    return segments.order[low:high].copy()


@inner
def keep_whole(segments, segment):
    """Make a group of the segment just taken."""
    for i in segment:
        segments.group[i] = segments.groups[0]
    segments.groups[0] += 1


@inner
def part_segment(segments, segment, side):
    """Put both sides of the segment just taken on the stack, side 0 on top; side[i] is 0 or 1."""
    depth = segments.depth[0]
    low, high = segments.stack[depth, 0], segments.stack[depth, 1]
    middle = low
    for at in range(segment.size):
        if side[at] == 0:
            segments.order[middle] = segment[at]
            middle += 1
    end = middle
    for at in range(segment.size):
        if side[at] == 1:
            segments.order[end] = segment[at]
            end += 1
    segments.stack[depth, 0], segments.stack[depth, 1] = middle, high
    segments.stack[depth + 1, 0], segments.stack[depth + 1, 1] = low, middle
    segments.depth[0] += 2


@inner
def better_side(more, sizes):
    """Return the side, 0 or 1, that costs less, if side 1 costs `more` than side 0; the smaller side in a tie."""
    if abs(more) <= EPSILON:
        return 0 if sizes[0] <= sizes[1] else 1
    return 0 if more > 0.0 else 1
