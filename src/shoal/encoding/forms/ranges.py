"""The form of intervals and orders, whose closures are ranges of codes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from shoal.encoding.forms.base import (
    AT_LEAST,
    AT_MOST,
    STAR,
    Floats,
    Form,
    Ints,
    join_range,
    open_end,
    plain_spelling,
    split_range,
)


@dataclass(frozen=True, kw_only=True)
class RangeForm(Form):
    """Intervals: a closure is the lowest and the highest code; null mixed with a value is the whole domain.

    A code may represent many values: a bin of a grid, or all values beyond a highest or lowest one. Such a form
    is folded, and reads only texts that it writes itself.
    """

    positions: Floats  # of the values, ascending
    values: Any = field(repr=False)  # the same as an Arrow array; of bins the lower bounds
    uppers: Any = field(default=None, repr=False)  # of bins the upper bounds
    lows: tuple[str, ...] | None = None  # of bins: how ranges begin that begin with them
    highs: tuple[str, ...] | None = None  # of bins: how ranges end that end with them
    open_low: bool = False  # whether the first code represents all values up to a lowest one
    date_format: str | None = None  # how a file writes bounds that are dates
    open_high: bool = False  # whether the last code represents all values from a highest one on

    slots = 2

    @property
    def is_folded(self) -> bool:
        return self.lows is not None or self.open_low or self.open_high

    @property
    def has_scale(self) -> bool:
        """Whether each code is one number or date, which may be shown as such."""
        return not self.is_folded

    @property
    def entries(self) -> int:
        return self.size + 1

    @property
    def whole(self) -> Sequence[int]:
        return 0, self.size - 1

    @property
    def alone(self) -> Ints:
        return np.tile(np.arange(self.size, dtype=np.int32), (2, 1))

    def text(self, closures: Ints) -> list[str | None]:
        out: list[str | None] = []
        for low, high in closures.T:
            if low == self.null:
                out.append(None)
            elif high == self.null:  # with a value
                out.append(STAR)
            elif low == high:
                out.append(self.labels[low])
            else:
                out.append(self._range(low, high))
        return out

    def _range(self, low: int, high: int) -> str:
        """The text of a range of several codes."""
        is_low, is_high = self.open_low and low == 0, self.open_high and high == self._top
        if is_low and is_high and not self.has_null:
            return STAR
        if is_high and not is_low:
            return self.at_least(self._begins[low])
        if is_low and not is_high:
            return self.at_most(self._finishes[high])
        return self.joined(self._begins[low], self._finishes[high])

    @property
    def _top(self) -> int:
        return len(self.labels) - 1

    @cached_property
    def _begins(self) -> tuple[str, ...]:
        """The beginnings of ranges, by their first code; an open last code begins with its bare end."""
        texts = list(self.lows or self.labels)
        texts[0] = self.labels[0] if self.open_low else texts[0]
        texts[-1] = (self.open_high and self.end(self.labels[-1], AT_LEAST)) or texts[-1]
        return tuple(texts)

    @cached_property
    def _finishes(self) -> tuple[str, ...]:
        """The ends of ranges, by their last code; an open first code ends with its bare end."""
        texts = list(self.highs or self.labels)
        texts[-1] = self.labels[-1] if self.open_high else texts[-1]
        texts[0] = (self.open_low and self.end(self.labels[0], AT_MOST)) or texts[0]
        return tuple(texts)

    def joined(self, low: str, high: str) -> str:
        """The text of the closure from one value to another."""
        return join_range(low, high)

    def at_least(self, low: str) -> str:
        """The text of the closure of a value and all above it."""
        return f"> {low[1:]}" if low[:1] == ">" else f"{AT_LEAST}{low}"

    def at_most(self, high: str) -> str:
        """The text of the closure of a value and all below it."""
        return f"< {high[1:]}" if high[:1] == "<" else f"{AT_MOST}{high}"

    def end(self, released: str, sign: str) -> str | None:
        """The text given to `at_least` or `at_most`, None for other texts."""
        return open_end(released, sign)

    def ends(self, released: str) -> tuple[str, str] | None:
        """The two texts that `join_range` joined, None for other texts."""
        return split_range(released)

    def plainly(self, released: str | None) -> str | None:
        return None if released is None else plain_spelling(released)

    def parse(self, released: str | None) -> Sequence[int] | None:
        if released == STAR:
            return (0, self.size - 1)
        if released in self.codes:
            return (self.codes[released], self.codes[released])
        if not released:
            return None
        if self.is_folded:
            return self._parse_folded(released)
        if ends := self.ends(released):
            return self.between(*ends)
        if self._value(released) in self._known:  # the same number, written otherwise
            return self.between(released, released)
        return None

    def _parse_folded(self, released: str) -> Sequence[int] | None:
        """The closure of a text that this form writes, in either spelling."""
        first = self._first_code.get(self.end(released, AT_LEAST))
        if first is not None and self.open_high:
            return first, self._top
        last = self._last_code.get(self.end(released, AT_MOST))
        if last is not None and self.open_low:
            return 0, last
        ends = self.ends(released)
        return None if ends is None else self.between(*ends)

    @cached_property
    def _first_code(self) -> dict[str | None, int]:
        return _coded(self._begins)

    @cached_property
    def _last_code(self) -> dict[str | None, int]:
        return _coded(self._finishes)

    def between(self, low: str, high: str) -> Sequence[int] | None:
        """The closure from one value to another, both as text, values of the domain or not."""
        if self.is_folded:
            ends = self._first_code.get(low, -1), self._last_code.get(high, -1)
            return ends if 0 <= ends[0] <= ends[1] else None
        if low in self.codes and high in self.codes:
            ends = self.codes[low], self.codes[high]
        else:
            start, stop = self._value(low), self._value(high)
            if start is None or stop is None:
                return None
            ends = bisect_left(self._known, start), bisect_right(self._known, stop) - 1
        return ends if ends[0] <= ends[1] else None

    def bounds(self, closures: Ints) -> tuple[Any, Any]:
        """The lower and upper bounds of closures as Arrow arrays, null where there is none."""
        import pyarrow as pa

        low, high = closures
        hidden = (low == self.null) | (high == self.null)  # missing, or `*`: no bound is known
        without = (
            hidden | (self.open_low & (low == 0)),
            hidden | (self.open_high & (high == self._top)),
        )
        places = [
            pa.array(np.where(none, 0, end), mask=none)
            for end, none in zip((low, high), without, strict=True)
        ]
        uppers = self.values if self.uppers is None else self.uppers
        return self.values.take(places[0]), uppers.take(places[1])

    def of_bounds(self, low: str | None, high: str | None) -> Sequence[int] | None:
        """The closure between two bounds as text, at least one of them given."""
        if not self.is_folded:
            if low is None or high is None:
                return None
            return self.parse(low if low == high else self.joined(low, high))
        lower, upper = self._bound_codes
        first = 0 if low is None and self.open_low else _found(lower, low)
        last = self._top if high is None and self.open_high else _found(upper, high)
        return (first, last) if 0 <= first <= last else None

    @cached_property
    def _bound_codes(self) -> tuple[dict[str | None, int], dict[str | None, int]]:
        """The codes of lower and of upper bounds, by their texts; an open end has none."""
        uppers = self.values if self.uppers is None else self.uppers
        return (
            self._codes_of(self.values, 0 if self.open_low else None),
            self._codes_of(uppers, self._top if self.open_high else None),
        )

    def _codes_of(self, values: Any, without: int | None) -> dict[str | None, int]:
        """The code of each bound but one, by its text as Arrow and as a file writes it."""
        from shoal.encoding.models.base import labels_of

        known = [code for code in range(len(values)) if code != without]
        texts = labels_of(values)
        found: dict[str | None, int] = {texts[code]: code for code in known}
        if self.date_format is not None and hasattr(values[0].as_py(), "strftime"):
            moments = values.to_pylist()
            found |= {moments[code].strftime(self.date_format): code for code in known}
        return found

    @cached_property
    def _known(self) -> list[Any]:
        return list(self.values.to_pylist())

    def _value(self, text: str) -> Any:
        """A text as a number or date like the column's, None if it is neither."""
        import pyarrow as pa

        if text in self.codes:
            return self._known[self.codes[text]]
        kind = self.values.type
        for wanted in (kind,) if pa.types.is_temporal(kind) else (kind, pa.float64()):
            try:
                return pa.array([text]).cast(wanted)[0].as_py()
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
        return None

    def sums(self, closures: Ints, per_value: Floats) -> Floats:
        prefix = np.zeros((self.entries, *per_value.shape[1:]))
        np.cumsum(per_value, axis=0, out=prefix[1:])
        return prefix[closures[1] + 1] - prefix[closures[0]]

    def holds(self, closures: Ints) -> Floats:
        codes = np.arange(self.size)[:, None]
        return ((codes >= closures[0]) & (codes <= closures[1])).astype(np.float64)

    def spread(self, closures: Ints, mass: Floats) -> Floats:
        part = mass / self.sizes(closures)
        begin = np.bincount(closures[0], weights=part, minlength=self.size)
        end = np.bincount(closures[1] + 1, weights=part, minlength=self.entries)
        return np.maximum(np.cumsum(begin - end[: self.size]), 0.0)  # rounding may leave −1e-17


def _coded(texts: Sequence[str]) -> dict[str | None, int]:
    """The code of each text in either spelling."""
    plain: dict[str | None, int] = {plain_spelling(text): code for code, text in enumerate(texts)}
    return plain | {text: code for code, text in enumerate(texts)}


def _found(codes: dict[str | None, int], bound: str | None) -> int:
    """The code of a bound, perhaps with a decimal comma; −1 if it has none."""
    point = None if bound is None else bound.replace(",", ".")
    return codes.get(bound, codes.get(point, -1))
