"""A table and a release of it, both encoded as integers: the input of every evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.audits.verdict import refuse_identifiers
from shoal.encoding.closed import Closed
from shoal.encoding.encode import (
    Column,
    Sensitive,
    Table,
    column_problems,
    distinct_rows,
    encode,
    value_key,
)
from shoal.encoding.forms import STAR, Floats, Form, Ints, RangeForm, Records, SetForm
from shoal.encoding.frames import Frame
from shoal.encoding.render import bound_names, read_closures, texts_by_record
from shoal.errors import InputError, added_to, raise_problems
from shoal.settings.settings import Settings


@dataclass(frozen=True)
class PrintedColumn:
    """The distinct texts of a released column, None for a missing value."""

    texts: tuple[str | None, ...]
    place: Ints  # of each released record in `texts`

    @property
    def sizes(self) -> Floats:
        """The number of records with each text."""
        return np.bincount(self.place, minlength=len(self.texts)).astype(np.float64)


def columns_printed_otherwise(
    columns: Sequence[Column], release: Frame
) -> dict[int, PrintedColumn]:
    """The printed texts of those quasi-identifiers, by number, whose closures would be printed differently."""
    found = {}
    for j, column in enumerate(columns):
        if isinstance(column.form, RangeForm | SetForm):
            printed = _printed(column, release)
            if not all(_reads_the_same(column.form, text) for text in printed.texts):
                found[j] = printed
    return found


def _reads_the_same(form: Form, text: str | None) -> bool:
    if text == STAR:
        return form.has_null
    if text is None or text in form.codes or not isinstance(form, RangeForm):
        return True
    if form.is_folded:
        return form.parse(text) is not None  # such a form parses only what it prints
    ends = form.ends(text)
    return ends is None or all(form.between(end, end) is not None for end in ends)


def _printed(column: Column, release: Frame) -> PrintedColumn:
    name, form = column.name, column.form
    if name in release.columns:
        place, texts = texts_by_record(release, name)
        used, number = np.unique(place, return_inverse=True)
        return PrintedColumn(tuple(texts[i] for i in used), number.astype(np.int32))
    assert isinstance(form, RangeForm)
    (low, lows), (high, highs) = (texts_by_record(release, own) for own in bound_names(name))
    rows = distinct_rows(np.stack([low, high], axis=1))
    ends = [(lows[low[i]], highs[high[i]]) for i in rows.first]
    return PrintedColumn(tuple(_text_of(form, a, b) for a, b in ends), rows.place)


def _text_of(form: RangeForm, low: str | None, high: str | None) -> str:
    """Two bounds as the text of their closure, or simply joined if they have no closure."""
    if low is None and high is None:
        return STAR
    closure = form.of_bounds(low, high)
    if form.is_folded and closure is not None:
        return form.text(np.array([closure], dtype=np.int32).T)[0] or STAR
    return STAR if low is None or high is None else form.joined(low, high)


@dataclass(frozen=True)
class Comparison:
    """An encoded table and a release of it, whose records may be in a different order."""

    table: Table  # its sensitive columns are all unchanged columns that are compared
    groups: Ints  # of the released records: a number per row, 0 … groups − 1
    closures: Ints  # slots × groups
    released: Mapping[str, Ints]  # codes of the released records in the columns released unchanged
    k: int
    sensitive: tuple[str, ...]
    homogeneous: bool = True  # whether released records of a group look the same
    # The texts of columns whose closures would be printed differently.
    printed: Mapping[int, PrintedColumn] = field(default_factory=dict)
    counts: Records | None = None  # released records of each row; None if each row is a record
    # The person of each record, the same before and after, if people are counted.
    persons: Records | None = None

    @cached_property
    def records(self) -> int:
        """The number of released records."""
        return int(self.groups.size if self.counts is None else self.counts.sum())

    @cached_property
    def sizes(self) -> Floats:
        """The number of released records in each group."""
        return self.count(self.groups, self.closures.shape[1]).astype(np.float64)

    def count(self, numbers: Records, size: int = 0) -> npt.NDArray[Any]:
        """Count released records by a number of each row, from 0 to at least size − 1."""
        return np.bincount(numbers, self.counts, size)

    def of_column(self, j: int) -> Ints:
        """The closures of quasi-identifier j, one for each group."""
        return self.closures[self.table.slots[j]]

    @cached_property
    def points(self) -> tuple[Ints, Ints]:
        """The distinct original combinations of quasi-identifiers, and the index of each original record in them."""
        first, place, _ = distinct_rows(self.table.codes)
        return self.table.codes[first], place


def comparison_of(closed: Closed, settings: Settings, persons: Records | None = None) -> Comparison:
    """Compare the table of a run with its release; `persons` are those of the released records, if known."""
    return Comparison(
        table=closed.table,
        groups=closed.groups,
        closures=closed.closures,
        released={name: column.codes for name, column in closed.table.sensitive.items()},
        k=settings.k,
        sensitive=tuple(closed.table.sensitive),
        homogeneous=settings.method.homogeneous,
        counts=closed.table.counts,
        persons=persons,
    )


def read_comparison(
    table: Frame, release: Frame, settings: Settings, others: Sequence[str] = ()
) -> Comparison:
    """Compare a table with any release of it; `others` are unchanged columns to compare besides the sensitive ones.

    Raises `InputError` if columns are missing, or if the release contains values that no record of the table can
    become. Raises `AuditFailed` if an identifier is in the release, because the risk of its groups would not show that.
    """
    refuse_identifiers(release.columns, settings.removed)
    unchanged = tuple(dict.fromkeys([*settings.sensitive, *others]))
    raise_problems(_missing(table, release, settings, unchanged))
    encoded = encode(table, settings.quasi_identifiers, unchanged, input=settings.reading)
    problems = []
    if release.shape[0] > encoded.records:
        problems.append(
            f"The release has more records ({release.shape[0]:,}) than the table ({encoded.records:,}). "
            "Use the table from which the release was made."
        )
    released: dict[str, Ints] = {}
    for name in unchanged:
        with added_to(problems):
            missing = settings.reading.missing_in(name)
            released[name] = _released_codes(name, encoded.sensitive[name], release, missing)
    with added_to(problems):
        groups, closures = read_closures(encoded.columns, release)
    raise_problems(problems)
    found = Comparison(
        table=encoded,
        groups=groups,
        closures=closures,
        released=released,
        k=settings.k,
        sensitive=settings.sensitive,
        homogeneous=settings.method.homogeneous,
        printed=columns_printed_otherwise(encoded.columns, release),
    )
    raise_problems(_misfits(found))
    return found


def _misfits(comparison: Comparison) -> list[str]:
    """Sentences for columns with released values that cover fewer original records than have them."""
    problems = []
    for j, column in enumerate(comparison.table.columns):
        distinct, place = np.unique(comparison.of_column(j), axis=1, return_inverse=True)
        bearing = np.bincount(place.reshape(-1), weights=comparison.sizes)
        covered = column.form.sums(distinct, column.counts)
        misfits = np.count_nonzero(bearing > covered)
        if misfits:
            problems.append(
                f"In column '{column.name}', {_released_values(int(misfits), 'occurs', 'occur')} more often than the "
                "table allows. Use the table from which the release was made."
            )
    return problems


def _released_values(number: int, verb: str, verbs: str) -> str:
    """The subject and verb of a sentence about some released values."""
    return f"1 released value {verb}" if number == 1 else f"{number:,} released values {verbs}"


def _missing(
    table: Frame, release: Frame, settings: Settings, unchanged: Sequence[str]
) -> list[str]:
    """Sentences for columns that are missing in the table or the release."""
    wanted = [*settings.quasi_identifiers, *unchanged]
    released = [name for name in wanted if not set(bound_names(name)) <= set(release.columns)]
    found = column_problems(table.columns, wanted)
    found += column_problems(release.columns, released, "release")
    empty = [what for what, frame in (("table", table), ("release", release)) if not frame.shape[0]]
    return found + [f"The {what} has no records. Give at least one." for what in empty]


def _released_codes(
    name: str, column: Sensitive, release: Frame, missing: Sequence[str] = ()
) -> Ints:
    """Codes of a released column, numbered as in the table; matched by text, since files may change types."""
    place, labels = texts_by_record(release, name)
    known = {value_key(label): code for code, label in enumerate(column.labels)}
    texts = ["" if not label or label in missing else value_key(label) for label in labels]
    null = len(column.values) if column.has_null else -1
    code_of = np.array([known.get(text, -1 if text else null) for text in texts])
    unknown = np.count_nonzero(code_of[np.unique(place)] < 0)
    if unknown:
        raise InputError(
            f"In column '{name}', {_released_values(int(unknown), 'is', 'are')} not in the table. "
            "Use the table from which the release was made; this column must be unchanged."
        )
    return code_of.astype(np.int32)[place]


def pair_records(comparison: Comparison) -> Closed:
    """Match every released record with an original one that has the same sensitive values; the rest are left out.

    Raises `InputError` if the release has more records with the same sensitive values than the table.
    """
    secrets = {name: comparison.table.sensitive[name] for name in comparison.sensitive}
    table = replace(comparison.table, sensitive=secrets)
    own, released = _classes(comparison)
    count = np.bincount(own, minlength=int(released.max()) + 1)
    surplus = np.bincount(released, minlength=count.size) - count
    if surplus.max() > 0:
        raise InputError(
            "Some sensitive values occur more often in the release than in the table. "
            "Use the table from which the release was made; sensitive columns must be unchanged."
        )
    order = np.argsort(released, kind="stable")
    place = np.arange(order.size) - np.searchsorted(released[order], released[order])
    first = np.cumsum(count) - count
    paired = np.argsort(own, kind="stable")[first[released[order]] + place]
    groups = np.empty(comparison.records, dtype=np.int32)
    original = np.sort(paired)
    groups[np.searchsorted(original, paired)] = comparison.groups[order]
    left_out = table.records - comparison.records
    return Closed(table.take(original), groups, comparison.closures, left_out)


def _classes(comparison: Comparison) -> tuple[Ints, Ints]:
    """Number the combinations of sensitive values; returns those of the original and of the released records."""
    names, records = comparison.sensitive, comparison.table.records
    if not names:
        return np.zeros(records, dtype=np.int32), np.zeros(comparison.records, dtype=np.int32)
    own = np.column_stack([comparison.table.sensitive[name].codes for name in names])
    released = np.column_stack([comparison.released[name] for name in names])
    classes = distinct_rows(np.concatenate([own, released])).place
    return classes[:records], classes[records:]
