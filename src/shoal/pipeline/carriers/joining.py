"""Between counts and records: what an engine counts for the audit, and the closures that every record gets back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.audits.verdict import Examination, Persons
from shoal.data.engines.base import HASHES, RESERVED, Backend, Lazy, inner_name, outer_name
from shoal.encoding.closed import Closed
from shoal.encoding.encode import Table, distinct_rows, fixed_seed
from shoal.encoding.forms import Ints, Records
from shoal.encoding.other_columns import Roles
from shoal.encoding.render import rendered_columns
from shoal.pipeline.carriers.columns import COUNT, HASH, PackedCodes
from shoal.pipeline.prove import audit_coarsened, audit_counted, counted_columns
from shoal.risk.leaks import Leaks, WholeColumn, find_leaks
from shoal.risk.persons import most_likely_person
from shoal.settings.settings import Settings
from shoal.solve.counted.assignment import Assignment
from shoal.solve.counted.exact_groups import Booleans

GROUP, ROW, RANK = f"{RESERVED}group", f"{RESERVED}row", f"{RESERVED}rank"
ORDER, SPLIT, OTHER = f"{RESERVED}order", f"{RESERVED}split", f"{RESERVED}other"
HALF = 2**31  # hashes are added up in two halves, which stay small enough in sums over any table


@dataclass(frozen=True)
class RowPieces:
    """Which records of each row go where: all to one group, except for the first few in order of their hashes.

    Records with equal hashes are equal in all columns, so which of them comes first makes no difference.
    """

    main: Ints  # the group of most records of each row, −1 if they are left out
    is_split: Booleans  # whether some records of each row go elsewhere
    row: Records  # for each record that goes elsewhere: its row,
    rank: Records  # its place among the row's records in order of hashes, from 1,
    group: Ints  # and its group, −1 if it is left out

    @classmethod
    def of(cls, assignment: Assignment, rows: int) -> RowPieces:
        """Split every row into the group that gets most of it, and the others."""
        order = np.lexsort((assignment.groups, -assignment.counts, assignment.rows))
        row, count = assignment.rows[order], assignment.counts[order]
        group = assignment.groups[order]
        is_main = np.diff(row, prepend=-1) != 0
        main = np.full(rows, -1, dtype=np.int32)
        main[row[is_main]] = group[is_main]
        row, count, group = row[~is_main], count[~is_main], group[~is_main]
        return cls(
            main,
            np.bincount(row, minlength=rows) > 0,
            np.repeat(row, count),
            _ranks(row, count),
            np.repeat(group, count),
        )


def _ranks(row: Records, count: Records) -> Records:
    """1, 2, 3 … for all records that leave one row."""
    numbers = np.arange(count.sum(), dtype=np.int64)
    first = np.flatnonzero(np.diff(row, prepend=-1))
    before = np.cumsum(count) - count
    start = np.repeat(before[first], np.diff(np.append(first, row.size)))
    return numbers - np.repeat(start, count) + 1


def secret_of(engine: Backend, frame: Lazy, seed: int) -> int:
    """A number that depends on the seed and all records together: nobody can compute it without the table."""
    halves = [(nw.col(HASH) % HALF).sum().alias("low"), (nw.col(HASH) // HALF).sum().alias("high")]
    table = engine.arrow(frame.select(*halves))
    low, high = (int(table[name][0].as_py()) for name in ("low", "high"))
    mixed = np.random.SeedSequence([seed % 2**64, low, high]).generate_state(1, np.uint64)
    return int(mixed[0] >> 1)


def join_back(
    engine: Backend,
    frame: Lazy,
    codes: PackedCodes,
    keys: Sequence[Records],
    pieces: RowPieces,
    secret: int,
) -> Lazy:
    """Give every record of an encoded frame its group; records that are left out are removed."""
    rows = pa.table(
        {
            **dict(zip(codes.keys, keys, strict=True)),
            ROW: np.arange(pieces.main.size),
            GROUP: pieces.main.astype(np.int64),
            SPLIT: pieces.is_split.astype(np.int64),
        }
    )
    frame = frame.join(engine.table(rows), on=codes.keys, how="left")
    frame = engine.hashed(frame, [HASH], ORDER, secret).drop([HASH, *codes.keys])
    stays = frame.filter(nw.col(SPLIT) == 0)
    if pieces.row.size:
        others = pa.table(
            {ROW: pieces.row, RANK: pieces.rank, OTHER: pieces.group.astype(np.int64)}
        )
        rank = nw.col(ORDER).rank("ordinal").over(ROW).cast(nw.Int64)
        moves = frame.filter(nw.col(SPLIT) == 1).with_columns(rank.alias(RANK))
        moves = moves.join(engine.table(others), on=[ROW, RANK], how="left")
        goes = nw.when(nw.col(OTHER).is_null()).then(nw.col(GROUP)).otherwise(nw.col(OTHER))
        moves = moves.with_columns(goes.alias(GROUP)).drop([RANK, OTHER])
        columns = stays.collect_schema().names()
        stays = nw.concat([stays, moves.select(columns)])
    return stays.filter(nw.col(GROUP) >= 0).drop([ROW, SPLIT, ORDER])


def render_frame(
    engine: Backend, frame: Lazy, closed: Closed, names: Sequence[str], style: str
) -> Lazy:
    """Write the closures of its group next to every record; `names` are the table's columns in their order."""
    columns = {column.name: j for j, column in enumerate(closed.table.columns)}
    texts: dict[str, pa.Array] = {GROUP: pa.array(np.arange(closed.closures.shape[1]))}
    released: list[str] = []
    unchanged = frame.collect_schema().names()
    for name in names:
        if name in columns:
            j = columns[name]
            own = {inner_name(key): column for key, column in _texts(closed, j, style).items()}
            texts |= own
            released += own
        elif inner_name(name) in unchanged:
            released.append(inner_name(name))
    return frame.join(engine.table(pa.table(texts)), on=GROUP, how="left").select(released)


def _texts(closed: Closed, j: int, style: str) -> dict[str, pa.Array]:
    """What each group releases in a column; a text is made once for all groups that share it."""
    closures = closed.of_column(j)
    found = distinct_rows(closures.T - closures.min(initial=0))
    texts = rendered_columns(closed.table.columns[j], closures[:, found.first], style)
    return {key: column.take(pa.array(found.place)) for key, column in texts.items()}


def shuffled_frame(engine: Backend, frame: Lazy) -> Lazy:
    """The records in an order that depends on what is released and on new random numbers, and on nothing else."""
    fixed = fixed_seed()
    drawn = secrets.randbits(63) if fixed is None else fixed
    names = frame.collect_schema().names()
    return engine.hashed(frame, names, ORDER, drawn).sort(ORDER).drop(ORDER)


def alone_in(engine: Backend, staged: Lazy, columns: Sequence[str]) -> int:
    """Count records of a staged release with a combination of some columns that no other record has."""
    values = staged.group_by(*map(inner_name, columns)).agg(nw.len().alias(COUNT))
    found = engine.arrow(values.filter(nw.col(COUNT) == 1).select(nw.len().alias(COUNT)))
    return int(found[COUNT][0].as_py())


def audit_staged(engine: Backend, staged: Lazy, settings: Settings) -> Examination:
    """Audit a staged release by its texts."""
    names = [outer_name(name) for name in staged.collect_schema().names()]
    wanted = counted_columns(names, settings)
    for name in (name for name in settings.coarsen if name in names):
        values = staged.group_by(inner_name(name)).agg(nw.len().alias(COUNT))
        audit_coarsened(engine.collect(values).drop(COUNT), settings)
    counted = staged.group_by(*map(inner_name, wanted)).agg(nw.len().cast(nw.Int64).alias(COUNT))
    return audit_counted(engine.collect(counted), COUNT, settings)


LOOKED_AT = 200_000  # records in which columns are compared


def staged_leaks(
    engine: Backend, frame: Lazy, codes: PackedCodes, table: Table, roles: Roles, settings: Settings
) -> Leaks:
    """Everything that unchanged columns reveal; `frame` is the encoded table."""
    looked_at = list(roles.unchanged)
    if not looked_at:
        return Leaks()
    share = LOOKED_AT / table.records
    part = frame if share >= 1 else frame.filter(nw.col(HASH) < int(share * HASHES))
    some = engine.collect(part.select([*map(inner_name, looked_at), *codes.keys]))
    keys = [some.get_column(key).to_numpy().astype(np.int64) for key in codes.keys]
    own = codes.table(codes.unpacked(keys), None)
    whole = None if share >= 1 else {name: _whole(engine, frame, name) for name in looked_at}
    found = some.select(looked_at)
    return find_leaks(found, own, roles.kept, settings.allow, settings.identified_limit, whole)


def _whole(engine: Backend, frame: Lazy, name: str) -> WholeColumn:
    """How many records a column has, how many values, and how many of those only once."""
    values = frame.group_by(inner_name(name)).agg(nw.len().cast(nw.Int64).alias(COUNT))
    found = engine.arrow(
        values.select(
            nw.col(COUNT).sum().alias("records"),
            nw.len().alias("distinct"),
            (nw.col(COUNT) == 1).cast(nw.Int64).sum().alias("alone"),
        )
    )
    records, distinct, alone = (int(found[key][0].as_py() or 0) for key in found.column_names)
    return WholeColumn(records, distinct, alone)


PERSON = f"{RESERVED}person"


def person_hash_columns(identifiers: Sequence[str]) -> list[str]:
    """The names of columns for identifiers, whose values are never needed on the way."""
    return [f"{PERSON}{i}" for i in range(len(identifiers))]


def with_persons(engine: Backend, frame: Lazy, identifiers: Sequence[str]) -> Lazy:
    """Add a hash of every identifier; a record without a value counts as a person of its own.

    Each run draws the key of these hashes, so nobody can find out whose they are by hashing identifiers.
    """
    secret = secrets.randbits(63)
    for name, own in zip(identifiers, person_hash_columns(identifiers), strict=True):
        frame = engine.hashed(frame, [inner_name(name)], own, secret)
        is_null = nw.col(inner_name(name)).is_null()
        either = nw.when(is_null).then(nw.col(HASH)).otherwise(nw.col(own))
        frame = frame.with_columns(either.alias(own))
    return frame


def count_staged_persons(
    engine: Backend,
    frame: Lazy,
    grouped: Lazy,
    identifiers: Sequence[str],
    k: int,
    codes: PackedCodes,
) -> tuple[Persons, ...]:
    """Find the column that most likely identifies people, if some group has fewer than k of its values.

    `frame` is the encoded table, `grouped` the same with groups. In large tables, only some people are examined, with
    all of their records.
    """
    share = min(1.0, LOOKED_AT / codes.records)
    some = {}
    for name, own in zip(identifiers, person_hash_columns(identifiers), strict=True):
        part = frame if share >= 1 else frame.filter(nw.col(own) < int(share * HASHES))
        found = engine.numbers(part.select(own, *codes.keys))
        person = np.unique(found[own], return_inverse=True)[1].astype(np.int64)
        known = codes.unpacked([found[key] for key in codes.keys])
        some[name] = (person, known[:, : len(codes.quasi_identifiers)])
    likely = most_likely_person(some)
    if likely is None:
        return ()
    own = person_hash_columns(identifiers)[identifiers.index(likely.name)]
    number = engine.arrow(grouped.select(nw.col(own).n_unique().alias(own)))
    each = grouped.group_by(GROUP).agg(
        nw.col(own).n_unique().cast(nw.Int64).alias(own), nw.len().cast(nw.Int64).alias(COUNT)
    )
    found = engine.numbers(each.select(own, COUNT))
    if not likely.matters(found[own], found[COUNT], k):
        return ()
    return (Persons(likely.name, int(number[own][0].as_py()), int(found[own].min())),)
