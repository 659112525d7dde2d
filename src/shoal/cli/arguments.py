"""What commands share: arguments and options with their help, and checks of the files that they write."""

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
    """The table that is meant: of a database the one that the options or else the settings name."""
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
            "--table and --query are about databases, and this table is a file; leave them out."
        )
    return table


def target_table(output: Place | None, name: str | None, problems: list[str]) -> Place | None:
    """The table of a database that is meant to be written; any other output as it is."""
    from shoal.data.databases.address import DatabaseTable

    if isinstance(output, DatabaseTable):
        return DatabaseTable(output.address, name)
    if name is not None:
        problems.append(
            "--output-table is about databases, and the output is none; name a database with -o."
        )
    return output


def engine_of(table: Place, engine: str | None, memory: str | None, problems: list[str]) -> str:
    """The engine that a table is worked on with; what is wrong with it is added to `problems`."""
    from shoal.data.engines.base import read_memory
    from shoal.data.open import engine_for

    try:
        if memory is not None:
            read_memory(memory)
    except InputError as error:
        problems += error.problems
        memory = None
    if not isinstance(table, Path) and table.problems():  # which stand elsewhere
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
    """Sentences for why a file or a table of a database cannot be written; what is read is never replaced."""
    from shoal.data.databases.address import DatabaseTable
    from shoal.data.databases.writing import target_problems
    from shoal.data.files import formats

    if isinstance(path, DatabaseTable):
        return target_problems(path, if_exists or "fail", read=_tables_read(source))
    found = []
    if if_exists is not None:
        found.append("--if-exists is about databases, and the output is none; pass --overwrite.")
    if path is None:
        return found
    if may_be_folder and not path.suffix:
        return found + overwrite_problems(path, inputs)
    check = formats.output_problems if is_table else formats.path_problems
    return found + (overwrite_problems(path, inputs) or check(path, overwrite))


def _tables_read(source: Place | None) -> Any:
    """The tables of a database that are read for a source; what keeps them from being read is said elsewhere."""
    from shoal.data.databases.address import DatabaseTable
    from shoal.data.databases.reading import relations_of

    if not isinstance(source, DatabaseTable) or source.problems():
        return frozenset()
    try:
        return relations_of(source)
    except InputError:
        return frozenset()


def overwrite_problems(path: Place, inputs: Iterable[Place | None]) -> list[str]:
    """A sentence if a file is both read and to be written; of databases, single tables are looked at elsewhere."""
    if not isinstance(path, Path) or _real(path) not in {_real(given) for given in inputs if given}:
        return []
    return [f"'{path}' is read by this command and would be lost; name another file to write."]


def named_twice(*outputs: Place | None) -> list[str]:
    """Sentences for files that are named for two outputs."""
    given = [path for path in outputs if path]
    names = [_real(path) for path in given]
    return [
        f"'{path}' is named for two outputs; name two files."
        for path in dict.fromkeys(given)
        if names.count(_real(path)) > 1
    ]


def files_read(settings: Any) -> list[Path]:
    """The files that settings name: hierarchies of quasi-identifiers and requirements, and that of the key."""
    required = [getattr(item, "hierarchy", None) for item in settings.requirements]
    trees = [*settings.quasi_identifiers.values(), *required]
    sources = [*(getattr(tree, "source", None) for tree in trees), settings.key_file]
    return [Path(source) for source in sources if source]


def _real(place: Place) -> str:
    """What a path leads to; the file of a database, or its address."""
    import os

    if isinstance(place, Path):
        return os.path.realpath(place)
    try:
        database = place.database
    except InputError:  # said elsewhere
        return ""
    return database.identity


if TYPE_CHECKING:
    from shoal.data.databases.address import DatabaseTable

    Named = Any
else:  # for typer, a text: of what is said to be a path, typer 0.28 makes one whatever the parser returns
    Named = str

Place: TypeAlias = "Path | DatabaseTable"


def file_or_database(text: str) -> Place:
    """The file or the database that was named; which table of it is meant other options say."""
    from shoal.data.databases.address import DatabaseTable, is_address

    return DatabaseTable(text) if is_address(text) else Path(text)


def place_given(metavar: str, help: str) -> Any:
    """The argument that names a table: a path or an address, which typer has no type for."""
    return typer.Argument(parser=file_or_database, metavar=metavar, help=help, show_default=False)


Table = Annotated[
    Named,
    place_given(
        "TABLE",
        "CSV, Parquet, JSON-lines, Excel, SPSS, Stata or SAS file, or the address of a database: "
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
        help="File to write, or the address of a database.",
        show_default=False,
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option("-o", "--output", help="File to write.", show_default=False)
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


class GivenSettings(NamedTuple):
    """What the options of a command say about the settings, None where they say nothing."""

    settings: dict[str, Any]  # by the name of the parameter of `make_settings`
    problems: list[str]  # sentences for what cannot be read


def shares_options(
    **groups: Callable[..., Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command takes the options of a function in place of one parameter, and gets what it returns there.

    For example, `gathers(reading=reading_given)` turns the parameter `reading` of a command into the
    options --encoding, --delimiter and so on, and hands the command what `reading_given` makes of them.
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
    """A function that takes the options of some settings, for `shares_options`."""

    parameters = {own.name: _parameter(own) for own in known}

    def given(**values: Any) -> Any:
        return gather({name: values[own.name] for name, own in parameters.items()})

    given.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return given


def _parameter(own: Setting) -> inspect.Parameter:
    """The option of a setting as a parameter, whose name no other parameter of a command has."""
    flags = own.flags or (f"--{own.name.replace('_', '-')}",)
    kind = list[str] if own.takes is list else own.takes
    return inspect.Parameter(
        f"{own.section}_{own.name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(*flags, metavar=own.metavar, help=own.help)],
    )


def _settings(values: dict[str, Any]) -> GivenSettings:
    """What the options say about the settings."""
    problems: list[str] = []
    known = {**SETTINGS, METHOD_OPTIONS.name: METHOD_OPTIONS}
    return GivenSettings(
        {name: options.read(known[name].kind, value, problems) for name, value in values.items()},
        problems,
    )


def _reading(values: dict[str, Any]) -> dict[str, Any]:
    """How to read a file or a database, as far as the options say."""
    said = {name: options.read(READING[name].kind, value, []) for name, value in values.items()}
    found = {name: value for name, value in said.items() if value is not None}
    if "table" in found or "query" in found:  # one takes the place of the other
        found |= {name: said[name] for name in ("table", "query")}
    return found


METHOD_OPTIONS = Setting(
    "method",
    name="method_options",
    kind="method_options",
    help="Option of the method: of --method, of the settings file's, or else of cover.",
    flags=("--option",),
    metavar="NAME=VALUE",
    takes=list,
)
PROMISE = ("quasi_identifiers", "sensitive", "k", "requirements")  # what a release is said to keep

promise_given = taking([SETTINGS[name] for name in PROMISE], _settings)
release_given = taking([*(own for own in SETTINGS.values() if own.help), METHOD_OPTIONS], _settings)
reading_given = taking(list(READING.values()), _reading)
