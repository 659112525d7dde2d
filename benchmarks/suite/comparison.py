"""All methods on Adult, 30,162 × 8: loss by four measures and seconds."""

from __future__ import annotations

from benchmarks.suite.methods import compare
from benchmarks.tables import Tables
from benchmarks.timing import Run

MEASURES = ("lm", "gcp", "dm", "c_avg")


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per method and k."""
    return compare(tables.adult_8_trees(), losses)


def losses(found: Run) -> dict[str, object]:
    """Loss by every measure."""
    return {name: float(f"{found.release.loss(name):.4g}") for name in MEASURES}
