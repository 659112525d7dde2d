"""Draw the diagrams of the pages into images/: roles, ladders, unprotected (python docs/make_diagrams.py)."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

TARGET = Path(__file__).parent / "images"
WIDTH = 560

# page, line, text, dim text, then blue, orange, green and red ink; tints are inks with little opacity
LIGHT = ("#ffffff", "#c3cad3", "#1d2733", "#566270", "#0b6fb8", "#b35a00", "#1a7f4b", "#b3261e")
DARK = ("#131a22", "#3a4755", "#e4e9ef", "#a3b0bf", "#5db2f2", "#f2a355", "#58c78d", "#ff8a80")
INKS = ("blue", "orange", "green", "red")
SHAPES = """
text { font: 14px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
.title { font-weight: 600; font-size: 15px }
.bold { font-weight: 600 }
.small { font-size: 12.5px }
.tint { fill-opacity: .14; stroke-width: 1.4 }
.way { fill: none; stroke-width: 1.5 }
"""


def picture(height: int, title: str, parts: Iterable[str]) -> str:
    """An SVG that follows the colour scheme of the reader."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img">\n<title>{escape(title)}</title>\n'
        f"<style>{SHAPES}{_colours(LIGHT)}@media (prefers-color-scheme: dark) {{\n{_colours(DARK)}}}\n"
        "</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _colours(palette: tuple[str, ...]) -> str:
    page, line, text, dim, *inks = palette
    rules = [
        f".card {{ fill: {page}; stroke: {line} }}",
        f"text {{ fill: {text} }}",
        f".dim {{ fill: {dim} }}",
        f".way {{ stroke: {dim} }}",
        f".head {{ fill: {dim} }}",
    ]
    for name, ink in zip(INKS, inks, strict=True):
        rules.append(f".tint.{name} {{ fill: {ink}; stroke: {ink} }}")
        rules.append(f"text.{name} {{ fill: {ink} }}")
        rules.append(f".way.{name} {{ stroke: {ink} }}")
    return "\n".join(rules) + "\n"


def box(x: float, y: float, width: float, height: float, kind: str = "card") -> str:
    """A box with round corners."""
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="7"/>'


def words(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text."""
    given = f' class="{kind}"' if kind else ""
    return f'<text{given} x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def arrow(*points: tuple[float, float], kind: str = "") -> list[str]:
    """A line through points with a head at its end; only to the right or down."""
    path = "M" + " L".join(f"{x} {y}" for x, y in points)
    (x, y), right = points[-1], points[-1][1] == points[-2][1]
    head = f"M{x} {y} l-8 -4.5 v9 z" if right else f"M{x} {y} l-4.5 -8 h9 z"
    return [f'<path class="way {kind}" d="{path}"/>', f'<path class="head" d="{head}"/>']


QUESTIONS = (
    ("Do you need the column?", "for free text, answer no", "no", "red", "Not released", "left out of the release"),
    ("Does it name a person?", "a name, a number, an e-mail", "yes", "red", "Identifier", "removed"),
    ("Could others know it?", "age, town: seen or published", "yes", "green", "Quasi-identifier", "made more general"),
    ("Should nobody learn it?", "a diagnosis, an income", "yes", "blue", "Sensitive", "released; needs a requirement"),
)  # fmt: skip


def roles() -> str:
    """Four questions, each with the role that its answer leads to."""
    parts = [box(0.5, 0.5, WIDTH - 1, 453)]
    left, right, wide, tall, step = 20, 312, 232, 62, 84
    for n, (question, hint, answer, ink, role, what) in enumerate(QUESTIONS):
        y = 20 + n * step
        middle = y + tall / 2
        parts += [
            box(left, y, wide, tall),
            words(left + 14, y + 26, question, "bold"),
            words(left + 14, y + 47, hint, "small dim"),
            *arrow((left + wide, middle), (right, middle)),
            words((left + wide + right) / 2 - 3, middle - 7, answer, "small", "middle"),
            box(right, y, 228, tall, f"tint {ink}"),
            words(right + 14, y + 26, role, f"bold {ink}"),
            words(right + 14, y + 47, what, "small"),
        ]
        below = y + tall
        last = n == len(QUESTIONS) - 1
        parts += arrow((left + 40, below), (left + 40, below + step - tall + (6 if last else 0)))
        parts.append(words(left + 50, below + 16, "yes" if answer == "no" else "no", "small"))
    y = 20 + 4 * step + 6
    parts += [
        box(left, y, wide, tall, "tint orange"),
        words(left + 14, y + 26, "Kept", "bold orange"),
        words(left + 14, y + 47, "released as it is, not protected", "small"),
        words(right, y + 26, "In doubt, say that others could", "dim"),
        words(right, y + 46, "know it.", "dim"),
    ]
    return picture(454, "Four questions decide the role of a column", parts)


LADDERS = (
    ("Interval", "any range that fits", ("*", "17–90", "25–44", "29–34", "31")),
    ("Calendar", "periods", ("*", "2020–2029", "2020", "2020-03", "2020-03-14")),
    ("Prefix", "beginnings of a code", ("*", "02***", "021**", "0213*", "02139")),
    ("Hierarchy", "labels that you give", ("*", "Europe", "France", "Lyon")),
    ("Order", "neighbours together", ("*", "low .. mid", "low")),
    ("Suppression", "all or nothing", ("*", "female")),
)


def ladders() -> str:
    """Six models, each with what a value becomes, from the exact value up to `*`."""
    parts: list[str] = []
    wide, tall, gap, rung = 175, 250, 16, 36
    for n, (model, hint, steps) in enumerate(LADDERS):
        x, y = n % 3 * (wide + gap) + 0.5, n // 3 * (tall + gap) + 0.5
        parts += [
            box(x, y, wide, tall),
            words(x + 14, y + 25, model, "title"),
            words(x + 14, y + 44, hint, "small dim"),
        ]
        for k, text in enumerate(reversed(steps)):  # from the bottom: the exact value first
            share = k / (len(steps) - 1)
            width = 98 + (wide - 28 - 98) * share
            at = y + tall - 14 - (k + 1) * rung + 4
            ink = "green" if k == 0 else "orange" if k == len(steps) - 1 else "blue"
            parts += [
                box(x + (wide - width) / 2, at, width, rung - 7, f"tint {ink}"),
                words(x + wide / 2, at + 20, text, "bold" if k == 0 else "", "middle"),
            ]
    y = 2 * tall + gap + 24
    parts += [
        box(0.5, y - 8, WIDTH - 3, 58),
        words(14, y + 16, "Bottom: the exact value. Top: any value.", "dim"),
        words(14, y + 36, "Each group gets the lowest step that covers all its records.", "dim"),
    ]
    return picture(y + 52, "Six models as ladders from an exact value to any value", parts)


RELEASE = (
    ("29–34", "France", "A", "asthma"),
    ("29–34", "France", "A", "migraine"),
    ("29–34", "France", "D", "diabetes"),
    ("44–47", "Porto", "B", "hepatitis"),
    ("44–47", "Porto", "B", "hepatitis"),
    ("44–47", "Porto", "B", "hepatitis"),
)


def unprotected() -> str:
    """A release with k = 3 that a kept column and a shared diagnosis give away."""
    places, top, row = (30, 104, 182, 246), 96, 31
    bottom = top + row * len(RELEASE)
    parts = [
        box(0.5, 0.5, WIDTH - 1, bottom + 58),
        box(18, 16, 148, bottom + 2, "tint green"),
        box(172, 16, 58, bottom + 2, "tint orange"),
        box(236, 16, 104, bottom + 2, "tint orange"),
        words(30, 38, "protected", "bold green"),
        words(30, 56, "quasi-identifiers", "small"),
        words(182, 38, "kept", "bold orange"),
        words(246, 38, "sensitive", "bold orange"),
    ]
    for x, name in zip(places, ("age", "town", "ward", "diagnosis"), strict=True):
        parts.append(words(x, top - 14, name, "small dim"))
    for n, record in enumerate(RELEASE):
        y = top + n * row + 20
        marked = {2} if n == 2 else {3} if n > 2 else set()
        for j, (x, text) in enumerate(zip(places, record, strict=True)):
            parts.append(words(x, y, text, "bold orange" if j in marked else ""))
    middle = top + 3 * row
    parts.append(f'<path class="way" stroke-dasharray="3 4" d="M18 {middle} H340"/>')
    notes = (
        (top + 2.5 * row, ("Only one record is from", "ward D. Anyone who knows", "the ward finds the person.")),
        (top + 4.5 * row, ("All three have hepatitis.", "Nobody needs to know", "which record is yours.")),
    )  # fmt: skip
    for y, lines in notes:
        parts.append(f'<path class="way orange" d="M344 {y} H366"/>')
        parts += [words(374, y - 14 + 19 * k, line, "small") for k, line in enumerate(lines)]
    parts += [
        words(18, bottom + 44, "k = 3: three records look the same in age and town, and only there.", "dim"),
    ]  # fmt: skip
    return picture(bottom + 60, "What stays unprotected in a release with k = 3", parts)


DIAGRAMS = {"roles": roles, "ladders": ladders, "unprotected": unprotected}

if __name__ == "__main__":
    for name, draw in DIAGRAMS.items():
        (TARGET / f"{name}.svg").write_text(draw(), encoding="utf-8")
