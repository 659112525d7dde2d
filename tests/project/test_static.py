"""Type checkers know what goes in and what comes out: mypy reads tests/static/uses.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_what_type_checkers_know_is_true() -> None:
    config = ROOT / "tests" / "static" / "mypy.ini"
    cache = ROOT / ".mypy_cache" / "static"
    # In a process of its own: mypy would leave a million objects behind, which slow down all later tests.
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", cache]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.startswith("Success"), done.stdout
