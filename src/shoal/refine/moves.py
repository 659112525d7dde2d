"""Moves: a single record leaves its group for another."""

from __future__ import annotations

from shoal.kernels.refining.moves import move_records
from shoal.progress import Progress
from shoal.refine.partition import Refined

# Records times groups times columns that one pass looks at, to bound its time: beyond, only the dearest records are
# looked at.
MOST_WORK = 2_500_000_000
CHUNK = 100_000_000  # records times groups times columns between two reports of progress


def move_all(refined: Refined, progress: Progress) -> int:
    """Move every record that costs less in another group, the dearest first; returns the number of moves.

    In a large table only the dearest records are looked at.
    """
    records = refined.dearest()[: most_movers(refined)]
    chunk, moves = max(1, CHUNK // _work(refined)), 0
    for start in range(0, len(records), chunk):
        progress("refining: moves", start, len(records))
        moves += move_records(refined.search, records[start : start + chunk])
    return moves


def most_movers(refined: Refined) -> int:
    """The number of records that one pass looks at."""
    return min(refined.problem.table.records, max(1, MOST_WORK // _work(refined)))


def _work(refined: Refined) -> int:
    """The work of looking for one record's best group: groups times columns."""
    return len(refined.search.s.size) * len(refined.problem.columns)
