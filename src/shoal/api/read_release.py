"""`shoal.read_release`: the texts of a release as numbers, dates, lists and levels, for analyses."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.data.open import input_of_release, open_table
from shoal.encoding.encode import column_problems
from shoal.encoding.frames import Frame, FrameT, arrow_column, open_frame
from shoal.encoding.models import Hierarchy, Model
from shoal.encoding.released_texts import (
    ReleasedColumn,
    middles,
    range_ends,
    read_bounds,
    read_levels,
    read_periods,
    read_sets,
    read_values,
    released_column,
    run_ends,
)
from shoal.encoding.render import SINGLE, bound_names, native_nulls, reordered_frame
from shoal.encoding.source import Input
from shoal.errors import InputError, counted, listed, near_miss, raise_problems
from shoal.settings.settings import Settings, make_settings


@dataclass(frozen=True)
class _Read:
    """A quasi-identifier that was read back, for each record."""

    kind: str
    columns: Mapping[str, pa.Array]  # the columns for it in the frame
    bounds: tuple[pa.Array, pa.Array] | None = None
    middle: pa.Array | None = None
    hidden: pa.Array | None = None


@dataclass(frozen=True, repr=False, eq=False)
class ReadRelease(Generic[FrameT]):
    """A release whose quasi-identifiers were read back from text.

    Attributes
    ----------
    data
        A frame of the kind that was given, an Arrow table for a file. Instead of a quasi-identifier it has:

        - for an interval or an order `NAME_min` and `NAME_max`: numbers, dates or categories, both empty if the
          value is missing or `*`;
        - for a hierarchy `NAME`, the label, and `NAME_level`: 0 for a value, 1 for a set of values and so on;
        - for a subset `NAME`, the list of values, empty if the value is missing or `*`;
        - for a calendar `NAME_min` and `NAME_max`: the first and the last day of the period;
        - for a suppression `NAME`, in the type that fits its values, empty if the value is missing or `*`;
        - for an interval released as a single number or date, that number or date.

        All other columns are unchanged, and texts of other models stay texts.
    kinds
        How each quasi-identifier was read: the name of its model, or "number" for single numbers and dates.
    """

    data: FrameT
    kinds: Mapping[str, str]
    _read: Mapping[str, _Read] = field(repr=False)
    _backend: Any = field(repr=False)

    def bounds(self, column: str) -> FrameT:
        """Return the bounds of an interval or order as a frame with the columns `low` and `high`, in the order of
        `data`.
        """
        found = self._column(column)
        if found.bounds is None:
            what = (
                "single numbers, which have no bounds"
                if found.kind == "number"
                else f"no ranges but was read as {found.kind}"
            )
            raise InputError(
                f"Column '{column}' contains {what}. Use one of {self._names('bounds')}."
            )
        return self._native(dict(zip(("low", "high"), found.bounds, strict=True))).to_native()

    def midpoints(self, column: str) -> Any:
        """Return the middle of each record's interval of numbers or dates as a column; empty without bounds."""
        found = self._column(column)
        if found.middle is None:
            raise InputError(
                f"Column '{column}' contains no intervals of numbers or dates but was read as {found.kind}. Use "
                f"one of {self._names('middle')}."
            )
        return self._native({column: found.middle}).get_column(column).to_native()

    def is_hidden(self, column: str) -> Any:
        """Return whether each record has `*`, as a column of truth values.

        Releases as bounds or single numbers do not distinguish `*` from a missing value, which is an error here.
        """
        found = self._column(column)
        if found.hidden is None:
            raise InputError(
                f"Column '{column}' does not distinguish '*' from a missing value. Release it as text to know."
            )
        return self._native({column: found.hidden}).get_column(column).to_native()

    def _column(self, name: str) -> _Read:
        if name not in self._read:
            known = listed(self._read)
            close = near_miss(name, self._read) or "."
            raise InputError(
                f"Column '{name}' is neither a quasi-identifier nor coarsened{close} Available: {known}."
            )
        return self._read[name]

    def _names(self, what: str) -> str:
        return listed(name for name, own in self._read.items() if getattr(own, what)) or "none"

    def _native(self, columns: Mapping[str, pa.Array]) -> Frame:
        table = nw.from_arrow(pa.table(dict(columns)), backend=self._backend)
        return native_nulls(table, dict(columns))

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {kind}" for name, kind in self.kinds.items())
        return f"ReadRelease({counted(open_frame(self.data).shape[0], 'record')}; {kinds})"


def read_release(
    release: FrameT | str | os.PathLike[str], settings: Settings | str | os.PathLike[str]
) -> ReadRelease[Any]:
    """Read a release back into numbers, dates, lists and levels that can be computed with.

    It reads quasi-identifiers and columns that were coarsened; all others stay unchanged. The original table is
    not needed.

    Parameters
    ----------
    release
        A release, as a frame or the path of a file.
    settings
        The settings it was made with, or the path of their file; models and `render` say how to read it.

    Raises
    ------
    InputError
        If columns are missing, or contain values that their model does not release; no value is named.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "sex": ["f", "f", "m", "m"]})
    >>> release = shoal.anonymize(people, quasi_identifiers=["age", "sex"], k=2, keep_order=True)
    >>> found = shoal.read_release(release.data, release.settings)
    >>> list(found.data.columns), list(found.data["age_max"])
    (['age_min', 'age_max', 'sex'], [33, 33, 58, 58])
    >>> list(found.midpoints("age"))
    [32.0, 32.0, 55.0, 55.0]
    """
    chosen = make_settings(settings)
    frame = open_table(release, input_of_release(chosen.reading)).data
    read: dict[str, _Read] = {}
    problems: list[str] = []
    coarse = {n: model for n, model in chosen.coarsen.items() if n in frame.columns}
    for name, model in {**chosen.quasi_identifiers, **coarse}.items():
        try:
            read[name] = _read_column(frame, name, model, chosen)
        except InputError as error:
            problems += error.problems
    raise_problems(problems)
    data = _assembled(frame, read)
    kinds = {name: own.kind for name, own in read.items()}
    return ReadRelease(data.to_native(), kinds, read, frame.implementation)


def _assembled(frame: Frame, read: Mapping[str, _Read]) -> Frame:
    """The release with the values that were read instead of its texts, and all other columns unchanged."""
    owner = {name: name for name in read if name in frame.columns}
    owner |= {bound: name for name in read if name not in owner for bound in bound_names(name)}
    made: dict[str, pa.Array] = {}
    names: list[str] = []
    for name in frame.columns:
        own = read[owner[name]].columns if name in owner else {name: None}
        names += [key for key in own if key not in names]
        made.update({key: values for key, values in own.items() if values is not None})
    raise_problems(
        f"Column '{key}' has a name that is needed for the values read from the release. Rename it."
        for key in made
        if key in frame.columns and key not in owner
    )
    data = native_nulls(nw.from_arrow(pa.table(made), backend=frame.implementation), made)
    kept = [name for name in names if name not in made]
    if kept:
        others = reordered_frame(frame.select(kept), np.arange(frame.shape[0]))
        data = nw.concat([data, others], how="horizontal").select(names)
    return data


def _read_column(frame: Frame, name: str, model: Model | None, settings: Settings) -> _Read:
    """Read one quasi-identifier by its model, or by its content if the settings name no model."""
    kind = None if model is None else model.name
    if name not in frame.columns and set(bound_names(name)) <= set(frame.columns):
        return _read_two_columns(frame, name, kind, settings.reading.of_column(name))
    raise_problems(column_problems(frame.columns, [name]))
    released = released_column(arrow_column(frame, name))
    input = settings.reading.of_column(name)
    how = None if input.is_text(name) else input
    if how is None and kind is None:
        kind = "suppression"
    if settings.render in SINGLE and kind in ("interval", None):
        single = read_bounds(released, lambda text: (text, text), input)
        if single is not None:  # else it was released as text
            return _Read("number", {name: single[0]}, middle=single[0])
    if isinstance(model, Hierarchy):
        return _read_labels(name, released, model)
    if kind == "subset":
        return _Read(kind, {name: read_sets(released, how)}, hidden=released.hidden)
    if kind == "order":
        return _read_ranges(name, released, run_ends, kind, None)
    if kind in ("interval", None):
        return _read_ranges(name, released, range_ends, kind, input)
    if kind == "suppression":
        return _Read(kind, {name: read_values(released, how)}, hidden=released.hidden)
    if kind == "calendar" and (days := read_periods(released)) is not None:
        return _bounded(name, kind, days, released.hidden)
    texts = released.spread(pa.array(released.texts, pa.large_string()))
    return _Read(str(kind), {name: texts}, hidden=released.hidden)


def _read_two_columns(frame: Frame, name: str, kind: str | None, input: Input) -> _Read:
    """An interval or order that was released as bounds."""
    ends = [released_column(arrow_column(frame, bound)) for bound in bound_names(name)]
    found = [end.spread(end.values) if kind == "order" else read_values(end, input) for end in ends]
    return _bounded(name, kind or "interval", (found[0], found[1]))


def _read_ranges(
    name: str,
    released: ReleasedColumn,
    ends_of: Callable[[str], tuple[str | None, str | None]],
    kind: str | None,
    input: Input | None,
) -> _Read:
    bounds = read_bounds(released, ends_of, input)
    if bounds is None:
        if kind is None and input is not None:  # no numbers or dates: the default is suppression
            return _Read(
                "suppression", {name: read_values(released, input)}, hidden=released.hidden
            )
        raise InputError(
            f"Column '{name}' contains values that are not intervals of numbers or dates. Give the settings it "
            "was released with."
        )
    return _bounded(name, kind or "interval", bounds, released.hidden)


def _bounded(
    name: str, kind: str, bounds: tuple[pa.Array, pa.Array], hidden: pa.Array | None = None
) -> _Read:
    """A column that becomes two; orders have no middle."""
    columns = dict(zip(bound_names(name), bounds, strict=True))
    return _Read(kind, columns, bounds, None if kind == "order" else middles(*bounds), hidden)


def _read_labels(name: str, released: ReleasedColumn, tree: Hierarchy) -> _Read:
    levels, unknown = read_levels(released, tree)
    if unknown:
        raise InputError(
            f"{unknown:,} of the {counted(len(released.texts), 'released value')} of column '{name}' "
            f"{'is' if unknown == 1 else 'are'} not in its hierarchy. Give the settings it was released with."
        )
    labels = released.spread(pa.array(released.texts, pa.large_string()))
    return _Read("hierarchy", {name: labels, f"{name}_level": levels}, hidden=released.hidden)
