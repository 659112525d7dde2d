"""Several records per person in a large table: what identifiers that repeat say about the persons in each group."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import narwhals as nw

from shoal.auditing.verdict import Persons
from shoal.engines.base import RESERVED, Engine, Lazy
from shoal.engines.columns import HASH
from shoal.engines.joining import GROUP
from shoal.engines.names import inner
from shoal.privacy.persons import MOST_RECORDS

PERSON = f"{RESERVED}person"


def columns_of(identifiers: Sequence[str]) -> list[str]:
    """The names of columns that stand for identifiers, whose values nothing of the way needs."""
    return [f"{PERSON}{i}" for i in range(len(identifiers))]


def with_persons(engine: Engine, frame: Lazy, identifiers: Sequence[str]) -> Lazy:
    """Add a hash of every identifier; a record without a value counts as a person of its own.

    Each run draws the key of these hashes, so nobody can find out whose they are by hashing identifiers.
    """
    secret = secrets.randbits(63)
    for name, own in zip(identifiers, columns_of(identifiers), strict=True):
        frame = engine.hashed(frame, [inner(name)], own, secret)
        either = nw.when(nw.col(inner(name)).is_null()).then(nw.col(HASH)).otherwise(nw.col(own))
        frame = frame.with_columns(either.alias(own))
    return frame


def count_persons(
    engine: Engine, grouped: Lazy, identifiers: Sequence[str], records: int, k: int
) -> tuple[Persons, ...]:
    """Find identifiers that repeat and have fewer than k values in some group of a frame with groups."""
    found = []
    for name, own in zip(identifiers, columns_of(identifiers), strict=True):
        number = engine.arrow(grouped.select(nw.col(own).n_unique().alias(own)))
        persons = int(number[own][0].as_py())
        if not records / MOST_RECORDS <= persons < records:
            continue
        each = grouped.group_by(GROUP).agg(nw.col(own).n_unique().alias(own))
        fewest = engine.arrow(each.select(nw.col(own).min().alias(own)))
        smallest = int(fewest[own][0].as_py())
        if smallest < k:
            found.append(Persons(name, persons, smallest))
    return tuple(found)
