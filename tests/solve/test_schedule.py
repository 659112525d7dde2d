"""The schedule tries what gained most for its work lately, and ends where there is little left to gain."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from compiled import needs_jit
from reference.splitting import varied_sample

from shoal.progress import silent
from shoal.solve.local_search import budget
from shoal.solve.local_search.budget import Meter, Refine
from shoal.solve.local_search.carve import Carve
from shoal.solve.local_search.moves import Moves
from shoal.solve.local_search.schedule import neighbourhoods_of, search
from shoal.solve.local_search.state import LATELY, Neighbourhood, SearchState

COST = 1000.0


class Costing(NamedTuple):
    """Stands for a partition, of which the schedule only knows the cost."""

    cost: float


class Gaining(Neighbourhood):
    """Gains the same in every step, for a hundredth of the allowance, down to the least cost."""

    name = "gaining"

    def __init__(self, meter: Meter, gain: float, least: float = 0.0, bound: float = -inf) -> None:
        problem: Any = None
        super().__init__(problem, problem, meter)
        self.gain, self.least, self.stated, self.steps = gain, least, bound, 0

    def step(self, now: Any) -> Any:
        self.steps += 1
        self.bound = self.stated
        self.meter.add(self.meter.allowance / 100)
        after = max(self.least, now.cost - self.gain)
        if after == now.cost:
            self.tired_at = after
        return Costing(after)


def meter(steps: int | None = None) -> Meter:
    return Meter(Refine(steps=steps), 1, silent)


def run(*kinds: Gaining, cost: float = COST) -> float:
    """The cost after a search by these neighbourhoods."""
    begun: Any = Costing(cost)
    return search(begun, [*kinds], kinds[0].meter).cost


def test_a_proven_optimum_ends_the_search() -> None:
    kind = Gaining(meter(steps=1), 10.0, least=970.0, bound=970.0)
    assert run(kind) == 970.0
    assert kind.steps == 3


def test_a_budget_that_is_spent_ends_the_search() -> None:
    kind = Gaining(meter(), 5.0)
    assert run(kind) == COST - 5.0 * kind.steps
    assert kind.meter.left <= 0 < kind.meter.left + kind.meter.done / kind.steps


@pytest.mark.parametrize("gain", [0.0, 1e-6 * COST])
def test_low_hopes_end_a_quick_search_and_no_patient_one(gain: float) -> None:
    quick, patient = Gaining(meter(), gain), Gaining(meter(steps=1), gain)
    run(quick)
    run(patient)
    assert quick.meter.left > 0 >= patient.meter.left


def steps_of(steps: int) -> list[tuple[str, float]]:
    """The neighbourhoods that refinement of a small table tries one after the other, and the costs that they reach."""
    problem = varied_sample(40, most=60).problem("lm", 3)
    counted = Meter(Refine(steps=steps), problem.table.records * len(problem.columns), silent)
    taken: list[tuple[str, float]] = []

    def noted(kind: Neighbourhood) -> Any:
        step = kind.step

        def run(now: SearchState) -> SearchState:
            after = step(now)
            taken.append((kind.name, after.cost))
            return after

        return run

    kinds = neighbourhoods_of(problem, 0, counted)
    for kind in kinds:
        kind.step = noted(kind)  # type: ignore[method-assign]
    search(SearchState.of(problem, np.zeros(problem.table.records, np.int32)), kinds, counted)
    return taken


@needs_jit
def test_a_longer_budget_begins_with_the_steps_of_a_shorter_one() -> None:
    with patch.object(budget, "LEAST", 5e7), patch.object(budget, "STEP", 10**6):
        quick, more = steps_of(0), steps_of(1)
    assert len(more) > len(quick) > 1
    assert more[: len(quick) - 1] == quick[:-1]  # the last one may have been cut short
    assert more[-1][1] <= quick[-1][1]


def test_parts_share_the_least_budget() -> None:
    assert Meter(Refine(), 1, silent, parts=4).allowance == budget.LEAST / 4
    cells = 10 * int(budget.LEAST / budget.QUICK)
    assert Meter(Refine(), cells, silent, parts=4).allowance == budget.QUICK * cells


def test_what_gains_more_for_its_work_is_preferred() -> None:
    best, second = (Gaining(counted, gain) for counted in [meter()] for gain in (0.4, 0.2))
    run(best, second)
    assert best.steps > 5 * second.steps > 0


def test_another_neighbourhood_follows_where_one_gains_no_more() -> None:
    first, second = (
        Gaining(counted, *how) for counted in [meter()] for how in ((9.0, 955.0), (2.0, 900.0))
    )
    assert run(first, second) == 900.0


def test_a_tired_neighbourhood_hopes_again_once_the_cost_is_another() -> None:
    kind = Gaining(meter(), 1.0)
    kind.tired_at = COST
    assert kind.hope(COST) == 0.0 < kind.hope(COST - 1)


def test_hopes_follow_what_was_gained_lately_and_begin_again_where_all_has_changed() -> None:
    kind = Gaining(meter(), 1.0)
    lately, at_first = LATELY * kind.meter.allowance, kind.hope(COST)
    kind.learn_rate(COST, 0.0, lately)
    assert kind.hope(COST) == pytest.approx(at_first / 2)
    kind.learn_rate(COST, 100 * at_first * lately, 50 * lately)
    assert kind.hope(COST) == pytest.approx(2 * at_first)
    kind.refresh()
    assert kind.hope(COST) == at_first


@pytest.mark.parametrize("measure", ["pmi", "wmi", "entropy"])
def test_where_costs_depend_on_the_record_or_may_fall_only_moves_and_carving_are_tried(
    measure: str,
) -> None:
    kinds = neighbourhoods_of(varied_sample(1).problem(measure), 0, meter())
    assert [type(kind) for kind in kinds] == [Moves, Carve]
