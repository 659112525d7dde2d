"""Requirements on groups (spec §4) and whether a table can meet them at all."""

from __future__ import annotations

from shoal.errors import Infeasible
from shoal.table import Table


def check_feasible(table: Table, k: int) -> None:
    """Refuse, with the numbers and the nearest feasible setting, what no release of the table can meet."""
    if k > table.records:
        raise Infeasible(
            f"k = {k} needs at least {k} records and the table has {table.records}; "
            f"choose k of at most {table.records}."
        )
