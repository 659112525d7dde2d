"""Back from combinations to records: every record gets the closures of its group, and a place by chance."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.data.engines.base import RESERVED, Engine, Lazy, inner
from shoal.encoding.closed import Closed
from shoal.encoding.forms import Ints, Records
from shoal.encoding.render import rendered
from shoal.encoding.rows import distinct_rows
from shoal.pipeline.carriers.columns import HASH, Codes
from shoal.solve.counted.aside import Booleans
from shoal.solve.counted.assignment import Assignment

GROUP, ROW, RANK = f"{RESERVED}group", f"{RESERVED}row", f"{RESERVED}rank"
ORDER, SPLIT, OTHER = f"{RESERVED}order", f"{RESERVED}split", f"{RESERVED}other"
HALF = 2**31  # hashes are added up in two halves, which stay small enough in sums over any table


@dataclass(frozen=True)
class Pieces:
    """Which records of each row go where: all to one group, but for the first few in order of their hashes.

    Records with equal hashes are equal in all columns, so which of them comes first makes no difference.
    """

    main: Ints  # the group of most records of each row, −1 if they are left out
    is_split: Booleans  # whether some records of each row go elsewhere
    row: Records  # for each record that goes elsewhere: its row,
    rank: Records  # its place among the row's records in order of hashes, from 1,
    group: Ints  # and its group, −1 if it is left out

    @classmethod
    def of(cls, assignment: Assignment, rows: int) -> Pieces:
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


def secret_of(engine: Engine, frame: Lazy, seed: int) -> int:
    """A number that follows from the seed and all records together: nobody can compute it who lacks the table."""
    halves = [(nw.col(HASH) % HALF).sum().alias("low"), (nw.col(HASH) // HALF).sum().alias("high")]
    table = engine.arrow(frame.select(*halves))
    low, high = (int(table[name][0].as_py()) for name in ("low", "high"))
    return int(
        np.random.SeedSequence([seed % 2**64, low, high]).generate_state(1, np.uint64)[0] >> 1
    )


def join_back(
    engine: Engine, frame: Lazy, codes: Codes, keys: Sequence[Records], pieces: Pieces, secret: int
) -> Lazy:
    """Give every record of an encoded frame its group; those that are left out are gone."""
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
        moves = frame.filter(nw.col(SPLIT) == 1)
        moves = moves.with_columns(
            nw.col(ORDER).rank("ordinal").over(ROW).cast(nw.Int64).alias(RANK)
        )
        moves = moves.join(engine.table(others), on=[ROW, RANK], how="left")
        goes = nw.when(nw.col(OTHER).is_null()).then(nw.col(GROUP)).otherwise(nw.col(OTHER))
        moves = moves.with_columns(goes.alias(GROUP)).drop([RANK, OTHER])
        columns = stays.collect_schema().names()
        stays = nw.concat([stays, moves.select(columns)])
    return stays.filter(nw.col(GROUP) >= 0).drop([ROW, SPLIT, ORDER])


def render_frame(
    engine: Engine, frame: Lazy, closed: Closed, names: Sequence[str], style: str
) -> Lazy:
    """Write the closures of its group beside every record; `names` are the table's columns in their order."""
    columns = {column.name: j for j, column in enumerate(closed.table.columns)}
    texts: dict[str, pa.Array] = {GROUP: pa.array(np.arange(closed.closures.shape[1]))}
    released: list[str] = []
    unchanged = frame.collect_schema().names()
    for name in names:
        if name in columns:
            j = columns[name]
            own = {inner(key): column for key, column in _texts(closed, j, style).items()}
            texts |= own
            released += own
        elif inner(name) in unchanged:
            released.append(inner(name))
    return frame.join(engine.table(pa.table(texts)), on=GROUP, how="left").select(released)


def _texts(closed: Closed, j: int, style: str) -> dict[str, pa.Array]:
    """What each group releases in a column; a text is made once for all groups that share it."""
    closures = closed.of_column(j)
    found = distinct_rows(closures.T - closures.min(initial=0))
    texts = rendered(closed.table.columns[j], closures[:, found.first], style)
    return {key: column.take(pa.array(found.place)) for key, column in texts.items()}


def shuffled(engine: Engine, frame: Lazy, order_seed: int | None) -> Lazy:
    """The records in an order that follows from what is released and from fresh chance, and from nothing else."""
    drawn = secrets.randbits(63) if order_seed is None else order_seed
    names = frame.collect_schema().names()
    return engine.hashed(frame, names, ORDER, drawn).sort(ORDER).drop(ORDER)
