"""The audit of releases whose groups do not look the same: every record must still have k possible counterparts.

A release has few different texts per column, so each of them is compared with the original records once, as a row of
bits, 64 records to a word. The records that a combination of texts covers are the bits that all its rows have in
common. Combinations are examined column by column: combinations with the same beginning share the work for it, and
words without any bit are dropped on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from shoal.audits.ranges import RangeLine
from shoal.audits.readings import (
    CoveredValues,
    OrderLine,
    covered_values,
    line_of,
    values_covered_by_bounds,
)
from shoal.audits.texts import ColumnTexts, Reader, column_texts, combined
from shoal.audits.verdict import Audit, Examination, Places, refuse_identifiers
from shoal.errors import InputError, counted

Words = npt.NDArray[np.uint64]
WORD = 64  # records per word of bits
BLOCK = 32 * WORD  # records at a time, to bound memory
TEXTS, PAIRS = 1 << 8, 1 << 14  # texts, and pairs of text and word, likewise


@dataclass(frozen=True)
class Originals:
    """The quasi-identifiers of a table as the audit reads them, by name, and how they may be released."""

    cells: Mapping[str, ColumnTexts]
    models: Mapping[str, Any]
    reader: Reader
    records: int


def read_originals(
    frame: nw.DataFrame[Any], models: Mapping[str, Any], reader: Reader | None = None
) -> Originals:
    """Read the quasi-identifiers of a table; `models` are their generalization models."""
    reading = reader or Reader()
    cells = {name: column_texts(frame, name, reading.of_column(name).missing) for name in models}
    return Originals(cells, models, reading, frame.shape[0])


def audit_compatibility(
    originals: Originals, frame: nw.DataFrame[Any], k: int, identifiers: Sequence[str] = ()
) -> Examination:
    """Count whether every released record may belong to k records of the table, and every record to k released ones.

    The order of released records does not matter. A released text that means no value covers no record.

    Raises `AuditFailed` if an identifier is still in the release.
    """
    refuse_identifiers(frame.columns, identifiers)
    if frame.shape[0] != originals.records:
        raise InputError(
            f"The release has {counted(frame.shape[0], 'record')} but the table has {originals.records:,}. Give "
            "a release of the whole table."
        )
    covers = [_cover(originals, name, frame) for name in originals.cells]
    of_released, of_original, sizes = count_counterparts(covers)
    smallest = int(min(of_released.min(), of_original.min()))
    miss = (
        f"One record has only {smallest:,} possible counterparts, fewer than k = {k:,}"
        if smallest < k
        else ""
    )
    return Examination(Audit(originals.records, sizes.size, smallest), (miss,), sizes)


def _cover(originals: Originals, name: str, frame: nw.DataFrame[Any]) -> CoveredValues:
    original = originals.cells[name]
    line = line_of(original, originals.models[name], originals.reader.of_column(name))
    bounds = f"{name}_min", f"{name}_max"
    if name in frame.columns:
        return covered_values(line, original, column_texts(frame, name))
    if isinstance(line, RangeLine | OrderLine) and set(bounds) <= set(frame.columns):
        return values_covered_by_bounds(
            line, original, *(column_texts(frame, bound) for bound in bounds)
        )
    raise InputError(
        f"Quasi-identifier '{name}' is not in the release. Give a release that has it."
    )


def count_counterparts(covers: Sequence[CoveredValues]) -> tuple[Places, Places, Places]:
    """Count possible counterparts among distinct combinations of released texts and distinct original records.

    Returns (originals that each combination covers, released records that cover each original, released records
    that have each combination).
    """
    covers = sorted(
        covers, key=_breadth
    )  # narrow columns first: they leave the least work for the others
    texts, sizes = _distinct([cover.places for cover in covers])
    ranks, weights = _distinct([cover.rank for cover in covers])
    of_released, of_original = np.zeros(sizes.size, np.int64), np.zeros(weights.size, np.int64)
    for start in range(0, weights.size, BLOCK):
        block = slice(start, start + BLOCK)
        columns = [_Block(*own) for own in zip(covers, ranks[:, block], strict=True)]
        _add_common(columns, texts, sizes, weights[block], of_released, of_original[block])
    return of_released, of_original, sizes


def _breadth(cover: CoveredValues) -> float:
    """The average number of the column's original values that a released text covers."""
    widths = np.add.reduceat(cover.high - cover.low, cover.first[:-1])
    return float(widths[cover.places].mean() / max(1, cover.high.max()))


def _distinct(columns: Sequence[Places]) -> tuple[Places, Places]:
    """The distinct rows of some columns in ascending order, a column each, and how often each occurs."""
    number, _ = combined([(own, int(own.max()) + 1) for own in columns], columns[0].size)
    _, first, counts = np.unique(number, return_index=True, return_counts=True)
    rows = np.stack(columns)[:, first]
    order = np.lexsort(rows[::-1])
    return rows[:, order], counts[order]


class _Block:
    """A block of originals in one column."""

    def __init__(self, cover: CoveredValues, ranks: Places) -> None:
        self.cover = cover
        self.words = -(-ranks.size // WORD)
        outside = np.full(self.words * WORD - ranks.size, -1)  # no text covers this rank
        self.ranks = np.append(ranks, outside)

    def bits(self, text: Places, word: Places) -> Words:
        """The originals in some words that some texts cover, a word for each text and word."""
        cover, texts = self.cover, self.cover.first.size - 1
        if text.size >= texts * self.words or cover.low.size > texts:
            return self._table()[text, word]
        ranks = self.ranks.reshape(-1, WORD)
        found = np.empty(text.size, np.uint64)
        for start in range(0, text.size, PAIRS):
            own = slice(start, start + PAIRS)
            low, high = cover.low[text[own], None], cover.high[text[own], None]
            found[own] = _packed((low <= ranks[word[own]]) & (ranks[word[own]] < high))[:, 0]
        return found

    def _table(self) -> Words:
        """The originals that each text covers, for all texts and all words."""
        distinct, place = np.unique(self.ranks, return_inverse=True)
        texts = self.cover.first.size - 1
        table = np.zeros((texts, self.words), np.uint64)
        for start in range(0, texts, TEXTS):
            own = slice(start, start + TEXTS)
            table[own] = _packed(self.cover.inside(distinct, own)[:, place.reshape(-1)])
        return table


def _packed(inside: npt.NDArray[np.bool_]) -> Words:
    """Rows of truth values as rows of words."""
    packed = np.ascontiguousarray(np.packbits(inside, axis=1, bitorder="little"))
    return packed.view("<u8").astype(np.uint64, copy=False)


def _add_common(
    columns: Sequence[_Block],
    texts: Places,
    sizes: Places,
    weights: Places,
    of_released: Places,
    of_original: Places,
) -> None:
    """Add the originals in all rows of a combination to its count, and its size to theirs."""
    words = columns[0].words
    start, word = np.array([0, words]), np.arange(words)  # where each beginning's words are
    common = np.full(words, ~np.uint64(0))
    begins = np.zeros(sizes.size, np.bool_)
    beginning = np.zeros(sizes.size, np.int64)
    for column, own in zip(columns, texts, strict=True):
        begins[1:] |= own[1:] != own[:-1]
        begins[:1] = True
        first = np.flatnonzero(begins)
        above = beginning[first]
        many = start[above + 1] - start[above]
        child = np.repeat(np.arange(first.size), many)
        at = np.arange(child.size) + np.repeat(start[above] - (np.cumsum(many) - many), many)
        word = word[at]
        common = common[at] & column.bits(own[first][child], word)
        alive = np.flatnonzero(common)
        common, word, child = common[alive], word[alive], child[alive]
        start = np.searchsorted(child, np.arange(first.size + 1))
        beginning = np.cumsum(begins) - 1
    for w in range(words):  # at the end, every combination is a beginning of its own
        found = np.flatnonzero(word == w)
        held = common[found].astype("<u8").view(np.uint8).reshape(-1, 8)
        own = slice(w * WORD, (w + 1) * WORD)
        ones = np.unpackbits(held, axis=1, bitorder="little").astype(np.float64)
        ones = ones[:, : weights[own].size]  # the last word may be longer than the block
        of_released[child[found]] += (ones @ weights[own]).astype(np.int64)
        of_original[own] += (sizes[child[found]] @ ones).astype(np.int64)
