"""Trees of numbers, dates, codes and ordered categories, made without a file: each as rows or nested dicts."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, raise_problems
from shoal.generalization.calendar import Calendar
from shoal.generalization.column_values import Counted, own_order
from shoal.generalization.ends import days_of
from shoal.generalization.forms import STAR
from shoal.generalization.forms.spelling import DASH
from shoal.generalization.models import labels_of
from shoal.generalization.order import BETWEEN, Order
from shoal.generalization.periods import days_of_label
from shoal.generalization.prefix import Prefix

if TYPE_CHECKING:
    from datetime import date

MOST_BINS = 20  # of the narrowest bins that are chosen without widths
MOST_LEVELS = 20  # above the categories of an order, for people to read

Rows = list[list[str]]


def number_rows(found: Counted, widths: Sequence[float] | None) -> Rows:
    """Rows of numbers in bins of ever larger widths, which start at multiples of the width."""
    import pyarrow as pa

    kind = found.values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    problems = [] if widths is None else width_problems(widths)
    if not is_number:
        problems.append("The values are no numbers; convert them, or make a tree of another kind.")
    elif not all(Decimal(text).is_finite() for text in labels_of(found.values)):
        problems.append("The values hold NaN or infinite numbers; make them missing.")
    raise_problems(problems)
    numbers = [Decimal(text) for text in labels_of(found.values)]
    sizes = _round_widths(numbers) if widths is None else [Decimal(str(w)) for w in widths]
    is_whole = all(number == number.to_integral_value() for number in [*numbers, *sizes])
    levels = [[_bin(number, size, is_whole) for number in numbers] for size in sizes]
    return _rows(found.labels, levels)


def width_problems(widths: Sequence[float]) -> list[str]:
    """Say in sentences why widths of bins are no levels of a tree."""
    is_list = isinstance(widths, Sequence) and not isinstance(widths, str) and len(widths) > 0
    if not (is_list and all(_is_width(width) for width in widths)):
        return ["Widths of bins: give numbers above 0, like (5, 10, 20)."]
    sizes = [Decimal(str(width)) for width in widths]
    if any(large <= small or large % small for small, large in pairwise(sizes)):
        return ["Widths of bins: each must be a multiple of the one before, like (5, 10, 20)."]
    return []


def _is_width(width: Any) -> bool:
    is_number = isinstance(width, int | float | Decimal) and not isinstance(width, bool)
    return is_number and 0 < width < float("inf")


def _round_widths(numbers: Sequence[Decimal]) -> list[Decimal]:
    """A round width of which few bins cover the numbers, and its doubles up to the whole."""
    span = max(numbers, default=Decimal(0)) - min(numbers, default=Decimal(0))
    if not span:
        return []
    exponent = span.adjusted() - 3
    steps = (Decimal(f"{digit}e{exponent + more}") for more in range(5) for digit in (1, 2, 5))
    width = next(step for step in steps if step * MOST_BINS >= span)
    if all(number == number.to_integral_value() for number in numbers):
        width = max(width, Decimal(2))  # a bin of one whole number is the number itself
    widths = []
    while width < 2 * span:
        widths.append(width)
        width *= 2
    return widths


def _bin(number: Decimal, width: Decimal, is_whole: bool) -> str:
    count = number // width  # cut towards zero
    low = width * (count - (number < count * width))
    high = low + width - 1 if is_whole else low + width
    dash = f" {DASH} " if low < 0 else DASH  # a sign beside the dash is hard to read
    return f"{_plain(low)}{dash}{'' if is_whole else '<'}{_plain(high)}"


def _plain(number: Decimal) -> str:
    return format(number.normalize() + 0, "f")


def date_rows(found: Counted, calendar: Calendar) -> Rows:
    """Rows of dates in ever longer periods."""
    return _rows(found.labels, list(zip(*map(calendar.path, _days(found)), strict=True)))


def _days(found: Counted) -> list[date]:
    import pyarrow as pa

    kind = found.values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return days_of(found.values)
    spans = [days_of_label(label) for label in found.labels]
    days = [span[0] for span in spans if span is not None and span[0] == span[1]]
    other = len(spans) - len(days)
    if other:
        raise InputError(
            f"{other} of the {len(spans)} distinct values are not read as dates like 2020-03-14; convert all to dates, "
            "or say how they are written (--date-format) and what stands for a missing one (--missing)."
        )
    return days


def code_rows(codes: Sequence[str], prefix: Prefix) -> Rows:
    """Rows of codes by ever shorter beginnings."""
    stars = sum(prefix.fill in code for code in codes)
    if stars:
        raise InputError(
            f"{stars} of the {len(codes)} distinct codes hold the sign '{prefix.fill}', which stands for the rest of a "
            "code; rename them."
        )
    paths = prefix.paths(codes) if codes else []
    depth = max(map(len, paths), default=0)
    even = [
        [path[0]] * (depth - len(path)) + path for path in paths
    ]  # short codes fill what they skip
    return _rows(codes, list(zip(*even, strict=True)))


def order_tree(order: Any, levels: int | None) -> dict[str, Any]:
    """Nested dicts of an order cut into runs of about equal length, and these again.

    The order is a list of categories, a model that names them, or a column that has an order itself.
    """
    raise_problems(level_problems(levels))
    given = order if isinstance(order, Order) else Order(own_order(order) or order)
    if not isinstance(given.values, tuple):
        raise InputError("The order names no categories; list them from the lowest to the highest.")
    branches = 2
    while levels is not None and branches**levels < len(given.values):
        branches += 1
    return {STAR: _runs(given.values, branches)}


def level_problems(levels: int | None) -> list[str]:
    """Say in a sentence why there cannot be so many levels above ordered categories."""
    is_whole = isinstance(levels, int) and not isinstance(levels, bool)
    if levels is None or (is_whole and 1 <= levels <= MOST_LEVELS):
        return []
    return [f"The 'levels' parameter must be a whole number from 1 to {MOST_LEVELS}."]


def _runs(order: Sequence[str], branches: int) -> dict[str, Any]:
    """The parts of a run, by their labels."""
    parts = min(branches, len(order))
    ends = [round(part * len(order) / parts) for part in range(parts + 1)]
    found: dict[str, Any] = {}
    for start, stop in pairwise(ends):
        part = order[start:stop]
        if len(part) == 1:
            found[part[0]] = None
        else:
            found[f"{part[0]}{BETWEEN}{part[-1]}"] = _runs(part, branches)
    return found


def _rows(labels: Sequence[str], levels: Sequence[Sequence[str]]) -> Rows:
    """Value, level 1, …, root; levels that join nothing more, or everything, are left out."""
    if not labels:
        raise InputError("There are no values to make a hierarchy of; give at least one.")
    used, known = [], len(labels)
    for level in levels:
        sets = len(set(level))
        if 1 < sets < known:
            used.append(level)
            known = sets
    return [list(row) for row in zip(labels, *used, [STAR] * len(labels), strict=True)]
