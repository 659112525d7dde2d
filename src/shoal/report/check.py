"""The report on a finished table that was checked without its original: what is proved, and what fails."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from shoal import __version__
from shoal.assess.singling_out import singled_out
from shoal.audits.verdict import Examination
from shoal.data.files.table_file import write_text
from shoal.encoding.frames import Frame
from shoal.report.facts import CheckFacts
from shoal.report.formats import shorten
from shoal.report.gather import promises_of, reported_settings, sizes_of
from shoal.report.page import MOST_COLUMNS, TITLE, fill_template, size_chart
from shoal.settings.settings import Settings

SECTIONS = {
    "verdict": "Verdict",
    "groups": "Groups",
    "columns": "Columns",
    "settings": "What was asked",
    "words": "What the figures mean",
}


def gather_check(
    released: Frame, settings: Settings, examination: Examination, folder: Path
) -> CheckFacts:
    """Compute what a report in `folder` says about a finished table: aggregates only, no released record."""
    audit, sizes = examination.audit, examination.sizes
    assert audit.verdict is not None
    small = sizes[sizes < settings.k]
    text, remarks = reported_settings(settings, folder, whole=False)
    return CheckFacts(
        title=settings.title,
        version=__version__,
        written=datetime.now(UTC).replace(microsecond=0),
        audit=audit,
        k=settings.k,
        promises=promises_of(settings, examination),
        verdict=audit.verdict,
        sizes=sizes_of(sizes, settings.k),
        failing=(int(small.size), int(small.sum())),
        quasi_identifiers=tuple(settings.quasi_identifiers),
        sensitive=tuple(settings.sensitive),
        kept=tuple(singled_out(released, audit.verdict.unprotected.columns)),
        settings=text,
        remarks=tuple(remarks),
    )


def write_check_report(
    released: Frame,
    settings: Settings,
    examination: Examination,
    path: str | os.PathLike[str],
    overwrite: bool = False,
) -> None:
    """Write a report on a finished table to a file, completely or not at all. It needs no original table."""
    facts = gather_check(released, settings, examination, Path(path).parent)
    page = fill_template(
        "check.html",
        facts=facts,
        title=shorten(facts.title.strip(), TITLE) or "Check of a release",
        sections=SECTIONS,
        most_columns=MOST_COLUMNS,
        size_chart=size_chart(facts.sizes, facts.audit.groups),
    )
    write_text(page, path, overwrite)
