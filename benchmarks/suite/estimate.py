"""The app's estimate of the loss beside that of the real run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow.parquet

import shoal
from benchmarks.tables import Tables
from shoal.app.projects import Projects
from shoal.app.worker.run import estimate
from shoal.settings.settings import Settings

SIZES = (5, 10, 50)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per table and k."""
    rows: list[dict[str, object]] = []
    for table in (tables.adult_sample(), tables.census_kdd()):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "table.parquet"
            pyarrow.parquet.write_table(table.data, path)
            project = Projects(Path(name) / "projects").new(path, path.name)
            for k in SIZES:
                settings = Settings(quasi_identifiers=table.models, others="drop", k=k)
                settings.save(project.folder / "settings.toml")
                rows.append(
                    {
                        "table": table.name,
                        "records": table.data.num_rows,
                        "k": k,
                        "estimate": round(estimate(None, str(project.folder))["loss"], 4),
                        "loss": round(shoal.anonymize(table.data, settings=settings).loss(), 4),
                    }
                )
    return rows
