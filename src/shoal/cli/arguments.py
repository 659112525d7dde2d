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


def place(text: str) -> Place:
    """The file or the database that was named; which table of it is meant other options say."""
    from shoal.data.databases import DatabaseTable, is_address

    return DatabaseTable(text) if is_address(text) else Path(text)


# Of these, `place` makes a path or, of an address, a table of a database, which typer has no type for.
Table = Annotated[
    Named,
    typer.Argument(
        parser=place,
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
        parser=place,
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
StoredTable = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="NAME", help="Table to read from a database, like health.patients."
    ),
]
Query = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="SELECT to read from a database, in place of --table."),
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
K = Annotated[int | None, typer.Option("-k", help="Least number of records that read the same.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "-q",
        "--quasi-identifier",
        metavar="COLUMN[:MODEL[:FILE][:KEY=VALUE]]",
        help="Column to generalize; MODEL is suppression, interval, calendar, prefix, subset, order[:FILE] or "
        "hierarchy:FILE, with options like interval:step=5:high=90; repeatable.",
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "-s", "--sensitive", metavar="COLUMN", help="Column to release unchanged; repeatable."
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("-x", "--keep", metavar="COLUMN", help="Column to release as it is; repeatable."),
]
Others = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT", help="Columns that are not named: refuse (default), drop or keep."
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN:REASON",
        help="Release a column in spite of a reason that was given against it, as in salary:unique; repeatable.",
    ),
]
IdentifiedLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share of people that kept columns may identify without being allowed (default 0, at most 0.05).",
    ),
]
Coarsen = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN:MODEL[:FILE]:KEY=VALUE",
        help="Kept or sensitive column to make coarser in all records, like salary:interval:step=1000, "
        "admitted:calendar:finest=month or zip:prefix:finest=3; repeatable.",
    ),
]
Pseudonyms = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Identifier to replace by a keyed hash; repeatable."),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="File with the key of the pseudonyms, see `shoal key`; else SHOAL_KEY."),
]
Person = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that tells persons apart; k then counts persons, not records.",
    ),
]
Encoding = Annotated[str | None, typer.Option(help="Of the file, like cp1252; usually UTF-8.")]
Delimiter = Annotated[str | None, typer.Option(help="Between fields, like ';' or tab.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal sign of numbers, '.' or ','.")]
DateFormat = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN:]FORMAT",
        help="How dates are written, like %d.%m.%Y, of all columns or of one; repeatable.",
    ),
]
HeaderRow = Annotated[
    int | None,
    typer.Option(
        metavar="ROW", help="Row with the column names, from 1; rows above it are skipped."
    ),
]
SkipLast = Annotated[
    int | None,
    typer.Option(metavar="ROWS", help="Rows at the end that are no records, like a total."),
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook; usually the first.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN:]TEXTS",
        help="Texts that stand for a missing value, like '?,97,98', in all columns or in one; repeatable.",
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN:TYPE",
        help="What a column holds, text, number or date, repeatable; else it is found out. E.g. region:text.",
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME:KEY=VALUE",
        help="Requirement beyond k, repeatable, see `shoal requirements`; e.g. diversity:l=3:kind=entropy.",
    ),
]
Identifiers = Annotated[
    list[str] | None,
    typer.Option("-i", "--identifier", metavar="COLUMN", help="Column to remove; repeatable."),
]
SuppressionLimit = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Largest share of records that may be left out."),
]
Objective = Annotated[str | None, typer.Option(help="Measure to minimize, see `shoal measures`.")]
MiShare = Annotated[float | None, typer.Option("--w", help="Share of mi in objective wmi.")]
Weights = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN=NUMBER", help="How much a column matters.")
]
MethodName = Annotated[str | None, typer.Option(help="See `shoal methods`.")]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Option of the method: of --method, of the settings file's, or else of cover.",
    ),
]
Refinement = Annotated[
    str | None,
    typer.Option(
        metavar="HOW_LONG",
        help="How long to improve the groups: quick, off, a number of seconds, or steps=NUMBER.",
    ),
]
Seed = Annotated[int | None, typer.Option(help="Makes chance repeatable.")]
KeepOrder = Annotated[
    bool | None,
    typer.Option("--keep-order/--shuffle", help="Keep the order of records (can identify)."),
]
Loosen = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share of general values that shall be more general than their group needs.",
    ),
]
Render = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="text; bounds: two columns per interval or order; midpoint or mean: one number per interval.",
    ),
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
Title = Annotated[str | None, typer.Option(help="What the release is about, for the report.")]
OfTheOutput = Annotated[str | None, typer.Option(help="Of the output, if not the input's.")]
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
