"""How general a released text is, from 0 for a single value to 1 for any, known without the table behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.auditing.readings import Cover
from shoal.generalization.forms import STAR, Floats
from shoal.generalization.forms.sets import members_of
from shoal.table.released_texts import range_ends, read_bounds, read_periods, released_of
from shoal.table.source import Input

_RANGES = ("interval", "calendar", "suppression")


def generality(texts: Sequence[str | None], model: Any, cover: Cover, input: Input) -> Floats:
    """How general each text of a column is.

    Ranges count by their width, sets by their members, everything else by the values that it covers. `cover` has a
    place for each of the texts.
    """
    name = getattr(model, "name", None)
    found = None
    if name in _RANGES:
        found = _widths(texts, input)
    elif name == "subset":
        found = np.array([len(members_of(text or "")) or 1 for text in texts], dtype=np.float64) - 1
    if found is None:
        many = np.add.reduceat(cover.high - cover.low, cover.first[:-1]).astype(np.float64)
        found = np.maximum(many[cover.places] - 1, 0.0)
    is_star = np.array([text == STAR for text in texts], dtype=np.bool_)
    widest = found[~is_star].max(initial=0.0)
    shares = found / (2 * widest) if widest > 0 else np.zeros(len(texts))
    return np.where(is_star, 1.0, shares)


def _widths(texts: Sequence[str | None], input: Input) -> Floats | None:
    """The width of each range of numbers or dates, None where texts are neither."""
    released = released_of(pa.chunked_array([pa.array(texts, pa.large_string())]))
    read = None
    try:
        read = read_periods(released) or read_bounds(released, range_ends, input)
    except (pa.ArrowException, ValueError, OverflowError):
        return None
    if read is None:
        return None
    low, high = (_numbers(end) for end in read)
    known = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)]])
    if not known.size:
        return None
    is_open = np.isnan(low) != np.isnan(high)
    low = np.where(is_open & np.isnan(low), known.min(), low)
    high = np.where(is_open & np.isnan(high), known.max(), high)
    return np.nan_to_num(high - low, nan=0.0)


def _numbers(values: pa.Array) -> Floats:
    """Numbers, or dates as numbers, with NaN for null."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    plain = [None if value is None else float(value) for value in values.to_pylist()]
    return np.array([np.nan if value is None else value for value in plain], dtype=np.float64)
