"""Hypothesis draws the same examples on every machine and never fails for being slow; commands run in this process."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import inf
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from shoal.audits.requirements import REQUIREMENTS
from shoal.cli import main
from shoal.encoding.models import MODELS
from shoal.solve.measures.additive import ADDITIVE
from shoal.solve.measures.catalogue import MEASURES
from shoal.solve.methods import METHODS

REGISTRIES: tuple[dict[str, Any], ...] = (METHODS, MODELS, REQUIREMENTS, MEASURES, ADDITIVE)

settings.register_profile(
    "repeatable",
    max_examples=10,  # every method and requirement has tests of its own, which adds up
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("few", settings.get_profile("repeatable"), max_examples=5)
settings.register_profile("many", settings.get_profile("repeatable"), max_examples=300)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def registered_by_one_test_only() -> Iterator[None]:
    """Forget what a test registers."""
    with ExitStack() as stack:
        for registry in REGISTRIES:
            stack.enter_context(mock.patch.dict(registry))
        yield


@pytest.fixture
def shell(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process: exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("signal.signal", lambda number, handler: None)
        monkeypatch.setattr("shoal.cli.show.SOON", inf)  # slow machines log progress
        monkeypatch.setattr("shoal.cli.show.EVERY", inf)
        monkeypatch.setattr("sys.argv", ["shoal", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        said = capfd.readouterr()
        return int(stopped.value.code or 0), said.out, said.err

    return run


SLOW = ("browser", "databases", "spark")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders that take long, so that all workers end at about the same time."""
    items.sort(key=lambda item: item.path.parent.name not in SLOW)


def pytest_collection_finish() -> None:
    """Leave modules and tests out of garbage collection from now on: they stay, and looking through them takes time."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in the last lines that the app was not tested in a browser, if so."""
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if "browser/" in report.nodeid and isinstance(report.longrepr, tuple)
    ]
    if skipped:
        why = skipped[0].longrepr[2].removeprefix("Skipped: ")
        terminalreporter.write_line(f"{len(skipped)} tests of the app were skipped: {why}.")
