"""Descent to a local optimum: the neighbourhoods of local search, one after the other."""

from __future__ import annotations

from shoal.kernels.refining.reach import Reach
from shoal.progress import Progress
from shoal.refine.carve import MOST_POINTS, Carver
from shoal.refine.chains import reach_of, shift_all
from shoal.refine.dissolve import dissolve_all
from shoal.refine.moves import move_all
from shoal.refine.partition import Refined
from shoal.refine.splits import split_all
from shoal.refine.swaps import swap_all


def descend(
    refined: Refined, seed: int, progress: Progress, carves: bool = True, splits: bool = True
) -> None:
    """Improve a partition by every neighbourhood in turn, the dearest of them if it `carves`."""
    move_all(refined, progress)
    dissolve_all(refined)
    if splits:
        split_all(refined)
    swap_all(refined)
    if carves:
        carve(refined, seed, progress)


def carve(refined: Refined, seed: int, progress: Progress, points: int = MOST_POINTS) -> Carver:
    """Carve groups out of others at up to so many lattice points, with chains of moves before and after."""
    carver = Carver.of(refined, reach_of(refined), seed, points)
    shift_all(refined, carver.reach)
    carver.carve_all(progress)
    dissolve_all(refined)
    shift_all(refined, carver.reach)
    return carver


def settle_down(refined: Refined, reach: Reach, progress: Progress) -> None:
    """Improve a partition by the neighbourhoods that move single records, after larger changes."""
    move_all(refined, progress)
    dissolve_all(refined)
    swap_all(refined)
    shift_all(refined, reach)
