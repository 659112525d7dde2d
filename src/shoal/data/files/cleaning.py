"""Cleaning that a user asked for, as a table is opened: new names, spaces, thousands separators, spellings, places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.frames import Frame, arrow_values, plain_column
from shoal.encoding.source import ALL_COLUMNS, Input
from shoal.errors import LONGEST, counted, near_miss, raise_problems

Lazy = nw.LazyFrame[Any]

# Each separator of thousands with the characters that are written for it.
_WRITTEN = {".": r"\.", ",": ",", "'": "['’]", " ": "[ \u00a0\u2009\u202f]"}
BETWEEN = ", "  # latitude and longitude
SPACES = " \t\r\n\v\f\u00a0\u2007\u2009\u202f\u3000\ufeff"


def clean_names(names: Sequence[str], input: Input) -> list[str]:
    """The column names without spaces at their ends, and with new names for some.

    Examples
    --------
    >>> clean_names(["id ", "", "age"], Input(trim=True, rename={"2": "ward", "age": "years"}))
    ['id', 'ward', 'years']
    """
    found = [name.strip(SPACES) for name in names] if input.trim else list(names)
    before, problems = list(found), []
    for old, new in input.rename.items():
        places = [place for place, name in enumerate(before) if name == old]
        if not places and old.isascii() and old.isdigit() and 0 < int(old) <= len(before):
            places = [int(old) - 1]
        if len(places) == 1:
            found[places[0]] = new
        elif places:
            problems.append(
                f"{counted(len(places), 'column')} are named '{old[:LONGEST]}'. Rename each by its position, like "
                f"--rename {places[-1] + 1}:NAME (rename)."
            )
        else:
            problems.append(
                f"Column '{old[:LONGEST]}' cannot be renamed, because it is not in the table"
                f"{near_miss(old, before) or '.'}"
            )
    raise_problems(problems)
    return found


def clean_table(table: pa.Table, input: Input) -> pa.Table:
    """A table in memory with clean values; its names are already those that are wanted."""
    for name in _cleaned_columns(table.column_names, input):
        place = table.column_names.index(name)
        if _is_text(table.field(place).type):
            column = clean_column(name, table.column(place), input)
            table = table.set_column(place, table.field(place).with_type(column.type), column)
    for name, (latitude, longitude) in _points(table.column_names, input):
        texts = [_coordinates(table.column(part), part, input) for part in (latitude, longitude)]
        place = table.column_names.index(latitude)
        joined = pc.binary_join_element_wise(*texts, BETWEEN)
        table = table.set_column(place, name, joined).drop_columns([longitude])
    return table


def renamed_and_clean(table: pa.Table, input: Input) -> pa.Table:
    """A table in memory with new names and clean values."""
    return clean_table(table.rename_columns(clean_names(table.column_names, input)), input)


def clean_frame(frame: Frame, input: Input) -> Frame:
    """A frame of any kind with new names and clean values; only columns that change are touched."""
    names = clean_names(frame.columns, input)
    frame = frame.rename(
        {old: new for old, new in zip(frame.columns, names, strict=True) if old != new}
    )
    for name in _cleaned_columns(frame.columns, input):
        if frame.schema[name] not in (nw.String, nw.Categorical, nw.Enum, nw.Object):
            continue
        values = plain_column(arrow_values(frame, name))
        if not _is_text(values.type):
            continue
        column = clean_column(name, values, input)
        if not column.equals(values.cast(column.type)):
            series = nw.new_series(
                name, column.to_pylist(), nw.String, backend=frame.implementation
            )
            frame = frame.with_columns(series)
    for name, parts in _points(frame.columns, input):
        texts = [_coordinates(plain_column(arrow_values(frame, own)), own, input) for own in parts]
        joined = pc.binary_join_element_wise(*texts, BETWEEN).to_pylist()
        series = nw.new_series(parts[0], joined, nw.String, backend=frame.implementation)
        frame = frame.with_columns(series).drop(parts[1]).rename({parts[0]: name})
    return frame


def joined_on_engine(frame: Lazy, input: Input, inner: Callable[[str], str]) -> Lazy:
    """A frame of an engine with places instead of latitudes and longitudes; `inner` names columns there."""
    for name, parts in _points(frame.collect_schema().names(), input, inner):
        texts = []
        for part in parts:
            text = nw.col(inner(part)).cast(nw.String)
            is_missing = text.is_in(list(input.missing_in(part)))
            texts.append(nw.when(~is_missing).then(text) if input.missing_in(part) else text)
        joined = nw.concat_str(texts, separator=BETWEEN).alias(inner(parts[0]))
        frame = (
            frame.with_columns(joined).drop(inner(parts[1])).rename({inner(parts[0]): inner(name)})
        )
    return frame


def _coordinates(column: pa.ChunkedArray, name: str, input: Input) -> pa.ChunkedArray:
    """The texts of a column of latitudes or longitudes, with decimal points."""
    texts = column.cast(pa.string())
    is_missing = pc.is_in(texts, pa.array(input.missing_in(name), pa.string()))
    if input.decimal == ",":
        texts = pc.replace_substring(texts, ",", ".")
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), texts)


def _points(
    names: Sequence[str], input: Input, inner: Callable[[str], str] = str
) -> list[tuple[str, tuple[str, ...]]]:
    """The pairs of columns to join, by the new name; refuses columns that do not exist, and names that are taken."""
    parts = [part for pair in input.points.values() for part in pair]
    problems = [
        f"Column '{part[:LONGEST]}' is not in the table{near_miss(part, names) or '.'}"
        for part in parts
        if inner(part) not in names
    ]
    problems += [
        f"The table already has a column '{name[:LONGEST]}'. Give the places another name."
        for name in input.points
        if inner(name) in names and name not in parts
    ]
    raise_problems(problems)
    return list(input.points.items())


def clean_column(name: str, column: pa.ChunkedArray, input: Input) -> pa.ChunkedArray:
    """The texts of one column, cleaned as the user asked."""
    if input.trim:
        trimmed = pc.utf8_trim(column, SPACES)
        is_blank = pc.and_(pc.equal(trimmed, ""), pc.not_equal(column, ""))
        column = pc.if_else(is_blank, pa.scalar(None, column.type), trimmed)
    sign = input.thousands_in(name)
    if sign is not None and (is_named(input.thousands, name) or has_only_numbers(column, input)):
        column = without_separators(column, sign, input.decimal)
    if name in input.merge_spellings:
        column = _merged(column)
    return column


def is_named(by_column: object, name: str) -> bool:
    """Whether something was said for this column, not for all."""
    return isinstance(by_column, Mapping) and name in by_column


def number_pattern(sign: str, decimal: str) -> str:
    """Numbers with at least one separator of thousands."""
    point = r"\." if decimal == "." else ","
    return rf"^\s*[-+−]?[1-9][0-9]{{0,2}}({_WRITTEN[sign]}[0-9]{{3}})+({point}[0-9]*)?\s*$"


def has_only_numbers(texts: pa.ChunkedArray | pa.Array, input: Input) -> bool:
    """Whether all known texts are numbers, and some have the separator that was given for all columns."""
    sign = input.thousands
    if isinstance(sign, Mapping):
        sign = sign.get(ALL_COLUMNS)
    if sign is None:
        return False
    point = r"\." if input.decimal == "." else ","
    known = pc.unique(texts).drop_null()
    missing = input.missing if isinstance(input.missing, tuple) else ()
    known = known.filter(pc.invert(pc.is_in(known, pa.array(missing, known.type))))
    grouped = pc.match_substring_regex(known, number_pattern(sign, input.decimal))
    plain = pc.match_substring_regex(known, rf"^\s*[-+−]?[0-9]*({point}[0-9]+)?\s*$")
    return bool(pc.any(grouped).as_py()) and bool(pc.all(pc.or_(grouped, plain)).as_py())


def without_separators(texts: pa.ChunkedArray, sign: str, decimal: str) -> pa.ChunkedArray:
    """The texts, without separators in those that are numbers."""
    is_grouped = pc.match_substring_regex(texts, number_pattern(sign, decimal))
    plain = pc.replace_substring_regex(texts, _WRITTEN[sign], "")
    return pc.if_else(is_grouped, plain, texts)


def spelling_key(text: str) -> str:
    """What the spellings of one value share: neither case nor spaces count."""
    return "".join(text.split()).casefold()


def _merged(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Every value in the most frequent of its spellings; of equally frequent ones, the first in the alphabet."""
    counts = Counter(column.drop_null().to_pylist())
    best: dict[str, str] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        best.setdefault(spelling_key(text), text)
    wanted = pa.array([best[spelling_key(text)] for text in counts], column.type)
    places = pc.index_in(column, value_set=pa.array(list(counts), column.type))
    return pa.chunked_array([wanted.take(chunk) for chunk in places.chunks], column.type)


def _cleaned_columns(names: Sequence[str], input: Input) -> Sequence[str]:
    """The columns whose values may change; refuses columns that do not exist."""
    said = [*input.merge_spellings]
    if isinstance(input.thousands, Mapping):
        said += [name for name in input.thousands if name != ALL_COLUMNS]
    raise_problems(
        f"Column '{name[:LONGEST]}' is not in the table{near_miss(name, names) or '.'}"
        for name in dict.fromkeys(said)
        if name not in names
    )
    if input.trim or isinstance(input.thousands, str) or input.thousands_in("") is not None:
        return names
    return [name for name in names if name in said]


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def cleaning_problems(input: Input) -> list[str]:
    """Return cleaning that contradicts itself."""
    said = input.thousands
    signs = list(said.values()) if isinstance(said, Mapping) else [said]
    if input.decimal not in signs:
        return []
    other = "," if input.decimal == "." else "."
    return [
        f"'{input.decimal}' cannot separate both thousands and decimals. Set the decimal separator, too: --decimal "
        f"'{other}' (decimal)."
    ]


def not_in_memory(input: Input, what: str) -> list[str]:
    """Report cleaning that tables cannot get that are read in parts or stay on an engine."""
    return [
        f"'{name}' needs a table in memory, but {what}. Leave it out, or use --engine memory (engine)."
        for name in input.cleaning
        if name != "points"
    ]


def block_problems(path: object, input: Input) -> list[str]:
    """Report cleaning for which a text file that is read block by block would have to be read twice."""
    found = ["merge_spellings"] if input.merge_spellings else []
    if input.thousands_in("") is not None:
        found.append("thousands for all columns")
    return [
        f"'{path}' is read in blocks, which does not support {name}. "
        + (
            "Name the columns, like --thousands cost:."
            if name.startswith("thousands")
            else "Use --engine memory (engine), or correct the values."
        )
        for name in found
    ]
