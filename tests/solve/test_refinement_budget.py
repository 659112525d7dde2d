"""Refinement goes on for as many seconds or steps as it is given."""

from __future__ import annotations

import pytest

from shoal.progress import silent
from shoal.solve.local_search.budget import Clock, Refine


def test_a_clock_of_steps_goes_on_for_its_share_of_them() -> None:
    reports: list[tuple[str, int, int]] = []
    clock = Clock(Refine(steps=4), lambda *report: reports.append(report))
    going = []
    for _ in range(5):
        going.append((clock.goes_on("a", 0.5), clock.goes_on("b")))
        clock.tick()
    assert going == [(True, True), (True, True), (False, True), (False, True), (False, False)]
    assert reports[:3] == [("refining: a", 0, 4), ("refining: b", 0, 4), ("refining: a", 1, 4)]


def test_a_clock_without_a_budget_ends_at_once() -> None:
    assert not Clock(Refine(), silent).goes_on("a")


def test_a_clock_of_seconds_goes_on_until_its_share_has_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, reports = [100.0], []
    monkeypatch.setattr("shoal.solve.local_search.budget.time.perf_counter", lambda: now[0])
    clock = Clock(Refine(seconds=2.5), lambda *report: reports.append(report))
    for spent, half, whole in ((0.0, True, True), (1.3, False, True), (2.5, False, False)):
        now[0] = 100.0 + spent
        clock.tick()  # steps do not count
        assert (clock.goes_on("a", 0.5), clock.goes_on("a")) == (half, whole)
    now[0] = 200.0
    assert not clock.goes_on("a")
    assert reports[-1] == ("refining: a", 2, 3)
