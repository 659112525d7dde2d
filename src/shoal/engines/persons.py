"""Several records per person in a large table: what identifiers that repeat say about the persons in each group."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import narwhals as nw
import numpy as np

from shoal.auditing.examination import Persons
from shoal.engines.base import HASHES, RESERVED, Engine, Lazy
from shoal.engines.columns import COUNT, HASH, Codes
from shoal.engines.joining import GROUP
from shoal.engines.leaks import LOOKED_AT
from shoal.engines.names import inner
from shoal.privacy.persons import most_likely_person

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
    engine: Engine, frame: Lazy, grouped: Lazy, identifiers: Sequence[str], k: int, codes: Codes
) -> tuple[Persons, ...]:
    """Find the identifier that most likely tells persons apart, if some group has fewer than k of its values.

    `frame` is the encoded table, `grouped` the same with groups. In large tables only some persons are looked at, with
    all of their records.
    """
    share = min(1.0, LOOKED_AT / codes.records)
    some = {}
    for name, own in zip(identifiers, columns_of(identifiers), strict=True):
        part = frame if share >= 1 else frame.filter(nw.col(own) < int(share * HASHES))
        found = engine.numbers(part.select(own, *codes.keys))
        person = np.unique(found[own], return_inverse=True)[1].astype(np.int64)
        known = codes.unpacked([found[key] for key in codes.keys])
        some[name] = (person, known[:, : len(codes.quasi_identifiers)])
    likely = most_likely_person(some)
    if likely is None:
        return ()
    own = columns_of(identifiers)[identifiers.index(likely.name)]
    number = engine.arrow(grouped.select(nw.col(own).n_unique().alias(own)))
    each = grouped.group_by(GROUP).agg(
        nw.col(own).n_unique().cast(nw.Int64).alias(own), nw.len().cast(nw.Int64).alias(COUNT)
    )
    found = engine.numbers(each.select(own, COUNT))
    if not likely.matters(found[own], found[COUNT], k):
        return ()
    return (Persons(likely.name, int(number[own][0].as_py()), int(found[own].min())),)
