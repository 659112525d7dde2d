"""Small charts as SVG: lengths in percent and text in pixels, so that they read the same on any screen.

Colours are classes of the page's style sheet. `before` is drawn as an outline and `after` as a filled bar,
so that they differ without colour too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from shoal.report.markup import Markup

ROW, BAR = 36, 10
PLOT, FOOT = 132, 22  # of a histogram, in pixels


@dataclass(frozen=True)
class Part:
    """A length in percent of the widest bar, and the class it is drawn in."""

    kind: str
    percent: float


@dataclass(frozen=True)
class Row:
    """A line of a bar chart: its name, what is written at its end and its bars, one below the other.

    The parts of a bar stand side by side.
    """

    label: str
    value: str
    bars: Sequence[Sequence[Part]]


def bars(name: str, title: str, description: str, rows: Sequence[Row]) -> Markup:
    """Draw a bar per row, or several, with its name above and its value at the right."""
    out, top = [], 0
    for row in rows:
        out.append(_text("0", top + 13, "start", row.label, "label"))
        out.append(_text("100%", top + 13, "end", row.value, "value"))
        at = top + 19
        for bar in row.bars:
            out.append(_rect("rail", 0, 100, at, BAR))
            start = 0.0
            for part in bar:
                if part.percent > 0:
                    out.append(_rect(part.kind, start, part.percent, at, BAR))
                start += part.percent
            at += BAR + 3
        top += ROW + (len(row.bars) - 1) * (BAR + 3)
    return _drawing(name, title, description, top, out)


@dataclass(frozen=True)
class Tick:
    """A mark below a histogram, at a percentage of its width."""

    percent: float
    label: str


def histogram(
    name: str,
    title: str,
    description: str,
    before: Sequence[float],
    after: Sequence[float],
    ticks: Sequence[Tick],
    most: str,
) -> Markup:
    """Draw two distributions over the same equal bins; `most` says how much the height of the plot is."""
    top = max([*before, *after]) or 1.0
    width = 100 / len(before)
    out = [_text("0", 11, "start", most, "tick"), _line(16), _line(16 + PLOT)]
    for kind, heights in (("after", after), ("before", before)):
        for i, value in enumerate(heights):
            height = PLOT * value / top
            if height >= 0.05:
                inset = 0.14 * width
                out.append(
                    _rect(kind, i * width + inset, width - 2 * inset, 16 + PLOT - height, height)
                )
    for tick in ticks:
        anchor = "start" if tick.percent < 5 else "end" if tick.percent > 95 else "middle"
        out.append(_text(f"{_short(tick.percent)}%", PLOT + 33, anchor, tick.label, "tick"))
    return _drawing(name, title, description, PLOT + 16 + FOOT, out)


def _drawing(name: str, title: str, description: str, height: int, parts: Sequence[str]) -> Markup:
    return Markup(
        f'<svg role="img" aria-labelledby="{name}-t {name}-d" width="100%" height="{height}">'
        f'<title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(description)}</desc>{"".join(parts)}</svg>'
    )


def _rect(kind: str, start: float, width: float, top: float, height: float) -> str:
    return (
        f'<rect class="{kind}" x="{_short(start)}%" y="{_short(top)}" '
        f'width="{_short(width)}%" height="{_short(height)}"/>'
    )


def _line(y: float) -> str:
    return f'<line class="axis" x1="0" x2="100%" y1="{_short(y)}" y2="{_short(y)}"/>'


def _text(x: str, y: float, anchor: str, text: str, kind: str) -> str:
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{x}" y="{_short(y)}"{where}>{escape(text)}</text>'


def _short(number: float) -> str:
    """A number with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
