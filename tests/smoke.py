"""The usual path from end to end on a small table, with whatever versions are installed.

`python tests/smoke.py FOLDER` needs shoal with its extras excel, pandas and polars, and no test tools.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

import shoal
from shoal.cli import main as command
from shoal.data.files.table_file import read_file
from shoal.samples import adult, adult_hierarchies

LIBRARIES = ["numpy", "numba", "pyarrow", "pandas", "polars", "narwhals", "typer", "rich"]
COLUMNS = ["age", "sex", "education", "hours-per-week", "income"]
SUFFIXES = [".csv", ".csv.gz", ".jsonl", ".parquet", ".xlsx"]
RECORDS, FEW, K = 400, 12, 4


def job() -> dict[str, Any]:
    """The roles of the sample's columns."""
    return {
        "quasi_identifiers": {
            "age": shoal.Interval(),
            "sex": shoal.Suppression(),
            "education": shoal.Hierarchy.from_csv(adult_hierarchies()["education"]),
        },
        "sensitive": ["income"],
        "keep": ["hours-per-week"],
        "allow": {"hours-per-week": "unique"},
        "k": K,
    }


def rows(table: Any) -> list[tuple[Any, ...]]:
    """The records of a frame of any kind, in an order that does not depend on the run."""
    if isinstance(table, pa.Table):
        records = [tuple(record.values()) for record in table.to_pylist()]
    elif isinstance(table, pl.DataFrame):
        records = table.rows()
    else:
        records = list(table.itertuples(index=False, name=None))
    return sorted(records, key=str)


def check_frames(table: pa.Table) -> shoal.Release:
    """Anonymize the same records as Arrow, pandas and polars: the releases are equal and of the same kind."""
    releases = [
        shoal.anonymize(given, method="incognito", refine=False, **job())
        for given in (table, table.to_pandas(), pl.DataFrame(table.to_pydict()))
    ]
    first, *others = releases
    assert isinstance(first.data, pa.Table)
    assert isinstance(others[0].data, pd.DataFrame)
    assert isinstance(others[1].data, pl.DataFrame)
    assert all(rows(other.data) == rows(first.data) for other in others)
    assert first.audit.k >= K
    assert first.audit.records == RECORDS
    return first


def check_files(release: shoal.Release, folder: Path) -> None:
    """Write every format, read it back, and audit the file by its settings."""
    release.settings.save(folder / "settings.toml")
    for suffix in SUFFIXES:
        path = folder / f"release{suffix}"
        release.save(path)
        assert rows(read_file(path)) == rows(release.data), suffix
        found = shoal.audit(path, settings=folder / "settings.toml")
        assert found.k == release.audit.k, suffix
    release.save_report(folder / "report.html")
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")


def check_command(table: pa.Table, folder: Path) -> None:
    """Run the command line on a file of few records; without refinement, few kernels are compiled."""
    source, target = folder / "people.csv", folder / "people-release.parquet"
    table.to_pandas().to_csv(source, index=False)
    roles = ["-q", "age", "-q", "sex", "-k", "3"]
    outputs = ["-o", target, "--report", folder / "few.html", "--refine", "off"]
    run("anonymize", source, *roles, "-s", "income", *outputs)
    run("audit", target, *roles)
    run("--help")
    assert read_file(target).num_rows == FEW
    assert (folder / "few.html").stat().st_size


def run(*arguments: object) -> None:
    """Run a command in this process; it must succeed."""
    sys.argv = ["shoal", *map(str, arguments)]
    said, code = io.StringIO(), None
    try:
        with redirect_stdout(said), redirect_stderr(said):
            command()
    except SystemExit as stopped:
        code = stopped.code
    assert not code, said.getvalue()


def main(folder: Path) -> str:
    """Run everything; return what it ran with."""
    table = adult().slice(0, RECORDS).select(COLUMNS)
    check_files(check_frames(table), folder)
    check_command(table.slice(0, FEW).select(["age", "sex", "income"]), folder)
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"Works with Python {sys.version.split()[0]}, {libraries}."


if __name__ == "__main__":
    sys.stdout.write(f"{main(Path(sys.argv[1]))}\n")
