"""Slow twin of proposals: one seed after the other goes down the lattice, every cell counted anew."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log

from reference import Group, Rung

Ladders = Sequence[tuple[Sequence[Rung], Sequence[float]]]  # rungs and costs, cheapest first


def propose(
    ladders: Ladders, codes: Sequence[Sequence[int]], records: Group, seed: int, k: int
) -> tuple[int, ...]:
    """The point where a seed ends: no step down leaves k records in its cell."""
    point, cell = [len(rungs) - 1 for rungs, _ in ladders], list(records)
    while True:
        steps = []
        for j, (rungs, costs) in enumerate(ladders):
            if point[j] == 0:
                continue
            rung = rungs[point[j] - 1]
            kept = [i for i in cell if rung[codes[i][j]] == rung[codes[seed][j]]]
            if len(kept) >= k:
                saved = costs[point[j]] - costs[point[j] - 1]
                gain = inf if len(kept) == len(cell) else saved / log(len(cell) / len(kept))
                steps.append((gain, j, kept))
        if not steps:
            return tuple(point)
        _, j, cell = max(steps, key=lambda step: step[0])
        point[j] -= 1
