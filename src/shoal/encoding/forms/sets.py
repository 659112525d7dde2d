"""The form of subsets, whose closures are sets of codes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.encoding.forms.base import STAR, Floats, Form, Ints, plain_spelling

_BITS = 31  # codes in a slot: an int32 without its sign bit
_BLOCK = 4096  # closures unpacked at a time, to bound memory

# A member of a set in a released text is plain, or quoted as in JSON.
_PLAIN = re.compile(r'[^\s,{}"\\](?:[^,{}"\\]*[^\s,{}"\\])?')
_MEMBER = re.compile(rf'"(?:[^"\\]|\\.)*"|{_PLAIN.pattern}')
_MEMBERS = re.compile(rf"\s*(?:{_MEMBER.pattern})(?:\s*,\s*(?:{_MEMBER.pattern}))*\s*")


def set_members(released: str) -> list[str]:
    """The values that a text in braces lists; none if it is not a set."""
    if released[:1] != "{" or released[-1:] != "}" or not _MEMBERS.fullmatch(released[1:-1]):
        return []
    members = _MEMBER.findall(released[1:-1])
    return [json.loads(member) if member[0] == '"' else member for member in members]


@dataclass(frozen=True, kw_only=True)
class SetForm(Form):
    """Subsets: a closure has a bit for each code, 31 to a slot; null mixed with a value is the whole domain."""

    @property
    def slots(self) -> int:
        return max(1, -(-self.size // _BITS))

    @property
    def entries(self) -> int:
        return self.size

    @property
    def whole(self) -> Sequence[int]:
        return self.pack(range(self.size))

    @property
    def alone(self) -> Ints:
        return np.array([self.pack([code]) for code in range(self.size)], dtype=np.int32).T

    def pack(self, codes: Iterable[int]) -> Sequence[int]:
        """The closure that contains exactly these codes."""
        words = [0] * self.slots
        for code in codes:
            words[code // _BITS] |= 1 << (code % _BITS)
        return words

    def unpack(self, words: Ints) -> list[int]:
        """The codes in a closure, ascending."""
        return [code for code in range(self.size) if words[code // _BITS] >> code % _BITS & 1]

    def text(self, closures: Ints) -> list[str | None]:
        out: list[str | None] = []
        for words in closures.T:
            codes = self.unpack(words)
            if len(codes) == 1:
                out.append(None if codes[0] == self.null else self.labels[codes[0]])
            elif codes[-1] == self.null:
                out.append(STAR)
            else:
                out.append("{" + ", ".join(_quoted(self.labels[code]) for code in codes) + "}")
        return out

    def plainly(self, released: str | None) -> str | None:
        for code in self.fixed:
            label = self.labels[code]
            released = None if released is None else released.replace(label, plain_spelling(label))
        return released

    @cached_property
    def codes(self) -> dict[str | None, int]:
        """The code of each value as text, in either spelling; None is null."""
        plain: dict[str | None, int] = {
            plain_spelling(self.labels[code]): code for code in self.fixed
        }
        return {**plain, **super().codes}

    def parse(self, released: str | None) -> Sequence[int] | None:
        if released in self.codes:
            return self.pack([self.codes[released]])
        if released == STAR:
            return self.pack(range(self.size))
        labels = set_members(released) if released else []
        if labels and all(label in self.codes for label in labels):
            return self.pack(self.codes[label] for label in labels)
        return None

    def sums(self, closures: Ints, per_value: Floats) -> Floats:
        parts = [self.holds(closures[:, own]).T @ per_value for own in _blocks(closures)]
        return np.concatenate(parts)

    def spread(self, closures: Ints, mass: Floats) -> Floats:
        part = mass / self.sizes(closures)
        total = np.zeros(self.size)
        for own in _blocks(closures):
            total += self.holds(closures[:, own]) @ part[own]
        return total

    def holds(self, closures: Ints) -> Floats:
        codes = np.arange(self.size)
        return (closures[codes // _BITS] >> (codes % _BITS)[:, None] & 1).astype(np.float64)


def _blocks(closures: Ints) -> list[slice]:
    return [slice(at, at + _BLOCK) for at in range(0, max(1, closures.shape[1]), _BLOCK)]


def _quoted(label: str) -> str:
    """A value inside braces: plain if that cannot be misread."""
    return label if _PLAIN.fullmatch(label) else json.dumps(label, ensure_ascii=False)
