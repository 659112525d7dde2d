"""What an engine counts for the audit: groups of a staged release, leaks of unchanged columns, persons."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import narwhals as nw
import numpy as np

from shoal.audits.verdict import Examination, Persons
from shoal.data.engines.base import HASHES, RESERVED, Engine, Lazy, inner, outer
from shoal.encoding.encode import Table
from shoal.encoding.other_columns import Roles
from shoal.pipeline.carriers.columns import COUNT, HASH, Codes
from shoal.pipeline.carriers.joining import GROUP
from shoal.pipeline.prove import counted_columns, examine_coarsened, examine_counted
from shoal.risk.leaks import Leaks, Whole, leaks
from shoal.risk.persons import most_likely_person
from shoal.settings.settings import Settings

COUNTED = f"{RESERVED}count"


def alone_in(engine: Engine, staged: Lazy, columns: Sequence[str]) -> int:
    """Records of a staged release whose combination of some columns no other record has."""
    values = staged.group_by(*map(inner, columns)).agg(nw.len().alias(COUNTED))
    found = engine.arrow(values.filter(nw.col(COUNTED) == 1).select(nw.len().alias(COUNTED)))
    return int(found[COUNTED][0].as_py())


def examine_staged(engine: Engine, staged: Lazy, settings: Settings) -> Examination:
    """Audit a staged release by what its columns read."""
    names = [outer(name) for name in staged.collect_schema().names()]
    wanted = counted_columns(names, settings)
    for name in (name for name in settings.coarsen if name in names):
        values = staged.group_by(inner(name)).agg(nw.len().alias(COUNTED))
        examine_coarsened(engine.collect(values).drop(COUNTED), settings)
    counted = staged.group_by(*map(inner, wanted)).agg(nw.len().cast(nw.Int64).alias(COUNTED))
    return examine_counted(engine.collect(counted), COUNTED, settings)


LOOKED_AT = 200_000  # records in which columns are compared


def leaks_in(
    engine: Engine,
    frame: Lazy,
    codes: Codes,
    table: Table,
    roles: Roles,
    settings: Settings,
) -> Leaks:
    """Everything that unchanged columns give away; `frame` is the encoded table."""
    looked_at = list(roles.unchanged)
    if not looked_at:
        return Leaks()
    share = LOOKED_AT / table.records
    part = frame if share >= 1 else frame.filter(nw.col(HASH) < int(share * HASHES))
    some = engine.collect(part.select([*map(inner, looked_at), *codes.keys]))
    keys = [some.get_column(key).to_numpy().astype(np.int64) for key in codes.keys]
    own = codes.table(codes.unpacked(keys), None)
    whole = None if share >= 1 else {name: _whole(engine, frame, name) for name in looked_at}
    found = some.select(looked_at)
    return leaks(found, own, roles.kept, settings.allow, settings.identified_limit, whole)


def _whole(engine: Engine, frame: Lazy, name: str) -> Whole:
    """How many records a column has, how many values, and how many of those only once."""
    values = frame.group_by(inner(name)).agg(nw.len().cast(nw.Int64).alias(COUNT))
    found = engine.arrow(
        values.select(
            nw.col(COUNT).sum().alias("records"),
            nw.len().alias("distinct"),
            (nw.col(COUNT) == 1).cast(nw.Int64).sum().alias("alone"),
        )
    )
    records, distinct, alone = (int(found[key][0].as_py() or 0) for key in found.column_names)
    return Whole(records, distinct, alone)


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
