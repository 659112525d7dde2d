"""Prints runs, evaluations and suggestions: progress bars, then a summary."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shoal.api.evaluation import Evaluation
from shoal.api.release import Release
from shoal.api.summary import brief_lines, coarsened_lines, evaluation_lines, levels
from shoal.audits.verdict import Audit
from shoal.cli import say
from shoal.cli.arguments import Place
from shoal.data.databases.address import DatabaseTable, without_password
from shoal.errors import counted, listed
from shoal.pipeline.plan import Estimate, Plan
from shoal.progress import COMPILING, STAGES, STEP_WORDS, silent, stage_in_words, step_of
from shoal.progress import Progress as Report
from shoal.suggestions.meaning import names_with_batteries
from shoal.suggestions.suggest import Suggestions
from shoal.suggestions.toml import list_lines

if TYPE_CHECKING:
    from shoal.cli.run import Outputs, RunOptions

IN_RECORDS = ("reading", "reducing", "rendering")  # stages of large tables that count records
SOON = 2.0  # seconds without a line in a log
EVERY = 10.0  # seconds between two lines about one stage in a log


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Report]:
    """Show a progress bar on standard error, or print lines if standard error is a log."""
    console = Console(stderr=True)
    if quiet:
        yield silent
        return
    if not console.is_terminal:
        yield _Log()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("starting", total=None)
        step = [0]

        def report(stage: str, done: int, total: int) -> None:
            known = total if total > 1 else None
            step[0] = step_of(stage) or step[0]
            count = f": {done} of {total}" if stage == COMPILING and known else ""
            if stage in IN_RECORDS and done > 1:
                count = f": {counted(done, 'record')}"
            words = f"{stage_in_words(stage)}{count}"
            words = f"step {step[0]} of {len(STEP_WORDS)}: {words}" if step[0] else words
            bars.update(task, description=words, completed=done, total=known)

        yield report


class _Log:
    """Prints progress as lines: one when a stage begins, and one now and then during it."""

    def __init__(self) -> None:
        self.start = self.last = time.monotonic()
        self.stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        known = STAGES.get(stage)
        if known is not None and known != self.stage:
            self.stage, self.last = known, now
            if now - self.start >= SOON:
                say(f"shoal: {now - self.start:.0f} s: {known}", error=True)
        elif now - self.last >= EVERY:
            self.last = now
            share = f", {done / total:.0%}" if total > 1 else ""
            say(f"shoal: {now - self.start:.0f} s: {self.stage or stage}{share}", error=True)


def show_summary(release: Release, wanted: Outputs, how: RunOptions, seconds: float) -> None:
    """Print what was done, what it cost and, if asked for, how close the loss is to the optimum."""
    output, report = str(wanted.table), wanted.report
    if how.json:
        written = {"output": output, **({"report": str(report)} if report else {})}
        say(json.dumps({**written, **release.to_dict(), "seconds": round(seconds, 3)}))
        return
    lines = [
        *brief_lines(release),
        *(("note", note) for note in release.reading_notes),
        *([("certificate", _certificate_text(release))] if wanted.certify is not None else []),
        *(_how(release, seconds) if how.verbose else []),
        ("written", output),
        *_where(report),
    ]
    _say_table(lines)


def _where(report: Path | None) -> list[tuple[str, str]]:
    return [("report", f"{report} (open it in a browser)")] if report else []


def _say_table(lines: Sequence[tuple[str, str]]) -> None:
    """Print names and texts in two columns."""
    width = max(cell_len(name) for name, _ in lines)
    for name, text in lines:
        say(f"{set_cell_size(name, width)}  {text}")


def _how(release: Release, seconds: float) -> list[tuple[str, str]]:
    """Details for experts."""
    settings = release.settings
    stages = ", ".join(f"{stage} {spent:.1f}" for stage, spent in release.seconds.items())
    return [
        ("objective", f"{settings.objective} = {release.loss():.4g}"),
        *((f"  {name}", f"{value:.4g}") for name, value in release.column_losses().items()),
        ("method", settings.method.name),
        *(("note", note) for note in release.notes),
        ("seconds", f"{seconds:.1f} ({stages})"),
    ]


def show_plan(plan: Plan[Any], guess: Estimate, as_json: bool) -> None:
    """Print what a run would do."""
    roles, problem, settings = plan.roles, plan.problem, plan.settings
    models = {column.name: column.model.name for column in problem.columns}
    if as_json:
        facts = {
            "records": problem.table.records,
            "quasi_identifiers": models,
            "sensitive": list(roles.sensitive),
            "kept": list(roles.kept),
            "removed": list(roles.removed),
            "replaced": list(roles.replaced),
            "coarsened": list(settings.coarsen),
            "k": problem.k,
            "person": settings.person,
            "requirements": [item.name for item in settings.requirements],
            "feasible": True,
            "combinations": guess.combinations,
            "seconds": [round(guess.least, 1), round(guess.most, 1)],
            "compiles": guess.compiles,
        }
        say(json.dumps(facts))
        return
    required = [
        item.describe(name)
        for item in settings.requirements
        for name in item.over(settings.sensitive)
    ]
    uncoarsened = [name for name in roles.kept if name not in settings.coarsen]
    persons = f" people, identified by {settings.person}" if settings.person else ""
    first = ", including compilation" if guess.compiles else ""
    lines = [
        ("records", f"{problem.table.records:,}"),
        *(
            (
                "generalized",
                f"{column.name}: {column.model.name}, {counted(column.form.size, 'value')}",
            )
            for column in problem.columns
        ),
        ("sensitive", ", ".join(roles.sensitive) or "none"),
        ("unchanged", ", ".join(uncoarsened) or "none"),
        *(("coarsened", line) for line in coarsened_lines(settings)),
        ("removed", ", ".join(roles.removed) or "none"),
        *([("pseudonyms", ", ".join(roles.replaced))] if roles.replaced else []),
        *(("note", note) for note in plan.reading_notes),
        ("feasible", ", ".join([f"k = {problem.k:,}{persons}", *required])),
        ("search space", f"{counted(round(guess.combinations), 'combination')} of levels"),
        ("time", f"about {_time(guess.least)} to {_time(guess.most)}{first}"),
        ("written", "nothing (dry run)"),
    ]
    _say_table(lines)


def _certificate_text(release: Release) -> str:
    return str(release.certificate or f"none: {release.certificate_reason}")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def show_audit(audit: Audit) -> None:
    """Print the result of an audit."""
    verdict = audit.verdict
    for line in (str(verdict), *verdict.reasons) if verdict else ():
        say(line)
    say(
        f"Proved: {counted(audit.records, 'record')} in {counted(audit.groups, 'group')} of at least {audit.k:,}."
    )
    if audit.by_person:
        say(
            "Proved: every group contains records of at least "
            f"{counted(audit.by_person.smallest, 'person', 'people')}."
        )
    for proof in audit.proofs:
        say(f"Proved: {proof.requirement}: {levels(proof)}.")
    if audit.unnamed:
        say(f"Columns without a role: {', '.join(audit.unnamed)}.")


def show_list(lines: Mapping[Any, str]) -> None:
    """Print names and their descriptions."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, line in lines.items():
        table.add_row(name, line)
    Console().print(table)


def show_facts(entries: Mapping[str, Mapping[str, str]]) -> None:
    """Print names, each with its facts below it."""
    console = Console()
    for name, facts in entries.items():
        console.print(name, style="bold", highlight=False)
        table = Table(show_header=False, box=None, pad_edge=True)
        for fact, text in facts.items():
            table.add_row(fact, text)
        console.print(table)


def show_evaluation(found: Evaluation, as_json: bool, report: Path | None) -> None:
    """Print whether a release is safe and how useful it still is."""
    if as_json:
        written = {"report": str(report)} if report else {}
        say(json.dumps({**found.to_dict(), **written}))
        return
    _say_table([*evaluation_lines(found), *_where(report)])


MANY = 50_000  # records above which a run takes more than a few seconds, so that a dry run should come first
ROLES = {
    "quasi-identifier": "quasi-identifiers",
    "sensitive": "sensitive",
    "keep": "kept unchanged",
    "drop": "not released",
}


def show_suggestions(found: Suggestions, table: Place, settings: Path) -> None:
    """Summarize suggestions that were written to a settings file."""
    labels = {column.name: column.battery for column in found.columns}
    for role, plain in ROLES.items():
        names = [name for name in found.of(role) if name not in found.unknown]
        if names:
            say(f"{plain:20}  {listed(names_with_batteries(names, labels))}")
    for remark in found.remarks:
        say(remark)
    for line in list_lines(found):
        say(line)
    if not found.of("quasi-identifier"):
        say(
            f"Wrote {settings}. Name at least one quasi-identifier in it, then run shoal anonymize."
        )
        return
    named, lacks = as_typed(table)
    command = f"shoal anonymize {named} --settings {shlex.quote(str(settings))}"
    if lacks:
        say(
            "The command below does not include the password. Supply it with PGPASSWORD, a password file "
            "(PGPASSFILE, ~/.pgpass) or a service file."
        )
    say(f"Wrote {settings}. Check every role in it, then run:")
    if found.records > MANY:
        say(f"  {command} --dry-run")
    say(f"  {command} --output release.csv")


def as_typed(table: Place) -> tuple[str, bool]:
    """Return a table as typed, quoted for a shell, and whether a password was left out (the settings name the table in
    it).
    """
    if not isinstance(table, DatabaseTable):
        return shlex.quote(str(table)), False
    address, lacks = without_password(str(table.address))
    return shlex.quote(address), lacks
