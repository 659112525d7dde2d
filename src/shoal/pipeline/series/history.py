"""What the releases of a series must know of each other, and the file that stores it, readable by its owner only."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from shoal.atomic import output_exists_problem
from shoal.data.files.formats import OwnFile, read_own, write_own
from shoal.errors import InputError, counted, raise_problems, shown

OWN = OwnFile(
    kind="history",
    version=2,
    name="History",
    what="not a history of a series. Give a file that release.history.save or --save-history wrote",
    remedy="Use that version, or begin another series",
)
MOST = 10**12  # records that look the same, or sets of people: more are a mistake
_ENTRIES = {
    "person": str,
    "sensitive": str,
    "m": int,
    "salt": str,
    "signatures": list,
    "persons": dict,
    "sets": dict,
    "spellings": dict,
    "nights": list,
}


def _is_whole(content: dict[str, Any]) -> bool:
    if any(type(content.get(name)) is not kind for name, kind in _ENTRIES.items()):
        return False
    m, count, persons = content["m"], len(content["signatures"]), content["persons"]
    return (
        m >= 1
        and all(_is_signature(own, m) for own in content["signatures"])
        and all(type(number) is int and 0 <= number < count for number in persons.values())
        and content["sets"].keys() == persons.keys()
        and all(type(number) is int and 0 <= number <= MOST for number in content["sets"].values())
        and all(isinstance(text, str) for text in content["spellings"].values())
        and all(_is_night(night, count) for night in content["nights"])
    )


def _is_signature(own: Any, m: int) -> bool:
    values = isinstance(own, list) and all(v is None or isinstance(v, str) for v in own)
    return values and len(set(own)) == len(own) >= m


def _is_night(night: Any, signatures: int) -> bool:
    if not (isinstance(night, dict) and isinstance(night.get("name"), str)):
        return False
    groups, numbers = night.get("groups"), set(map(str, range(signatures)))
    return isinstance(groups, dict) and all(
        isinstance(own, dict)
        and all(
            number in numbers and type(copies) is int and 0 < copies <= MOST
            for number, copies in own.items()
        )
        for own in groups.values()
    )


Signature = tuple[str | None, ...]  # folded values in ascending order, None for a missing one, last


@dataclass(frozen=True)
class EarlierRelease:
    """One release of a series: the signatures of its groups, and how often each value occurs in them."""

    name: str  # random, to distinguish nights
    groups: Mapping[str, Mapping[int, int]] = field(repr=False)  # by the group's texts


@dataclass(frozen=True, repr=False)
class History:
    """The signatures of all people who were in a release of a series.

    It is written and read by `save` and `load`. The file says which people were in the releases and what their
    sensitive values may be, under salted hashes that anyone who knows all people can undo. Its salt also decides who
    is left out of a release, which nobody may be able to repeat. Protect it like the original table.

    Attributes
    ----------
    person
        The column that identifies people.
    sensitive
        The sensitive column.
    m
        The least number of values in a signature.
    """

    person: str
    sensitive: str
    m: int
    salt: str
    signatures: tuple[Signature, ...] = ()
    persons: Mapping[str, int] = field(default_factory=dict)  # the signature of each
    sets: Mapping[str, int] = field(default_factory=dict)  # with whom each was released last
    spellings: Mapping[str, str] = field(default_factory=dict)  # by folded value
    nights: tuple[EarlierRelease, ...] = ()

    def key(self, text: str) -> str:
        """The hash of a person."""
        return sha256(f"{self.salt}\0{text}".encode()).hexdigest()[:32]

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the history to one file, whole or not at all."""
        target = Path(path)
        raise_problems([output_exists_problem(target)] if target.exists() and not overwrite else [])
        write_own(OWN, target, self.to_dict(), overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> History:
        """Read a history that `save` has written."""
        content = read_own(OWN, Path(path))
        if not _is_whole(content):
            raise InputError(f"History '{Path(path)}' is damaged. Restore it from a backup.")
        entries = {name: content[name] for name in _ENTRIES}
        entries["signatures"] = tuple(map(tuple, content["signatures"]))
        entries["nights"] = tuple(
            EarlierRelease(night["name"], _groups(night["groups"])) for night in content["nights"]
        )
        return cls(**entries)

    def to_dict(self) -> dict[str, Any]:
        """The content of the file."""
        return asdict(self)

    def __repr__(self) -> str:
        return (
            f"History({counted(len(self.nights), 'release')}, {counted(len(self.persons), 'person', 'people')}, "
            f"{counted(len(self.signatures), 'signature')})"
        )


def _groups(content: Mapping[str, Mapping[str, int]]) -> dict[str, dict[int, int]]:
    """JSON has texts for keys."""
    return {
        read: {int(number): copies for number, copies in own.items()}
        for read, own in content.items()
    }


def history_of(previous: Any, person: str, sensitive: str, m: int) -> History:
    """Combine everything that was given as `previous`: releases, histories or paths, alone or in a list.

    Raises
    ------
    InputError
        If something is not part of a series, or not of this one.
    """
    given = list(previous) if isinstance(previous, list | tuple) else [previous]
    found = [_opened(item) for item in given]
    if not found:
        return History(person, sensitive, m, secrets.token_hex(16))
    problems = []
    if len({own.salt for own in found}) > 1:
        problems.append(
            "The earlier releases belong to different series. Give those of one series, begun with previous=[]."
        )
    for own in found:
        if (own.person, own.sensitive) != (person, sensitive):
            problems.append(
                f"The earlier releases are about sensitive column '{own.sensitive}' and people in column "
                f"'{own.person}'. Use the same columns in all releases of a series."
            )
        if own.m < m:
            problems.append(
                f"The earlier releases promise {counted(own.m, 'possible value')} for each person, this one "
                f"{m:,}. A series cannot promise more than its first release: set l to {own.m:,}, or begin "
                "another series about other people."
            )
    raise_problems(problems)
    return _merged(found)


def _opened(item: Any) -> History:
    if isinstance(item, str | os.PathLike):
        return History.load(item)
    history = item if isinstance(item, History) else getattr(item, "history", None)
    if isinstance(history, History):
        return history
    if hasattr(item, "history"):
        raise InputError(
            "An earlier release was made without previous=, so its groups cannot be continued. Begin a series "
            "with previous=[] (--save-history), and do not publish both."
        )
    raise InputError(
        "The 'previous' parameter must be a list of releases, histories or paths of histories, empty for the "
        f"first release. Got {shown(item)} instead."
    )


def _merged(found: Sequence[History]) -> History:
    """All persons and nights of histories of one series."""
    first = found[0]
    signatures: dict[Signature, int] = {}
    persons: dict[str, int] = {}
    sets: dict[str, int] = {}
    spellings: dict[str, str] = {}
    nights: dict[str, EarlierRelease] = {}
    for own in sorted(found, key=lambda history: len(history.nights)):
        sets |= own.sets  # the last counts
        spellings = {**own.spellings, **spellings}  # the first counts
        number = [signatures.setdefault(item, len(signatures)) for item in own.signatures]
        for who, old in own.persons.items():
            if persons.setdefault(who, number[old]) != number[old]:
                raise InputError(
                    "Some person has different sets of possible values in two of the earlier releases, so these "
                    "were made independently of each other. Give every release all releases before it."
                )
        for night in own.nights:
            groups = {
                read: {number[old]: copies for old, copies in group.items()}
                for read, group in night.groups.items()
            }
            nights.setdefault(night.name, EarlierRelease(night.name, groups))
    least = min(own.m for own in found)
    return History(
        first.person,
        first.sensitive,
        least,
        first.salt,
        tuple(signatures),
        persons,
        sets,
        spellings,
        tuple(nights.values()),
    )
