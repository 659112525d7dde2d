"""Single records move to other groups."""

from __future__ import annotations

from shoal.kernels.refining.moves import move_records
from shoal.progress import Progress
from shoal.refine.partition import Refined

MOST_WORK = 2_500_000_000  # records times groups times columns in one pass
CHUNK = 100_000_000  # likewise, between two reports of progress


def move_all(refined: Refined, progress: Progress) -> int:
    """Let every record that gains by it move, the dearest first; returns how many did.

    In a large table only the dearest records are looked at.
    """
    records = refined.dearest()[: most_movers(refined)]
    chunk, moves = max(1, CHUNK // _work(refined)), 0
    for start in range(0, len(records), chunk):
        progress("refining: moves", start, len(records))
        moves += move_records(refined.search, records[start : start + chunk])
    return moves


def most_movers(refined: Refined) -> int:
    """How many records one pass looks at."""
    return min(refined.problem.table.records, max(1, MOST_WORK // _work(refined)))


def _work(refined: Refined) -> int:
    """What looking for one record's best group takes."""
    return len(refined.search.s.size) * len(refined.problem.columns)
