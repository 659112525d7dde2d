"""Figures as small SVGs, legible in light and dark: ours solid and filled, published dashed and hollow."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from benchmarks.papers.figure import Figure, Line, Panel

WIDTH, HEIGHT = 430, 250  # pixels of a panel without title, legend and names of axes
LEFT, RIGHT, TOP, BOTTOM = 66, 16, 34, 44
KEY = 18  # a line of the legend
ACROSS = 2  # panels side by side
LETTER = 6.9  # width of one in the legend, about

STYLE = """
svg{background:#fff;font:12px system-ui,sans-serif}text{fill:#24292f}
.t{font-weight:600}.g{stroke:#d8dee4}.a{stroke:#57606a}
.c0{--c:#0969da}.c1{--c:#bc4c00}.c2{--c:#1a7f37}.c3{--c:#8250df}.c4{--c:#9a6700}.c5{--c:#bf3989}.c6{--c:#57606a}
.l{fill:none;stroke:var(--c);stroke-width:2}.p{stroke-dasharray:5 4;stroke-width:1.5}
.m{fill:var(--c);stroke:var(--c)}.h{fill:#fff;stroke:var(--c);stroke-width:1.5}
@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.g{stroke:#30363d}.a{stroke:#8b949e}.h{fill:#0d1117}
.c0{--c:#58a6ff}.c1{--c:#f0883e}.c2{--c:#3fb950}.c3{--c:#bc8cff}.c4{--c:#d29922}.c5{--c:#f778ba}.c6{--c:#8b949e}}
"""


def draw_figure(figure: Figure) -> str:
    """Draw all panels of a figure, two beside each other."""
    across = min(ACROSS, len(figure.panels))
    legends = [_legend(panel) for panel in figure.panels]
    tall = TOP + HEIGHT + BOTTOM + max(KEY * len(rows) for rows in legends) + 12
    width = (LEFT + WIDTH + RIGHT) * across
    height = tall * ceil(len(figure.panels) / across)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img"><title>{escape(figure.title)}</title><style>{STYLE}</style>'
    ]
    colours: dict[str, int] = {}
    for panel in figure.panels:
        for line in panel.lines:
            colours.setdefault(_kind(line), len(colours))
    for place, (panel, rows) in enumerate(zip(figure.panels, legends, strict=True)):
        down, right = divmod(place, across)
        parts.append(f'<g transform="translate({right * (LEFT + WIDTH + RIGHT)} {down * tall})">')
        parts += _panel(panel, rows, colours)
        parts.append("</g>")
    return "".join(parts) + "</svg>\n"


def _kind(line: Line) -> str:
    """What shares a colour: a line of ours and the published one of the same name."""
    return line.name.removesuffix(", published")


class _Axis:
    """Numbers to pixels, with ticks at round numbers."""

    def __init__(self, values: Sequence[float], log: bool, from_zero: bool, pixels: int) -> None:
        low, high = min(values), max(values)
        self.log = log and low > 0
        if self.log:
            low, high, self.ticks = _log_ticks(low, high)
        else:
            if from_zero:
                low, high = min(0.0, low), max(0.0, high)
            low, high, self.ticks = _even_ticks(low, high)
        self.low, self.high, self.pixels = low, high, pixels

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            value, low, high = log10(value), log10(low), log10(high)
        return (value - low) / (high - low) * self.pixels


class _Places:
    """Text along x: equally wide places."""

    def __init__(self, names: Sequence[str], pixels: int) -> None:
        self.names, self.wide = list(names), pixels / len(names)

    def at(self, name: str) -> float:
        return (self.names.index(name) + 0.5) * self.wide


def _even_ticks(low: float, high: float) -> tuple[float, float, list[float]]:
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** floor(log10(span))
    step = next(s * power for s in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if span / (s * power) <= 7)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return first * step, last * step, [round(i * step, 12) for i in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> tuple[float, float, list[float]]:
    """Ends at powers of ten, or at 1, 2 and 5 times these where the numbers are close."""
    steps = (1, 10) if high / low > 100 else (1, 2, 5, 10)
    known = [
        s * 10.0**e for e in range(floor(log10(low)) - 1, ceil(log10(high)) + 2) for s in steps
    ]
    known = sorted(set(known))
    first = max(i for i, tick in enumerate(known) if tick <= low * (1 + 1e-9))
    last = min(i for i, tick in enumerate(known) if tick >= high * (1 - 1e-9))
    last = max(last, first + 1)
    ticks = known[first : last + 1]
    return ticks[0], ticks[-1], ticks


def _panel(panel: Panel, rows: Sequence[Sequence[Line]], colours: dict[str, int]) -> list[str]:
    xs = list(dict.fromkeys(x for line in panel.lines for x in line.points))
    ys = [y for line in panel.lines for y in line.points.values()]
    has_bars = any(isinstance(x, str) for x in xs)
    across = _Places(xs, WIDTH) if has_bars else _Axis(sorted(xs), panel.log_x, panel.log_x, WIDTH)
    up = _Axis(ys, panel.log_y, panel.from_zero or has_bars, HEIGHT)
    parts = [_text(LEFT, 18, "start", panel.title, "t")]
    for tick in up.ticks:
        y = TOP + HEIGHT - up.at(tick)
        parts.append(_rule("g", LEFT, y, LEFT + WIDTH, y))
        parts.append(_text(LEFT - 6, y + 4, "end", _number(tick)))
    bottom = TOP + HEIGHT
    for tick in across.names if isinstance(across, _Places) else across.ticks:
        x = LEFT + across.at(tick)
        if not has_bars:
            parts.append(_rule("a", x, bottom, x, bottom + 4))
        parts.append(_text(x, bottom + 17, "middle", tick if has_bars else _number(tick)))
    zero = bottom - (up.at(max(0.0, up.low)) if has_bars else 0.0)
    parts.append(_rule("a", LEFT, zero, LEFT + WIDTH, zero))
    scale = " (log)" if not has_bars and across.log else ""
    parts.append(_text(LEFT + WIDTH / 2, bottom + 36, "middle", panel.x + scale))
    middle = TOP + HEIGHT / 2
    name = panel.y + (" (log)" if up.log else " (not from 0)" if up.low > 0 else "")
    parts.append(
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
        f"{escape(name)}</text>"
    )
    for place, line in enumerate(panel.lines):
        colour = colours[_kind(line)] % 7
        if has_bars:
            parts += _bars(line, place, len(panel.lines), across, up, colour)
            continue
        at = [(LEFT + across.at(x), bottom - up.at(y)) for x, y in sorted(line.points.items())]
        parts.append(f'<g class="c{colour}">{_path(at, line.published)}')
        parts += [_mark(x, y, colour, line.published) for x, y in at]
        parts.append("</g>")
    return parts + _keys(rows, colours, has_bars)


def _bars(line: Line, place: int, count: int, across: _Places, up: _Axis, colour: int) -> list[str]:
    wide = across.wide * 0.8 / count
    zero = TOP + HEIGHT - up.at(max(0.0, up.low))
    parts = []
    for name, y in line.points.items():
        left = LEFT + across.at(name) + (place - count / 2) * wide
        top = TOP + HEIGHT - up.at(y)
        start, tall = min(top, zero), abs(zero - top)
        kind = "h" if line.published else "m"
        parts.append(
            f'<g class="c{colour}"><rect class="{kind}" x="{left + 1:.1f}" y="{start:.1f}" '
            f'width="{wide - 2:.1f}" height="{tall:.1f}"/></g>'
        )
    return parts


def _legend(panel: Panel) -> list[list[Line]]:
    """Lines of the legend, as many names in each as fit."""
    rows: list[list[Line]] = [[]]
    room = 0.0
    for line in panel.lines:
        wide = 40 + LETTER * len(line.name)
        if rows[-1] and room + wide > WIDTH + LEFT:
            rows.append([])
            room = 0.0
        rows[-1].append(line)
        room += wide
    return rows


def _keys(rows: Sequence[Sequence[Line]], colours: dict[str, int], has_bars: bool) -> list[str]:
    parts = []
    for down, row in enumerate(rows):
        x, y = 14.0, TOP + HEIGHT + BOTTOM + KEY * down + 10
        for line in row:
            colour = colours[_kind(line)] % 7
            if has_bars:
                kind = "h" if line.published else "m"
                sign = f'<rect class="{kind}" x="{x + 6:.0f}" y="{y - 5}" width="12" height="10"/>'
            else:
                sign = _path([(x, y), (x + 24, y)], line.published)
                sign += _mark(x + 12, y, colour, line.published)
            parts.append(f'<g class="c{colour}">{sign}</g>')
            parts.append(_text(x + 29, y + 4, "start", line.name))
            x += 40 + LETTER * len(line.name)
    return parts


def _path(points: Sequence[tuple[float, float]], published: bool) -> str:
    kind = "l p" if published else "l"
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _mark(x: float, y: float, shape: int, published: bool) -> str:
    """A circle, square, diamond or triangle, so that lines differ without colour too."""
    kind = "h" if published else "m"
    match shape % 4:
        case 0:
            return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
        case 1:
            return f'<rect class="{kind}" x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'
        case 2:
            return f'<path class="{kind}" d="M{x:.1f} {y - 4.5:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>'
        case _:
            return f'<path class="{kind}" d="M{x:.1f} {y - 4.5:.1f}l4.2 7.5h-8.4z"/>'


def _rule(kind: str, x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path class="{kind}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def _text(x: float, y: float, anchor: str, text: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text{style} x="{x:.1f}" y="{y:.1f}"{where}>{escape(text)}</text>'


def _number(value: float) -> str:
    """A tick: 1,000,000 as 1M, 25,000 as 25k, without needless digits."""
    if value == 0:
        return "0"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"
