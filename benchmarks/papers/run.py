"""The runner of the papers: prints ours beside what was published, and draws each figure as an SVG."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from benchmarks.papers.figure import Claim, Figure, Panel, Results, Scale
from benchmarks.papers.plot import draw_figure
from benchmarks.tables import Unavailable

PAPERS = ("gt10", "git09", "tcm07", "he12", "xu06", "conjecture")
QUICK = "Quick: smaller samples and fewer points, so numbers differ from those at full size; bars are not judged."


def names() -> list[str]:
    """All commands: `gt10-figure-1` and so on."""
    return [f"{paper}-{result}" for paper in PAPERS for result in _results(paper)]


def chosen(asked: Sequence[str]) -> list[str]:
    """The commands that are asked for by name or by paper, all where none is."""
    known = names()
    unknown = [one for one in asked if one not in known and one not in PAPERS]
    if unknown:
        raise Unavailable(
            f"There is no {', '.join(repr(one) for one in unknown)}; there are the papers "
            f"{', '.join(PAPERS)}, and of these: {', '.join(known)}."
        )
    return [one for one in known if not asked or one in asked or one.split("-")[0] in asked]


def reproduce(
    asked: Sequence[str], scale: Scale, plots: Path | None, console: Console
) -> Iterator[dict[str, Any]]:
    """Measure, print and draw each; what is yielded can be kept as JSON."""
    if scale.quick:
        console.print(QUICK)
    for name in chosen(asked):
        paper, _, result = name.partition("-")
        start = time.process_time()
        with console.status(f"Measuring {name} …"):
            figure = _results(paper)[result](scale)
        seconds = time.process_time() - start
        _print(console, name, figure, seconds)
        if plots is not None:
            (plots / f"{name}.svg").write_text(draw_figure(figure), encoding="utf-8")
        yield _kept(name, figure, scale, seconds)


def _results(paper: str) -> Results:
    return import_module(f"benchmarks.papers.{paper}").RESULTS


def _print(console: Console, name: str, figure: Figure, seconds: float) -> None:
    console.print(f"\n[bold]{figure.title}[/bold]  ({name}, {seconds:.0f} CPU s)\n{figure.setting}")
    for panel in figure.panels:
        console.print(_grid(panel))
    for claim in figure.claims:
        console.print(f"  {_verdict(claim):<25}{claim.text}", markup=False)
    for note in figure.notes:
        console.print(f"  {note}", markup=False)


def _verdict(claim: Claim) -> str:
    if claim.cases == 0:
        return "not tested"
    word = "confirmed" if claim.holds else "not confirmed" if not claim.held else "partly"
    return word if claim.cases == 1 else f"{word}, {claim.held} of {claim.cases}"


def _grid(panel: Panel) -> Grid:
    grid = Grid(title=f"{panel.title}: {panel.y}", title_justify="left")
    grid.add_column(panel.x)
    for line in panel.lines:
        grid.add_column(line.name, justify="right")
    xs = list(dict.fromkeys(x for line in panel.lines for x in line.points))
    for x in xs if isinstance(xs[0], str) else sorted(xs):
        shown = x if isinstance(x, str) else f"{x:,}"
        cells = [line.points.get(x) for line in panel.lines]
        grid.add_row(shown, *("" if cell is None else _number(cell) for cell in cells))
    return grid


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _kept(name: str, figure: Figure, scale: Scale, seconds: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": name,
        "title": figure.title,
        "quick": scale.quick,
        "setting": figure.setting,
        "cpu_s": round(seconds, 1),
        "panels": [
            {
                "title": panel.title,
                "x": panel.x,
                "y": panel.y,
                "lines": [
                    {
                        "name": line.name,
                        "published": line.published,
                        "points": [[x, float(f"{y:.6g}")] for x, y in line.points.items()],
                    }
                    for line in panel.lines
                ],
            }
            for panel in figure.panels
        ],
        "claims": [
            {"claim": claim.text, "held": int(claim.held), "cases": claim.cases}
            for claim in figure.claims
        ],
        "notes": list(figure.notes),
    }
    bars = [claim.holds for claim in figure.claims if claim.bar]
    return row | ({"met": all(bars)} if bars and not scale.quick else {})
