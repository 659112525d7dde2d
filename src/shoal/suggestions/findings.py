"""The suggestion for a column: its role, the reason, and whether a person must check it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from shoal.risk.patterns import folded, word_set

SHORTEST_PART = 5  # letters of a word that may be part of another one
SHORTEST_ABBREVIATION = 3  # letters before a dot
MOST_JOINED = 3  # words in one run of letters: yrsmarr, hhsize
_DOTTED = re.compile(rf"([a-z]{{{SHORTEST_ABBREVIATION},}})\.")


@dataclass(frozen=True)
class Concept:
    """A topic of columns, with all words for it; `plain` is its name in reasons."""

    plain: str
    words: frozenset[str]
    alone: frozenset[str] = frozenset()  # these count only as the whole name of a column

    def found_in(self, name: str) -> bool:
        """Whether a name, as `words_of` gives it, has a word of this concept."""
        parts = name.split()
        return (
            name in self.alone
            or not self._whole.isdisjoint(parts)
            or any(part.startswith(self._beginnings) for part in parts)
            or any(word in name for word in self._inside)
            or any(f" {word} " in f" {name} " for word in self._several)
        )

    @cached_property
    def _several(self) -> tuple[str, ...]:
        return tuple(word for word in self.words if " " in word)

    @cached_property
    def _beginnings(self) -> tuple[str, ...]:
        return tuple(word[:-1] for word in self.words if word[-1] == "*")

    @cached_property
    def _inside(self) -> tuple[str, ...]:
        """Words that may be part of a compound."""
        plain = (word for word in self.words if " " not in word and word[0] != "=")
        return tuple(word for word in plain if word[-1] != "*" and len(word) >= SHORTEST_PART)

    @cached_property
    def _whole(self) -> frozenset[str]:
        plain = (word for word in self.words if " " not in word and word[-1] != "*")
        return frozenset(
            word.removeprefix("=") for word in plain if word[0] == "=" or len(word) < SHORTEST_PART
        )

    @cached_property
    def letters(self) -> frozenset[str]:
        """The words without their marks."""
        return frozenset(word.strip("=*") for word in self.words if " " not in word)


def abbreviations(name: str) -> list[str]:
    """The words of a name that end with a dot: Geschl., Vers.-Nr."""
    return _DOTTED.findall(folded(name))


def split_known_words(part: str, known: frozenset[str]) -> tuple[str, ...]:
    """A run of letters as the known words that it joins, or nothing: hhsize is hh and size.

    Examples
    --------
    >>> split_known_words("agegrp", frozenset({"age", "grp"})), split_known_words("agent", frozenset({"age", "grp"}))
    (('age', 'grp'), ())
    """
    if part in known or not part.isalpha():
        return ()
    found = _split(part, known, MOST_JOINED)
    return found if found and max(map(len, found)) > 2 else ()


@cache
def _split(part: str, known: frozenset[str], most: int) -> tuple[str, ...]:
    for end in range(len(part), 1, -1):  # longest words first
        if part[:end] not in known:
            continue
        if end == len(part):
            return (part,)
        rest = _split(part[end:], known, most - 1) if most > 1 else ()
        if rest:
            return (part[:end], *rest)
    return ()


def first_concept(concepts: Iterable[Concept], name: str) -> Concept | None:
    """The first concept that a name, as words, is about."""
    return next((concept for concept in concepts if concept.found_in(name)), None)


def concept(plain: str, words: str, alone: str = "") -> Concept:
    """A concept from texts of words."""
    return Concept(plain, word_set(words), word_set(alone))


ROLES = ("identifier", "quasi-identifier", "sensitive", "keep", "drop")
IDENTIFIER, QUASI, SENSITIVE, KEEP, DROP = ROLES
A_PERSON = "a person"
FEW = 20  # records or values, from which on numbers tell something


@dataclass(frozen=True)
class RoleGuess:
    """What a column probably is, and why.

    `about` is the topic of a quasi-identifier, or what an identifier refers to. `is_unknown` marks a column that is
    left out because its meaning is unknown. `battery` names the numbered columns that were decided together with it,
    and `coarsen` has the options of the interval that a sensitive number is rounded to.
    """

    role: str
    reason: str
    is_sure: bool = True
    about: str = ""
    is_unknown: bool = False
    battery: str = ""
    coarsen: Mapping[str, Any] = field(default_factory=dict)


def name_says(concept: Concept) -> str:
    """What a name suggests, for a reason."""
    return f"the name suggests {concept.plain}"
