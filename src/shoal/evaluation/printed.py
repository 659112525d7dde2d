"""What a release made elsewhere prints, where its closures in the table's values are not what it reads.

It may print bounds that no record has, or `*`. A closure then runs from the least to the greatest value of the
table that is covered, which the release does not tell, and neither may anything that is shown of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.generalization.forms import STAR, Floats, Form, Ints, RangeForm, SetForm
from shoal.generalization.models import labels_of
from shoal.table import Column
from shoal.table.frames import Frame, arrow_column
from shoal.table.render import bound_names
from shoal.table.rows import distinct_rows


@dataclass(frozen=True)
class Printed:
    """The distinct texts of a released column, None where it is missing."""

    texts: tuple[str | None, ...]
    place: Ints  # of each released record among them

    @property
    def sizes(self) -> Floats:
        """The records that bear each text."""
        return np.bincount(self.place, minlength=len(self.texts)).astype(np.float64)


def printed_otherwise(columns: Sequence[Column], release: Frame) -> dict[int, Printed]:
    """What is printed in those quasi-identifiers, by their number, whose closures do not read like it."""
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
        return form.parse(text) is not None  # such a form reads only what it writes
    ends = form.ends(text)
    return ends is None or all(form.between(end, end) is not None for end in ends)


def _printed(column: Column, release: Frame) -> Printed:
    name, form = column.name, column.form
    if name in release.columns:
        place, texts = _coded(release, name)
        used, number = np.unique(place, return_inverse=True)
        return Printed(tuple(texts[i] for i in used), number.astype(np.int32))
    assert isinstance(form, RangeForm)
    (low, lows), (high, highs) = (_coded(release, bound) for bound in bound_names(name))
    rows = distinct_rows(np.stack([low, high], axis=1))
    ends = [(lows[low[i]], highs[high[i]]) for i in rows.first]
    return Printed(tuple(_text_of(form, a, b) for a, b in ends), rows.place)


def _text_of(form: RangeForm, low: str | None, high: str | None) -> str:
    """Two bounds as the text of their closure, or joined as they are where they have none."""
    if low is None and high is None:
        return STAR
    closure = form.of_bounds(low, high)
    if form.is_folded and closure is not None:
        return form.text(np.array([closure], dtype=np.int32).T)[0] or STAR
    return STAR if low is None or high is None else form.joined(low, high)


def _coded(release: Frame, name: str) -> tuple[Ints, list[str | None]]:
    """Each record's place in a list of texts, whose last is None."""
    array = arrow_column(release, name)
    values: pa.Array = pc.unique(array.drop_null())
    place = pc.fill_null(pc.index_in(array, value_set=values), len(values))
    return np.asarray(place, dtype=np.int32), [*labels_of(values), None]
