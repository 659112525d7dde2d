"""How the cells of a quasi-identifier are released, in words that need no measure: from the release alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from shoal.evaluation.printed import Printed
from shoal.evaluation.scales import scale_of
from shoal.generalization.forms import STAR, Floats, Form, Ints, RangeForm, SetForm
from shoal.report.markup import percent

Marks = npt.NDArray[np.bool_]
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "D": 86400.0}
_YEAR = 365.25 * 86400.0
_UNITS = (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0))


@dataclass(frozen=True)
class Cells:
    """Shares of the cells of a column, and for numbers and dates the width of which half of them are at most."""

    exact: float
    general: float
    hidden: float
    half: float | None  # infinite where more than half are hidden, None without order
    unit: str  # of dates, as scales count them


def cells_of(form: Form, closures: Ints, sizes: Floats) -> Cells:
    """Summarize closures that `sizes` records bear."""
    if not isinstance(form, RangeForm):
        widths = form.sizes(closures)
        hidden = widths == form.size
        if isinstance(form, SetForm):  # all values that the release prints, as for ranges
            hidden = (closures == np.bitwise_or.reduce(closures, axis=1)[:, None]).all(axis=0)
        return _cells(widths == 1, hidden & (widths > 1), sizes, None, "")
    known = len(form.labels)
    exact, star = closures[0] == closures[1], (closures[0] < known) & (closures[1] >= known)
    ranges = ~(exact | star)
    ends = closures[:, closures[1] < known]  # what the release prints
    least, greatest = ends.min(initial=known), ends.max(initial=-1)
    whole = ranges & (closures[0] == least) & (closures[1] == greatest)
    if not form.has_scale:  # how many categories or bins a run holds is not for all to know
        return _cells(exact, star | whole, sizes, None, "")
    scale = scale_of(form.values)
    widths = np.where(star, inf, 0.0)
    low, high = scale.numbers[closures[:, ranges]].astype(np.float64)
    with np.errstate(over="ignore"):  # numbers that span more than a float are infinitely wide
        widths[ranges] = high - low
    order = np.argsort(widths, kind="stable")
    reached = np.cumsum(sizes[order]) >= sizes.sum() / 2
    half = float(widths[order][np.argmax(reached)])
    return _cells(exact, star | whole, sizes, half, scale.unit)


def cells_of_texts(form: Form, printed: Printed) -> Cells:
    """Summarize what a release prints where its closures do not read like it."""
    exact = [text is None or text in form.codes for text in printed.texts]
    hidden = [text == STAR for text in printed.texts]
    return _cells(np.array(exact), np.array(hidden), printed.sizes, None, "")


def _cells(exact: Marks, hidden: Marks, sizes: Floats, half: float | None, unit: str) -> Cells:
    shares = [float(sizes[cells].sum() / sizes.sum()) for cells in (exact, hidden)]
    general = float(sizes[~(exact | hidden)].sum() / sizes.sum())
    return Cells(shares[0], general, shares[1], half, unit)


def sentence_of(cells: Cells) -> str:
    """What became of a column, in a sentence that follows its name.

    Examples
    --------
    >>> sentence_of(Cells(0.1, 0.9, 0.0, 4.0, ""))
    'half of the values are released within a range of at most 4; 10.0 % are exact.'
    """
    if cells.exact == 1:
        return "every value is released exactly."
    if cells.hidden == 1:
        return "every value is hidden."
    shares = [(cells.exact, "exact"), (cells.hidden, "hidden")]
    if cells.half is None:
        shares.insert(1, (cells.general, "more general"))
        return f"{_listed(shares)}."
    if cells.half == 0:
        start = "at least half of the values are released exactly"
    elif cells.half == inf:
        start = "half of the values or more cannot be narrowed down"
    else:
        start = f"half of the values are released within {_width(cells.half, cells.unit)}"
    listed = _listed(shares)
    return f"{start}; {listed}." if listed else f"{start}."


def _listed(shares: list[tuple[float, str]]) -> str:
    parts = [f"{percent(share)} {{}}{what}" for share, what in shares if share]
    return ", ".join(part.format("" if i else "are ") for i, part in enumerate(parts))


def _width(width: float, unit: str) -> str:
    if not unit:
        text = f"{width:,.0f}" if width % 1 == 0 and width < 1e15 else f"{width:.4g}"
        return f"a range of at most {text}"
    seconds = width * _SECONDS[unit]
    if seconds >= 2 * _YEAR:
        return f"{seconds / _YEAR:,.0f} years"
    name, length = next(
        ((name, length) for name, length in _UNITS if seconds >= length), ("second", 1.0)
    )
    number = f"{seconds / length:,.1f}".removesuffix(".0")
    return f"{number} {name}" if number == "1" else f"{number} {name}s"
