"""What an evaluation looks like on the screen."""

from __future__ import annotations

import json
from pathlib import Path

from rich.cells import cell_len, set_cell_size

from shoal.cli import say
from shoal.evaluated import Evaluation
from shoal.report.evaluation_lines import evaluation_lines


def show_evaluation(found: Evaluation, as_json: bool, report: Path | None) -> None:
    """Say whether a release is safe and what is left of its use."""
    if as_json:
        written = {"report": str(report)} if report else {}
        say(json.dumps({**found.to_dict(), **written}))
        return
    lines = evaluation_lines(found)
    if report:
        lines.append(("report", f"{report}, to be opened in a browser"))
    width = max(cell_len(name) for name, _ in lines)
    for name, text in lines:
        line = f"{set_cell_size(name, width)}  {text}".rstrip()
        say(line)
