"""What a first run costs, its kernels not compiled yet, beside the same run afterwards: seconds and processor seconds.

Every run is a process of its own. "Carried" are kernels as a wheel has them, compiled for any processor. Meaningful on
an idle machine only; the load beforehand stands beside.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import shoal
from benchmarks.tables import Tables
from tools.make_wheel import compile_kernels

PACKAGE = Path(shoal.__file__).parent
RECORDS = 1_000
RUN = """
import sys
from pathlib import Path
from shoal import samples
from shoal.cli.run import Outputs, RunOptions, run_and_save
from shoal.settings.settings import make_settings
records, folder, certify = sys.argv[1:]
run_and_save(
    samples.adult()[: int(records)],
    make_settings(samples.adult_settings()),
    Outputs(Path(folder) / "release.csv", overwrite=True, certify=float(certify) if certify else None),
    RunOptions(),
)
"""
BARS = {  # seconds and processor seconds of a first run
    ("demo", "first"): (25.0, 40.0),
    ("1,000 records", "first"): (12.0, None),
    ("1,000 records", "first, kernels carried"): (5.0, None),
}
ADDED = 5.0  # seconds that a certificate may add to a first run


def run(tables: Tables) -> list[dict[str, object]]:
    """Two rows for each job, first and again, and one with kernels carried; bars are for the first."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        jobs = {
            "demo": ["-m", "shoal", "demo", str(scratch / "demo")],
            "1,000 records": ["-c", RUN, str(RECORDS), str(scratch), ""],
            "1,000 records, certified": ["-c", RUN, str(RECORDS), str(scratch), "0"],
            "12 records": ["-c", RUN, "12", str(scratch), ""],
        }
        rows = []
        for job, command in jobs.items():
            folder = scratch / job
            rows += [_row(job, when, command, folder) for when in ("first", "again")]
        carried = _carry(scratch)
        for job in ("demo", "1,000 records"):
            folder = scratch / f"{job} carried"
            rows.append(_row(job, "first, kernels carried", jobs[job], folder, carried))
    return _judged(rows)


def _carry(scratch: Path) -> Path:
    """Copy the package and let it carry kernels; return the folder to import it from."""
    package = scratch / "carrying" / "shoal"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(compile_kernels(scratch / "kernels"), package / "kernels" / "compiled")
    return package.parent


def _row(
    job: str, when: str, command: list[str], folder: Path, package: Path = PACKAGE.parent
) -> dict[str, object]:
    folder.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(package)}
    load = os.getloadavg()[0]
    start, spent = time.perf_counter(), _processor_seconds()
    subprocess.run(
        [sys.executable, "-P", *command],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return {
        "job": job,
        "run": when,
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(_processor_seconds() - spent, 1),
        "kernels compiled": len(list(folder.rglob("*.code"))) if when != "again" else 0,
        "load before": round(load, 1),
    }


def _processor_seconds() -> float:
    """Of all processes that have ended, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _judged(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows, with bars where there are any."""
    first = {row["job"]: row["seconds"] for row in rows if row["run"] == "first"}
    for row in rows:
        bars = BARS.get((str(row["job"]), str(row["run"])))
        if (row["job"], row["run"]) == ("1,000 records, certified", "first"):
            bars = float(str(first["1,000 records"])) + ADDED, None
        if bars:
            measured = float(str(row["seconds"])), float(str(row["processor seconds"]))
            row["bar"] = " / ".join("–" if bar is None else f"{bar:.0f}" for bar in bars)
            row["met"] = all(
                bar is None or got <= bar for got, bar in zip(measured, bars, strict=True)
            )
    return rows
