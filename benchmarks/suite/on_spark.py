"""A generated table through all stages on Spark, local[2], classic and Connect; with rounds on executors, too.

`--records` says how many records, by default 10⁶. Seconds of the stages are those that `--verbose` tells.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import shoal
from benchmarks.suite.scale import draw
from benchmarks.tables import Tables, Unavailable

USUAL = 1_000_000
# Connection, and the memory of the driver; the least there is forces rounds.
WAYS = (("classic", "4GB"), ("connect", "4GB"), ("classic", "256MB"), ("connect", "256MB"))

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


def run(tables: Tables) -> list[dict[str, object]]:
    """Every way in a process of its own: a process has either classic sessions or those of Connect."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise Unavailable("PySpark is missing; run: pip install 'shoal[spark]'.") from None
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise Unavailable("Spark needs Java; install it, like openjdk-17-jre-headless.")
    context = multiprocessing.get_context("spawn")
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        path, whole = Path(folder, "table.parquet"), Tables(tables.folder)
        with context.Pool(1) as pool:
            pool.apply(draw, (whole.adult_9(), tables.records or USUAL, path))
        for connection, memory in WAYS:
            with context.Pool(1) as pool:
                rows.append(pool.apply(_released, (whole, path, connection, memory)))
    losses = {row["memory"]: row["loss"] for row in rows}
    return [row | {"met": row["loss"] == losses[row["memory"]]} for row in rows]


def _released(tables: Tables, path: Path, connection: str, memory: str) -> dict[str, object]:
    """From a Parquet file to an audited folder of them, with the seconds of each stage."""
    warnings.simplefilter("ignore")
    os.chdir(path.parent)  # where the warehouse goes
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    builder = builder.remote("local[2]") if connection == "connect" else builder.master("local[2]")
    for option, value in QUIET.items():
        builder = builder.config(option, value)
    session = builder.getOrCreate()
    start = time.perf_counter()
    release = shoal.anonymize(
        session.read.parquet(str(path)),
        quasi_identifiers=tables.adult_9().models,
        k=10,
        engine=shoal.Engine(memory=memory),
    )
    saving = time.perf_counter()
    release.save(path.parent / "release", overwrite=True)
    end = time.perf_counter()
    found = {
        "connection": connection,
        "memory": memory,
        "records": release.audit.records,
        "rounds": "executors"
        if any("by the executors" in note for note in release.notes)
        else "no",
        "loss": round(release.loss(), 5),
        "wall_s": round(end - start, 1),
        **{stage: round(seconds, 1) for stage, seconds in release.seconds.items()},
        "saving": round(end - saving, 1),
    }
    release.close()  # type: ignore[attr-defined]
    session.stop()
    return found
