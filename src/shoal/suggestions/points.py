"""Columns that are the latitude and the longitude of one place, to join into one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.source import ALL_COLUMNS, Input
from shoal.risk.patterns import words_of
from shoal.suggestions import words
from shoal.suggestions.messy_values import some_names
from shoal.suggestions.reading import NumberedColumn, is_decimal_comma, share_of, text_markers

LIMITS = (90, 180)  # degrees of latitude and longitude
PLACE = "place"


def joined_points(
    columns: Mapping[str, NumberedColumn], given: Input
) -> tuple[Input, dict[str, str]]:
    """Join columns that are named and filled like latitude and longitude, with a remark by the field that says so."""
    changes = given
    for name, pair in _pairs(columns, given):
        markers = {part: text_markers(columns[part]) for part in pair}
        plain = [columns[part].without(markers[part]).values for part in pair]
        changes = replace(changes, points={**changes.points, name: pair})
        if any(
            is_decimal_comma(values) for values in plain if pa.types.is_large_string(values.type)
        ):
            changes = replace(changes, decimal=",")
        if any(markers.values()):
            said = changes.missing
            by_column = dict(said) if isinstance(said, Mapping) else {ALL_COLUMNS: said}
            own = {part: (*by_column.get(part, ()), *found) for part, found in markers.items()}
            changes = replace(changes, missing={k: v for k, v in (by_column | own).items() if v})
    if changes is given:
        return given, {}
    parts = [part for pair in changes.points.values() for part in pair]
    remark = (
        f"Latitude and longitude are one value ({some_names(parts)}); they are joined (points)."
    )
    return changes, {"points": remark}


def _pairs(
    columns: Mapping[str, NumberedColumn], given: Input
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Two columns whose names differ only in the words for latitude and longitude, and a name for both together."""
    names = {name: words_of(name) for name in columns}
    taken = {*columns, *given.points}
    for latitude_word, longitude_word, needed in words.LATITUDE_LONGITUDE:
        for latitude, plain in names.items():
            rest = _without(plain, latitude_word)
            others = [name for name, own in names.items() if _without(own, longitude_word) == rest]
            if rest is None or len(others) != 1 or not re.search(needed, rest):
                continue
            pair = (latitude, others[0])
            if all(
                _are_degrees(columns[part], limit) for part, limit in zip(pair, LIMITS, strict=True)
            ):
                name = "_".join([*rest.split(), PLACE])
                while name in taken:
                    name += "_"
                taken.add(name)
                yield name, pair


def _without(name: str, word: str) -> str | None:
    """The other words of a name, None if it lacks this one."""
    rest, found = re.subn(rf"\b({word})\b", "", name)
    return " ".join(rest.split()) if found == 1 else None


def _are_degrees(column: NumberedColumn, limit: int) -> bool:
    """Whether all values are numbers between two limits, most of them with decimals."""
    values = column.without(text_markers(column)).values
    if not len(values) or pa.types.is_temporal(values.type):
        return False
    texts = pc.replace_substring(values.cast(pa.large_string()), ",", ".")
    try:
        numbers = np.abs(np.asarray(texts.cast(pa.float64())))
    except pa.ArrowInvalid:
        return False
    return bool((numbers <= limit).all()) and share_of(texts, r"\.[0-9]{2,}$") > 1 / 2
