"""Type checkers know what goes in and what comes out: mypy reads tests/static/uses.py."""

from __future__ import annotations

from pathlib import Path

from mypy import api

ROOT = Path(__file__).parents[2]


def test_what_type_checkers_know_is_true() -> None:
    config = ROOT / "tests" / "static" / "mypy.ini"
    cache = ROOT / ".mypy_cache" / "static"
    said, wrong, code = api.run(["--config-file", str(config), "--cache-dir", str(cache)])
    assert (code, wrong) == (0, ""), said
    assert said.startswith("Success"), said
