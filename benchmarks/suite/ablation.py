"""What each part of grouping, refinement and certificate gains: jobs with each part switched off in turn."""

from __future__ import annotations

from benchmarks.ablation import compare
from benchmarks.tables import Tables


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per part, in about forty minutes; shares are more than with the part, `cpu` is a ratio."""
    return list(compare())
