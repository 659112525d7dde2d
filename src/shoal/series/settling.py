"""Newcomers who are near each other join one signature: in small cells first, what is left in the cells around them.

Sensitive values that are frequent in one cell, like the occupations of people with the same schooling, then make the
signature there, and its groups stay narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.generalization.forms import Ints, Records


class Settling:
    """Newcomers on their way into signatures: given ones, or any of the m most frequent values of a cell."""

    def __init__(
        self,
        value: Ints,
        values: int,
        placed: Ints,
        m: int,
        k: int,
        signatures: Sequence[frozenset[int]] | None = None,
    ) -> None:
        self.value, self.m, self.k = value, m, k
        self.makes_own = signatures is None
        self.signatures = list(signatures or ())
        self.values = values
        self.signature = placed.copy()  # of each person, −1 for those who are not placed
        self._place = {own: at for at, own in enumerate(self.signatures)}
        self._members = _padded(self.signatures)
        self._width = np.array([len(own) for own in self.signatures], dtype=np.int64)
        self._can_be = np.array([min(own) >= 0 for own in self.signatures], dtype=np.bool_)
        used = np.bincount(placed[placed >= 0], minlength=len(self.signatures))
        self._is_used = used > 0

    def settle(self, people: Records, cells: Sequence[Ints]) -> None:
        """Place newcomers, cell by cell; `cells` has the number of everybody's cell, the smallest cells first."""
        self.left = np.bincount(self.value[people], minlength=self.values)
        for cell in cells:
            people = people[self.signature[people] < 0]
            if not people.size:
                return
            order = people[np.lexsort((self.value[people], cell[people]))]
            here = self._present(cell)
            for own in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
                self._settle_cell(own, here[cell[own[0]]] if here.size else here)

    def _present(self, cell: Ints) -> Records:
        """How many people of each signature are in each cell."""
        found = np.zeros((int(cell.max()) + 1, len(self.signatures)), dtype=np.int64)
        if not self.makes_own:
            placed = np.flatnonzero(self.signature >= 0)
            np.add.at(found, (cell[placed], self.signature[placed]), 1)
        return found

    def _settle_cell(self, people: Records, present: Records) -> None:
        """Place people of a cell, who are sorted by value, as long as a signature has enough of each of its values."""
        counts = np.bincount(self.value[people], minlength=self.values)
        first = np.cumsum(counts) - counts
        while True:
            own = self._most(counts, present)
            if own is None:
                return
            number = self._number(own)
            chosen = np.array(sorted(own))
            least = self._least(number, chosen.size)
            sets = min(int(counts[chosen].min()), self._spare(self.left, chosen))
            if sets < least:
                return
            sets = min(sets, max(least, self._spare(counts, chosen)))
            for v in chosen.tolist():
                self.signature[people[first[v] : first[v] + sets]] = number
            first[chosen] += sets
            counts[chosen] -= sets
            self.left[chosen] -= sets

    def _least(self, number: int, width: int) -> int:
        """How many sets must join a signature at once: enough for a group, or one where it has people already."""
        is_used = not self.makes_own and self._is_used[number]
        return 1 if is_used else -(-self.k // width)

    def _most(self, counts: Records, present: Records) -> frozenset[int] | None:
        """The signature that can take the most people of a cell or has the most there already."""
        if self.makes_own:
            if counts.size < self.m:
                return None
            return frozenset(np.argsort(-counts, kind="stable")[: self.m].tolist())
        sets = np.where(self._can_be, counts[self._members].min(axis=1, initial=counts.sum()), 0)
        least = np.where(self._is_used, 1, -(-self.k // self._width))
        score = np.where(sets >= least, sets * self._width + present, -1)
        best = int(np.argmax(score))
        return self.signatures[best] if score[best] >= 0 else None

    def _spare(self, counts: Records, chosen: Records) -> int:
        """How many sets can be taken so that no value is left with more than 1/m of the rest."""
        others = np.delete(counts, chosen).max(initial=0)
        return int((counts.sum() - self.m * others) // chosen.size)

    def _number(self, own: frozenset[int]) -> int:
        if own not in self._place:
            self._place[own] = len(self.signatures)
            self.signatures.append(own)
        return self._place[own]


def _padded(signatures: Sequence[frozenset[int]]) -> Records:
    """A row for each signature; shorter ones repeat a value."""
    width = max(map(len, signatures), default=0)
    rows = [sorted(own) + [max(own)] * (width - len(own)) for own in signatures]
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)
