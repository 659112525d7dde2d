"""A report on a release for people: facts, then charts, then one HTML file."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.bounds import Certificate
from shoal.io import write_text
from shoal.report.facts import Released, gather
from shoal.report.page import render_page


def write_report(
    release: Released,
    path: str | os.PathLike[str],
    certificate: Certificate | None,
    reason: str,
    overwrite: bool = False,
) -> None:
    """Write a report to a file, whole or not at all; `reason` is why there is no certificate."""
    facts = gather(release, certificate, reason, Path(path).parent)
    write_text(render_page(facts), path, overwrite)
