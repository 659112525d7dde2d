"""The report on a release as one HTML file, and the summary on the screen. It must not know the steps of a run."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.assess.distributions import Distributions
from shoal.assess.risk import Risks
from shoal.data.files.table_file import write_text
from shoal.report.facts import Making
from shoal.report.gather import Reported, gather
from shoal.report.page import render_page

__all__ = ["Making", "Reported", "write_report"]


def write_report(
    release: Reported,
    risks: Risks,
    distributions: Distributions,
    path: str | os.PathLike[str],
    overwrite: bool = False,
) -> None:
    """Write a report to a file, whole or not at all."""
    facts = gather(release, risks, distributions, Path(path).parent)
    write_text(render_page(facts), path, overwrite)
