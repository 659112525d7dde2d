"""Columns of codes as the audit reads them: a released text covers all codes that begin like it."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np

from shoal.auditing.lines import Line, Stretches, Texts

_LAST = "\U0010ffff"  # sorts after every sign that a code may go on with


class PrefixLine(Line):
    """A column released as the beginnings of codes: 021**, or with a separator A01.*."""

    def __init__(self, known: Texts, model: Any) -> None:
        super().__init__(known)
        self.fill, self.separator = str(model.fill), model.separator
        self.codes = sorted(text for text in known if text is not None)
        place = {code: at for at, code in enumerate(self.codes)}
        self.length = len(self.codes) + 1
        missing = len(self.codes)
        self.rank = np.array([missing if t is None else place[t] for t in known], dtype=np.int64)
        self.places = {None: (missing,), **{code: (at,) for code, at in place.items()}}

    def several(self, released: str) -> Stretches:
        if not released.endswith(self.fill):
            return ()
        if self.separator is None:
            return self._from(released.rstrip(self.fill))
        head = released.removesuffix(self.fill)
        if not head.endswith(self.separator):
            return ()
        own = self.places.get(head.removesuffix(self.separator), ())
        return tuple(sorted({*((at, at + 1) for at in own), *self._from(head)}))

    def _from(self, start: str) -> Stretches:
        """The stretch of all codes that begin with a text."""
        first, after = bisect_left(self.codes, start), bisect_left(self.codes, start + _LAST)
        return ((first, after),) if start and first < after else ()
