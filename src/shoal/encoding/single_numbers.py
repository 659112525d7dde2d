"""Ranges as single numbers or dates, for tools that read nothing else: the middle, or a rounded mean.

The middle follows from the closure alone. The mean does not: whoever knows all values of a group but one could solve
it for the last. No rounding mends that altogether, since a number that never depends on any single value follows from
the closure alone. It is therefore rounded so coarsely that it answers one question about the last value at most; see
"Means" in docs/threat-model.md, and tests/attacks/test_means.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.forms import Floats, Form, Ints, RangeForm
from shoal.encoding.models.order import OrderForm

# Values that are possible in a part of a range on average, at least. Of Adult's ages, k = 10, whoever knows all others
# of a group is certain of the last because of the mean in 8.0 % of records with 1, in 0.3 % with 4.
VALUES_PER_PART = 4


def has_numbers(form: Form) -> bool:
    """Whether closures are ranges of numbers."""
    return _is_range(form) and not pa.types.is_temporal(form.values.type)  # type: ignore[attr-defined]


def has_middle(form: Form) -> bool:
    """Whether closures are ranges of numbers or dates."""
    return _is_range(form)


def _is_range(form: Form) -> bool:
    return isinstance(form, RangeForm) and not isinstance(form, OrderForm)


def middles(low: pa.Array, high: pa.Array) -> pa.Array:
    """The middle between two bounds: a float between numbers, the earlier date between dates."""
    kind = low.type
    if not pa.types.is_temporal(kind):
        start, stop = _floats(low), _floats(high)
        return _masked(start / 2 + stop / 2, low, high)
    whole = pa.int32() if kind.bit_width == 32 else pa.int64()
    start, stop = (np.asarray(pc.fill_null(end.cast(whole), 0)) for end in (low, high))
    return _masked(start // 2 + stop // 2 + (start % 2 + stop % 2) // 2, low, high).cast(kind)


def rounded_means(
    form: RangeForm, closures: Ints, codes: Ints, groups: Ints, declared: bool = False
) -> pa.Array:
    """The mean of each group's own numbers, rounded to the middle of one of a few equal parts of its closure.

    A group of n records has ⌊√n⌋ parts. Were one of its n values any other of the closure, the mean would move by
    1/n of the closure at most, which is less than a part: so it is in one of two parts, whatever that value is. There
    are fewer parts where few values are possible in the closure, so that to exclude a part is not to name a value.
    Which values occur has no part in it: then the number of parts would tell more than the mean does.

    Parameters
    ----------
    closures
        Of each group: the lowest and the highest code.
    codes, groups
        Of each record.
    declared
        Whether the values of the form are a declared domain, and not those that occur.
    """
    low, high = form.bounds(closures)
    start, stop = _floats(low), _floats(high)
    numbers = np.append(
        _floats(form.values if form.uppers is None else middles(form.values, form.uppers)), 0.0
    )  # of null, which no mean is asked for
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        width = stop - start
        share = (numbers[codes] - start[groups]) / width[groups]
    share = np.where(np.isfinite(share), np.clip(share, 0.0, 1.0), 0.5)  # all equal, or too wide
    sizes = np.bincount(groups, minlength=start.size)
    mean = np.bincount(groups, weights=share, minlength=start.size) / np.maximum(sizes, 1)
    parts = part_counts(sizes, _possible(form, closures, declared))
    part = np.minimum(
        np.floor(mean * parts + 1e-9), parts - 1
    )  # the order of a sum must not decide
    return _masked(_shown(start, stop, width, (part + 0.5) / parts, width / parts), low, high)


def _possible(form: RangeForm, closures: Ints, declared: bool) -> npt.NDArray[Any]:
    """How many values are possible in each closure: those of a declared domain, else steps of the model, else of 1."""
    if declared:
        return closures[1] - closures[0] + 1
    low, high = form.positions[np.minimum(closures, form.positions.size - 1)]
    with np.errstate(over="ignore"):
        return np.floor(high - low) + 1


def part_counts(
    sizes: npt.NDArray[np.integer[Any]], values: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """Into how many parts the closure of a group is cut, by its records and the values possible in the closure."""
    parts = np.minimum(np.floor(np.sqrt(sizes)), values // VALUES_PER_PART)
    return np.maximum(1, parts).astype(np.int64)


def _shown(start: Floats, stop: Floats, width: Floats, share: Floats, part: Floats) -> Floats:
    """A place in each range, written with no more digits than tell its parts apart."""
    middle = start / 2 + stop / 2
    plain = np.isfinite(width) & (width > 0) & (share != 0.5)
    digits = np.where(plain, 2 - np.floor(np.log10(np.where(plain, part, 1.0))), 0)
    places = [
        round(float(low + at * wide), int(many)) if is_plain else float(mid)
        for low, at, wide, many, is_plain, mid in zip(
            start, share, np.where(plain, width, 0.0), digits, plain, middle, strict=True
        )
    ]
    return np.clip(np.array(places, dtype=np.float64), start, stop)


def _floats(values: pa.Array) -> Floats:
    """The nearest float of each number, 0 for null; Arrow's own cast of decimals is less exact."""
    if pa.types.is_decimal(values.type):
        return np.array([float(value or 0) for value in values.to_pylist()], dtype=np.float64)
    return np.asarray(pc.fill_null(values.cast(pa.float64(), safe=False), 0.0), dtype=np.float64)


def _masked(values: npt.NDArray[Any], low: pa.Array, high: pa.Array) -> pa.Array:
    """Numbers as Arrow, null where a bound is."""
    return pa.array(values, mask=np.asarray(pc.or_(pc.is_null(low), pc.is_null(high))))
