"""Who is released tonight under which signature, so that every value of a signature has as many people as any other.

People who stay keep their signature. Newcomers fill up what those who left have taken with them, then join signatures
in whole sets, one of each value, and what is left of them makes signatures of its own: the m most frequent values at a
time, as long as no value is left with more than 1/m of the rest. Who cannot be placed is left out tonight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.generalization.forms import Ints, Records

OUT = -1  # the signature of somebody who is left out


@dataclass
class Buckets:
    """People on their way into signatures."""

    value: Ints  # of each person, a code
    signatures: list[frozenset[int]]  # codes of values that occur tonight, or negative numbers
    m: int
    k: int
    rng: np.random.Generator
    signature: Ints = field(init=False)  # of each person who is placed
    free: list[list[int]] = field(init=False)  # newcomers who are not placed yet, by value

    def place(self, before: Ints, values: int) -> Ints:
        """Place everybody; `before` has the signature that each person has already, −1 for newcomers."""
        self.signature = np.full(self.value.size, OUT, dtype=np.int32)
        newcomers = self.rng.permutation(np.flatnonzero(before == OUT))
        self.free = [newcomers[self.value[newcomers] == v].tolist() for v in range(values)]
        stayers = np.bincount(before[before != OUT], minlength=len(self.signatures))
        known = np.argsort(-stayers, kind="stable").tolist()
        for number in known:
            self._balance(number, np.flatnonzero(before == number))
        for number in known:
            self._extend(number)
        while self._begin():
            pass
        return self.signature

    def _least(self, number: int) -> int:
        """How often each value of a signature must occur at least, so that its people are k."""
        return -(-self.k // len(self.signatures[number]))

    def _balance(self, number: int, stayers: Records) -> None:
        """Release as many people of each value of a signature, with newcomers where stayers are missing."""
        if not stayers.size:
            return
        own = {
            v: self.rng.permutation(stayers[self.value[stayers] == v]).tolist()
            for v in self.signatures[number]
        }
        most = max(len(people) for people in own.values())
        reach = min(len(people) + len(self._free(v)) for v, people in own.items())
        level = min(max(most, self._least(number)), reach)
        if level < max(1, self._least(number)):
            return
        for v, people in own.items():
            taken = people[:level]
            taken += [self.free[v].pop() for _ in range(level - len(taken))]
            self.signature[taken] = number

    def _free(self, v: int) -> list[int]:
        return self.free[v] if v >= 0 else []

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

    def _begin(self) -> bool:
        """Make a signature of the most frequent values among newcomers; return whether there is one."""
        counts = self._counts()
        order = np.argsort(-counts, kind="stable")
        width, sets = self.m, 0
        if order.size >= self.m:
            after = int(counts[order[self.m]]) if order.size > self.m else 0
            sets = min(int(counts[order[self.m - 1]]), int(counts.sum() // self.m) - after)
        if (
            sets * width < self.k or sets < 1
        ):  # too few are left: more values, or other people at all
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
    rng: np.random.Generator,
) -> tuple[Ints, list[frozenset[int]]]:
    """The signature of each person tonight, −1 for those who are left out, and all signatures."""
    buckets = Buckets(value, list(signatures), m, k, rng)
    return buckets.place(before, values), buckets.signatures
