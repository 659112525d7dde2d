"""The interval model: ranges of numbers and dates, from value to value or from bin to bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encoding.forms import Floats, Form, Ints, RangeForm
from shoal.encoding.forms.base import plain_spelling
from shoal.encoding.models.base import (
    Model,
    clip_by_model,
    codes_in_domain,
    describe_type,
    is_ordered,
    labels_of,
    refuse_infinite,
)
from shoal.encoding.models.bins import fold_dates, fold_numbers
from shoal.encoding.models.ends import end_problems, is_finite_number
from shoal.encoding.models.periods import UNITS
from shoal.errors import InputError, raise_problems

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Interval(Model):
    """Release the range `24–30` of a group's numbers or dates, or the value if all are equal.

    With `step`, values are folded to bins before records are grouped, so no exact value is released: a group of
    equal values becomes `20–24`, too. Losses are measured from the bins on, which are the values of the domain.

    Parameters
    ----------
    domain
        All allowed values, for measures that count or span them; by default those that occur.
    step
        The width of the bins of numbers, like 5: whole numbers become `20–24`, others `20–<25`, from 20 to below 25.
        For dates "day", "week", "month", "quarter", "year" or "decade": `2020-03 – 2020-07`.
    start
        Where a bin of numbers begins, by default 0; all others lie whole steps away.
    low, high
        All values up to `low` become the one value `≤ 17`, and all from `high` on the one value `≥ 90`. A range that
        reaches it becomes `≥ 85`, and one that reaches both ends `*`.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"age": [31, 31, 36, 42, 93, 97]})
    >>> ages = shoal.Interval(step=5, high=90)
    >>> release = shoal.anonymize(people, quasi_identifiers={"age": ages}, k=2, keep_order=True)
    >>> list(release.data["age"])
    ['30–34', '30–34', '35–44', '35–44', '≥ 90', '≥ 90']
    """

    domain: Sequence[Any] | None = None
    _: KW_ONLY
    step: Any = None
    start: Any = None
    low: Any = None
    high: Any = None

    name = "interval"
    proper = False
    coarsened_by = ("step", "low", "high")

    def __post_init__(self) -> None:
        raise_problems([*self._step_problems(), *end_problems("Interval", self.low, self.high)])

    def _step_problems(self) -> list[str]:
        found = []
        is_unit = isinstance(self.step, str) and self.step in UNITS
        if not (self.step is None or is_unit or (is_finite_number(self.step) and self.step > 0)):
            found.append(
                f"Interval: 'step' must be a number above 0, or for dates one of {', '.join(UNITS)}."
            )
        if self.start is not None and (
            self.step is None or is_unit or not is_finite_number(self.start)
        ):
            found.append(
                "Interval: 'start' must be a number and needs a 'step' that is also a number."
            )
        return found

    def plainly(self, released: str | None) -> str | None:
        return None if released is None else plain_spelling(released)

    @property
    def needs_numbers(self) -> bool:
        return True

    def grid(self) -> str:
        if self.step is None:
            return ""
        return f"{self.step}s" if isinstance(self.step, str) else f"bins of {self.step}"

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        if not is_ordered(values.type):
            raise InputError(
                f"Column '{column}' contains {describe_type(values.type)}, but an interval needs numbers or "
                "dates. Convert it, or choose order, hierarchy, subset or suppression."
            )
        values, codes = codes_in_domain(column, values, self.domain)
        if self.step is None:
            return self._by_value(column, values, codes, has_null)
        refuse_infinite(column, values)
        return self._by_bins(column, values, codes, has_null)

    def _by_value(
        self, column: str, values: pa.Array, codes: Ints, has_null: bool
    ) -> tuple[Form, Ints]:
        ends = clip_by_model(self, column, values)
        form = RangeForm(
            labels=ends.label(labels_of(ends.values)),
            has_null=has_null,
            fixed=ends.fixed,
            positions=_positions(column, ends.values),
            values=ends.values,
            open_low=ends.low is not None,
            open_high=ends.high is not None,
        )
        return form, ends.codes[codes]

    def _by_bins(
        self, column: str, values: pa.Array, codes: Ints, has_null: bool
    ) -> tuple[Form, Ints]:
        import pyarrow as pa

        are_dates = pa.types.is_temporal(values.type)
        if are_dates != isinstance(self.step, str):
            raise InputError(
                f"Column '{column}' contains {('dates' if are_dates else 'numbers')}. Set 'step' to "
                f"{('one of ' + ', '.join(UNITS) if are_dates else 'a number')}."
            )
        if are_dates:
            form, folded = fold_dates(column, values, self.step, self.low, self.high, has_null)
        else:
            grid = self.step, self.start or 0
            form, folded = fold_numbers(column, values, *grid, self.low, self.high, has_null)
        return form, folded[codes]


def _positions(column: str, values: pa.Array) -> Floats:
    """The positions of a column's values on a line."""
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        positions = values.cast(pa.float64())
    elif pa.types.is_floating(values.type):
        positions = values
    else:  # counted from the first: whole numbers far from zero are too fine for floats
        ticks = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
        ticks = np.array(ticks.cast(pa.int64(), safe=False)).astype(object)
        positions = [tick - ticks[0] for tick in ticks]
    refuse_infinite(column, values)
    numbers = np.array(positions, dtype=np.float64)
    if numbers[-1] / 2 - numbers[0] / 2 > np.finfo(np.float64).max / 4:
        numbers = numbers / 4  # only proportions matter, and differences must not overflow
    return numbers
