"""Columns of a large table as codes, or coarsened: the values of each come into memory, the records stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.data.engines.base import RESERVED, Backend, Lazy, inner_name
from shoal.encoding.closed import Closed
from shoal.encoding.encode import (
    MOST_NUMBERS,
    Column,
    Sensitive,
    Table,
    encode_column,
    encode_sensitive,
)
from shoal.encoding.forms import Ints, Records
from shoal.encoding.frames import Frame, arrow_values, plain_column
from shoal.encoding.models import Model
from shoal.encoding.other_columns import coarse_input, coarse_texts, range_columns
from shoal.errors import InputError, added_to, raise_problems
from shoal.settings.settings import Settings

COUNT, HASH = f"{RESERVED}count", f"{RESERVED}hash"
RAW, CODE = f"{RESERVED}raw", f"{RESERVED}code"


@dataclass(frozen=True)
class CodedColumn:
    """A column with its distinct values, the records that have each, and the code of each."""

    name: str
    values: Frame  # a row per value
    counts: Records
    codes: Ints
    meaning: Column | Sensitive

    @property
    def size(self) -> int:
        """The number of codes."""
        is_column = isinstance(self.meaning, Column)
        return self.meaning.form.size if is_column else self.meaning.size  # type: ignore[union-attr]

    @cached_property
    def raw(self) -> pa.ChunkedArray:
        """The values as the engine knows them; categories are texts."""
        return plain_column(arrow_values(self.values, self.name))

    def mapping(self) -> pa.Table:
        """The code of every value that is not null."""
        known = pa.table({RAW: self.raw, CODE: pa.array(self.codes, pa.int32())})
        return known.filter(known[RAW].is_valid())

    @property
    def null(self) -> int:
        """The code of null, −1 where no record has it."""
        where = np.flatnonzero(np.asarray(self.raw.is_null()))
        return int(self.codes[where[0]]) if where.size else -1


@dataclass(frozen=True)
class PackedCodes:
    """All quasi-identifiers and sensitive columns of a large table, as codes packed into a few whole numbers."""

    quasi_identifiers: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]

    @property
    def columns(self) -> tuple[CodedColumn, ...]:
        return (*self.quasi_identifiers, *self.sensitive)

    @property
    def records(self) -> int:
        return int(self.columns[0].counts.sum())

    @cached_property
    def packs(self) -> list[list[int]]:
        """Which columns share a whole number."""
        packs: list[list[int]] = [[]]
        size = 1
        for j, column in enumerate(self.columns):
            if size > MOST_NUMBERS // max(1, column.size):
                packs.append([])
                size = 1
            packs[-1].append(j)
            size *= max(1, column.size)
        return packs

    @property
    def keys(self) -> list[str]:
        """The names of the packed columns."""
        return [f"{RESERVED}key{i}" for i in range(len(self.packs))]

    def packed(self, engine: Backend, frame: Lazy) -> Lazy:
        """Add the packed codes to a frame; a record with a value that is not known gets null."""
        kinds = frame.collect_schema()
        names = [f"{CODE}{j}" for j in range(len(self.columns))]
        for name, column in zip(names, self.columns, strict=True):
            inner = inner_name(column.name)
            mapping = column.mapping().rename_columns([f"{RAW}2", name])
            frame = _mapped(engine, frame, inner, kinds[inner], mapping)
            if column.null >= 0:
                is_null = nw.col(inner).is_null()
                code = nw.when(is_null).then(nw.lit(column.null)).otherwise(nw.col(name))
                frame = frame.with_columns(code.alias(name))
        packs = []
        for key, pack in zip(self.keys, self.packs, strict=True):
            number = nw.col(names[pack[0]]).cast(nw.Int64)
            for j in pack[1:]:
                number = number * self.columns[j].size + nw.col(names[j]).cast(nw.Int64)
            packs.append(number.alias(key))
        return frame.with_columns(*packs).drop(names)

    def unpacked(self, keys: Sequence[Records]) -> Ints:
        """The codes of all columns, from packed ones: rows × columns."""
        codes = np.empty((keys[0].size, len(self.columns)), dtype=np.int32)
        for key, pack in zip(keys, self.packs, strict=True):
            left = key
            for j in reversed(pack):
                left, codes[:, j] = np.divmod(left, self.columns[j].size)
        return codes

    def table(self, codes: Ints, counts: Records | None) -> Table:
        """An encoded table of rows with these codes."""
        number = len(self.quasi_identifiers)
        secrets = {}
        for j, column in enumerate(self.sensitive, start=number):
            assert isinstance(column.meaning, Sensitive)
            own = np.ascontiguousarray(codes[:, j])
            secrets[column.name] = replace(column.meaning, codes=own)
        columns = tuple(column.meaning for column in self.quasi_identifiers)
        return Table(columns, np.ascontiguousarray(codes[:, :number]), secrets, counts)  # type: ignore[arg-type]

    def without(self, table: Table, settings: Settings) -> Table:
        """A counted table of these codes, encoded again, so that nothing reveals other records."""
        codes = np.column_stack([table.codes, *(s.codes for s in table.sensitive.values())])
        anew = []
        for j, column in enumerate(self.columns):
            left = np.zeros(column.size, dtype=np.int64)
            assert table.counts is not None
            np.add.at(left, codes[:, j], table.counts)
            stays = left[column.codes] > 0
            first = np.unique(column.codes[stays], return_index=True)[1]
            counts = np.zeros(int(stays.sum()), dtype=np.int64)
            counts[first] = left[column.codes[stays]][first]
            values = column.values.filter(stays.tolist())
            model = column.meaning.model if isinstance(column.meaning, Column) else None
            fresh = _coded(
                column.name, values, counts, settings, model, isinstance(column.meaning, Sensitive)
            )
            place = np.zeros(column.size, dtype=np.int32)
            place[column.codes[stays]] = fresh.codes
            codes[:, j] = place[codes[:, j]]
            anew.append(fresh)
        number = len(self.quasi_identifiers)
        return PackedCodes(tuple(anew[:number]), tuple(anew[number:])).table(codes, table.counts)


def read_columns(engine: Backend, frame: Lazy, settings: Settings) -> PackedCodes:
    """Bring the values of all quasi-identifiers and sensitive columns into memory and encode them.

    Raises
    ------
    InputError
        With every problem found: no records, empty columns, mixed types, values outside their hierarchy, …
    """
    problems: list[str] = []
    found: dict[str, CodedColumn] = {}
    for name in (*settings.quasi_identifiers, *settings.sensitive):
        together, counts = _counted(engine, frame, inner_name(name))
        if not together.shape[0]:
            raise InputError("The table has no records. Give at least one.")
        is_secret = name in settings.sensitive
        model = None if is_secret else settings.quasi_identifiers[name]
        with added_to(problems):
            values = together.select(name)
            found[name] = _coded(name, values, counts, settings, model, is_secret, False)
    raise_problems(problems)
    return PackedCodes(
        tuple(found[name] for name in settings.quasi_identifiers),
        tuple(found[name] for name in settings.sensitive),
    )


def _counted(engine: Backend, frame: Lazy, name: str) -> tuple[Frame, Records]:
    """The distinct values of a column, in any order, and how many records have each."""
    found = engine.collect(frame.group_by(name).agg(nw.len().alias(COUNT)))
    return found, found.get_column(COUNT).to_numpy().astype(np.int64)


def _mapped(engine: Backend, frame: Lazy, name: str, kind: Any, mapping: pa.Table) -> Lazy:
    """Look up what a mapping says of each record's value in a column; categories are texts there."""
    own = nw.col(name)
    is_category = kind in (nw.Categorical, nw.Enum)
    frame = frame.with_columns((own.cast(nw.String) if is_category else own).alias(RAW))
    joined = frame.join(engine.table(mapping), left_on=RAW, right_on=f"{RAW}2", how="left")
    return joined.drop(RAW)


def _coded(
    name: str,
    values: Frame,
    counts: Records,
    settings: Settings,
    model: Model | None,
    is_secret: bool,
    may_be_empty: bool = True,
) -> CodedColumn:
    if is_secret:
        reading = coarse_input(settings.reading, settings.coarsen)
        is_range = name in range_columns(settings.coarsen)
        secret = encode_sensitive(values, name, reading, counts, is_range)
        return CodedColumn(name, values, counts, secret.codes, secret)
    column, codes = encode_column(values, name, model, settings.reading, may_be_empty, counts)
    return CodedColumn(name, values, counts, codes, column)


TEXT, ORIGIN = f"{RESERVED}text", f"{RESERVED}origin"


@dataclass(frozen=True)
class CoarsenedFrame:
    """A frame whose unprotected columns are coarsened, and what is known of the values that they had."""

    frame: Lazy
    records: dict[str, int] = field(default_factory=dict)  # that have a value, by column
    values: dict[str, Frame] = field(default_factory=dict)  # the distinct ones
    texts: dict[str, pa.Array] = field(default_factory=dict)  # what each became

    @property
    def origins(self) -> list[str]:
        """Columns with the number of the value that each record had, as far as the frame has them."""
        names = self.frame.collect_schema().names()
        return [own for own in map(_origin, range(len(self.values))) if own in names]


def coarsen_frame(engine: Backend, frame: Lazy, settings: Settings) -> CoarsenedFrame:
    """Replace every value of the columns to coarsen by what its model makes of it; missing values stay missing.

    Raises
    ------
    InputError
        With every problem found: columns without numbers or dates, values outside their hierarchy, …
    """
    names, problems = frame.collect_schema().names(), list[str]()  # inside the engine
    found = CoarsenedFrame(frame)
    for name in (name for name in settings.coarsen if inner_name(name) in names):
        together, counts = _counted(engine, frame, inner_name(name))
        values, model = together.select(name), settings.coarsen[name]
        with added_to(problems):
            texts = coarse_texts(values, name, model, settings.reading, counts)
            found.values[name], found.texts[name] = values, texts
            found.records[name] = int(counts[np.asarray(texts.is_valid())].sum())
    raise_problems(problems)
    for number, (name, texts) in enumerate(found.texts.items()):
        raw = plain_column(arrow_values(found.values[name], name))
        mapping = {TEXT: texts}
        if settings.suppression_limit:  # records may be left out, and then texts are spelled again
            mapping[_origin(number)] = pa.array(np.arange(len(texts)))
            names.append(_origin(number))
        frame = _replaced(engine, frame, inner_name(name), raw, mapping)
    return replace(found, frame=frame.select(names)) if found.texts else found


def respelled_frame(
    engine: Backend, frame: Lazy, closed: Closed, coarse: CoarsenedFrame, settings: Settings
) -> tuple[Lazy, Closed]:
    """Released records with the texts that their values alone would have got: nothing reveals those left out.

    Whether bins end in whole numbers, and how far codes are filled, depends on all values of a column.
    """
    secrets = dict(closed.table.sensitive)
    for number, (name, values) in enumerate(coarse.values.items()):
        origin = _origin(number)
        found, counts = _counted(engine, frame.filter(~nw.col(origin).is_null()), origin)
        places = found.get_column(origin).to_numpy().astype(np.int64)
        model = settings.coarsen[name]
        own = values[places.tolist()]
        new = coarse_texts(own, name, model, settings.reading, counts)
        old = coarse.texts[name].take(pa.array(places))
        if new.equals(old):
            continue
        known = dict(zip(old.to_pylist(), new.to_pylist(), strict=True))
        known.pop(None, None)
        texts = [pa.array(list(part), pa.large_string()) for part in (known, known.values())]
        frame = _replaced(engine, frame, inner_name(name), texts[0], {TEXT: texts[1]})
        if name in secrets:
            labels = tuple(known[label] for label in secrets[name].labels)
            anew = pa.array(labels, pa.large_string())
            secrets[name] = replace(secrets[name], labels=labels, values=anew)
    return frame, replace(closed, table=replace(closed.table, sensitive=secrets))


def _origin(number: int) -> str:
    return f"{ORIGIN}{number}"


def _replaced(
    engine: Backend, frame: Lazy, name: str, raw: pa.Array, found: Mapping[str, pa.Array]
) -> Lazy:
    """A frame with what was found for each value instead of a column."""
    known = pa.table({f"{RAW}2": raw, **found}).filter(raw.is_valid())
    frame = _mapped(engine, frame, name, frame.collect_schema()[name], known)
    return frame.drop(name).rename({TEXT: name})
