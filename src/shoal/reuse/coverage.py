"""How general a released text is, from 0 for a single value to 1 for any value."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.audits.readings import CoveredValues, covered_values, line_of
from shoal.audits.texts import ColumnTexts, Reader, column_texts
from shoal.encoding.forms import STAR, Floats, Records
from shoal.encoding.forms.sets import set_members
from shoal.encoding.frames import Frame, open_frame
from shoal.encoding.released_texts import range_ends, read_bounds, read_periods, released_column
from shoal.encoding.source import Input

_RANGES = ("interval", "calendar", "suppression")


def generality(
    texts: Sequence[str | None], model: Any, cover: CoveredValues, input: Input
) -> Floats:
    """How general each text of a column is.

    Ranges count by their width, sets by their members, everything else by the values that it covers. `cover` has a
    place for each of the texts.
    """
    name = getattr(model, "name", None)
    found = _widths(texts, input) if name in _RANGES else None
    if name == "subset":
        found = np.array([(len(set_members(text or "")) or 1) - 1.0 for text in texts])
    if found is None:
        many = np.add.reduceat(cover.high - cover.low, cover.first[:-1]).astype(np.float64)
        found = np.maximum(many[cover.places] - 1, 0.0)
    is_star = np.array([text == STAR for text in texts], dtype=np.bool_)
    widest = found[~is_star].max(initial=0.0)
    shares = found / (2 * widest) if widest > 0 else np.zeros(len(texts))
    return np.where(is_star, 1.0, shares)


def _widths(texts: Sequence[str | None], input: Input) -> Floats | None:
    """The width of each range of numbers or dates, None if the texts are neither."""
    released = released_column(pa.chunked_array([pa.array(texts, pa.large_string())]))
    try:
        read = read_periods(released) or read_bounds(released, range_ends, input)
    except (pa.ArrowException, ValueError, OverflowError):
        return None
    if read is None:
        return None
    low, high = (_numbers(end) for end in read)
    known = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)]])
    if not known.size:
        return None
    is_open = np.isnan(low) != np.isnan(high)
    low = np.where(is_open & np.isnan(low), known.min(), low)
    high = np.where(is_open & np.isnan(high), known.max(), high)
    return np.nan_to_num(high - low, nan=0.0)


def _numbers(values: pa.Array) -> Floats:
    """Numbers, or dates as numbers, with NaN for null."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return np.array([np.nan if value is None else float(value) for value in values.to_pylist()])


Words = npt.NDArray[np.uint64]
WORD = 64
MOST_WORDS = 1 << 22  # examined together, to bound memory
MOST_PAIRS = 1 << 32  # pairs of a record and a closure that are examined one by one: about 10 s
NOBODY = -1  # the closure of a record that no closure covers


@dataclass(frozen=True)
class Coverage:
    """Which closures cover which records, closures from the least to the most general."""

    order: Records  # the closure at each place
    value: tuple[Records, ...]  # of each record, in each quasi-identifier
    covering: tuple[Words, ...]  # values × words of bits, in each quasi-identifier

    @property
    def records(self) -> int:
        return int(self.value[0].size)

    def covered(self, place: int) -> npt.NDArray[np.bool_]:
        """Whether the closure at a place covers each record."""
        word, bit = divmod(place, WORD)
        found = np.ones(self.records, dtype=np.bool_)
        for value, covering in zip(self.value, self.covering, strict=True):
            found &= (covering[:, word] >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)[value]
        return found

    def first(self, records: Records, alive: npt.NDArray[np.bool_]) -> Records:
        """The place of the least general living closure that covers each of some records, −1 for none."""
        living = packed(alive[None, :])[0]
        found = np.full(records.size, NOBODY, dtype=np.int64)
        step = max(1, MOST_WORDS // living.size)
        for start in range(0, records.size, step):
            own = records[start : start + step]
            common = np.broadcast_to(living, (own.size, living.size)).copy()
            for value, covering in zip(self.value, self.covering, strict=True):
                common &= covering[value[own]]
            word = np.argmax(common != 0, axis=1)
            bits = common[np.arange(own.size), word]
            lowest = bits & (~bits + np.uint64(1))
            bit = np.log2(np.maximum(lowest, np.uint64(1)).astype(np.float64)).astype(np.int64)
            found[start : start + step] = np.where(bits != 0, word * WORD + bit, NOBODY)
        return found


def coverage_of(
    frame: Frame,
    closures: Mapping[str, Sequence[str | None]],
    models: Mapping[str, Any],
    weights: Mapping[str, float],
    input: Input,
) -> Coverage:
    """Compare the closures of a release, their texts by column, with the records of a table."""
    reader = Reader(input.missing, input.decimal, input.date_format)
    number = len(next(iter(closures.values())))
    total = np.zeros(number)
    inside: list[npt.NDArray[np.bool_]] = []
    values: list[Records] = []
    for name, texts in closures.items():
        own = reader.of_column(name)
        original = column_texts(frame, name, own.missing)
        released = _cells(texts)
        cover = covered_values(line_of(original, models[name], own), original, released)
        total += weights.get(name, 1.0) * generality(
            texts, models[name], cover, input.of_column(name)
        )
        ranks, value = np.unique(cover.rank, return_inverse=True)
        covers = cover.inside(ranks, slice(0, cover.first.size - 1))  # texts × values
        inside.append(covers[cover.places].T)  # values × closures
        values.append(value.reshape(-1))
    rows = zip(*closures.values(), strict=True)
    spelled = ["\0".join(text or "" for text in row) for row in rows]
    rank = np.argsort(np.argsort(np.array(spelled, dtype=object)))
    order = np.lexsort((rank, np.round(total, 9)))
    covering = tuple(packed(own[:, order]) for own in inside)
    return Coverage(order, tuple(values), covering)


def _cells(texts: Sequence[str | None]) -> ColumnTexts:
    return column_texts(open_frame(pa.table({"text": pa.array(texts, pa.large_string())})), "text")


def packed(bits: npt.NDArray[np.bool_]) -> Words:
    """Rows of truth values as rows of words."""
    wide = -(-bits.shape[1] // WORD) * WORD
    filled = np.zeros((bits.shape[0], wide), dtype=np.bool_)
    filled[:, : bits.shape[1]] = bits
    packed = np.ascontiguousarray(np.packbits(filled, axis=1, bitorder="little"))
    return packed.view("<u8").astype(np.uint64, copy=False)


def assign_closures(coverage: Coverage, complies: Callable[[Records], bool]) -> Records:
    """Give every record the least general closure that may be used, −1 if there is none.

    A closure is used only if the records that it takes comply. Of those that do not, the one with the fewest records
    is dropped first; each of its records goes to the least general of the remaining closures that cover it.
    """
    alive = _promising(coverage, complies)
    place = coverage.first(np.arange(coverage.records), alive)
    members = _members(place)
    unsettled = [(own.size, at) for at, own in members.items() if not complies(own)]
    heapq.heapify(unsettled)
    while unsettled:
        size, at = heapq.heappop(unsettled)
        own = members.get(at)
        if own is None or own.size != size:
            continue  # it has grown since, and was looked at again then
        alive[at] = False
        del members[at]
        place[own] = coverage.first(own, alive)
        for next_at, moved in _members(place[own]).items():
            grown = np.concatenate([members.get(next_at, own[:0]), own[moved]])
            members[next_at] = grown
            if not complies(grown):
                heapq.heappush(unsettled, (grown.size, next_at))
    return np.where(place >= 0, coverage.order[place], NOBODY)


def _promising(coverage: Coverage, complies: Callable[[Records], bool]) -> npt.NDArray[np.bool_]:
    """The closures that comply if each, from the least general on, takes all records that are left."""
    if coverage.records * coverage.order.size > MOST_PAIRS:
        return np.ones(coverage.order.size, dtype=np.bool_)
    free = np.ones(coverage.records, dtype=np.bool_)
    alive = np.zeros(coverage.order.size, dtype=np.bool_)
    for at in range(alive.size):
        taken = np.flatnonzero(coverage.covered(at) & free)
        if taken.size and complies(taken):
            alive[at], free[taken] = True, False
    return alive


def _members(place: Records) -> dict[int, Records]:
    """The records of each place that is not −1."""
    order = np.argsort(place, kind="stable")
    places, start = np.unique(place[order], return_index=True)
    parts = np.split(order, start[1:])
    return {int(at): own for at, own in zip(places, parts, strict=True) if at != NOBODY}
