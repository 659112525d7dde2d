"""Work is counted against an allowance, which the table and the user's budget determine."""

from __future__ import annotations

import pytest

from shoal.progress import silent
from shoal.solve.local_search.budget import LEAST, MOST, QUICK, SECOND, STEP, Meter, Refine


@pytest.mark.parametrize(
    ("cells", "allowance"), [(1, LEAST), (10**6, 10**6 * QUICK), (10**9, MOST)]
)
def test_quick_refinement_may_do_more_work_on_larger_tables_within_limits(
    cells: int, allowance: float
) -> None:
    meter = Meter(Refine(), cells, silent)
    assert meter.allowance == meter.left == allowance
    assert not meter.is_patient


def test_steps_come_on_top_of_quick_refinement() -> None:
    cells = 1000
    quick, longer = (Meter(budget, cells, silent) for budget in (Refine(), Refine(steps=8)))
    assert longer.allowance == quick.allowance + 8 * STEP * cells
    assert longer.is_patient


def test_work_goes_on_until_the_allowance_is_used_up() -> None:
    reports: list[tuple[str, int, int]] = []
    meter = Meter(Refine(), 1, lambda *report: reports.append(report))
    for work, goes_on in ((0, True), (LEAST / 2, True), (LEAST, False)):
        meter.add(work)
        assert meter.goes_on("moves") == goes_on
    assert meter.left == -LEAST / 2
    whole = int(10 * LEAST / SECOND)
    assert reports == [("refining: moves", done, whole + 1) for done in (0, whole // 2, whole)]


def test_a_budget_of_seconds_counts_time_instead_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("shoal.solve.local_search.budget.time.thread_time", lambda: now[0])
    meter = Meter(Refine(seconds=2.5), 10**6, silent)
    meter.add(100 * SECOND)
    for spent, goes_on in ((0.0, True), (2.4, True), (2.5, False)):
        now[0] = 100.0 + spent
        assert meter.goes_on("moves") == goes_on
    assert meter.is_patient
