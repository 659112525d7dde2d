"""Numbers and dates on a line, and where a picture cuts it: at round numbers or beside each of a few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, log10, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.generalization.models import labels_of

MOST_BINS = 12
_NUMBERS = ("less than", "more than", "or less", "and more")
_DATES = ("before", "after", "or earlier", "and later")
_UNITS = ("Y", "M", "D", "h", "m", "s")

Numbers = npt.NDArray[Any]  # int64 or float64


@dataclass(frozen=True)
class Cut:
    """A place between two bins: the number at which the right one begins.

    `begins` is the first value of the right bin as text, `ends` the last one of the left. A sign `>` or `<`
    before it says that the value itself is in the other bin.
    """

    at: int | float
    begins: str
    ends: str


@dataclass(frozen=True)
class Scale:
    """The values of an ordered column as numbers, in ascending order.

    Dates count days and times the unit of their type; `unit` is empty for numbers.
    """

    numbers: Numbers
    unit: str
    labels: tuple[str, ...]

    def places(self, cuts: Sequence[Cut]) -> Numbers:
        """The bin of each value."""
        at = np.array([cut.at for cut in cuts], dtype=self.numbers.dtype)
        return np.searchsorted(at, self.numbers, side="right")

    def is_whole(self, codes: Numbers) -> bool:
        """Whether values are whole numbers or days."""
        if self.unit:
            return self.unit == "D"
        return bool((self.numbers[codes] % 1 == 0).all())

    def around(self, codes: Numbers) -> list[Cut]:
        """Cuts before and after each of a few values, so that every one has a bin of its own."""
        whole = self.is_whole(codes)
        values = {self.numbers[code].item(): self.labels[code] for code in codes.tolist()}
        found: dict[int | float, Cut] = {}
        for number, label in sorted(values.items()):
            after = self._next(number, whole)
            texts = [f"<{label}", f">{label}"]
            if whole:
                texts = [self._text(number - 1), self._text(number + 1)]
            ends = found[number].ends if number in found else texts[0]
            found[number] = Cut(number, label, ends)
            if after != number:
                found[after] = Cut(after, texts[1], label)
        return [found[at] for at in sorted(found)]

    def _next(self, number: int | float, whole: bool) -> int | float:
        """The number after one, itself where there is none."""
        if self.numbers.dtype == np.int64:
            return min(number + 1, np.iinfo(np.int64).max)
        return number + 1 if whole else nextafter(number, inf)

    def round(self, low: int, high: int) -> list[Cut]:
        """Cuts at round numbers or dates strictly between two values, given by their codes."""
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
            cuts.append(Cut(at, _number(at), _number(end) if end < at else f"<{_number(at)}"))
        if not np.issubdtype(self.numbers.dtype, np.floating):
            cuts = [Cut(round(cut.at), cut.begins, cut.ends) for cut in cuts]
        return cuts

    def _round_dates(self, low: int, high: int) -> list[Cut]:
        ends = self.numbers[[low, high]].astype(f"datetime64[{self.unit}]")
        for unit in _UNITS[: 3 if self.unit == "D" else None]:
            first, last = ends.astype(f"datetime64[{unit}]").astype(np.int64).tolist()
            if last - first >= MOST_BINS - 1:
                break
        step = max(1, round(_step(float(first), float(last), True)))
        counts = np.arange((first // step + 1) * step, last + 1, step)
        at = counts.astype(f"datetime64[{unit}]").astype(f"datetime64[{self.unit}]")
        texts = [[_date(n, unit) for n in (count, count - 1)] for count in counts.tolist()]
        return [
            Cut(number, begins, end)
            for number, (begins, end) in zip(at.astype(np.int64).tolist(), texts, strict=True)
        ]

    def label(self, left: Cut | None, right: Cut | None) -> str:
        """The name of the bin between two cuts."""
        return label_of_bin(left, right, bool(self.unit))

    def _text(self, number: int | float) -> str:
        return _date(int(number), self.unit) if self.unit else _number(number)


def scale_of(values: pa.Array) -> Scale:
    """Place ordered values on a line."""
    labels = texts_of(values)
    kind = values.type
    if pa.types.is_temporal(kind):
        if pa.types.is_date32(kind):
            return Scale(np.asarray(values.cast(pa.int32())).astype(np.int64), "D", labels)
        if pa.types.is_date64(kind):
            return Scale(np.asarray(values.cast(pa.int64())), "ms", labels)
        return Scale(np.asarray(values.cast(pa.int64())), kind.unit, labels)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return Scale(np.asarray(values.cast(pa.int64())), "", labels)
    return Scale(np.asarray(values.cast(pa.float64(), safe=False)), "", labels)


def texts_of(values: pa.Array) -> tuple[str, ...]:
    """Values as they are released; dates beyond the years that Python knows as Arrow writes them."""
    try:
        return labels_of(values)
    except (ValueError, OverflowError):
        return tuple(str(text) for text in values.cast(pa.string()).to_pylist())


def label_of_bin(left: Cut | None, right: Cut | None, dates: bool = False) -> str:
    """The name of the bin between two cuts; None is the end of the line, which has no name.

    Examples
    --------
    >>> twenty, forty = Cut(20, "20", "19"), Cut(40, "40", "39")
    >>> label_of_bin(None, twenty), label_of_bin(twenty, forty), label_of_bin(forty, None)
    ('19 or less', '20 to 39', '40 and more')
    """
    less, greater, or_less, and_greater = _DATES if dates else _NUMBERS
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


def _step(first: float, last: float, whole: bool) -> float:
    """The least of 1, 2, 5, 10, … (0.1, 0.2, …) that cuts a range into few enough bins; 0 if none does."""
    least = (last / 2 - first / 2) / (MOST_BINS - 1) * 2  # the range itself may be no finite number
    least = max(least, 1.0 if whole else 0.0)
    if least < 1e-300:
        return 0.0
    power = 10.0 ** floor(log10(least))
    step = next(m * power for m in (1, 2, 5, 10, 20) if m * power >= least * (1 - 1e-12))
    return float(step) if np.isfinite(step) else 0.0


def _number(number: int | float) -> str:
    """Write a number with few signs."""
    if isinstance(number, int):
        return str(number)
    return str(int(number)) if number % 1 == 0 and abs(number) < 1e15 else f"{number:.12g}"


def _date(count: int, unit: str) -> str:
    return str(np.array(count).astype(f"datetime64[{unit}]"))
