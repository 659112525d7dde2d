"""All closures of a small form, for tests that write and read each of them."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

from shoal.encoding.forms import RangeForm, SetForm, TreeForm
from shoal.encoding.models import Form


def closures_of(form: Form) -> list[list[int]]:
    """Every closure of a small form, in the shape that kernels leave it."""
    if isinstance(form, TreeForm):
        return [[node] for node in range(form.entries)]
    known = range(len(form.labels))
    null = [[form.null]] if form.has_null else []
    mixed = [list(range(form.size))] if form.has_null else []
    if isinstance(form, RangeForm):
        ends = [*combinations(known, 2), *((code, code) for code in known)]
        return [list(pair) for pair in ends] + [[form.null] * 2 for _ in null] + [
            [0, form.null] for _ in mixed
        ]  # fmt: skip
    assert isinstance(form, SetForm)
    sizes = {1, 2, 3, len(known)}
    subsets = chain.from_iterable(combinations(known, size) for size in sizes)
    return [list(form.pack(codes)) for codes in [*subsets, *null, *mixed]]


def assert_round_trip(form: Form) -> None:
    closures = closures_of(form)
    texts = form.text(np.array(closures, np.int32).T)
    assert [list(form.parse(text) or ()) for text in texts] == closures
    assert len(set(texts)) == len({tuple(closure) for closure in closures})
