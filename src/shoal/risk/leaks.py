"""What unchanged columns reveal: found before a run, and refused unless the user allows it.

The audit proves groups, but another released column may undo the proof: the square of an age, a note that contains a
name, a number that only one record has.
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

from shoal.encoding.encode import Table, row_numbers
from shoal.encoding.forms import RangeForm
from shoal.encoding.frames import Frame, arrow_values, plain_column
from shoal.encoding.models.base import is_ordered
from shoal.errors import LONGEST, Allowed, Refusal, counted
from shoal.risk.patterns import (
    are_titled,
    have_given_names,
    identifier_pattern,
    name_persons,
    part_of_texts,
    words_of,
    words_per_text,
)

Codes = npt.NDArray[np.int64]

NEARLY_UNIQUE = 0.5  # share of records whose sensitive value no other record has
FEWEST_ALONE = 20  # such records, so that a small table is not suspected
DETERMINED = 0.99  # share of the errors of a blind guess that knowing the other column saves
EXPECTED_ERRORS = 20  # of a blind guess, so that a small table is not suspected by chance
CHANCE = 1e-6  # of two columns having the same order by accident
CORRELATED = 0.9  # Chatterjee's coefficient: one column reveals the other except for noise
FEWEST_CORRELATED = 50  # records that make the coefficient reliable
WORDS, DISTINCT = 4, 0.3  # of free text: words in most values, and distinct values per record
RARE = 0.05  # share of records with a text of their own, from which long texts are free text
FEWEST_TEXTS = 10
LOOKED_AT = 5_000  # distinct values, evenly spaced, in which patterns are searched
SAMPLE = 5_000  # records that show whether a closer look at a pair of columns is worthwhile


@dataclass(frozen=True)
class _Column:
    """A column whose distinct values are numbered, with the number of each record."""

    codes: Codes
    texts: pa.Array | None  # the distinct values, where they are texts
    is_ordered: bool  # whether codes are in the order of numbers or dates
    whole_numbers: pa.Array | None = None  # the distinct values, where they are whole numbers

    @cached_property
    def counts(self) -> Codes:
        return np.bincount(self.codes)

    def sampled(self) -> _Column:
        """The column restricted to fewer, evenly spaced records."""
        return _Column(self.codes[:: self.codes.size // SAMPLE], None, self.is_ordered)


@dataclass(frozen=True)
class WholeColumn:
    """What is known about a column in all records, if only some are examined."""

    records: int
    distinct: int  # values
    alone: int  # values that one record has


@dataclass(frozen=True)
class Leaks:
    """What unchanged columns reveal: what was allowed, and what is refused."""

    allowed: tuple[Refusal, ...] = ()
    refused: tuple[Refusal, ...] = ()

    @classmethod
    def of(cls, found: Sequence[Refusal], allow: Allowed) -> Leaks:
        def is_allowed(leak: Refusal) -> bool:
            return leak.reason in allow.get(leak.column, ())

        return cls(
            tuple(leak for leak in found if is_allowed(leak)),
            tuple(leak for leak in found if not is_allowed(leak)),
        )


def find_leaks(
    frame: Frame,
    table: Table,
    kept: Sequence[str],
    allow: Allowed,
    limit: float = 0.0,
    whole: Mapping[str, WholeColumn] | None = None,
) -> Leaks:
    """Find everything that kept and sensitive columns reveal.

    `table` is the frame, encoded. If both contain only some of the records, `whole` describes all of them. Kept
    columns may identify up to the share `limit` of all records.
    """
    columns = {name: _column(arrow_values(frame, name)) for name in (*table.sensitive, *kept)}
    if table.records < 2 or not columns:
        return Leaks()
    known = {
        column.name: _Column(
            table.codes[:, j].astype(np.int64), None, isinstance(column.form, RangeForm)
        )
        for j, column in enumerate(table.columns)
    }
    found = [
        leak
        for name, column in columns.items()
        for leak in (
            *_of_values(name, column, name not in kept, (whole or {}).get(name)),
            *_of_pairs(name, column, known),
        )
    ]
    judged = Leaks.of(found, allow)
    counted = [name for name in kept if "unique" not in allow.get(name, ())]
    if whole is None and counted:
        codes = np.column_stack([columns[name].codes for name in counted])
        alone = int(np.count_nonzero(np.unique(row_numbers(codes), return_counts=True)[1] == 1))
        if alone > limit * table.records:
            together = tuple(kept_leaks(counted, alone, table.records))
            return Leaks(judged.allowed, (*judged.refused, *together))
    return judged


def value_leaks(frame: Frame, sensitive: Sequence[str], kept: Sequence[str]) -> list[Refusal]:
    """What the values of released columns reveal by themselves, in anyone's release."""
    return [
        leak
        for name in (*sensitive, *kept)
        if name in frame.columns
        for leak in _of_values(name, _column(arrow_values(frame, name)), name in sensitive, None)
    ]


def kept_leaks(
    columns: Sequence[str], identified: int, of: int, with_quasi_identifiers: bool = False
) -> Iterator[Refusal]:
    """A refusal for each kept column that identifies people; the first one has the sentence."""
    names = ", ".join(f"'{name[:LONGEST]}'" for name in columns)
    several = len(columns) > 1
    them = "them" if several else "it"
    sentence = (
        f"Kept column{'s' if several else ''} {names}{' together' if several else ''}"
        f"{' with the released quasi-identifiers' if with_quasi_identifiers else ''} "
        f"{'identify' if several else 'identifies'} {identified:,} of {counted(of, 'person', 'people')}: "
        f"nobody else has the same values. If nobody outside can know {them}, make {them} sensitive."
    )
    for place, name in enumerate(columns):
        yield Refusal(name, "unique", "" if place else sentence, identified)


def _of_values(
    name: str, column: _Column, is_sensitive: bool, whole: WholeColumn | None
) -> Iterator[Refusal]:
    """What a column's own values reveal."""
    if whole is None:
        alone = int(np.count_nonzero(column.counts == 1))
        whole = WholeColumn(column.codes.size, column.counts.size, alone)
    records, alone, own = whole.records, whole.alone, name[:LONGEST]
    if is_sensitive and alone >= max(NEARLY_UNIQUE * records, FEWEST_ALONE):
        yield Refusal(
            name,
            "unique",
            f"Sensitive column '{own}' is nearly unique: {alone:,} of {counted(records, 'record')} have a value "
            "that occurs only once.",
            alone,
        )
    pattern = _identifying(column, name)
    if pattern:
        yield Refusal(name, "identifier", f"Column '{own}' {pattern}.")
    elif column.texts is not None and _is_free_text(column.texts, whole):
        sentence = f"Column '{own}' contains free text, which may name or describe people."
        yield Refusal(name, "text", sentence)


def _identifying(column: _Column, name: str) -> str:
    """Which kind of identifying value a column contains; empty for none."""
    values = column.texts if column.texts is not None else column.whole_numbers
    if values is None or not len(values):
        return ""
    places = np.unique(np.linspace(0, len(values) - 1, min(len(values), LOOKED_AT)).astype(int))
    texts = values.take(pa.array(places)).cast(pa.large_string())
    pattern = identifier_pattern(texts, words_of(name))
    if pattern is not None:
        return f"contains {pattern.plain}"
    if column.texts is None:
        return ""
    inside = part_of_texts(texts)
    if inside is not None:
        return f"contains texts with {inside.plain}"
    if are_titled(texts) or have_given_names(texts):
        return "contains names of people"
    return "contains texts that name people" if name_persons(texts) else ""


def _is_free_text(values: pa.Array, whole: WholeColumn) -> bool:
    """Whether most values have several words, and few repeat or some occur in only one record."""
    if whole.distinct < FEWEST_TEXTS or words_per_text(values) < WORDS:
        return False
    return whole.distinct >= DISTINCT * whole.records or whole.alone > RARE * whole.records


def _of_pairs(name: str, column: _Column, known: Mapping[str, _Column]) -> Iterator[Refusal]:
    """What a column reveals about each quasi-identifier."""
    for other, quasi_identifier in known.items():
        if _determines(column, quasi_identifier):
            what = "reveals quasi-identifier '{}', so it would undo the generalization"
        elif _determines(quasi_identifier, column):
            what = "follows from quasi-identifier '{}', so it would narrow the generalized values down again"
        elif _correlated(column, quasi_identifier):
            what = "almost reveals quasi-identifier '{}', so it would undo the generalization"
        else:
            continue
        sentence = f"Column '{name[:LONGEST]}' {what.format(other[:LONGEST])}."
        yield Refusal(name, "reveals", sentence)


def predicts(one: Codes, other: Codes, are_in_order: bool) -> bool:
    """Whether the values of a column reveal those of another, and not by chance; both are numbers from 0, by record.

    `are_in_order` says that the numbers of both follow the order of numbers or dates.
    """
    return _determines(_Column(one, None, are_in_order), _Column(other, None, are_in_order))


def _column(array: pa.ChunkedArray) -> _Column:
    try:
        encoded = plain_column(array).combine_chunks().dictionary_encode("encode")
        order = pc.array_sort_indices(encoded.dictionary)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists, structures, floats of 16 bits
        texts = [None if value is None else repr(value) for value in array.to_pylist()]
        encoded = pa.array(texts, type=pa.string()).dictionary_encode("encode")
        order = pc.array_sort_indices(encoded.dictionary)
    codes, values = np.asarray(encoded.indices).astype(np.int64), encoded.dictionary
    if is_ordered(values.type):
        order = np.asarray(order)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        whole = values.drop_null() if pa.types.is_integer(values.type) else None
        return _Column(rank[codes].astype(np.int64), None, True, whole)
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return _Column(codes, values.drop_null() if is_text else None, False)


def _determines(one: _Column, other: _Column) -> bool:
    """Whether a value of one column reveals that of the other, and not by chance."""
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


def _correlated(one: _Column, other: _Column) -> bool:
    """Whether records that are neighbours in one column are also neighbours in the other.

    Chatterjee's coefficient (2021): 1 if a column is a function of the other, 0 if they are independent. Ties
    are broken at random, always in the same way.
    """
    if not (one.is_ordered and other.is_ordered) or one.codes.size < FEWEST_CORRELATED:
        return False
    if one.codes.size > 2 * SAMPLE:
        one, other = one.sampled(), other.sampled()
    records = one.codes.size
    order = np.lexsort([np.random.default_rng(0).random(records), one.codes])
    _, place, counts = np.unique(other.codes, return_inverse=True, return_counts=True)
    below = np.cumsum(counts)[place][order]  # records with at most this value
    above = records - below + counts[place][order]  # records with at least this value
    spread = 2.0 * float((above * (records - above)).sum())
    if spread == 0:
        return False
    return bool(1 - records * float(np.abs(np.diff(below)).sum()) / spread >= CORRELATED)
