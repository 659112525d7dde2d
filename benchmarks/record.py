"""What a run of a benchmark leaves behind: rows, command, date, commit and machine, as JSON in `benchmarks/results`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MEASURED = ("src", "benchmarks", ":!benchmarks/results")  # what a change of makes other code
LIBRARIES = ("numpy", "numba", "pyarrow")

Row = dict[str, Any]


def git(*arguments: str) -> str | None:
    """What git says in the project's folder, or None where there is no git or it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def code_commit() -> str | None:
    """The last commit that changed shoal or its benchmarks; pages and results may have changed since."""
    return git("log", "-1", "--format=%H", "--", *MEASURED) or None


def is_changed() -> bool:
    """Whether files of shoal or its benchmarks differ from that commit."""
    return bool(git("status", "--porcelain", "--", *MEASURED))


def report(name: str, command: str, rows: Sequence[Row], seconds: float) -> Row:
    """Rows with the circumstances in which they were measured; nothing here names a host or a user."""
    return {
        "benchmark": name,
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": code_commit(),
        "changed": is_changed(),
        "machine": machine(),
        "seconds": round(seconds, 1),
        "rows": list(rows),
    }


def write(path: Path, found: Row) -> None:
    """Write a report to a file, a line for each row."""
    head = json.dumps({**found, "rows": []}, indent=1, ensure_ascii=False)
    rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in found["rows"])
    path.parent.mkdir(exist_ok=True)
    path.write_text(head.replace('"rows": []', f'"rows": [\n{rows}\n ]') + "\n", encoding="utf-8")


def save(name: str, command: str, rows: Sequence[Row], seconds: float) -> None:
    """Keep what a benchmark found where the documentation is written from."""
    write(RESULTS / f"{name}.json", report(name, command, rows, seconds))


def machine() -> Row:
    """The processor, cores, memory and versions."""
    kinds, memory = Path("/proc/cpuinfo"), None
    lines = kinds.read_text(encoding="utf-8").splitlines() if kinds.exists() else []
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": models[0] if models else platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "memory_gb": memory,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }
