"""Cells of latitude and longitude as the audit reads them: which places 48.12..48.16, 11.56..11.60 covers."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from shoal.audits.ranges import Line, Stretches, Texts, stretches

_ENDS = re.compile(r"(-?[0-9.]+)\.\.(-?[0-9.]+), (-?[0-9.]+)\.\.(-?[0-9.]+)")
_PARTS = re.compile(r"[,;\s]+")
_FARTHEST = (Decimal(90), Decimal(180))

Side = tuple[Decimal, Decimal]


class PointLine(Line):
    """A column of places released as cells: all latitudes between two, and all longitudes between two."""

    def __init__(self, known: Texts) -> None:
        super().__init__(known)
        places = [_place(text) for text in known]
        self.sides = [sorted({place[i] for place in places if place}) for i in (0, 1)]
        order = [{number: at for at, number in enumerate(side)} for side in self.sides]
        self.at = np.array(
            [[order[i][place[i]] if place else -1 for i in (0, 1)] for place in places],
            dtype=np.int64,
        ).reshape(-1, 2)

    def several(self, released: str) -> Stretches:
        cell = _cell(released)
        if cell is None:
            return ()
        inside = np.ones(len(self.at), dtype=np.bool_)
        for i, (low, high) in enumerate(cell):
            first = bisect_left(self.sides[i], low)
            is_farthest = high == _FARTHEST[i]  # no further cell could contain this end
            after = (bisect_right if is_farthest else bisect_left)(self.sides[i], high)
            inside &= (first <= self.at[:, i]) & (self.at[:, i] < after)
        return stretches(inside)


def is_finest_cell(text: str, model: Any) -> bool:
    """Whether a text is a cell of the declared width, counted from the South Pole and from longitude -180."""
    cell, width = _cell(text), Decimal(str(model.finest))
    if cell is None:
        return False
    return all(
        (low + farthest) % width == 0 and high == min(low + width, farthest) and -farthest <= low
        for (low, high), farthest in zip(cell, _FARTHEST, strict=True)
    )


def _place(text: str | None) -> Side | None:
    try:
        latitude, longitude = map(Decimal, _PARTS.split((text or "").strip()))
    except (ValueError, InvalidOperation):
        return None
    return latitude, longitude


def _cell(text: str) -> tuple[Side, Side] | None:
    found = _ENDS.fullmatch(text)
    try:
        south, north, west, east = map(Decimal, found.groups() if found else ())
    except (ValueError, InvalidOperation):
        return None
    return (south, north), (west, east)
