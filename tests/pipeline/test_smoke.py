"""The smoke test of the oldest versions passes here, too, and the oldest versions are the ones we say."""

from __future__ import annotations

import signal
import sys
import tomllib
from pathlib import Path

import smoke
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
USED = ["evaluation", "excel", "pandas", "polars"]


def test_the_usual_path_works_with_the_installed_versions(tmp_path, monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(sys, "argv", sys.argv)
    assert smoke.main(tmp_path).startswith("Works with Python 3.")


def pinned(file: str) -> dict[str, str]:
    """The version of every library in a file of constraints, for the oldest Python."""
    lines = (ROOT / file).read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    here = {"python_version": "3.11", "sys_platform": "linux"}
    return {
        item.name: str(item.specifier).removeprefix("==")
        for item in found
        if item.marker is None or item.marker.evaluate(here)
    }


def test_the_oldest_versions_are_the_floors_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    names = [*project["dependencies"], *(line for e in USED for line in extras[e])]
    floors = [item for item in map(Requirement, names) if item.marker is None]
    oldest = pinned("constraints-oldest.txt")
    for item in floors:
        [lower] = item.specifier
        assert lower.operator == ">="
        assert oldest[item.name].startswith(f"{lower.version}."), item.name


def test_both_ends_are_tried_with_the_same_test_tools():
    oldest, newest = pinned("constraints-oldest.txt"), pinned("constraints.txt")
    for name in ["hatchling", "hypothesis", "pycanon", "pytest", "pytest-xdist"]:
        assert oldest[name] == newest[name]
