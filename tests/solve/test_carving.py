"""Carving new groups is as in tests/reference/refinement.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import reference
from examples import several
from hypothesis import given, settings
from partitions import TOLERANCE, Start, assert_tidy, is_met, lists, meter_of, starts
from reference import refinement as twin

from shoal.kernels.refining import carving, carving_cells, reach
from shoal.kernels.refining.neighbourhoods import move_records
from shoal.kernels.refining.search import FAR
from shoal.solve.local_search.carve import Carve
from shoal.solve.local_search.state import SearchState, reach_of
from shoal.solve.methods.lattice import Rows


class Carver(NamedTuple):
    """What the kernel works on, with the points of the lattice."""

    cells: carving_cells.LatticeCells
    reach: reach.Reach
    steps: Rows


def carver_for(now: SearchState) -> Carver:
    own = Carve(now.problem, np.random.default_rng(0), meter_of(now.problem))
    lattice = own._begin(now)
    return Carver(*own._cells_for(now, lattice), lattice.steps)


def looks(carver: Carver, at: int) -> tuple[list[int], list[float]]:
    """The cell of every record at a lattice point, and what it costs there."""
    cells, steps = carver.cells, carver.steps[at]
    keys = np.bitwise_xor.reduce(cells.keys[steps], axis=0)
    costs = cells.costs[steps].sum(axis=0, dtype=np.float64)
    return keys[cells.column].tolist(), costs[cells.column].tolist()


@settings(max_examples=several(80))
@given(starts(diverse=True))
def test_carving_gains_what_it_reports_in_one_cell_and_leaves_no_trace(start: Start) -> None:
    refined = start.refined()
    x = refined.search
    move_records(x, refined.dearest())
    carver = carver_for(refined)
    for at in range(len(carver.steps)):
        reach.find_supplies(x, carver.reach)
        before, cost = lists(x), refined.cost
        carved, gained, _ = carving.carve_points(
            x, carver.cells, carver.reach, carver.steps[at : at + 1]
        )
        after = lists(x)
        assert cost - refined.cost == pytest.approx(gained, abs=TOLERANCE)
        assert (carved > 0) == (gained > 0.0) == (before != after)
        assert (carver.cells.scratch.place == carving_cells.ELSEWHERE).all()
        new = [g for g, group in enumerate(after) if group and not before[g]]
        assert len(new) <= carved  # fewer where all that was left to gain is a group's end
        if carved == 1:
            keys, _ = looks(carver, at)
            ended = {i for g, group in enumerate(before) if not after[g] for i in group}
            # what is left of a group that ended goes where it adds least, maybe here
            assert all(len({keys[i] for i in after[g] if i not in ended}) <= 1 for g in new)
    assert_tidy(refined)
    assert is_met(start.problem, refined.groups)


@settings(max_examples=several(80))
@given(starts(measures=reference.MONOTONE))
def test_no_cell_gains_by_what_groups_can_spare_where_carving_ends(start: Start) -> None:
    refined = start.refined()
    carver, nothing = carver_for(refined), reach_of(refined)
    x, k = refined.search, start.problem.k
    # no chains known and no records that fit elsewhere: all that is estimated comes true
    while carving.carve_points(x, carver.cells, nothing, carver.steps)[0]:
        pass
    group = x.s.group.tolist()
    for at in range(len(carver.steps)):
        keys, here = looks(carver, at)
        assert all(gain <= 1e-3 for gain in twin.direct_gains(keys, here, x.price, group, k))


@settings(max_examples=several(40))
@given(starts(measures=("lm", "entropy", "pmi")))
def test_only_cells_with_room_for_fewer_than_k_are_priced_out(start: Start) -> None:
    carver = carver_for(start.refined())
    for keys, costs in zip(carver.cells.keys, carver.cells.costs, strict=True):
        of_record = keys[carver.cells.column].tolist()
        for cell in twin.cells_of(of_record):
            far = costs[carver.cells.column[cell]] == FAR
            assert (far == (len(cell) < start.problem.k)).all()
