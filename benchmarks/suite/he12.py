"""HE12's claim: two-means (CB) loses less than non-homogeneous (NH), gcp for 4 to 6 quasi-identifiers."""

from __future__ import annotations

from benchmarks.tables import Table, Tables
from benchmarks.timing import measure


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per number of quasi-identifiers and k."""
    whole = tables.adult_8()
    rows: list[dict[str, object]] = []
    for count in (4, 5, 6):
        models = dict(list(whole.models.items())[:count])
        table = Table(f"adult_{count}", whole.data.select(list(models)), models)
        for k in (5, 10, 20):
            cb = measure(table, method="two_means", k=k, objective="gcp").loss
            nh = measure(table, method="non_homogeneous", k=k, objective="gcp").loss
            rows.append(
                {
                    "quasi-identifiers": count,
                    "k": k,
                    "two_means": round(cb, 4),
                    "non_homogeneous": round(nh, 4),
                    "ratio": round(cb / nh, 3),
                }
            )
    return rows
