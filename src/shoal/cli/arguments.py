"""Arguments and options that several commands share, and checks of the files they write."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from shoal.cli import options
from shoal.errors import InputError
from shoal.settings.declaration import READING, Setting
from shoal.settings.settings import SETTINGS


def chosen_table(table: Place, settings: Any, reading: Any, problems: list[str]) -> Place:
    """Return the input table; for a database, with the table or query that the options or the settings name."""
    from shoal.data.databases.address import DatabaseTable

    if isinstance(table, DatabaseTable):
        named = (reading.get("table"), reading.get("query"))
        if settings is not None:
            named = (settings.reading.table, settings.reading.query)
        found = DatabaseTable(table.address, *named)
        problems += found.problems()
        return found
    if "table" in reading:
        problems.append(
            "--table and --query are for databases, but the input is a file. Leave them out."
        )
    return table


def target_table(output: Place | None, name: str | None, problems: list[str]) -> Place | None:
    """Return the output; for a database, with the table to write."""
    from shoal.data.databases.address import DatabaseTable

    if isinstance(output, DatabaseTable):
        return DatabaseTable(output.address, name)
    if name is not None:
        problems.append(
            "--output-table is for databases. Leave it out, or name a database with --output (-o)."
        )
    return output


def engine_of(table: Place, engine: str | None, memory: str | None, problems: list[str]) -> str:
    """Return the engine to use; problems are added to `problems`."""
    from shoal.data.engines.base import read_memory
    from shoal.data.open import engine_for

    try:
        if memory is not None:
            read_memory(memory)
    except InputError as error:
        problems += error.problems
        memory = None
    if not isinstance(table, Path) and table.problems():  # reported elsewhere
        return "memory"
    try:
        return engine_for(table, engine, memory)
    except InputError as error:
        problems += error.problems
    return "memory"


def output_place_problems(
    path: Place | None,
    inputs: Iterable[Place | None],
    overwrite: bool,
    is_table: bool = False,
    may_be_folder: bool = False,
    if_exists: str | None = None,
    source: Place | None = None,
) -> list[str]:
    """Return problems with writing an output. A file that is read is never replaced."""
    from shoal.data.databases.address import DatabaseTable
    from shoal.data.databases.writing import target_problems
    from shoal.data.files import formats

    if isinstance(path, DatabaseTable):
        return target_problems(path, if_exists or "fail", read=_tables_read(source))
    found = []
    if if_exists is not None:
        found.append("--if-exists is for databases. To replace a file, pass --overwrite.")
    if path is None:
        return found
    if may_be_folder and not path.suffix:
        return found + overwrite_problems(path, inputs)
    check = formats.output_problems if is_table else formats.path_problems
    return found + (overwrite_problems(path, inputs) or check(path, overwrite))


def _tables_read(source: Place | None) -> Any:
    """Return the database tables that a source reads; problems with reading them are reported elsewhere."""
    from shoal.data.databases.address import DatabaseTable
    from shoal.data.databases.reading import relations_of

    if not isinstance(source, DatabaseTable) or source.problems():
        return frozenset()
    try:
        return relations_of(source)
    except InputError:
        return frozenset()


def overwrite_problems(path: Place, inputs: Iterable[Place | None]) -> list[str]:
    """Return a problem if a file is both read and written; tables of databases are checked elsewhere."""
    if not isinstance(path, Path) or _real(path) not in {_real(given) for given in inputs if given}:
        return []
    return [f"'{path}' is read by this command and would be lost. Name another output file."]


def named_twice(*outputs: Place | None) -> list[str]:
    """Return problems with files that are named for two outputs."""
    given = [path for path in outputs if path]
    names = [_real(path) for path in given]
    return [
        f"'{path}' is named for two outputs. Name two different files."
        for path in dict.fromkeys(given)
        if names.count(_real(path)) > 1
    ]


def files_read(settings: Any) -> list[Path]:
    """Return the files that settings name: hierarchies and the key file."""
    required = [getattr(item, "hierarchy", None) for item in settings.requirements]
    trees = [*settings.quasi_identifiers.values(), *required]
    sources = [*(getattr(tree, "source", None) for tree in trees), settings.key_file]
    return [Path(source) for source in sources if source]


def _real(place: Place) -> str:
    """Return the real path of a file or of a database file, or the address of a database server."""
    import os

    if isinstance(place, Path):
        return os.path.realpath(place)
    try:
        database = place.database
    except InputError:  # reported elsewhere
        return ""
    return database.identity


if TYPE_CHECKING:
    from shoal.data.databases.address import DatabaseTable

    Named = Any
else:  # typed as text, because typer 0.28 turns every argument of type Path into a Path whatever its parser returns
    Named = str

Place: TypeAlias = "Path | DatabaseTable"


def file_or_database(text: str) -> Place:
    """Return the file or database that was named; other options name the table in a database."""
    from shoal.data.databases.address import DatabaseTable, is_address

    return DatabaseTable(text) if is_address(text) else Path(text)


def place_given(metavar: str, help: str) -> Any:
    """The argument for a table: a path or an address, which typer has no type for."""
    return typer.Argument(parser=file_or_database, metavar=metavar, help=help, show_default=False)


Table = Annotated[
    Named,
    place_given(
        "TABLE",
        "CSV, Parquet, JSON Lines, Excel, SPSS, Stata or SAS file, or a database address: "
        "postgresql://HOST/DATABASE, sqlite:///FILE or duckdb:///FILE.",
    ),
]
Output = Annotated[
    Named | None,
    typer.Option(
        "-o",
        "--output",
        parser=file_or_database,
        metavar="FILE",
        help="File to write, or a database address.",
        show_default=False,
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option("-o", "--output", help="File to write.", show_default=False)
]
OutputTable = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Table to write in a database, such as release.patients."),
]
IfExists = Annotated[
    str | None,
    typer.Option(metavar="WHAT", help="If the table exists: fail (default) or replace."),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option("--settings", help="TOML file with settings; `shoal init` writes one."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also print details.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Report = Annotated[
    Path | None,
    typer.Option(help="Also write a report (HTML) on privacy, loss and risk."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing output files.")]
Certify = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Also report how far the loss can be from the optimum, after this many seconds of computation; 0 is a "
        "quick look.",
    ),
]
SaveSettings = Annotated[
    Path | None, typer.Option(help="Also write the settings, to repeat this run.")
]
SaveRecoding = Annotated[
    Path | None,
    typer.Option(
        help="Also write a file for `shoal apply`, which anonymizes new records in the same way."
    ),
]
SaveMapping = Annotated[
    Path | None,
    typer.Option(
        help="Also write how each value was generalized, with counts. Do not release this file."
    ),
]
Previous = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="History of an earlier release about the same people; repeatable."
    ),
]
SaveHistory = Annotated[
    Path | None,
    typer.Option(
        help="File for the history that the next release needs. Without --previous, this starts a series."
    ),
]
OutputEncoding = Annotated[
    str | None, typer.Option(help="Encoding of the output (default: that of the input).")
]
OutputDelimiter = Annotated[
    str | None, typer.Option(help="Delimiter of the output (default: that of the input).")
]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="memory, duckdb, polars or spark (default: memory, or duckdb for very large files).",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="AMOUNT", help="Memory to use, such as 8GB (default: what is free)."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything and print what a run would do.")
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Also train classifiers to predict this column. Without --holdout, part of ORIGINAL is set aside and "
        "the rest is anonymized again with the settings.",
    ),
]


class GivenSettings(NamedTuple):
    """What the options of a command say about the settings; None for options that are not given."""

    settings: dict[str, Any]  # keyed by parameter of `make_settings`
    problems: list[str]  # sentences about options that cannot be read


def shares_options(
    **groups: Callable[..., Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a function instead of one parameter, and pass it what the function returns.

    For example, `gathers(reading=reading_given)` replaces the parameter `reading` of a command by the options
    --encoding, --delimiter and so on, and passes the command what `reading_given` makes of them.
    """
    own = {name: inspect.signature(f, eval_str=True).parameters for name, f in groups.items()}

    def widened(command: Callable[..., None]) -> Callable[..., None]:
        parameters = []
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
            parameters += list(own[name].values()) if name in own else [parameter]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]

        def run(**values: Any) -> None:
            for name, gather in groups.items():
                values[name] = gather(**{option: values.pop(option) for option in own[name]})
            command(**values)

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return widened


def taking(known: Iterable[Setting], gather: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    """Return a function that takes the options of some settings, for `shares_options`."""

    parameters = {own.name: _parameter(own) for own in known}

    def given(**values: Any) -> Any:
        return gather({name: values[own.name] for name, own in parameters.items()})

    given.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return given


def _parameter(own: Setting) -> inspect.Parameter:
    """Return the option of a setting as a parameter, with a name that no other parameter of a command has."""
    flags = own.flags or (f"--{own.name.replace('_', '-')}",)
    kind = list[str] if own.takes is list else own.takes
    return inspect.Parameter(
        f"{own.section}_{own.name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(*flags, metavar=own.metavar, help=own.help)],
    )


def _settings(values: dict[str, Any]) -> GivenSettings:
    """Return what the options say about the settings."""
    problems: list[str] = []
    known = {**SETTINGS, METHOD_OPTIONS.name: METHOD_OPTIONS}
    return GivenSettings(
        {name: options.read(known[name].kind, value, problems) for name, value in values.items()},
        problems,
    )


def _reading(values: dict[str, Any]) -> dict[str, Any]:
    """Return how to read a file or a database, as far as the options say."""
    said = {name: options.read(READING[name].kind, value, []) for name, value in values.items()}
    found = {name: value for name, value in said.items() if value is not None}
    if "table" in found or "query" in found:  # one replaces the other
        found |= {name: said[name] for name in ("table", "query")}
    return found


METHOD_OPTIONS = Setting(
    "method",
    name="method_options",
    kind="method_options",
    help="Option of the method (of --method, else the one in the settings file, else cover).",
    flags=("--option",),
    metavar="NAME=VALUE",
    takes=list,
)
PROMISE = ("quasi_identifiers", "sensitive", "k", "requirements")  # what a release promises

promise_given = taking([SETTINGS[name] for name in PROMISE], _settings)
release_given = taking([*(own for own in SETTINGS.values() if own.help), METHOD_OPTIONS], _settings)
reading_given = taking(list(READING.values()), _reading)
