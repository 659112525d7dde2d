"""What a run looks like on the screen: bars while it works, a summary at its end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shoal.privacy import Audit
from shoal.progress import Progress as Report
from shoal.progress import silent
from shoal.release import Release


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Report]:
    """A bar on standard error that follows a run; nothing where it would only clutter a log."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("starting", total=None)

        def report(stage: str, done: int, total: int) -> None:
            known = total if total > 1 else None
            bars.update(task, description=stage, completed=done, total=known)

        yield report


def summary(release: Release, output: Path, seconds: float, as_json: bool) -> None:
    """Say what was done and what it cost."""
    measure, losses = release.settings.objective, release.column_losses()
    if as_json:
        facts = {
            "output": str(output),
            "records": release.audit.records,
            "groups": release.audit.groups,
            "k": release.k,
            "measure": measure,
            "loss": release.loss(),
            "column_losses": losses,
            "method": release.settings.method.name,
            "notes": list(release.notes),
            "seconds": round(seconds, 3),
        }
        sys.stdout.write(json.dumps(facts, ensure_ascii=False) + "\n")
        return
    console = Console()
    facts_table = Table(show_header=False, box=None, pad_edge=False)
    facts_table.add_row("records", f"{release.audit.records:,}")
    facts_table.add_row("groups", f"{release.audit.groups:,}")
    facts_table.add_row(
        "k", f"{release.k} reached, {release.settings.k} required, proved by the audit"
    )
    facts_table.add_row("loss", f"{release.loss():.4g} ({measure})")
    for name, value in losses.items():
        facts_table.add_row(f"  {name}", f"{value:.4g}")
    facts_table.add_row("method", release.settings.method.name)
    for note in release.notes:
        facts_table.add_row("note", note)
    facts_table.add_row("seconds", f"{seconds:.1f}")
    facts_table.add_row("written", str(output))
    console.print(facts_table)


def audited(audit: Audit, table: Path, as_json: bool) -> None:
    """Say what an audit proved."""
    if as_json:
        sys.stdout.write(json.dumps({"table": str(table), **asdict(audit)}) + "\n")
    else:
        Console().print(
            f"Proved: {audit.records:,} records in {audit.groups:,} groups of at least {audit.k}.",
            highlight=False,
        )


def listing(lines: Mapping[str, str]) -> None:
    """Print names and what they are."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, line in lines.items():
        table.add_row(name, line)
    Console().print(table)
