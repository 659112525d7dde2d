"""Which signature each person is released under, so that every value of a signature has the same number of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.encoding.forms import Ints, Records


class NewcomerPlacement:
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
            is_used = not self.makes_own and self._is_used[number]
            least = 1 if is_used else _least_sets(self.k, chosen.size)
            sets = min(int(counts[chosen].min()), _spare_sets(self.left, chosen, self.m))
            if sets < least:
                return
            sets = min(sets, max(least, _spare_sets(counts, chosen, self.m)))
            for v in chosen.tolist():
                self.signature[people[first[v] : first[v] + sets]] = number
            first[chosen] += sets
            counts[chosen] -= sets
            self.left[chosen] -= sets

    def _most(self, counts: Records, present: Records) -> frozenset[int] | None:
        """The signature that can take the most people of a cell or has the most there already."""
        if self.makes_own:
            if counts.size < self.m:
                return None
            return frozenset(np.argsort(-counts, kind="stable")[: self.m].tolist())
        sets = np.where(self._can_be, counts[self._members].min(axis=1, initial=counts.sum()), 0)
        least = np.where(self._is_used, 1, _least_sets(self.k, self._width))
        score = np.where(sets >= least, sets * self._width + present, -1)
        best = int(np.argmax(score))
        return self.signatures[best] if score[best] >= 0 else None

    def _number(self, own: frozenset[int]) -> int:
        if own not in self._place:
            self._place[own] = len(self.signatures)
            self.signatures.append(own)
        return self._place[own]


def _least_sets(k: int, width: Any) -> Any:
    """How many people of each value make a group: as many sets must join a signature that nobody has yet."""
    return -(-k // width)


def _spare_sets(counts: Records, chosen: Records, m: int) -> int:
    """How many sets can be taken so that no value is left with more than 1/m of the rest."""
    others = np.delete(counts, chosen).max(initial=0)
    return int((counts.sum() - m * others) // chosen.size)


def _padded(signatures: Sequence[frozenset[int]]) -> Records:
    """A row for each signature; shorter ones repeat a value."""
    width = max(map(len, signatures), default=0)
    rows = [sorted(own) + [max(own)] * (width - len(own)) for own in signatures]
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


OUT = -1  # the signature of a person who is left out
# How many times k newcomers must be able to join a new signature in cells. More signatures fit the cells better on the
# first night, but those of few people are upset by anyone who leaves: on three nights of 20,000 census records 10 lost
# 0.159, 0.188 and 0.200 (`lm`), and 30 lost 0.196, 0.206 and 0.215.
WORTH = 10


@dataclass
class Buckets:
    """People on their way into signatures.

    `turn` has a different number for each person, which must not depend on sensitive values.
    """

    value: Ints  # of each person, a code
    signatures: list[frozenset[int]]  # codes of values that occur tonight, or negative numbers
    m: int
    k: int
    turn: Records  # of each person: the lower, the sooner one is placed
    # Numbers of nested cells of people who are near each other, the smallest first.
    cells: Sequence[Ints] = ()
    signature: Ints = field(init=False)  # of each person who is placed
    free: list[list[int]] = field(init=False)  # newcomers who are not placed yet, by value
    need: Records = field(init=False)  # how many newcomers of each value each signature needs
    spare: Records = field(init=False)  # how many newcomers of each value are not needed

    def place(self, before: Ints, values: int) -> Ints:
        """The signature of each person, −1 for those who are left out; `signatures` grows by the new ones.

        `before` has the signature that each person already has, −1 for newcomers.
        """
        self.signature = np.full(self.value.size, OUT, dtype=np.int32)
        newcomers = self._in_turn(np.flatnonzero(before == OUT))[::-1]  # the last is taken first
        self.free = [newcomers[self.value[newcomers] == v].tolist() for v in range(values)]
        stayers = np.bincount(before[before != OUT], minlength=len(self.signatures))
        known = np.argsort(-stayers, kind="stable").tolist()
        self.need = np.zeros((len(self.signatures), values), dtype=np.int64)
        self.spare = self._counts()
        for number in known:
            self._balance(number, np.flatnonzero(before == number))
        self._fill()
        self._settle()
        for number in known:
            self._extend(number)
        while self._begin():
            pass
        return self.signature

    def _in_turn(self, people: Records) -> Records:
        return people[np.argsort(self.turn[people])]

    def _balance(self, number: int, stayers: Records) -> None:
        """Release the same number of people of each value of a signature, with newcomers where stayers are missing."""
        if not stayers.size:
            return
        stayers = self._in_turn(stayers)
        own = {v: stayers[self.value[stayers] == v].tolist() for v in self.signatures[number]}
        least = _least_sets(self.k, len(own))
        most = max(len(people) for people in own.values())
        reach = min(
            len(people) + (int(self.spare[v]) if v >= 0 else 0) for v, people in own.items()
        )
        level = min(max(most, least), reach)
        if level < max(1, least):
            return
        for v, people in own.items():
            self.signature[people[:level]] = number
            missing = max(0, level - len(people))
            self.need[number, v] = missing
            self.spare[v] -= missing

    def _fill(self) -> None:
        """Give newcomers to signatures that need their value, where possible to one that needs it in their cell."""
        for cell in (*self.cells, None):
            wanted = self.need.sum(axis=0).tolist()
            people = [who for v, own in enumerate(self.free) if wanted[v] for who in own]
            if people:
                self._fill_cells(np.array(people), cell)
            self.free = self._still_free()

    def _still_free(self) -> list[list[int]]:
        return [[who for who in own if self.signature[who] < 0] for own in self.free]

    def _fill_cells(self, people: Records, cell: Ints | None) -> None:
        """Do that for the newcomers of every cell; None stands for what is needed anywhere."""
        place = np.zeros(self.value.size, dtype=np.int32) if cell is None else cell
        people = people[np.argsort(place[people], kind="stable")]
        placed = np.flatnonzero(self.signature >= 0)
        placed = placed[np.argsort(place[placed], kind="stable")]
        for own in np.split(people, np.flatnonzero(np.diff(place[people])) + 1):
            low, high = np.searchsorted(place[placed], [place[own[0]], place[own[0]] + 1])
            gap = self.need if cell is None else self._gaps(placed[low:high])
            for who in own.tolist():
                v = self.value[who]
                number = int(np.argmax(np.where(self.need[:, v] > 0, gap[:, v], 0)))
                if min(self.need[number, v], gap[number, v]) > 0:
                    self.signature[who] = number
                    self.need[number, v] -= 1
                    if cell is not None:
                        gap[number, v] -= 1

    def _gaps(self, people: Records) -> Records:
        """How many people of each value are missing compared to the most frequent one of each signature."""
        found = np.zeros(self.need.shape, dtype=np.int64)
        np.add.at(found, (self.signature[people], self.value[people]), 1)
        gaps: Records = found.max(axis=1, initial=0, keepdims=True) - found
        return gaps

    def _counts(self) -> Records:
        return np.array([len(people) for people in self.free], dtype=np.int64)

    def _extend(self, number: int) -> None:
        """Let newcomers join a signature in whole sets, as long as the rest can still be placed."""
        own, counts = np.array(list(self.signatures[number])), self._counts()
        if own.min() < 0:
            return  # a value of it does not occur tonight
        sets = min(int(counts[own].min()), _spare_sets(counts, own, self.m))
        is_used = bool((self.signature == number).any())
        if sets >= (1 if is_used else _least_sets(self.k, own.size)):
            self._take(number, sets)

    def _take(self, number: int, sets: int) -> None:
        for v in self.signatures[number]:
            self.signature[[self.free[v].pop() for _ in range(sets)]] = number

    def _settle(self) -> None:
        """Let newcomers who are near each other join signatures in whole sets, or begin some that many can join."""
        people = np.array([who for own in self.free for who in own], dtype=np.int64)
        if not (self.cells and people.size):
            return
        trial = NewcomerPlacement(self.value, len(self.free), self.signature, self.m, self.k)
        trial.signature[:] = OUT
        trial.settle(people, self.cells)
        used = np.bincount(trial.signature[people] + 1, minlength=len(trial.signatures) + 1)[1:]
        known = set(self.signatures)
        self.signatures += [
            own
            for own, count in zip(trial.signatures, used.tolist(), strict=True)
            if count >= WORTH * self.k and own not in known
        ]
        if not self.signatures:
            return
        final = NewcomerPlacement(
            self.value, len(self.free), self.signature, self.m, self.k, self.signatures
        )
        final.settle(people, self.cells)
        self.signature = final.signature
        self.free = self._still_free()

    def _begin(self) -> bool:
        """Make a signature of the most frequent values among newcomers; return whether there is one."""
        counts = self._counts()
        order = np.argsort(-counts, kind="stable")
        width, sets = self.m, 0
        if order.size >= self.m:
            after = int(counts[order[self.m]]) if order.size > self.m else 0
            sets = min(int(counts[order[self.m - 1]]), int(counts.sum() // self.m) - after)
        if sets * width < self.k or sets < 1:  # too few are left: more values, or nobody
            widths = np.arange(self.m, order.size + 1)
            if not widths.size:
                return False
            people = widths * counts[order[widths - 1]]
            width = int(widths[np.argmax(people)])
            sets = int(counts[order[width - 1]])
            if sets < 1 or sets * width < self.k:
                return False
        chosen = frozenset(order[:width].tolist())
        if chosen not in self.signatures:
            self.signatures.append(chosen)
        self._take(self.signatures.index(chosen), sets)
        return True
