"""Suppression, interval and subset: the models that need no tree from the user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.errors import InputError
from shoal.generalization.forms import STAR, Form, Ints, RangeForm, SetForm, TreeForm

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
    """

    domain: Sequence[Any] | None = None

    name = "suppression"
    proper = True

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        values, codes = _within(column, values, self.domain)
        labels = labels_of(values)
        if STAR in labels:
            raise InputError(
                f"Column '{column}' holds the text '*', which means suppressed; rename it."
            )
        root = len(labels) + has_null
        parent = np.full(root + 1, root, dtype=np.int32)
        return TreeForm(labels=labels, has_null=has_null, parent=parent, inner=(STAR,)), codes


@dataclass(frozen=True)
class Interval(Model):
    """Release the range `[24, 30]` of a group's numbers or dates, or the value where all are equal.

    Parameters
    ----------
    domain
        All values that are allowed, for measures that count or span them; by default those that occur.
    """

    domain: Sequence[Any] | None = None

    name = "interval"
    proper = False

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        import pyarrow as pa

        if not is_ordered(values.type):
            raise InputError(
                f"Column '{column}' holds {describe(values.type)}, and an interval needs numbers or dates; "
                "convert it or choose order, hierarchy, subset or suppression."
            )
        values, codes = _within(column, values, self.domain)
        if pa.types.is_decimal(values.type):
            positions = values.cast(pa.float64())
        elif pa.types.is_floating(values.type):
            positions = values
        else:  # counted from the first: whole numbers far from zero are too fine for floats
            ticks = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
            ticks = np.array(ticks.cast(pa.int64(), safe=False)).astype(object)
            positions = [tick - ticks[0] for tick in ticks]
        numbers = np.array(positions, dtype=np.float64)
        if numbers[-1] / 2 - numbers[0] / 2 > np.finfo(np.float64).max / 4:
            numbers = numbers / 4  # only proportions matter, and differences must not overflow
        if not np.isfinite(numbers).all():
            raise InputError(
                f"Column '{column}' holds NaN or infinite numbers; make them missing or drop those records."
            )
        form = RangeForm(
            labels=labels_of(values), has_null=has_null, positions=numbers, values=values
        )
        return form, codes


@dataclass(frozen=True)
class Subset(Model):
    """Release exactly the set `{a, b}` of a group's values.

    Parameters
    ----------
    domain
        All values that are allowed, for measures that count them; by default those that occur.
    """

    domain: Sequence[Any] | None = None

    name = "subset"
    proper = False

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        values, codes = _within(column, values, self.domain)
        labels = labels_of(values)
        if STAR in labels:
            raise InputError(
                f"Column '{column}' holds the text '*', which means any value; rename it."
            )
        if any(label[:1] == "{" and label[-1:] == "}" for label in labels):
            raise InputError(
                f"Column '{column}' holds texts in braces, which mean a set; rename them."
            )
        return SetForm(labels=labels, has_null=has_null), codes


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
