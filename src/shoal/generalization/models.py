"""Suppression, interval and subset: the models that take a column as it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.errors import InputError, raise_problems
from shoal.generalization.bins import Cut, cut, end_problems, fold_dates, fold_numbers
from shoal.generalization.forms import STAR, Floats, Form, Ints, RangeForm, SetForm, TreeForm
from shoal.generalization.periods import UNITS

if TYPE_CHECKING:
    import pyarrow as pa


class Model(ABC):
    """What a quasi-identifier's values may become."""

    name: ClassVar[str]
    proper: ClassVar[
        bool
    ]  # laminar with all singletons and the whole (GiT09 §3): guarantees need it

    @abstractmethod
    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        """Return the column's form and the code of each of `values`, its distinct values in order."""


@dataclass(frozen=True)
class Suppression(Model):
    """Release a value as it is or as `*`.

    Parameters
    ----------
    domain
        All values that are allowed, for measures that count them; by default those that occur.
    low, high
        All values up to `low` become the one value `≤ 17`, and all from `high` on the one value `≥ 90`. The column
        must hold numbers or dates.
    """

    domain: Sequence[Any] | None = None
    _: KW_ONLY
    low: Any = None
    high: Any = None

    name = "suppression"
    proper = True

    def __post_init__(self) -> None:
        raise_problems(end_problems("Suppression", self.low, self.high))

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        labels, codes, fixed = _labelled(self, column, values)
        if STAR in labels:
            raise InputError(
                f"Column '{column}' holds the text '*', which means suppressed; rename it."
            )
        root = len(labels) + has_null
        parent = np.full(root + 1, root, dtype=np.int32)
        form = TreeForm(
            labels=labels, has_null=has_null, fixed=fixed, parent=parent, inner=(STAR,)
        )
        return form, codes


@dataclass(frozen=True)
class Interval(Model):
    """Release the range `24–30` of a group's numbers or dates, or the value where all are equal.

    With `step`, values are folded to bins before records are grouped, so that no exact value is released: a group of
    equal values reads `20–24` too. Losses are measured from the bins on, which are the values of the domain.

    Parameters
    ----------
    domain
        All values that are allowed, for measures that count or span them; by default those that occur.
    step
        The width of the bins of numbers, like 5: whole numbers read `20–24`, others `20–<25`, from 20 to below 25.
        For dates "day", "week", "month", "quarter", "year" or "decade": `2020-03 – 2020-07`.
    start
        Where a bin of numbers begins, by default 0; all others lie whole steps away.
    low, high
        All values up to `low` become the one value `≤ 17`, and all from `high` on the one value `≥ 90`. A range that
        reaches it reads `≥ 85`, and one that reaches both ends `*`.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"age": [31, 31, 34, 38, 93, 97]})
    >>> ages = shoal.Interval(step=5, high=90)
    >>> release = shoal.anonymize(people, quasi_identifiers={"age": ages}, k=2, keep_order=True)
    >>> list(release.data["age"])
    ['30–34', '30–34', '30–39', '30–39', '≥ 90', '≥ 90']
    """

    domain: Sequence[Any] | None = None
    _: KW_ONLY
    step: Any = None
    start: Any = None
    low: Any = None
    high: Any = None

    name = "interval"
    proper = False

    def __post_init__(self) -> None:
        raise_problems([*self._step_problems(), *end_problems("Interval", self.low, self.high)])

    def _step_problems(self) -> list[str]:
        found = []
        is_unit = isinstance(self.step, str) and self.step in UNITS
        if not (self.step is None or is_unit or (is_number(self.step) and self.step > 0)):
            found.append(
                f"Interval: 'step' must be a number above 0, or for dates one of {', '.join(UNITS)}."
            )
        if self.start is not None and (self.step is None or is_unit or not is_number(self.start)):
            found.append("Interval: 'start' must be a number and needs a 'step' that is one.")
        return found

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        if not is_ordered(values.type):
            raise InputError(
                f"Column '{column}' holds {describe(values.type)}, and an interval needs numbers or dates; "
                "convert it or choose order, hierarchy, subset or suppression."
            )
        values, codes = _within(column, values, self.domain)
        if self.step is None:
            return self._by_value(column, values, codes, has_null)
        _refuse_infinite(column, values)
        return self._by_bins(column, values, codes, has_null)

    def _by_value(
        self, column: str, values: pa.Array, codes: Ints, has_null: bool
    ) -> tuple[Form, Ints]:
        ends = _cut(self, column, values)
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
                f"Column '{column}' holds {'dates' if are_dates else 'numbers'}; give as 'step' "
                f"{'one of ' + ', '.join(UNITS) if are_dates else 'a number'}."
            )
        if are_dates:
            bins = fold_dates(column, values, self.step, self.low, self.high)
        else:
            start = 0 if self.start is None else self.start
            bins = fold_numbers(column, values, self.step, start, self.low, self.high)
        form = RangeForm(
            labels=bins.labels,
            has_null=has_null,
            fixed=frozenset(range(len(bins.labels))),
            positions=bins.positions,
            values=bins.values,
            uppers=bins.uppers,
            lows=bins.lows,
            highs=bins.highs,
            open_low=bins.open_low,
            open_high=bins.open_high,
        )
        return form, bins.codes[codes]


@dataclass(frozen=True)
class Subset(Model):
    """Release exactly the set `{a, b}` of a group's values.

    Parameters
    ----------
    domain
        All values that are allowed, for measures that count them; by default those that occur.
    low, high
        All values up to `low` become the one value `≤ 17`, and all from `high` on the one value `≥ 90`. The column
        must hold numbers or dates.
    """

    domain: Sequence[Any] | None = None
    _: KW_ONLY
    low: Any = None
    high: Any = None

    name = "subset"
    proper = False

    def __post_init__(self) -> None:
        raise_problems(end_problems("Subset", self.low, self.high))

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        labels, codes, fixed = _labelled(self, column, values)
        if STAR in labels:
            raise InputError(
                f"Column '{column}' holds the text '*', which means any value; rename it."
            )
        if any(label[:1] == "{" and label[-1:] == "}" for label in labels):
            raise InputError(
                f"Column '{column}' holds texts in braces, which mean a set; rename them."
            )
        return SetForm(labels=labels, has_null=has_null, fixed=fixed), codes


def _labelled(
    model: Suppression | Subset, column: str, values: pa.Array
) -> tuple[tuple[str, ...], Ints, frozenset[int]]:
    """The allowed values as text, the code of each of `values`, and the codes of folded ones."""
    if not (model.low is None and model.high is None) and not is_ordered(values.type):
        raise InputError(
            f"Column '{column}' holds {describe(values.type)}, and 'low' and 'high' need numbers or dates; "
            "leave them out."
        )
    values, codes = _within(column, values, model.domain)
    ends = _cut(model, column, values)
    return ends.label(labels_of(ends.values)), ends.codes[codes], ends.fixed


def _cut(model: Suppression | Interval | Subset, column: str, values: pa.Array) -> Cut:
    """Fold values beyond the ends of a model that has any."""
    if model.low is None and model.high is None:
        return Cut(values, np.arange(len(values), dtype=np.int32), None, None)
    _refuse_infinite(column, values)
    return cut(column, values, model.low, model.high)


def _positions(column: str, values: pa.Array) -> Floats:
    """Where the values of a column lie beside each other."""
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        positions = values.cast(pa.float64())
    elif pa.types.is_floating(values.type):
        positions = values
    else:  # counted from the first: whole numbers far from zero are too fine for floats
        ticks = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
        ticks = np.array(ticks.cast(pa.int64(), safe=False)).astype(object)
        positions = [tick - ticks[0] for tick in ticks]
    _refuse_infinite(column, values)
    numbers = np.array(positions, dtype=np.float64)
    if numbers[-1] / 2 - numbers[0] / 2 > np.finfo(np.float64).max / 4:
        numbers = numbers / 4  # only proportions matter, and differences must not overflow
    return numbers


def _refuse_infinite(column: str, values: pa.Array) -> None:
    import pyarrow as pa

    if pa.types.is_floating(values.type) and not np.isfinite(np.array(values)).all():
        raise InputError(
            f"Column '{column}' holds NaN or infinite numbers; make them missing or drop those records."
        )


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return number and isfinite(value)


def is_ordered(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds numbers or dates."""
    import pyarrow as pa

    t = pa.types
    number = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)
    return bool(number or t.is_date(kind) or t.is_timestamp(kind))


def describe(kind: pa.DataType) -> str:
    """Say in plain words what an Arrow type holds."""
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "true/false values"
    return "text" if pa.types.is_large_string(kind) else f"values of type {kind}"


def labels_of(values: pa.Array) -> tuple[str, ...]:
    """Distinct values as the text they are released as: whole numbers without a decimal point, dates as ISO."""
    import pyarrow as pa

    if pa.types.is_floating(values.type):
        return tuple(
            str(int(v)) if v.is_integer() and abs(v) < 1e16 else repr(v) for v in values.to_pylist()
        )
    if pa.types.is_boolean(values.type):
        return tuple("true" if v else "false" for v in values.to_pylist())
    return tuple(str(v) for v in values.to_pylist())


def label_of(value: Any) -> str:
    """A single value as the table's own values are written."""
    import pyarrow as pa

    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # Arrow holds none above 64 bits
    return value if isinstance(value, str) else labels_of(pa.array([value]))[0]


def _within(column: str, values: pa.Array, domain: Sequence[Any] | None) -> tuple[pa.Array, Ints]:
    """Place the values of a column in its declared domain, in order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if domain is None:
        return values, np.arange(len(values), dtype=np.int32)
    if isinstance(domain, str) or not isinstance(domain, Iterable):
        raise InputError(f"The domain of column '{column}' must be a list of values.")
    try:
        given = pa.array(list(domain), from_pandas=True)
        if pa.types.is_decimal(given.type) and pa.types.is_floating(values.type):
            given = pa.array([None if v is None else float(v) for v in given.to_pylist()])
        elif pa.types.is_decimal(given.type) and pa.types.is_decimal(values.type):
            scale = max(given.type.scale, values.type.scale)  # a domain may need more digits
            values = values.cast(pa.decimal128(38, scale))
        allowed = pc.unique(given.cast(values.type).drop_null())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise InputError(
            f"The domain of column '{column}' is not of the column's type; list values like the column's."
        ) from None
    allowed = allowed.take(pc.array_sort_indices(allowed))
    codes = pc.index_in(values, value_set=allowed)
    if codes.null_count:
        raise InputError(
            f"{codes.null_count} of the {len(values)} distinct values of column '{column}' are not in its "
            "declared domain; add them to it or leave the domain out."
        )
    return allowed, np.array(codes, dtype=np.int32)
