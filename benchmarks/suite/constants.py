"""Other values of the constants of refinement: loss and CPU seconds beside those of the values that are set."""

from __future__ import annotations

from benchmarks.constants import choose
from benchmarks.tables import Tables


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per value, in about an hour; shares are more than with the value that is set, `cpu` is a ratio."""
    return list(choose())
