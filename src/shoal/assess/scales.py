"""Numbers, dates, calendar periods and ordered categories as positions on a line, and the bins of histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import floor, inf, log10, nextafter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.encoding.forms import Form, RangeForm
from shoal.encoding.forms.base import AT_LEAST, AT_MOST
from shoal.encoding.models import Calendar
from shoal.encoding.models.base import labels_of
from shoal.encoding.models.order import OrderForm
from shoal.encoding.models.periods import UNITS, Period, period_of, read_period

MOST_BINS = 12
_NUMBERS = ("less than", "more than", "or less", "or more")
_DATES = ("before", "after", "or earlier", "or later")
_UNITS = ("Y", "M", "D", "h", "m", "s")

Numbers = npt.NDArray[Any]  # int64 or float64


@dataclass(frozen=True)
class BinEdge:
    """The edge between two bins: the number at which the right one begins.

    `begins` is the first value of the right bin as text, `ends` is the last one of the left. A leading `>` or `<`
    means that the value itself is in the other bin.
    """

    at: int | float
    begins: str
    ends: str


@dataclass(frozen=True)
class Scale:
    """The values of an ordered column as numbers, in ascending order.

    Dates are counted in days and times in the unit of their type; `unit` is empty for numbers.
    """

    numbers: Numbers
    unit: str
    labels: tuple[str, ...]

    def places(self, cuts: Sequence[BinEdge]) -> Numbers:
        """The bin of each value."""
        at = np.array([cut.at for cut in cuts], dtype=self.numbers.dtype)
        return np.searchsorted(at, self.numbers, side="right")

    def is_whole(self, codes: Numbers) -> bool:
        """Whether all values are whole numbers or days."""
        if self.unit:
            return self.unit == "D"
        return bool((self.numbers[codes] % 1 == 0).all())

    def around(self, codes: Numbers) -> list[BinEdge]:
        """Edges before and after each of a few values, so that each has a bin of its own."""
        whole = self.is_whole(codes)
        values = {self.numbers[code].item(): self.labels[code] for code in codes.tolist()}
        found: dict[int | float, BinEdge] = {}
        for number, label in sorted(values.items()):
            after = self._next(number, whole)
            texts = [f"<{label}", f">{label}"]
            if whole:
                texts = [self._text(number - 1), self._text(number + 1)]
            ends = found[number].ends if number in found else texts[0]
            found[number] = BinEdge(number, label, ends)
            if after != number:
                found[after] = BinEdge(after, texts[1], label)
        return [found[at] for at in sorted(found)]

    def _next(self, number: int | float, whole: bool) -> int | float:
        """The next number, or the number itself if there is none."""
        if self.numbers.dtype == np.int64:
            return min(number + 1, np.iinfo(np.int64).max)
        return number + 1 if whole else nextafter(number, inf)

    def round(self, low: int, high: int) -> list[BinEdge]:
        """Edges at round numbers or dates strictly between two values, given by their codes."""
        if self.unit:
            return self._round_dates(low, high)
        first, last = (float(self.numbers[code]) for code in (low, high))
        whole = self.is_whole(np.array([low, high]))
        step = _step(first, last, whole)
        if not step:
            return []
        cuts = []
        for i in range(floor(first / step) + 1, floor(last / step) + 1):
            at = i * step
            end = at - 1 if whole and step >= 1 else at
            cuts.append(BinEdge(at, _number(at), _number(end) if end < at else f"<{_number(at)}"))
        if not np.issubdtype(self.numbers.dtype, np.floating):
            cuts = [BinEdge(round(cut.at), cut.begins, cut.ends) for cut in cuts]
        return cuts

    def _round_dates(self, low: int, high: int) -> list[BinEdge]:
        ends = self.numbers[[low, high]].astype(f"datetime64[{self.unit}]")
        for unit in _UNITS[: 3 if self.unit == "D" else None]:
            first, last = ends.astype(f"datetime64[{unit}]").astype(np.int64).tolist()
            if last - first >= MOST_BINS - 1:
                break
        step = max(1, round(_step(float(first), float(last), True)))
        counts = np.arange((first // step + 1) * step, last + 1, step)
        at = counts.astype(f"datetime64[{unit}]").astype(f"datetime64[{self.unit}]")
        return [
            BinEdge(number, _date(count, unit), _date(count - 1, unit))
            for number, count in zip(at.astype(np.int64).tolist(), counts.tolist(), strict=True)
        ]

    def label(self, left: BinEdge | None, right: BinEdge | None) -> str:
        """The label of the bin between two edges; None means that the bin is open on that side.

        Examples
        --------
        >>> twenty, forty = BinEdge(20, "20", "19"), BinEdge(40, "40", "39")
        >>> ages = Scale(np.arange(60), "", ())
        >>> ages.label(None, twenty), ages.label(twenty, forty), ages.label(forty, None)
        ('19 or less', '20 to 39', '40 or more')
        """
        less, greater, or_less, and_greater = _DATES if self.unit else _NUMBERS
        if left is None and right is None:
            return "all values"
        if left is None:
            assert right is not None
            ends = right.ends
            return f"{less} {ends[1:]}" if ends[0] == "<" else f"{ends} {or_less}"
        if right is None:
            begins = left.begins
            return f"{greater} {begins[1:]}" if begins[0] == ">" else f"{begins} {and_greater}"
        begins, ends = left.begins, right.ends
        if begins[0] == ">":
            inner = f"{less} {ends[1:]}" if ends[0] == "<" else f"up to {ends}"
            return f"{greater} {begins[1:]}, {inner}"
        return begins if begins == ends else f"{begins} to {ends}"

    def _text(self, number: int | float) -> str:
        return _date(int(number), self.unit) if self.unit else _number(number)


def scale_of(values: pa.Array) -> Scale:
    """Map ordered values to numbers."""
    labels = released_labels(values)
    kind = values.type
    if pa.types.is_date32(kind):
        return Scale(np.asarray(values.cast(pa.int32())).astype(np.int64), "D", labels)
    if pa.types.is_temporal(kind):
        unit = "ms" if pa.types.is_date64(kind) else kind.unit
        return Scale(np.asarray(values.cast(pa.int64())), unit, labels)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return Scale(np.asarray(values.cast(pa.int64())), "", labels)
    return Scale(np.asarray(values.cast(pa.float64(), safe=False)), "", labels)


def released_labels(values: pa.Array) -> tuple[str, ...]:
    """Values as they are released; dates outside the years that Python supports as Arrow writes them."""
    try:
        return labels_of(values)
    except (ValueError, OverflowError):
        return tuple(str(text) for text in values.cast(pa.string()).to_pylist())


def _step(first: float, last: float, whole: bool) -> float:
    """The smallest of 1, 2, 5, 10, … (0.1, 0.2, …) that cuts a range into few enough bins; 0 if none does."""
    least = (
        (last / 2 - first / 2) / (MOST_BINS - 1) * 2
    )  # halved, because the range itself may not be finite
    least = max(least, 1.0 if whole else 0.0)
    if least < 1e-300:
        return 0.0
    power = 10.0 ** floor(log10(least))
    step = next(m * power for m in (1, 2, 5, 10, 20) if m * power >= least * (1 - 1e-12))
    return float(step) if np.isfinite(step) else 0.0


def _number(number: int | float) -> str:
    """Write a number with few characters."""
    if isinstance(number, int):
        return str(number)
    return str(int(number)) if number % 1 == 0 and abs(number) < 1e15 else f"{number:.12g}"


def _date(count: int, unit: str) -> str:
    return str(np.array(count).astype(f"datetime64[{unit}]"))


# How many periods of each unit a bar may contain. The first that gives few enough bars is used.
_STEPS = {
    "day": (1,),
    "week": (1, 2),
    "month": (1, 2),
    "quarter": (1, 2),
    "year": (1, 2, 5),
    "decade": (1, 2, 5, 10, 20, 50, 100),
}
# Bars are made for the range of the shortest periods of this share of the records, so that a single decade among months
# does not spread the bars over ten years.
MAIN_SHARE = 0.9
_EPOCH = date(1970, 1, 1).toordinal()


class PeriodsOnLine(NamedTuple):
    """A column of periods converted to ranges of days: its encoding, closures and counts."""

    form: RangeForm
    closures: Numbers  # first and last code; `*` is from the first code to that of null
    counts: Numbers  # originals by code, at the first day of their period
    open_low: date  # the last day of those combined into a lowest value
    open_high: date  # the first day of those combined into a highest value


def periods_on_line(
    model: Calendar, form: Form, closures: Numbers, counts: Numbers
) -> PeriodsOnLine:
    """Convert the periods of a column to ranges of days."""
    texts = form.text(closures)
    leaves = [_days(label, model) for label in form.labels]
    released = [_days(text, model) if text else None for text in texts]
    days = sorted({day for span in (*leaves, *released) if span for day in span})
    place = {day: code for code, day in enumerate(days)}
    known = len(days)
    line = RangeForm(
        labels=tuple(day.isoformat() for day in days),
        has_null=form.has_null,
        positions=np.array([day.toordinal() for day in days], dtype=np.float64),
        values=pa.array(days, pa.date32()),
    )
    on_codes = np.zeros(known + form.has_null)
    open_low, open_high = date.min, date.max
    for label, span, count in zip(form.labels, leaves, counts, strict=False):
        assert span is not None
        on_codes[place[span[0]]] += count
        if label.startswith(AT_MOST):
            open_low = span[1]
        elif label.startswith(AT_LEAST):
            open_high = span[0]
    on_codes[known:] = counts[len(leaves) :]
    ends = [
        (place[span[0]], place[span[1]]) if span else (known if text is None else 0, known)
        for span, text in zip(released, texts, strict=True)
    ]
    on_line = np.array(ends, dtype=np.int32).T
    return PeriodsOnLine(line, on_line, on_codes, open_low, open_high)


def main_range(line: PeriodsOnLine, sizes: Numbers) -> tuple[date, date]:
    """The first and last day of the shortest periods that most records are released with, without open ends."""
    form, closures = line.form, line.closures
    told = np.flatnonzero(closures[1] < len(form.labels))
    length = form.positions[closures[1, told]] - form.positions[closures[0, told]]
    told = told[np.argsort(length, kind="stable")]
    before = np.cumsum(sizes[told]) - sizes[told]
    main = closures[:, told[before < MAIN_SHARE * sizes[told].sum()]]
    first, last = form.values.take(pa.array([main[0].min(), main[1].max()])).to_pylist()
    return max(first, line.open_low), min(last, line.open_high)


def _days(text: str, model: Calendar) -> tuple[date, date] | None:
    """The first and last day of a period, or the day at which an open one begins or ends; None for `*`."""
    sign = text[:2] if text[:2] in (AT_LEAST, AT_MOST) else ""
    period = _read(text.removeprefix(sign), model)
    if period is None:
        return None
    first, last = period.days("week" in model.levels)
    return {AT_LEAST: (first, first), AT_MOST: (last, last)}.get(sign, (first, last))


def _read(text: str, model: Calendar) -> Period | None:
    """A period from its label, or a decade from the year of an open end."""
    found = read_period(text)
    is_end = found is not None and found.unit == "year" and "year" not in model.levels
    return Period("decade", found.number // 10) if found is not None and is_end else found


def cuts_between(model: Calendar, first: date, last: date) -> list[BinEdge]:
    """Edges between whole periods from one day to another, no finer than the model releases."""
    by_weeks = "week" in model.levels
    apart = ("month", "quarter") if by_weeks else ("week",)
    finest = UNITS.index(model.finest or model.levels[0])
    for unit in (unit for unit in UNITS[finest:] if unit not in apart):
        low, high = (period_of(unit, day, by_weeks).number for day in (first, last))
        for step in _STEPS[unit]:
            inner = range(low // step + 1, high // step + 1)
            if len(inner) < MOST_BINS:
                return [_cut(unit, n * step, by_weeks) for n in inner]
    return []


def _cut(unit: str, number: int, by_weeks: bool) -> BinEdge:
    """The edge before a period."""
    period = Period(unit, number)
    day = period.days(by_weeks)[0].toordinal() - _EPOCH
    return BinEdge(day, period.ends[0], Period(unit, number - 1).ends[1])


@dataclass(frozen=True)
class OrderScale(Scale):
    """Positions in an order; `public` says which categories may be named."""

    public: Numbers

    def around(self, codes: Numbers) -> list[BinEdge]:
        """Edges before and after each of a few categories, so that each has a bin of its own."""
        inner = range(1, self.public.size)
        return [self._cut(at) for at in inner if at in codes or at - 1 in codes]

    def round(self, low: int, high: int) -> list[BinEdge]:
        """Few enough cuts strictly between two categories, each before one that may be named."""
        possible = np.flatnonzero(self.public)
        possible = possible[(possible > low) & (possible <= high)]
        step = max(1, -(-possible.size // (MOST_BINS - 1)))
        return [self._cut(at) for at in possible[step - 1 :: step].tolist()]

    def _cut(self, at: int) -> BinEdge:
        """The cut before the category at a place; it or the one before may be named."""
        before, after = self.labels[at - 1], self.labels[at]
        begins = f"={after}" if self.public[at] else f">{before}"
        ends = f"={before}" if self.public[at - 1] else f"<{after}"
        return BinEdge(at, begins, ends)

    def label(self, left: BinEdge | None, right: BinEdge | None) -> str:
        """The name of the bin between two cuts; an end that may not be named stays open."""
        if left is None and right is None:
            return "all values"
        lowest, highest = (f"={self.labels[i]}" if self.public[i] else "" for i in (0, -1))
        begins, ends = left.begins if left else lowest, right.ends if right else highest
        if not begins:
            return f"{ends[1:]} or less" if ends[0] == "=" else f"less than {ends[1:]}"
        if not ends:
            return f"{begins[1:]} or more" if begins[0] == "=" else f"more than {begins[1:]}"
        if begins == ends:
            return begins[1:]
        if begins[0] == "=":
            return f"{begins[1:]} to {'' if ends[0] == '=' else 'less than '}{ends[1:]}"
        return f"more than {begins[1:]}, {'up to' if ends[0] == '=' else 'less than'} {ends[1:]}"


def scale_of_order(form: RangeForm, known: Numbers) -> OrderScale:
    """Map categories or bins to numbers. Those in `known` may be named; if the user gave the order, all may."""
    public = np.full(len(form.labels), isinstance(form, OrderForm) and form.declared)
    public[known] = True
    return OrderScale(np.arange(len(form.labels)), "", form.labels, public)
