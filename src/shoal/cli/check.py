"""The commands that check a finished release: `shoal audit` and `shoal evaluate`."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.sax.saxutils import escape, quoteattr

import typer

from shoal.cli import arguments as a
from shoal.cli import say
from shoal.cli.arguments import GivenSettings, promise_given, reading_given, shares_options
from shoal.errors import InputError, raise_problems

if TYPE_CHECKING:
    from shoal.audits.verdict import Examination, Verdict
    from shoal.encoding.frames import Frame
    from shoal.errors import ShoalError


def junit_of(name: str, examination: Examination, k: int) -> str:
    """One test each for k, the requirements and the verdict; what is not met fails."""
    tests = [f"k = {k}", *(proof.requirement for proof in examination.audit.proofs)]
    cases = [
        _case(name, test, f"<failure message={_attribute(miss)}/>" if miss else "")
        for test, miss in zip(tests, examination.misses, strict=True)
    ]
    failures = sum(bool(miss) for miss in examination.misses)
    verdict = examination.audit.verdict
    if verdict is not None:
        said = escape(_plain("\n".join((verdict.sentence, *verdict.reasons))))
        is_bare = not verdict.is_proved and not failures  # k = 1
        inside = f"<failure message={_attribute(said)}/>" if is_bare else ""
        cases.append(_case(name, "verdict", inside or f"<system-out>{said}</system-out>"))
        failures += is_bare
    return _suite(name, cases, failures=failures)


def junit_of_error(name: str, error: ShoalError) -> str:
    """One test that could not run, or failed before anything was counted."""
    from shoal.errors import AuditFailed

    has_failed = isinstance(error, AuditFailed)
    kind, text = "failure" if has_failed else "error", escape(_plain(str(error)))
    message = _attribute(type(error).__name__)
    case = _case(name, "audit", f"<{kind} message={message}>{text}</{kind}>")
    return _suite(name, [case], failures=int(has_failed), errors=int(not has_failed))


def _suite(name: str, cases: list[str], failures: int = 0, errors: int = 0) -> str:
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    inside = "\n".join(cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n<testsuite name={_attribute(name)} {counts}>\n{inside}\n</testsuite>\n"
        "</testsuites>\n"
    )


def _case(suite: str, name: str, inside: str) -> str:
    return f"  <testcase classname={_attribute(suite)} name={_attribute(name)}>{inside}</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_plain(text))


def _plain(text: str) -> str:
    """Return a text without characters that XML does not allow."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


BOUNDED = (
    "interval",
    "order",
)  # models of columns that `render = "bounds"` releases as two columns


@shares_options(given=promise_given, reading=reading_given)
def audit(
    *,
    table: a.Table,
    settings: a.SettingsFile = None,
    given: GivenSettings,
    previous: a.Previous = None,
    reading: dict[str, Any],
    junit: Annotated[
        Path | None, typer.Option(help="Also write JUnit XML, which build servers show as tests.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Also write a report (HTML) that needs no original, whether or not the release passes."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the report if it exists.")
    ] = False,
    print_sql: Annotated[
        bool,
        typer.Option(
            "--print-sql",
            help="Only print SQL that finds unmet requirements in a database; TABLE is the table's name there.",
        ),
    ] = False,
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Check that a release meets its requirements.

    Exit code 3 if it does not.
    """
    from shoal.cli.show import show_audit
    from shoal.settings.settings import make_settings

    problems = a.output_place_problems(junit, [table, settings], overwrite=True)
    problems += a.output_place_problems(report, [table, settings], overwrite)
    problems += a.named_twice(report, junit)
    source = table if print_sql else a.chosen_table(table, None, reading, problems)
    if print_sql and (junit or previous or report):
        problems.append(
            "--print-sql only prints a query and checks nothing. Leave --junit, --previous and --report out."
        )
    raise_problems(problems + given.problems)
    promised = make_settings(settings, reading, **given.settings)
    if print_sql:
        say(_sql(str(table), promised))
        return
    frame, examination = _examined(source, promised, previous, junit, "sheet" in reading)
    if report:
        from shoal.report.check import write_check_report

        write_check_report(frame, promised, examination, report, overwrite)
    if json and not quiet:
        say(dumps({"table": str(source), **examination.to_dict()}))
    assert examination.audit.verdict is not None
    _exit_unless_proved(examination.audit.verdict)
    if not (quiet or json):
        show_audit(examination.audit)


def _examined(
    table: a.Place,
    promised: Any,
    previous: list[Path] | None,
    junit: Path | None,
    keeps_sheet: bool,
) -> tuple[Frame, Examination]:
    """Examine a file, and in any case write the JUnit XML if it was asked for."""
    from shoal.data.files.table_file import write_text
    from shoal.errors import ShoalError
    from shoal.pipeline.prove import examine_table
    from shoal.pipeline.series.next_release import audit_earlier_release

    try:
        frame, examination = examine_table(table, promised, keeps_sheet=keeps_sheet)
        if previous:
            examination = audit_earlier_release(table, examination, previous, promised)
    except ShoalError as error:
        if junit:
            write_text(junit_of_error(str(table), error), junit, overwrite=True)
        raise
    if junit:
        write_text(junit_of(str(table), examination, promised.k), junit, overwrite=True)
    return frame, examination


def _sql(relation: str, promised: Any) -> str:
    """Return the audit of a database table as a query."""
    from shoal.audits.sql import audit_sql
    from shoal.encoding.render import bound_names

    if promised.person:
        raise InputError(
            "SQL cannot count people without the column that identifies them. Leave 'person' out, or check the "
            "file with shoal."
        )
    columns = list(promised.quasi_identifiers)
    if promised.render == "bounds":
        columns = [
            name
            for column, model in promised.quasi_identifiers.items()
            for name in (bound_names(column) if getattr(model, "name", "") in BOUNDED else [column])
        ]
    return audit_sql(relation, columns, promised.k, promised.requirements, promised.sensitive)


@shares_options(given=promise_given, reading=reading_given)
def evaluate(
    *,
    table: Annotated[
        a.Named,
        a.place_given("ORIGINAL", "Original table: a file or a database address."),
    ],
    release: Annotated[a.Named, a.place_given("RELEASE", "A release of it.")],
    release_table: Annotated[
        str | None, typer.Option(metavar="NAME", help="Table of RELEASE in a database.")
    ] = None,
    settings: a.SettingsFile = None,
    given: GivenSettings,
    reading: dict[str, Any],
    queries: Annotated[
        int, typer.Option(help="Number of random queries to compare; 0 for none.")
    ] = 1000,
    sum_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Numeric columns for SUM queries.")
    ] = None,
    target: a.Target = None,
    holdout: Annotated[
        Path | None, typer.Option(help="Original records that are not in the release, for testing.")
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            metavar="PEOPLE",
            help="Population that ORIGINAL was sampled from, to estimate the risk for it: a file with everyone, the "
            "number of people, or the share in ORIGINAL, such as 0.1.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the random numbers; the same seed gives the same result.")
    ] = 0,
    report: a.Report = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the report if it exists.")
    ] = False,
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Show how safe and how useful a release is.

    Compares the release with its original. Exit code 3 if a requirement is not met.
    """
    from shoal.api.evaluate import evaluate as compare
    from shoal.cli.show import show_evaluation
    from shoal.data.databases.address import is_address
    from shoal.settings.settings import make_settings

    problems = a.output_place_problems(report, [table, release, settings, holdout], overwrite)
    problems += [
        f"{option} needs a file. Export the table to a file, or use a shoal.DatabaseTable in Python."
        for option, given_place in (("--holdout", holdout), ("--population", _people(population)))
        if is_address(given_place)
    ]
    if holdout and target is None:
        problems.append(
            "--holdout is for testing classifiers. Name the column to predict with --target."
        )
    problems += given.problems
    chosen: Any = None
    try:
        chosen = make_settings(settings, reading, **given.settings)
    except InputError as error:
        problems += error.problems
    original = a.chosen_table(table, chosen, reading, problems)
    named = {} if release_table is None else {"table": release_table}
    released = a.chosen_table(release, None, named, problems)
    raise_problems(problems)
    raise_problems(a.overwrite_problems(report, a.files_read(chosen)) if report else [])
    found = compare(
        original,
        released,
        settings=chosen,
        queries=queries,
        sum_column=sum_column,
        target=target,
        holdout=holdout,
        population=_people(population),
        seed=seed,
    )
    if report:
        found.save_report(report, overwrite=overwrite)
    if not quiet:
        show_evaluation(found, json, report)
    _exit_unless_proved(found.verdict)


def _people(given: str | None) -> Path | float | None:
    """Return a number of people, the sampled share, or the file that lists the population."""
    if given is None:
        return None
    try:
        return float(given)
    except ValueError:
        return Path(given)


def _exit_unless_proved(verdict: Verdict) -> None:
    """Print the requirements that are not met and exit with 3."""
    if not verdict.is_proved:
        for failure in verdict.failures or [verdict.sentence]:
            say(f"shoal: {failure}", error=True)
        raise typer.Exit(3)
