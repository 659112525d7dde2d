"""Bar charts as small SVGs: lengths in percent and text in pixels, so that they read the same on any screen.

Colours are classes of the page's style sheet. `before` is drawn as an outline and `after` as a filled bar,
so that they differ without colour too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from shoal.report.markup import Markup, element

ROW, BAR, GAP = 36, 10, 4  # pixels


@dataclass(frozen=True)
class Part:
    """A length in percent of the whole width, and the class it is drawn in."""

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


def bars(name: str, title: str, description: str, rows: Sequence[Row], most: str) -> Markup:
    """Draw a bar per row, or several, with its name above and its value at the right.

    All begin at 0; `most` says what the full width stands for.
    """
    out, top = [], 0
    for row in rows:
        out.append(_text("0", top + 13, "start", row.label, "label"))
        out.append(_text("100%", top + 13, "end", row.value, "value"))
        at = top + 19
        for bar in row.bars:
            start = 0.0
            for part in bar:
                if part.percent > 0:
                    out.append(_rect(part.kind, start, part.percent, at, BAR))
                start += part.percent
            at += BAR + GAP
        top += ROW + (len(row.bars) - 1) * (BAR + GAP)
    out.append(_rect("axis", 0, 100, top, 1))
    out.append(_text("0", top + 17, "start", "0", "tick"))
    out.append(_text("100%", top + 17, "end", most, "tick"))
    return _drawing(name, title, description, top + 22, out)


def key(*kinds: tuple[str, str]) -> Markup:
    """What each class of bars means."""
    return element(
        "ul",
        *(
            element(
                "li",
                Markup(
                    '<svg aria-hidden="true" width="14" height="12">'
                    f'<rect class="{kind}" x="1" y="1" width="12" height="10"/></svg>'
                ),
                text,
            )
            for kind, text in kinds
        ),
        class_="key",
    )


def round_up(number: float) -> float:
    """The least of 1, 1.5, 2, 3, 5, 7.5, 10, … (0.1, 0.15, …) that is not below a number.

    Examples
    --------
    >>> round_up(533), round_up(0.29)
    (750.0, 0.3)
    """
    if number <= 0:
        return 1.0
    power = 10.0 ** floor(log10(number))
    return next(
        round(step * power, 12) for step in (1, 1.5, 2, 3, 5, 7.5, 10) if step * power >= number
    )


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


def _text(x: str, y: float, anchor: str, text: str, kind: str) -> str:
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{x}" y="{_short(y)}"{where}>{escape(text)}</text>'


def _short(number: float) -> str:
    """A number with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
