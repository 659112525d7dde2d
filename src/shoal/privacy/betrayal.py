"""What columns that are released unchanged betray: found in the table before a run, and refused unless allowed.

The audit proves groups, but a column beside them may undo them: the square of an age, a note with a name in it,
a number that only one record has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import LONGEST
from shoal.generalization.forms import RangeForm
from shoal.generalization.models import is_ordered
from shoal.table import Table
from shoal.table.frames import Frame, arrow_values
from shoal.table.plain import plain_column

Codes = npt.NDArray[np.int64]

NEARLY_UNIQUE = 0.5  # share of records whose value no other record has
DETERMINED = 0.99  # share of the errors of a blind guess that knowing the other column saves
EXPECTED_ERRORS = 20  # of a blind guess, so that a small table is not suspected by chance
CHANCE = 1e-6  # of two columns being in the same order by accident
WORDS, DISTINCT = 4, 0.3  # of free text: words in most values, and distinct values per record
FEWEST_TEXTS = 10
SAMPLE = 5_000  # records that show whether a closer look at a pair of columns is worth it


@dataclass(frozen=True)
class _Column:
    """A column whose distinct values are numbered, with the number of each record."""

    codes: Codes
    texts: pa.Array | None  # the values, where they are texts
    is_ordered: bool  # whether codes are in the order of numbers or dates

    @cached_property
    def counts(self) -> Codes:
        return np.bincount(self.codes)

    def sampled(self) -> _Column:
        """The column restricted to fewer records, evenly taken."""
        return _Column(self.codes[:: self.codes.size // SAMPLE], None, self.is_ordered)


@dataclass(frozen=True)
class Whole:
    """What is known of a column in all records, where only some are looked at."""

    records: int
    distinct: int  # values
    alone: int  # values that one record has


def betrayals(
    frame: Frame,
    table: Table,
    kept: Sequence[str],
    allow: Sequence[str] = (),
    whole: Mapping[str, Whole] | None = None,
) -> list[str]:
    """Return a sentence for everything that unchanged columns betray and nobody allowed.

    `table` is the frame, encoded. If both hold some of the records only, `whole` says what all of them have.
    """
    sensitive = [name for name in table.sensitive if name not in allow]
    kept = [name for name in kept if name not in allow]
    if table.records < 2 or not (sensitive or kept):
        return []
    known = {
        column.name: _Column(
            table.codes[:, j].astype(np.int64), None, isinstance(column.form, RangeForm)
        )
        for j, column in enumerate(table.columns)
    }
    found = [
        sentence
        for name in (*sensitive, *kept)
        for sentence in _of_column(
            name[:LONGEST],
            _column(arrow_values(frame, name)),
            known,
            name in kept,
            (whole or {}).get(name),
        )
    ]
    if found:
        found.append(
            "Make such a column a quasi-identifier or remove it; if it may be released all the same, say so with "
            'allow = ["COLUMN"] (--allow COLUMN).'
        )
    return found


def _of_column(
    name: str,
    column: _Column,
    known: Mapping[str, _Column],
    is_kept: bool,
    whole: Whole | None,
) -> Iterator[str]:
    if whole is None:
        alone = int(np.count_nonzero(column.counts == 1))
        whole = Whole(column.codes.size, column.counts.size, alone)
    records, alone = whole.records, whole.alone
    if is_kept and alone >= NEARLY_UNIQUE * records:
        yield f"Column '{name}' is kept, and {alone:,} of {records:,} records have a value in it that no other has."
    if _is_free_text(column, whole):
        yield f"Column '{name}' holds free text, which may name or describe persons."
    for other, quasi_identifier in known.items():
        if _determines(column, quasi_identifier):
            yield f"Column '{name}' tells quasi-identifier '{other}': it would undo what is generalized."
        elif _determines(quasi_identifier, column):
            yield (
                f"Column '{name}' follows from quasi-identifier '{other}': it narrows what is generalized down again."
            )


def tells(one: Codes, other: Codes, are_in_order: bool) -> bool:
    """Whether the values of a column tell those of another, and not by chance; both are numbers from 0, by record.

    `are_in_order` says that the numbers of both follow the order of numbers or dates.
    """
    return _determines(_Column(one, None, are_in_order), _Column(other, None, are_in_order))


def _column(array: pa.ChunkedArray) -> _Column:
    try:
        encoded = plain_column(array).combine_chunks().dictionary_encode("encode")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists and structures
        texts = [None if value is None else repr(value) for value in array.to_pylist()]
        encoded = pa.array(texts, type=pa.string()).dictionary_encode("encode")
    codes, values = np.asarray(encoded.indices).astype(np.int64), encoded.dictionary
    if is_ordered(values.type):
        order = np.asarray(pc.array_sort_indices(values))
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return _Column(rank[codes].astype(np.int64), None, True)
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return _Column(codes, values if is_text else None, False)


def _is_free_text(column: _Column, whole: Whole) -> bool:
    """Whether most values are several words long and few of them repeat."""
    values = column.texts
    if values is None or whole.distinct < max(FEWEST_TEXTS, DISTINCT * whole.records):
        return False
    words = pc.add(pc.count_substring_regex(pc.utf8_trim_whitespace(values), r"\s+"), 1)
    return bool(pc.greater_equal(pc.quantile(words, 0.5)[0], WORDS).as_py())


def _determines(one: _Column, other: _Column) -> bool:
    """Whether a value of one column tells that of the other, and not by chance."""
    blind = 1 - float(other.counts.max()) / other.codes.size  # errors of a blind guess
    if blind == 0:
        return False
    if one.codes.size > 2 * SAMPLE:
        wrong, tried = _errors(one.sampled(), other.sampled())
        if wrong > 5 * (1 - DETERMINED) * tried * blind:
            return False
    wrong, tried = _errors(one, other)
    if tried * blind >= EXPECTED_ERRORS:
        return wrong <= (1 - DETERMINED) * tried * blind
    return _same_order(one, other)


def _errors(one: _Column, other: _Column) -> tuple[int, int]:
    """Guess each record's value in `other` from the other records with its value in `one`.

    Returns the number of errors and the number of records tried.
    """
    width = int(other.codes.max()) + 1
    pairs, counts = np.unique(one.codes * width + other.codes, return_counts=True)
    first = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    size = np.add.reduceat(counts, first)
    most = np.maximum.reduceat(counts, first)
    tried = int(size[size > 1].sum())
    return tried - int(most[size > 1].sum()), tried


def _same_order(one: _Column, other: _Column) -> bool:
    """Whether two columns of numbers or dates rise, or fall, together, and not by chance."""
    if not (one.is_ordered and other.is_ordered):
        return False
    first = np.unique(one.codes, return_index=True)[1]
    beside = other.codes[first]
    steps = np.diff(beside)
    if not ((steps >= 0).all() or (steps <= 0).all()):
        return False
    orders = lgamma(first.size + 1) - sum(lgamma(size + 1) for size in np.bincount(beside))
    return bool(log(2) - orders < log(CHANCE))
