"""Suppression and subset, what all models share, and the distinct values of a column."""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.encoding.forms import STAR, Form, Ints, SetForm, TreeForm
from shoal.encoding.models.ends import ClippedValues, clip_ends, end_problems
from shoal.errors import InputError, counted, raise_problems

if TYPE_CHECKING:
    import pyarrow as pa


class Model(ABC):
    """What a quasi-identifier's values may become."""

    name: ClassVar[str]
    # Laminar with all singletons and the whole (GiT09 §3): guarantees need it.
    proper: ClassVar[bool] = False
    coarsened_by: ClassVar[tuple[str, ...]] = ()  # options that make single values coarser

    @property
    def is_coarse(self) -> bool:
        """Whether it makes single values coarser, without other values to group them with."""
        return any(getattr(self, option) is not None for option in self.coarsened_by)

    @property
    def needs_numbers(self) -> bool:
        """Whether it takes only numbers or dates."""
        return False

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        """Return the column's form and the code of each of `values`, its distinct values in order.

        By default, the form is a tree, with the texts of `may_become` above each value.
        """
        from shoal.encoding.models.trees import form_of_paths

        labels = labels_of(values)
        refuse_star(column, labels)
        paths = {label: [label, *self.may_become(label)] for label in labels}
        heights = {label: height for path in paths.values() for height, label in enumerate(path)}
        top = max(map(len, paths.values()))
        form = form_of_paths(column, paths, has_null, heights, top, own_words=False)
        return form, np.arange(len(values), dtype=np.int32)

    def may_become(self, value: str) -> Sequence[str]:
        """Return the texts that a value may become besides itself and `*`, for ever larger sets."""
        raise NotImplementedError

    def covers(self, released: str, value: str) -> bool:
        """Whether a released text may mean a value, for the audit of a model of your own.

        Write it without the code that makes the texts, so that it proves something. It is never called for values
        themselves or `*`. `audits/readings.py` reads the texts of shoal's own models.
        """
        return False

    def coarseness(self) -> str:
        """Describe what it makes of single values.

        Examples
        --------
        >>> from shoal import Calendar, Interval, Prefix
        >>> [m.coarseness() for m in (Interval(step=1000, high=9000), Calendar(finest="month"), Prefix(finest=3))]
        ['bins of 1000, all from 9000 on as one', 'months', 'the first 3 characters']
        """
        low, high = getattr(self, "low", None), getattr(self, "high", None)
        found = [self.grid()] if self.grid() else []
        found += [f"all up to {low} as one"] if low is not None else []
        found += [f"all from {high} on as one"] if high is not None else []
        return ", ".join(found)

    def grid(self) -> str:
        """The unit to which it coarsens single values, in words; empty if it leaves them unchanged."""
        return ""

    def plainly(self, released: str | None) -> str | None:
        """A released single value; the model's own characters are replaced by ones that every encoding has."""
        return released

    def __repr__(self) -> str:
        given = [
            f"{option.name}={getattr(self, option.name)!r}"
            for option in fields(self)  # type: ignore[arg-type]
            if not _is_default(getattr(self, option.name), option.default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, tuple | str | int) and bool(value == default))


@dataclass(frozen=True, repr=False)
class _PlainValues(Model):
    """What suppression and subset share: a domain of values, in which values beyond two ends are one each."""

    domain: Sequence[Any] | None = None
    _: KW_ONLY
    low: Any = None
    high: Any = None

    def __post_init__(self) -> None:
        raise_problems(end_problems(type(self).__name__, self.low, self.high))

    @property
    def needs_numbers(self) -> bool:
        return not (self.low is None and self.high is None)

    def _labelled(
        self, column: str, values: pa.Array
    ) -> tuple[tuple[str, ...], Ints, frozenset[int]]:
        """The allowed values as text, the code of each of `values`, and the codes of folded ones."""
        if self.needs_numbers and not is_ordered(values.type):
            raise InputError(
                f"Column '{column}' contains {describe_type(values.type)}, but 'low' and 'high' need numbers or "
                "dates. Leave them out."
            )
        values, codes = codes_in_domain(column, values, self.domain)
        ends = clip_by_model(self, column, values)
        return ends.label(labels_of(ends.values)), ends.codes[codes], ends.fixed


@dataclass(frozen=True, repr=False)
class Suppression(_PlainValues):
    """Release a value unchanged or as `*`.

    Parameters
    ----------
    domain
        All allowed values, for measures that count them; by default those that occur.
    low, high
        All values up to `low` become the one value `≤ 17`, and all from `high` on the one value `≥ 90`. The column
        must contain numbers or dates.
    """

    name = "suppression"
    proper = True

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        labels, codes, fixed = self._labelled(column, values)
        refuse_star(column, labels, "suppressed")
        root = len(labels) + has_null
        parent = np.full(root + 1, root, dtype=np.int32)
        form = TreeForm(labels=labels, has_null=has_null, fixed=fixed, parent=parent, inner=(STAR,))
        return form, codes


@dataclass(frozen=True, repr=False)
class Subset(_PlainValues):
    """Release exactly the set `{a, b}` of a group's values.

    Parameters
    ----------
    domain, low, high
        As in `shoal.Suppression`.
    """

    name = "subset"

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        labels, codes, fixed = self._labelled(column, values)
        refuse_star(column, labels)
        if any(label[:1] == "{" and label[-1:] == "}" for label in labels):
            raise InputError(
                f"Column '{column}' contains texts in braces, which mean a set. Rename them."
            )
        return SetForm(labels=labels, has_null=has_null, fixed=fixed), codes


def refuse_star(column: str, labels: Collection[str], meaning: str = "any value") -> None:
    """Refuse values that are spelled like `*` in a release."""
    if STAR in labels:
        raise InputError(
            f"Column '{column}' contains the text '*', which means {meaning}. Rename it."
        )


def clip_by_model(model: Any, column: str, values: pa.Array) -> ClippedValues:
    """Fold values beyond the ends of a model that has any."""
    if model.low is None and model.high is None:
        return ClippedValues(values, np.arange(len(values), dtype=np.int32), None, None)
    refuse_infinite(column, values)
    return clip_ends(column, values, model.low, model.high)


def refuse_infinite(column: str, values: pa.Array) -> None:
    """Refuse numbers that cannot be ordered."""
    import pyarrow as pa

    if pa.types.is_floating(values.type) and not np.isfinite(np.array(values)).all():
        raise InputError(
            f"Column '{column}' contains NaN or infinite numbers. Make them missing or drop these records."
        )


def is_numeric(kind: pa.DataType) -> bool:
    """Whether an Arrow type contains numbers."""
    import pyarrow as pa

    t = pa.types
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind))


def is_ordered(kind: pa.DataType) -> bool:
    """Whether an Arrow type contains numbers or dates."""
    import pyarrow as pa

    return is_numeric(kind) or bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def describe_type(kind: pa.DataType) -> str:
    """Describe in words what an Arrow type contains."""
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
    """A single value, written like the table's own values."""
    import pyarrow as pa

    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # Arrow holds none above 64 bits
    return value if isinstance(value, str) else labels_of(pa.array([value]))[0]


def codes_in_domain(
    column: str, values: pa.Array, domain: Sequence[Any] | None
) -> tuple[pa.Array, Ints]:
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
            f"The domain of column '{column}' does not have the column's type. List values like the column's."
        ) from None
    allowed = allowed.take(pc.array_sort_indices(allowed))
    codes = pc.index_in(values, value_set=allowed)
    if codes.null_count:
        raise InputError(
            f"{codes.null_count:,} of the {counted(len(values), 'distinct value')} of column '{column}' "
            f"{'is' if codes.null_count == 1 else 'are'} not in its declared domain. Add "
            f"{'it' if codes.null_count == 1 else 'them'} to the domain, or leave the domain out."
        )
    return allowed, np.array(codes, dtype=np.int32)


_MIXED = "The values mix types, or are not numbers, dates or texts. Give values of one kind."


@dataclass(frozen=True)
class CountedValues:
    """The distinct values of a column in ascending order, as they are and as text, and the records that have each."""

    values: pa.Array
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int  # records without a value

    @property
    def records(self) -> int:
        """Records with a value."""
        return sum(self.counts)


def counted_values(values: Any, missing: Collection[str] = ()) -> CountedValues:
    """Count the values of a list, or of a pandas, polars or Arrow column; `missing` are texts that mean "missing"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, CountedValues):
        return values
    array = arrow_of(values)
    try:
        found = array.value_counts()
        distinct, counts = found.field("values"), found.field("counts").to_pylist()
        order = pc.array_sort_indices(distinct).to_pylist()
    except (pa.ArrowException, TypeError, ValueError):
        order = None  # raise outside of this block: the library's error may show a cell
    if order is None:
        raise InputError(_MIXED)
    labels = labels_of(distinct.drop_null())
    known = iter(labels)
    texts = [None if is_null else next(known) for is_null in distinct.is_null().to_pylist()]
    kept = [i for i in order if texts[i] is not None and texts[i] not in missing]
    return CountedValues(
        values=distinct.take(pa.array(kept, pa.int64())),
        labels=tuple(str(texts[i]) for i in kept),
        counts=tuple(counts[i] for i in kept),
        missing=len(array) - sum(counts[i] for i in kept),
    )


def arrow_of(values: Any) -> pa.Array:
    """The values of a column as one Arrow array, categories as the values they mean."""
    import pyarrow as pa

    array = _arrow(values)
    if array is None:
        raise InputError(_MIXED)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    return array


def own_order(values: Any) -> tuple[str, ...] | None:
    """The column's own order of its categories, used or not, as text; None without an order."""
    import pyarrow as pa

    if isinstance(values, list | tuple):
        return None
    if (order := enum_order(values)) is not None:
        return order
    array = _arrow(values)
    if array is None or not (pa.types.is_dictionary(array.type) and array.type.ordered):
        return None
    return labels_of(array.dictionary.drop_null())


def enum_order(column: Any) -> tuple[str, ...] | None:
    """The categories of an Enum of polars, else None; its order is lost in the Arrow that polars 1.0 makes of it."""
    import narwhals as nw

    series = nw.from_native(column, series_only=True, pass_through=True)
    if not (isinstance(series, nw.Series) and series.implementation.is_polars()):
        return None
    return tuple(series.dtype.categories) if isinstance(series.dtype, nw.Enum) else None


def _arrow(values: Any) -> pa.Array | None:
    """The values as Arrow, None if Arrow cannot represent them."""
    import pyarrow as pa

    if isinstance(values, str | bytes | dict):
        raise InputError("The values cannot be read. Give a list, or a column of a table.")
    try:
        if hasattr(values, "to_arrow"):  # polars and Narwhals
            values = values.to_arrow()
        if isinstance(values, pa.ChunkedArray):
            values = values.unify_dictionaries().combine_chunks()
        if isinstance(values, pa.Array):
            return values
        is_column = hasattr(values, "__array__") or hasattr(values, "__arrow_array__")
        return pa.array(values if is_column else list(values), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
