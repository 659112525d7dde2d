"""What a run looks like on the screen: bars while it works, a summary at its end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from shoal.privacy import Audit, Proof
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


def summary(
    release: Release,
    output: Path,
    seconds: float,
    as_json: bool,
    certified: bool = False,
    report: Path | None = None,
) -> None:
    """Say what was done and what it cost, and if `certified` how near the least possible that is."""
    measure, losses = release.settings.objective, release.column_losses()
    if as_json:
        facts = {
            "output": str(output),
            **({"report": str(report)} if report else {}),
            "records": release.audit.records,
            "suppressed": release.suppressed,
            "groups": release.audit.groups,
            "k": release.k,
            "proofs": [asdict(proof) for proof in release.audit.proofs],
            "measure": measure,
            "loss": release.loss(),
            "column_losses": losses,
            **(_certificate_facts(release) if certified else {}),
            "method": release.settings.method.name,
            "notes": list(release.notes),
            "seconds": round(seconds, 3),
        }
        sys.stdout.write(json.dumps(facts) + "\n")
        return
    lines = {
        "records": f"{release.audit.records:,}"
        + (f", {release.suppressed:,} left out" if release.suppressed else ""),
        "groups": f"{release.audit.groups:,}",
        "k": f"{release.k} reached, {release.settings.k} required, proved by the audit",
        **{proof.requirement: levels(proof) for proof in release.audit.proofs},
        "loss": f"{release.loss():.4g} ({measure})",
        **{f"  {name}": f"{value:.4g}" for name, value in losses.items()},
        **({"certificate": _certificate_text(release)} if certified else {}),
        "method": release.settings.method.name,
        **({"note": "; ".join(release.notes)} if release.notes else {}),
        "seconds": f"{seconds:.1f}",
        "written": str(output),
        **({"report": f"{report}, to be opened in a browser"} if report else {}),
    }
    width = max(map(cell_len, lines))
    for name, text in lines.items():
        sys.stdout.write(f"{set_cell_size(name, width)}  {text}\n")


def _certificate_facts(release: Release) -> dict[str, object]:
    """The certificate for JSON, which knows no infinite ratio."""
    certificate = release.certificate
    if certificate is None:
        return {"certificate": None, "certificate_reason": release.certificate_reason}
    ratio = certificate.ratio if certificate.bound else None
    return {"certificate": {**asdict(certificate), "ratio": ratio}}


def _certificate_text(release: Release) -> str:
    return str(release.certificate or f"none: {release.certificate_reason}")


def audited(audit: Audit, table: Path, as_json: bool) -> None:
    """Say what an audit proved."""
    if as_json:
        sys.stdout.write(json.dumps({"table": str(table), **asdict(audit)}) + "\n")
    else:
        sys.stdout.write(
            f"Proved: {audit.records:,} records in {audit.groups:,} groups of at least {audit.k}.\n"
        )
        for proof in audit.proofs:
            sys.stdout.write(f"Proved: {proof.requirement}: {levels(proof)}.\n")


def levels(proof: Proof) -> str:
    """What a requirement beyond k asks for and what the least safe group reaches."""
    return f"{proof.reached:.4g} reached, {proof.required:.4g} required"


def listing(lines: Mapping[str, str]) -> None:
    """Print names and what they are."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, line in lines.items():
        table.add_row(name, line)
    Console().print(table)


def blocks(entries: Mapping[str, Mapping[str, str]]) -> None:
    """Print names, each with its facts below."""
    console = Console()
    for name, facts in entries.items():
        console.print(name, style="bold", highlight=False)
        table = Table(show_header=False, box=None, pad_edge=True)
        for fact, text in facts.items():
            table.add_row(fact, text)
        console.print(table)
