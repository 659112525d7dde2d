"""The commands."""

from __future__ import annotations

from json import dumps
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import __version__
from shoal.cli import options, outputs, say
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
        metavar="COLUMN[:MODEL[:FILE]]",
        help="Column to generalize; MODEL is suppression, interval, subset, order[:FILE], hierarchy:FILE; repeatable.",
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
        metavar="COLUMN",
        help="Column that may be released although it betrays something; repeatable.",
    ),
]
Encoding = Annotated[str | None, typer.Option(help="Of the file, like cp1252; usually UTF-8.")]
Delimiter = Annotated[str | None, typer.Option(help="Between fields, like ';' or tab.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal sign of numbers, '.' or ','.")]
DateFormat = Annotated[str | None, typer.Option(help="How dates are written, like %d.%m.%Y.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook; usually the first.")]
Missing = Annotated[
    str | None, typer.Option(help="Texts that stand for a missing value, like '?,97,98,99'.")
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
        say(f"shoal {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


@app.command()
def anonymize(
    table: Table,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write.", show_default=False)
    ] = None,
    settings: SettingsFile = None,
    quasi_identifier: Columns = None,
    sensitive: Sensitive = None,
    identifier: Annotated[
        list[str] | None,
        typer.Option("-i", "--identifier", metavar="COLUMN", help="Column to remove; repeatable."),
    ] = None,
    keep: Keep = None,
    others: Others = None,
    allow: Allow = None,
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
    loosen: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of general values that shall be more general than their group needs.",
        ),
    ] = None,
    render: Annotated[
        str | None, typer.Option(help="text, or bounds: two columns per interval or order.")
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
    title: Annotated[
        str | None, typer.Option(help="What the release is about, for the report.")
    ] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    sheet: Sheet = None,
    missing: Missing = None,
    output_encoding: Annotated[
        str | None, typer.Option(help="Of the output, if not the input's.")
    ] = None,
    output_delimiter: Annotated[
        str | None, typer.Option(help="Of the output, if not the input's.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and say what would be done.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Anonymize a table and write the release once it is proved."""
    from shoal.cli.run import Outputs, look_ahead, run
    from shoal.settings import make_settings

    problems = outputs.place_problems(output, [table, settings], overwrite, is_table=True)
    problems += outputs.place_problems(save_settings, [table], overwrite)
    problems += outputs.place_problems(report, [table, settings], overwrite)
    problems += outputs.named_twice(output, save_settings, report)
    if output is None and not dry_run:
        problems.append("There is no output; name a file with -o.")
    given: dict[str, Any] = {
        "quasi_identifiers": options.models(quasi_identifier, problems),
        "sensitive": sensitive or None,
        "identifiers": identifier or None,
        "keep": keep or None,
        "others": others,
        "allow": allow or None,
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
        "loosen": loosen,
        "render": render,
        "title": title,
    }
    reading = options.reading(encoding, delimiter, decimal, date_format, sheet, missing)
    try:
        chosen: Any = make_settings(settings, reading, **given)
        for path in filter(None, (output, save_settings, report)):
            problems += outputs.lost(path, outputs.files_read(chosen))
    except InputError as error:
        problems += error.problems
    if certify is not None and not 0 <= certify < inf:
        problems.append("The --certify option must be a number of seconds, 0 or more.")
    raise_problems(problems)
    wanted = Outputs(
        output, save_settings, report, overwrite, output_delimiter, output_encoding, certify
    )
    if dry_run:
        look_ahead(table, chosen, wanted, json)
    else:
        run(table, chosen, wanted, quiet, verbose, json)


@app.command()
def audit(
    table: Table,
    settings: SettingsFile = None,
    quasi_identifier: Columns = None,
    sensitive: Sensitive = None,
    k: K = None,
    require: Require = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    sheet: Sheet = None,
    missing: Missing = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Prove that a table keeps its requirements, or exit with 3."""
    from shoal.cli.show import audited
    from shoal.examine import examine_table
    from shoal.settings import make_settings

    problems: list[str] = []
    models = options.models(quasi_identifier, problems)
    required = options.requirements(require, problems)
    raise_problems(problems)
    promised = make_settings(
        settings,
        options.reading(encoding, delimiter, decimal, date_format, sheet, missing),
        quasi_identifiers=models,
        sensitive=sensitive or None,
        k=k,
        requirements=required,
    )
    verdict = examine_table(table, promised, keeps_sheet=sheet is not None)
    if json and not quiet:
        say(dumps({"table": str(table), **verdict.to_dict()}))
    if not verdict.is_proved:
        for failure in verdict.failures:
            say(f"shoal: {failure}", error=True)
        raise typer.Exit(3)
    if not (quiet or json):
        audited(verdict.audit)


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
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    sheet: Sheet = None,
    missing: Missing = None,
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
    from shoal._evaluate import evaluate as compare
    from shoal.cli.evaluated import show_evaluation
    from shoal.settings import make_settings

    problems = outputs.place_problems(report, [table, release, settings, holdout], overwrite)
    if holdout and target is None:
        problems.append("A --holdout is to test classifiers on; name the column with --target.")
    models = options.models(quasi_identifier, problems)
    required = options.requirements(require, problems)
    raise_problems(problems)
    chosen = make_settings(
        settings,
        options.reading(encoding, delimiter, decimal, date_format, sheet, missing),
        quasi_identifiers=models,
        sensitive=sensitive or None,
        k=k,
        requirements=required,
    )
    raise_problems(outputs.lost(report, outputs.files_read(chosen)) if report else [])
    found = compare(
        table,
        release,
        settings=chosen,
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
    if not found.verdict.is_proved:
        for failure in found.verdict.failures:
            say(f"shoal: {failure}", error=True)
        raise typer.Exit(3)


@app.command()
def init(
    table: Table,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    sheet: Sheet = None,
    missing: Missing = None,
) -> None:
    """Write a settings file with suggested roles and the reason for each, to be read and corrected."""
    from shoal.cli.suggested import tell
    from shoal.io import write_text
    from shoal.settings.reading import read_input
    from shoal.suggesting import suggest

    target = output or Path(table.name.split(".")[0] + ".toml")
    problems = outputs.place_problems(target, [table], overwrite)
    reading = read_input(
        options.reading(encoding, delimiter, decimal, date_format, sheet, missing), problems
    )
    raise_problems(problems)
    found = suggest(table, input=reading)
    write_text(found.to_toml(table.name), target, overwrite)
    tell(found, table, target)


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
    from shoal.cli.run import Outputs, run
    from shoal.settings import make_settings

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Folder '{folder}' cannot be made: {error.strerror}; choose another."
        ) from None
    if not (quiet or json):
        say(
            "The sample: UCI Adult (Becker & Kohavi 1996, CC BY 4.0), eight quasi-identifiers, "
            "income sensitive, k = 10."
        )
    output, settings = folder / "adult-release.csv", folder / "adult-release.toml"
    report = folder / "adult-report.html"
    wanted = Outputs(output, settings, report, overwrite=True)
    run(samples.adult(), make_settings(samples.adult_settings()), wanted, quiet, False, json)


@app.command()
def compile(
    everything: Annotated[
        bool, typer.Option("--all", help="Kernels of all methods, not of the default one alone.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many compile at once; usually all processors.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Compile kernels now, so that the first run need not."""
    from shoal.cli.first_run import compile_kernels

    compile_kernels(everything, processes, quiet)


@app.command()
def doctor(json: Json = False) -> None:
    """Say which versions and compiled kernels are in use and what the next run will compile."""
    from shoal.cli.first_run import examine

    examine(json)


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
    from shoal.listing import list_measures

    listing(list_measures())
