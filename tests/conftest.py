"""Hypothesis draws the same examples on every machine and never fails for being slow; commands run in this process.

The fixtures `engine`, `carrier` and `on` run one test on every engine.
"""

from __future__ import annotations

import gc
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import inf
from typing import Any
from unittest import mock

import pytest
from engines import ENGINES, put_on, skip_without
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


@pytest.fixture(scope="module")
def briefly() -> Iterator[None]:
    """Let quick refinement of small tables do less, in all tests of a file."""
    from partitions import brief_budget  # which takes long to import

    with brief_budget():
        yield


# Rooms whose tests are about what refinement reaches, show what users see, or compare with another process.
FULLY = {"app", "golden", "kernels", "project", "solve"}


@pytest.fixture(scope="module", autouse=True)
def briefly_elsewhere(request: pytest.FixtureRequest) -> None:
    """Let quick refinement do less in all other rooms: seconds for each release would be most of a run."""
    if request.path.parent.name not in FULLY:
        request.getfixturevalue("briefly")


@pytest.fixture(params=ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> str:
    """Every engine that reads files."""
    skip_without(request.param)
    return str(request.param)


@pytest.fixture(params=("memory", *ENGINES), scope="module")
def carrier(request: pytest.FixtureRequest) -> str:
    """Memory and every engine that reads files."""
    skip_without(request.param)
    return str(request.param)


# PySpark warns of pandas and open sockets.
SPARK = pytest.param("spark", marks=pytest.mark.filterwarnings("ignore"))


@pytest.fixture(params=(*ENGINES, SPARK))
def on(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Put an Arrow table on an engine: DuckDB, Polars and, where there is Java, Spark."""
    skip_without(request.param)
    session = request.getfixturevalue("session") if request.param == "spark" else None
    return lambda table: put_on(request.param, table, session)


# On a few hundred records most time would go into compiling: these options halve what the tests take.
QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.ui.enabled": "false",
}
JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark on this machine, with a server for Spark Connect."""
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs Java, and there is none here")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        free_port = found.getsockname()[1]
    builder = SparkSession.builder.master("local[2,3]")  # a task may fail twice
    options = {
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",  # as the checker reads them
        **QUICK,
        "spark.driver.extraJavaOptions": JAVA,
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",  # a server in this JVM
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(free_port),
    }
    for key, value in options.items():
        builder = builder.config(key, value)
    started = builder.getOrCreate()
    yield started
    started.stop()


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
