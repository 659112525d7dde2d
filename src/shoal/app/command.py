"""The command line that does what the app does."""

from __future__ import annotations

import shlex
from pathlib import Path


def command_line(table: Path, settings: Path, output: str = "release.csv") -> str:
    """`shoal anonymize` with a table, its settings and what is written."""
    parts = ["shoal", "anonymize", str(table), "--settings", str(settings), "--output", output]
    return shlex.join([*parts, "--report", "report.html"])
