"""Who is released tonight under which signature, so that every value of a signature has as many people as any other.

People who stay keep their signature. Newcomers fill up what those who left have taken with them, then join signatures
in whole sets, one of each value. Sets are made of people who are near each other: small cells of newcomers come first,
then the larger ones around them. What is left makes signatures of its own: the m most frequent values at a time, as
long as no value is left with more than 1/m of the rest. Who cannot be placed is left out tonight.

Whose turn it is never depends on sensitive values: one order of all people decides, drawn in secret. So exchanging two
values among all people of a signature changes nothing, and who is left out tells nobody's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.series.settling import Settling

OUT = -1  # the signature of somebody who is left out
# How many times k newcomers must be able to join a new signature in cells. More signatures fit the cells better on the
# first night, but those of few people are upset by everybody who goes: on three nights of 20,000 census records 10 lost
# 0.159, 0.188 and 0.200 (`lm`), and 30 lost 0.196, 0.206 and 0.215.
WORTH = 10


@dataclass
class Buckets:
    """People on their way into signatures."""

    value: Ints  # of each person, a code
    signatures: list[frozenset[int]]  # codes of values that occur tonight, or negative numbers
    m: int
    k: int
    turn: Records  # of each person: the lower, the sooner one is placed
    cells: Sequence[
        Ints
    ] = ()  # numbers of nested cells of people who are near each other, the smallest first
    signature: Ints = field(init=False)  # of each person who is placed
    free: list[list[int]] = field(init=False)  # newcomers who are not placed yet, by value
    need: Records = field(init=False)  # how many newcomers of each value each signature needs
    spare: Records = field(init=False)  # how many newcomers of each value are not needed

    def place(self, before: Ints, values: int) -> Ints:
        """Place everybody; `before` has the signature that each person has already, −1 for newcomers."""
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

    def _least(self, number: int) -> int:
        """How often each value of a signature must occur at least, so that its people are k."""
        return -(-self.k // len(self.signatures[number]))

    def _balance(self, number: int, stayers: Records) -> None:
        """Release as many people of each value of a signature, with newcomers where stayers are missing."""
        if not stayers.size:
            return
        own = {
            v: self._in_turn(stayers[self.value[stayers] == v]).tolist()
            for v in self.signatures[number]
        }
        most = max(len(people) for people in own.values())
        reach = min(
            len(people) + (int(self.spare[v]) if v >= 0 else 0) for v, people in own.items()
        )
        level = min(max(most, self._least(number)), reach)
        if level < max(1, self._least(number)):
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
        """How many people of each value are missing beside the most frequent one of each signature."""
        found = np.zeros(self.need.shape, dtype=np.int64)
        np.add.at(found, (self.signature[people], self.value[people]), 1)
        gaps: Records = found.max(axis=1, initial=0, keepdims=True) - found
        return gaps

    def _counts(self) -> Records:
        return np.array([len(people) for people in self.free], dtype=np.int64)

    def _extend(self, number: int) -> None:
        """Let newcomers join a signature in whole sets, as long as the rest can still be placed."""
        own, counts = self.signatures[number], self._counts()
        if min(own) < 0:
            return  # a value of it does not occur tonight
        others = np.delete(counts, list(own)).max(initial=0)
        sets = min(int(counts[list(own)].min()), int((counts.sum() - self.m * others) // len(own)))
        is_used = bool((self.signature == number).any())
        if sets >= (1 if is_used else self._least(number)):
            self._take(number, sets)

    def _take(self, number: int, sets: int) -> None:
        for v in self.signatures[number]:
            self.signature[[self.free[v].pop() for _ in range(sets)]] = number

    def _settle(self) -> None:
        """Let newcomers who are near each other join signatures in whole sets, or begin some that many can join."""
        people = np.array([who for own in self.free for who in own], dtype=np.int64)
        if not (self.cells and people.size):
            return
        trial = Settling(self.value, len(self.free), self.signature, self.m, self.k)
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
        final = Settling(
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


def place_people(
    value: Ints,
    before: Ints,
    signatures: Sequence[frozenset[int]],
    values: int,
    m: int,
    k: int,
    turn: Records,
    cells: Sequence[Ints] = (),
) -> tuple[Ints, list[frozenset[int]]]:
    """The signature of each person tonight, −1 for those who are left out, and all signatures.

    `turn` has a different number for each person, which must not depend on sensitive values.
    """
    buckets = Buckets(value, list(signatures), m, k, turn, cells)
    return buckets.place(before, values), buckets.signatures
