"""Many quasi-identifiers: carving goes where groups stand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.progress import silent
from shoal.solve.local_search import carve
from shoal.solve.local_search.state import SearchState
from shoal.solve.methods import borrowing_cover as proposals
from shoal.solve.methods import lattice
from shoal.solve.methods.lattice import make_ladders
from shoal.solve.problem import Problem


def wide_problem(seed: int, records: int = 120, columns: int = 7) -> Problem:
    """The first columns vary, the last ones nearly always hold the same value; one is an interval."""
    rng = np.random.default_rng(seed)
    drawn = {
        f"c{j}": rng.choice(list("abc"), records, p=[1 - 2 * rare, rare, rare])
        for j, rare in enumerate(np.linspace(0.3, 0.01, columns - 1))
    }
    models = {**dict.fromkeys(drawn, shoal.Suppression()), "n": shoal.Interval()}
    frame = pa.table({**drawn, "n": rng.integers(0, 6, records)})
    return Problem.of(encode(open_frame(frame), models), "lm", 4)


def test_the_rungs_of_a_group_are_the_lowest_that_its_records_share():
    problem = wide_problem(5)
    ladders = make_ladders(problem)
    groups = np.random.default_rng(0).integers(0, 20, problem.table.records).astype(np.int32)
    rungs, records = lattice.rungs_of_groups(problem, ladders, groups)
    for at, group in enumerate(np.unique(groups)):
        own = problem.codes[groups == group]
        assert records[at] == len(own)
        for j, ladder in enumerate(ladders):
            shared = [len(np.unique(rung[own[:, j]])) == 1 for rung in ladder.rungs]
            assert rungs[at, j] == shared.index(True)


def test_a_lattice_of_too_many_columns_is_carved_where_groups_stand(monkeypatch):
    problem = wide_problem(7)
    ladders = make_ladders(problem)
    groups = proposals.walk_proposals(problem, ladders, 0, silent)[0]
    groups = np.where(groups < 0, 0, groups).astype(np.int32)
    refined = SearchState.of(problem, groups)
    few = 2 ** len(ladders) - 1  # fewer points than the lattice has with two rungs for each column
    assert not lattice.can_walk(ladders, few)
    stand = np.unique(lattice.rungs_of_groups(problem, ladders, refined.groups)[0], axis=0)
    assert len(carve._lattice(refined, few, 0).steps) == len(stand)
    monkeypatch.setattr(carve, "MOST_WIDE_LOOKS", 1)
    assert len(carve._lattice(refined, few, 0).steps) == 1
    assert len(carve._lattice(refined, few + 1, 0).steps) == few + 1
