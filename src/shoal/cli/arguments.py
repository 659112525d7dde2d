"""The arguments and options of the commands: how each is written and what its help says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from shoal.data.databases import DatabaseTable

    Named = Any
else:  # for typer, a text: of what is said to be a path, typer 0.28 makes one whatever the parser returns
    Named = str

Place: TypeAlias = "Path | DatabaseTable"


def file_or_database(text: str) -> Place:
    """The file or the database that was named; which table of it is meant other options say."""
    from shoal.data.databases import DatabaseTable, is_address

    return DatabaseTable(text) if is_address(text) else Path(text)


# Of these, `file_or_database` makes a path or, of an address, a table of a database, which typer has no type for.
Table = Annotated[
    Named,
    typer.Argument(
        parser=file_or_database,
        metavar="TABLE",
        help="CSV, Parquet, JSON-lines, Excel, SPSS, Stata or SAS file, or the address of a database: "
        "postgresql://HOST/DATABASE, sqlite:///FILE or duckdb:///FILE.",
        show_default=False,
    ),
]
Output = Annotated[
    Named | None,
    typer.Option(
        "-o",
        "--output",
        parser=file_or_database,
        metavar="FILE",
        help="File to write, or the address of a database.",
        show_default=False,
    ),
]
OutputTable = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Table to write in a database, like release.patients."),
]
IfExists = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT", help="A table that is there already: fail (default) or replace it."
    ),
]
SettingsFile = Annotated[
    Path | None, typer.Option("--settings", help="TOML file, see `shoal init`.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also say how it was done.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Report = Annotated[
    Path | None,
    typer.Option(help="Also write a report for people: proof, cost and risk in one HTML file."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output.")]
Certify = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Say how far from the optimum the loss can be; 0 is a quick look, more is sharper.",
    ),
]
SaveSettings = Annotated[
    Path | None, typer.Option(help="Also write the settings that make this release again.")
]
SaveRecoding = Annotated[
    Path | None,
    typer.Option(help="Also write the closures, for new records to come; see `shoal apply`."),
]
SaveMapping = Annotated[
    Path | None,
    typer.Option(help="Also write what became of each value, with counts; not for release."),
]
Previous = Annotated[
    list[Path] | None,
    typer.Option(help="History of earlier releases of people who stay; repeatable."),
]
SaveHistory = Annotated[
    Path | None,
    typer.Option(
        help="Where to write the history for the next release; alone, it begins a series."
    ),
]
OutputText = Annotated[str | None, typer.Option(help="Of the output, if not the input's.")]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="memory, duckdb, polars or spark; usually memory, and duckdb for files that outgrow it.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="AMOUNT", help="Memory to use, like 8GB; usually what is free."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything and say what would be done.")
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Also train classifiers for this column; without --holdout, part of ORIGINAL is "
        "set aside and the rest anonymized anew by the settings.",
    ),
]
