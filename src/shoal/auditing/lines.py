"""The values of a column in a line, of which a released text covers one or more stretches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.auditing.examination import Places

Stretches = tuple[tuple[int, int], ...]  # first place, and the one after the last
Texts = Sequence[str | None]
ANYTHING = "*"


class Line:
    """A column whose values have no order: a text stands for itself, or for anything."""

    def __init__(self, known: Texts) -> None:
        self.rank: Places = np.arange(len(known))
        self.places = {text: (at,) for at, text in enumerate(known)}
        self.length = len(known)

    def covered(self, released: str | None) -> Stretches:
        """The stretches that a released text covers, none where it stands for no known value."""
        if released in self.places:
            return tuple((at, at + 1) for at in self.places[released])
        if released == ANYTHING:
            return ((0, self.length),)
        return self.several(released) if released is not None else ()

    def several(self, released: str) -> Stretches:
        """The stretches that a text covers which is neither a known value nor `*`."""
        return ()
