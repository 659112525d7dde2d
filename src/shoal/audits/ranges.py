"""Columns of numbers and dates as the audit reads them: a released range covers all values between its ends."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.audits.text_ends import End, days_of, end_days, ends_of_text
from shoal.audits.texts import ColumnReader, ColumnTexts, moment
from shoal.audits.verdict import Places

Stretches = tuple[tuple[int, int], ...]  # first place, and the one after the last
Texts = Sequence[str | None]
ANYTHING = "*"


class Line:
    """A column whose values have no order: a text covers its own value, or any value."""

    def __init__(self, known: Texts) -> None:
        self.rank: Places = np.arange(len(known))
        self.places = {text: (at,) for at, text in enumerate(known)}
        self.length = len(known)

    def covered(self, released: str | None) -> Stretches:
        """The stretches that a released text covers; none if it means no known value."""
        if released in self.places:
            return tuple((at, at + 1) for at in self.places[released])
        if released == ANYTHING:
            return ((0, self.length),)
        return self.several(released) if released is not None else ()

    def several(self, released: str) -> Stretches:
        """The stretches covered by a text that is neither a known value nor `*`."""
        return ()


Marks = npt.NDArray[np.bool_]
UNREADABLE = (ValueError, InvalidOperation, TypeError, OverflowError)
_WHOLE = re.compile(r"[+-]?[0-9]+")


class RangeLine(Line):
    """A column released as ranges of numbers or dates: 24–30."""

    def __init__(self, cells: ColumnTexts, reader: ColumnReader, model: Any = None) -> None:
        known = cells.texts
        super().__init__(known)
        self.model, self.reader, self.is_text = model, reader, cells.is_text
        self.scales = _scales(reader, cells.is_exact)
        values: list[Any] = []
        while self.scales:  # those that read every known value, and what comes after
            with suppress(*UNREADABLE):
                values = [text if text is None else self.scales[0](text) for text in known]
                break
            self.scales.pop(0)
        self.values = sorted({value for value in values if value is not None})
        place = {value: at for at, value in enumerate(self.values)}
        self.length = len(place) + 1
        ranks = [place.get(value, len(place)) for value in values]
        self.rank = np.array(ranks or [self.length] * len(known), dtype=np.int64)
        self.places = {None: (len(place),)}
        texts = {at: text for text, at in zip(known, ranks, strict=False) if text is not None}
        self.texts = [texts[at] for at in range(len(place))]
        self.are_dates = bool(self.values) and isinstance(self.values[0], tuple)
        name, step = getattr(model, "name", None), getattr(model, "step", None)
        self.are_periods = self.are_dates and (name == "calendar" or isinstance(step, str))
        levels = getattr(model, "levels", ()) if name == "calendar" else ()
        self.by_weeks = "week" in levels
        self.is_half_open = isinstance(step, int | float | Decimal) and not self._is_whole()
        self.clocks = [self._clock(text) for text in self.texts] if self.are_dates else []
        self.days = np.array([clock.toordinal() for clock in self.clocks], dtype=np.int64)
        self.below, self.above = self._beyond("low"), self._beyond("high")

    def _is_whole(self) -> bool:
        domain = getattr(self.model, "domain", None) or ()
        numbers = [*self.values, *(value for value in domain if value is not None)]
        return all(value == int(value) for value in numbers)

    def _clock(self, text: str) -> datetime:
        """A date or time as a clock shows it: in the zone of a typed column, in UTC for text."""
        form = self.reader.date_format
        found = None
        with suppress(ValueError):
            found = datetime.strptime(text, form) if form else None
        found = found or moment(text, None)[0]
        if found.tzinfo is not None and self.is_text:
            found = found.astimezone(UTC)
        return found.replace(tzinfo=None)

    def _beyond(self, name: str) -> Marks | None:
        """Which values are folded into the lowest or highest one; None if the model folds none."""
        end = getattr(self.model, name, None)
        if end is None:
            return None
        is_low = name == "low"
        if not self.are_dates:
            read = self.scales[0] if self.scales else float
            bound = read(str(end))
            marks = [value <= bound if is_low else value >= bound for value in self.values]
            return np.array(marks, dtype=np.bool_)
        found = end_days(end, is_low, self.by_weeks)
        assert found is not None
        if isinstance(found, datetime):
            marks = [clock <= found if is_low else clock >= found for clock in self.clocks]
            return np.array(marks, dtype=np.bool_)
        return self.days <= found if is_low else self.days >= found

    def several(self, released: str) -> Stretches:
        for name, beyond in (("low", self.below), ("high", self.above)):
            if beyond is not None and released in self._end_texts(name):
                return stretches(beyond)
        return self.covers(*ends_of_text(released))

    def _end_texts(self, name: str) -> tuple[str, ...]:
        """The text for all values beyond a day; the table's format does not affect it."""
        if not self.are_dates or self.are_periods:
            return ()
        day = end_days(getattr(self.model, name), name == "low", False)
        if not isinstance(day, int):
            return ()
        text = datetime.fromordinal(day).date().isoformat()
        return (f"≤ {text}", f"<= {text}") if name == "low" else (f"≥ {text}", f">= {text}")

    def between(self, low: End, high: End) -> Stretches:
        """The stretches between two bounds; the upper bound is excluded if bins end below it."""
        if (low is None and self.below is None) or (high is None and self.above is None):
            return ()
        return self.covers(low, f"<{high}" if high is not None and self.is_half_open else high)

    def covers(self, low: End, high: End) -> Stretches:
        """The stretches between two ends, both included unless the texts say otherwise."""
        start, stop = self._place(low, True), self._place(high, False)
        if start is None or stop is None:
            return ()
        has_low, has_high = low is not None, high is not None
        if isinstance(start, int) and isinstance(stop, int) and not self.are_dates:
            if has_low and self.below is not None:
                start = max(start, int(self.below.sum()))
            if has_high and self.above is not None:
                stop = min(stop, len(self.values) - int(self.above.sum()))
            return ((start, stop),) if start < stop else ()
        places = np.arange(len(self.values))
        marks = places >= start if isinstance(start, int) else start
        marks = marks & (places < stop if isinstance(stop, int) else stop)
        if has_low and self.below is not None:
            marks &= ~self.below
        if has_high and self.above is not None:
            marks &= ~self.above
        return stretches(marks)

    def _place(self, end: End, is_low: bool) -> int | Marks | None:
        """Where values before (or after) an end begin, or which they are; None if the text is unreadable."""
        if end is None:
            return 0 if is_low else len(self.values)
        is_out = end[:1] == (">" if is_low else "<")
        text = end[1:] if is_out else end
        days = days_of(text, self.by_weeks) if self.are_dates else None
        if days is not None and (self.are_periods or not self._is_formatted(text)):
            return self.days >= days[0] if is_low else self.days <= days[1]
        for read in self.scales:
            with suppress(*UNREADABLE):
                bisect = bisect_right if is_out == is_low else bisect_left
                return bisect(self.values, read(text))
        return None

    def _is_formatted(self, text: str) -> bool:
        """Whether a text is written in the table's own format of dates."""
        if self.reader.date_format is not None:
            with suppress(ValueError):
                datetime.strptime(text, self.reader.date_format)
                return True
        return False


class RangeSetLine(RangeLine):
    """A column of numbers or dates with a lowest or a highest value, released as sets: {17, ≥ 90}."""

    def several(self, released: str) -> Stretches:
        if released[:1] != "{":
            return super().several(released)
        found = [self.covered(member) for member in listed_values(released)]
        return tuple(sorted({stretch for own in found for stretch in own}))


def stretches(marks: Marks) -> Stretches:
    """The runs of marked places."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(np.int8)))
    return tuple(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def listed_values(released: str) -> Iterator[str]:
    """The values that a text in braces lists: plain, or quoted like JSON."""

    if released[:1] != "{" or released[-1:] != "}":
        return
    rest = released[1:-1].strip()
    while rest:
        if rest[0] == '"':
            with suppress(ValueError):
                member, stop = json.JSONDecoder().raw_decode(rest)
                yield member
                rest = rest[stop:].lstrip().removeprefix(",").lstrip()
                continue
            return
        member, _, rest = rest.partition(",")
        yield member.strip()
        rest = rest.lstrip()


def _scales(reader: ColumnReader, is_exact: bool) -> list[Callable[[str], Any]]:
    """The ways to read a text as a number or a date, in the order in which they are tried."""

    def number(text: str) -> int | Decimal:
        point = text.replace(reader.decimal, ".")
        if _WHOLE.fullmatch(point):
            return int(point)
        value = Decimal(point if is_exact else repr(float(point)))  # 0.1 is one tenth
        if not isfinite(value):
            raise ValueError("not finite")
        return value

    found: list[Callable[[str], Any]] = [number, lambda text: moment(text, None)]
    if reader.date_format is not None:
        found.insert(0, lambda text: moment(text, reader.date_format))
    return found
