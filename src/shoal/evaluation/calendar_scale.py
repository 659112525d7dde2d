"""Periods of a calendar on a line of days, and where a picture cuts it: between years, months or other whole periods.

A released period reaches from its first to its last day, whichever days occur in it.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.evaluation.scales import MOST_BINS, Cut, Numbers
from shoal.generalization import Calendar
from shoal.generalization.forms import Form, RangeForm
from shoal.generalization.forms.spelling import AT_LEAST, AT_MOST
from shoal.generalization.periods import UNITS, Period, period_of, read_period

# How many periods of each unit a bar may hold: the first that makes few enough bars is taken.
_STEPS = {
    "day": (1,),
    "week": (1, 2),
    "month": (1, 2),
    "quarter": (1, 2),
    "year": (1, 2, 5),
    "decade": (1, 2, 5, 10, 20, 50, 100),
}
# Of the records that are released with a period, the share with the shortest ones between whose ends bars are made: a
# decade among months should not spread the bars over ten years.
MAIN_SHARE = 0.9
_EPOCH = date(1970, 1, 1).toordinal()


class OnLine(NamedTuple):
    """A column of periods as one of ranges of days: how it would be encoded, and its closures and counts."""

    form: RangeForm
    closures: Numbers  # first and last code; `*` reaches from the first code to that of null
    counts: Numbers  # originals by code, at the first day of their period
    open_low: date = date.min  # the last day of all that are folded into a lowest value
    open_high: date = date.max  # the first day of all that are folded into a highest value


def on_line(model: Calendar, form: Form, closures: Numbers, counts: Numbers) -> OnLine:
    """Put the periods of a column on a line of days."""
    leaves = [_days(label, model) for label in form.labels]
    released = [_days(text, model) if text else None for text in form.text(closures)]
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
    for span, count in zip(leaves, counts, strict=False):
        assert span is not None
        on_codes[place[span[0]]] += count
    on_codes[known:] = counts[len(leaves) :]
    is_null = [text is None for text in form.text(closures)]
    ends = [
        (place[span[0]], place[span[1]]) if span else (known if null else 0, known)
        for span, null in zip(released, is_null, strict=True)
    ]
    found = OnLine(line, np.array(ends, dtype=np.int32).T, on_codes)
    for label, span in zip(form.labels, leaves, strict=True):
        assert span is not None
        if label.startswith(AT_MOST):
            found = found._replace(open_low=span[1])
        elif label.startswith(AT_LEAST):
            found = found._replace(open_high=span[0])
    return found


def main_range(line: OnLine, sizes: Numbers) -> tuple[date, date]:
    """The first and the last day of the shortest periods that most records are released with, between open ends."""
    form, closures = line.form, line.closures
    told = np.flatnonzero(closures[1] < len(form.labels))
    length = form.positions[closures[1, told]] - form.positions[closures[0, told]]
    told = told[np.argsort(length, kind="stable")]
    before = np.cumsum(sizes[told]) - sizes[told]
    main = closures[:, told[before < MAIN_SHARE * sizes[told].sum()]]
    first, last = form.values.take(pa.array([main[0].min(), main[1].max()])).to_pylist()
    return max(first, line.open_low), min(last, line.open_high)


def _days(text: str, model: Calendar) -> tuple[date, date] | None:
    """The first and last day of a period, or the one day at which an open one begins or ends; None for `*`."""
    sign = text[:2] if text[:2] in (AT_LEAST, AT_MOST) else ""
    period = _read(text.removeprefix(sign), model)
    if period is None:
        return None
    first, last = period.days("week" in model.levels)
    return {AT_LEAST: (first, first), AT_MOST: (last, last)}.get(sign, (first, last))


def _read(text: str, model: Calendar) -> Period | None:
    """A period by its label, or a decade by the year that an open end names."""
    found = read_period(text)
    is_end = found is not None and found.unit == "year" and "year" not in model.levels
    return Period("decade", found.number // 10) if found is not None and is_end else found


def cuts_between(model: Calendar, first: date, last: date) -> list[Cut]:
    """Cuts between whole periods, none finer than what the model releases, from one day to another."""
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


def _cut(unit: str, number: int, by_weeks: bool) -> Cut:
    """The cut before a period."""
    period = Period(unit, number)
    day = period.days(by_weeks)[0].toordinal() - _EPOCH
    return Cut(day, period.ends[0], Period(unit, number - 1).ends[1])
