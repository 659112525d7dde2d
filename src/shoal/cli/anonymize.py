"""The commands that make a release: `shoal anonymize` and `shoal demo`."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import arguments as a
from shoal.cli import say
from shoal.cli.arguments import GivenSettings, reading_given, release_given, shares_options
from shoal.errors import InputError, raise_problems


@shares_options(given=release_given, reading=reading_given)
def anonymize(
    *,
    table: a.Table,
    output: a.Output = None,
    output_table: a.OutputTable = None,
    if_exists: a.IfExists = None,
    settings: a.SettingsFile = None,
    given: GivenSettings,
    overwrite: a.Overwrite = False,
    certify: a.Certify = None,
    save_settings: a.SaveSettings = None,
    save_recoding: a.SaveRecoding = None,
    save_mapping: a.SaveMapping = None,
    previous: a.Previous = None,
    save_history: a.SaveHistory = None,
    report: a.Report = None,
    reading: dict[str, Any],
    output_encoding: a.OutputEncoding = None,
    output_delimiter: a.OutputDelimiter = None,
    engine: a.Engine = None,
    memory: a.Memory = None,
    dry_run: a.DryRun = False,
    quiet: a.Quiet = False,
    verbose: a.Verbose = False,
    json: a.Json = False,
) -> None:
    """Anonymize a table, check the release, and write it."""
    from shoal.cli.run import Outputs, RunOptions, run_and_save, show_dry_run
    from shoal.data.files.formats import input_problems
    from shoal.reuse.recoding import recoding_problems
    from shoal.settings.settings import make_settings

    problems: list[str] = []
    chosen: Any = None
    wrong: tuple[str, ...] = ()  # problems in the settings
    try:
        series = True if save_history else None
        chosen = make_settings(settings, reading, **given.settings, series=series)
    except InputError as error:
        wrong = error.problems
    is_unknown = chosen is None and settings is not None and "table" not in reading
    source = a.chosen_table(table, chosen, reading, [] if is_unknown else problems)
    target = a.target_table(output, output_table, problems)
    on = a.engine_of(source, engine, memory, problems)
    if isinstance(source, Path) and on == "memory" and engine in (None, "memory"):
        problems += input_problems(source)
    problems += a.output_place_problems(
        target,
        [source, settings],
        overwrite,
        is_table=True,
        may_be_folder=on != "memory",
        if_exists=if_exists,
        source=source,
    )
    problems += a.output_place_problems(save_settings, [source], overwrite)
    for path in (report, save_recoding, save_history):
        problems += a.output_place_problems(path, [source, settings], overwrite)
    problems += a.output_place_problems(save_mapping, [source, settings], overwrite, is_table=True)
    outputs = (target, save_settings, report, save_recoding, save_history, save_mapping)
    problems += a.named_twice(*outputs)
    if previous and save_history is None:
        problems.append(
            "With --previous, the next release needs a new history. Name a file with --save-history; to replace "
            "the old history, name its file and add --overwrite."
        )
    if on != "memory" and (save_recoding or save_history or save_mapping):
        problems.append(
            "--save-recoding, --save-history and --save-mapping only work in memory. Leave them out, or add "
            "--engine memory."
        )
    if target is None and not dry_run:
        problems.append("No output is named. Name a file with --output (-o).")
    problems += [*given.problems, *wrong]
    if chosen is not None:
        written: tuple[Any, ...] = outputs
        for place in filter(None, written):
            problems += a.overwrite_problems(place, a.files_read(chosen))
        problems += recoding_problems(chosen) if save_recoding else []
    if certify is not None and not 0 <= certify < inf:
        problems.append("--certify must be a number of seconds, 0 or more.")
    raise_problems(problems)
    wanted = Outputs(
        *outputs,
        overwrite=overwrite,
        delimiter=output_delimiter,
        encoding=output_encoding,
        certify=certify,
        previous=previous or ([] if save_history else None),
        if_exists=if_exists or "fail",
    )
    work = show_dry_run if dry_run else run_and_save
    work(source, chosen, wanted, RunOptions(on, memory, quiet, verbose, json))


def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for the release.")] = Path("shoal-demo"),
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Anonymize the sample table: 48,842 people from a US census."""
    from shoal import samples
    from shoal.cli.run import Outputs, RunOptions, run_and_save
    from shoal.settings.settings import make_settings

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Folder '{folder}' cannot be created: {error.strerror}. Choose another folder."
        ) from None
    if not (quiet or json):
        say(
            "The sample is UCI Adult (Becker & Kohavi 1996, CC BY 4.0). Others may know eight columns "
            "(quasi-identifiers); income is sensitive; k = 10."
        )
    output, settings = folder / "adult-release.csv", folder / "adult-release.toml"
    report = folder / "adult-report.html"
    wanted = Outputs(output, settings, report, overwrite=True)
    how = RunOptions(quiet=quiet, json=json)
    run_and_save(samples.adult(), make_settings(samples.adult_settings()), wanted, how)
