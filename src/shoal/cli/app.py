"""The commands."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import __version__
from shoal.cli import options
from shoal.errors import InputError, raise_problems

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE", help="CSV, Parquet, JSON-lines or Excel file.", show_default=False
    ),
]
SettingsFile = Annotated[
    Path | None, typer.Option("--settings", help="TOML file, see `shoal init`.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")]
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
        metavar="COLUMN[:MODEL[:FILE]]",
        help="Column to generalize, repeatable; MODEL is suppression, interval, subset or hierarchy:FILE.",
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "-s", "--sensitive", metavar="COLUMN", help="Column to release unchanged; repeatable."
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME:KEY=VALUE",
        help="Requirement beyond k, repeatable, see `shoal requirements`; e.g. diversity:l=3:kind=entropy.",
    ),
]


@app.callback(invoke_without_command=True)
def shoal(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Make tables about people releasable."""
    if version:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


@app.command()
def anonymize(
    table: Table,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write.", show_default=False)
    ],
    settings: SettingsFile = None,
    quasi_identifier: Columns = None,
    sensitive: Sensitive = None,
    identifier: Annotated[
        list[str] | None,
        typer.Option("-i", "--identifier", metavar="COLUMN", help="Column to remove; repeatable."),
    ] = None,
    k: K = None,
    require: Require = None,
    suppression_limit: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Largest share of records that may be left out."),
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="Measure to minimize, see `shoal measures`.")
    ] = None,
    w: Annotated[float | None, typer.Option("--w", help="Share of mi in objective wmi.")] = None,
    weight: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=NUMBER", help="How much a column matters.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="See `shoal methods`.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Option of the method.")
    ] = None,
    refine: Annotated[
        str | None,
        typer.Option(
            metavar="HOW_LONG",
            help="How long to improve the groups: quick, off, a number of seconds, or steps=NUMBER.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes chance repeatable.")] = None,
    keep_order: Annotated[
        bool | None,
        typer.Option("--keep-order/--shuffle", help="Keep the order of records (can identify)."),
    ] = None,
    render: Annotated[
        str | None, typer.Option(help="text, or bounds: two columns per interval.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    certify: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Say how far from the optimum the loss can be; 0 is a quick look, more is sharper.",
        ),
    ] = None,
    save_settings: Annotated[
        Path | None, typer.Option(help="Also write the settings that make this release again.")
    ] = None,
    report: Report = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Anonymize a table and write the release once it is proved."""
    from shoal.io import output_problems
    from shoal.settings import make_settings

    problems = _lost(output, [table, settings]) or output_problems(output, overwrite)
    problems += _place_problems(save_settings, [table], overwrite)
    problems += _place_problems(report, [table, settings], overwrite)
    problems += _twice(output, save_settings, report)
    given: dict[str, Any] = {
        "quasi_identifiers": options.models(quasi_identifier, problems),
        "sensitive": sensitive or None,
        "identifiers": identifier or None,
        "k": k,
        "requirements": options.requirements(require, problems),
        "suppression_limit": suppression_limit,
        "objective": objective,
        "w": w,
        "weights": options.weights(weight, problems),
        "method": options.method(method, option, problems),
        "refine": options.refine(refine, problems),
        "seed": seed,
        "keep_order": keep_order,
        "render": render,
    }
    try:
        chosen: Any = make_settings(settings, **given)
        for path in filter(None, (output, save_settings, report)):
            problems += _lost(path, _hierarchies(chosen))
    except InputError as error:
        problems += error.problems
    if certify is not None and not 0 <= certify < inf:
        problems.append("The --certify option must be a number of seconds, 0 or more.")
    raise_problems(problems)
    _run(table, output, chosen, overwrite, save_settings, report, quiet, json, certify)


def _place_problems(path: Path | None, inputs: Sequence[Path | None], overwrite: bool) -> list[str]:
    """Sentences for why a file cannot be written; what is read is never replaced."""
    from shoal.io import place_problems

    return (_lost(path, inputs) or place_problems(path, overwrite)) if path else []


def _lost(path: Path, inputs: Sequence[Path | None]) -> list[str]:
    """A sentence if a file is both read and to be written."""
    if path.resolve() not in {given.resolve() for given in inputs if given}:
        return []
    return [f"'{path}' is read by this command and would be lost; name another file to write."]


def _twice(*outputs: Path | None) -> list[str]:
    """Sentences for files that are named for two outputs."""
    names = [path.resolve() for path in outputs if path]
    return [
        f"'{path}' is named for two outputs; name two files."
        for path in dict.fromkeys(path for path in outputs if path)
        if names.count(path.resolve()) > 1
    ]


def _hierarchies(settings: Any) -> list[Path]:
    """The hierarchy files that settings name."""
    sources = [getattr(model, "source", None) for model in settings.quasi_identifiers.values()]
    return [Path(source) for source in sources if source]


def _run(
    table: Any,
    output: Path,
    settings: Any,
    overwrite: bool,
    save_settings: Path | None,
    report: Path | None,
    quiet: bool,
    json: bool,
    certify: float | None = None,
) -> None:
    """Anonymize, write and tell."""
    from shoal.anonymize import anonymize as run
    from shoal.cli.show import progress_bar, summary

    start = time.perf_counter()
    with progress_bar(quiet or json) as progress:
        release = run(table, settings=settings, progress=progress)
        progress("writing", 0, 1)
        release.save(output, overwrite=overwrite)
        if save_settings:
            release.settings.save(save_settings)
        if certify is not None and (report or not quiet):
            progress("bounding the loss", 0, 1)
            if release.certificate and certify:
                release.certify(certify, progress=progress)
        if report:
            progress("reporting", 0, 1)
            release.save_report(report, overwrite=overwrite)
    if not quiet:
        seconds = time.perf_counter() - start
        summary(release, output, seconds, json, certify is not None, report)


@app.command()
def audit(
    table: Table,
    settings: SettingsFile = None,
    quasi_identifier: Columns = None,
    sensitive: Sensitive = None,
    k: K = None,
    require: Require = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Prove that a table keeps its requirements, or exit with 3."""
    from shoal.anonymize import audit as prove
    from shoal.cli.show import audited

    problems: list[str] = []
    models = options.models(quasi_identifier, problems)
    required = options.requirements(require, problems)
    raise_problems(problems)
    proved = prove(
        table,
        settings=settings,
        quasi_identifiers=models,
        sensitive=sensitive or None,
        k=k,
        requirements=required,
    )
    if not quiet:
        audited(proved, table, json)


@app.command()
def evaluate(
    table: Annotated[
        Path, typer.Argument(metavar="ORIGINAL", help="The original table.", show_default=False)
    ],
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A release of it.", show_default=False)
    ],
    settings: SettingsFile = None,
    quasi_identifier: Columns = None,
    sensitive: Sensitive = None,
    k: K = None,
    require: Require = None,
    queries: Annotated[int, typer.Option(help="Random queries to answer, 0 for none.")] = 1000,
    sum_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Numbers that SUM queries add up.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Also train classifiers for this column; without --holdout, part of ORIGINAL is "
            "set aside and the rest anonymized anew by the settings.",
        ),
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option(help="Original records outside the release to test on.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes chance repeatable.")] = 0,
    report: Report = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the report.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare a release with its original: is it safe, is it still useful? Exits with 3 if it misses a requirement."""
    from shoal.cli.evaluated import show_evaluation
    from shoal.evaluate import evaluate as compare

    problems = _place_problems(report, [table, release, settings, holdout], overwrite)
    if holdout and target is None:
        problems.append("A --holdout is to test classifiers on; name the column with --target.")
    models = options.models(quasi_identifier, problems)
    required = options.requirements(require, problems)
    raise_problems(problems)
    found = compare(
        table,
        release,
        settings=settings,
        quasi_identifiers=models,
        sensitive=sensitive or None,
        k=k,
        requirements=required,
        queries=queries,
        sum_column=sum_column,
        target=target,
        holdout=holdout,
        seed=seed,
    )
    if report:
        found.save_report(report, overwrite=overwrite)
    if not quiet:
        show_evaluation(found, json, report)
    found.verdict.prove()


@app.command()
def init(
    table: Table,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
) -> None:
    """Write a settings file with guessed roles, to be corrected."""
    from shoal.anonymize import open_table
    from shoal.cli.guess import guessed_settings
    from shoal.io import write_text

    target = output or Path(table.name.split(".")[0] + ".toml")
    raise_problems(_place_problems(target, [table], overwrite))
    write_text(guessed_settings(open_table(table), table.name), target, overwrite)
    typer.echo(
        f"Wrote {target}. Check every role in it, then run:\n"
        f"  shoal anonymize {shlex.quote(str(table))} --settings {shlex.quote(str(target))} --output release.csv"
    )


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to write the release.")] = Path(
        "shoal-demo"
    ),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Anonymize the sample table, 48,842 people of a US census."""
    from shoal import samples

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Folder '{folder}' cannot be made: {error.strerror}; choose another."
        ) from None
    if not (quiet or json):
        typer.echo(
            "The sample: UCI Adult (Becker & Kohavi 1996, CC BY 4.0), eight quasi-identifiers, "
            "income sensitive, k = 10."
        )
    output, settings = folder / "adult-release.csv", folder / "adult-release.toml"
    report = folder / "adult-report.html"
    _run(samples.adult(), output, samples.adult_settings(), True, settings, report, quiet, json)


@app.command()
def methods() -> None:
    """List the methods: paper, recoding, guarantee, growth in n, options."""
    from shoal.cli.show import blocks
    from shoal.listing import method_facts

    blocks(method_facts())


@app.command()
def requirements() -> None:
    """List the requirements beyond k with their parameters."""
    from shoal.cli.show import blocks
    from shoal.listing import requirement_facts

    blocks(requirement_facts())


@app.command()
def measures() -> None:
    """List the measures of information loss."""
    from shoal.cli.show import listing
    from shoal.listing import measures as known

    listing(known())
