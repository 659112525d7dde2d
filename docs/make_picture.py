"""Draw before-after.svg: the table in example/ and its release, groups in colour (python docs/make_picture.py)."""

from __future__ import annotations

from html import escape
from pathlib import Path

import shoal
from shoal.data.files.table_file import read_file

FOLDER = Path(__file__).parent
TARGET = FOLDER / "before-after.svg"

ROW, PAD, TOP = 27, 16, 78  # height of a row, inner margin of a card, where rows begin
BEFORE = {"name": 68, "age": 48, "sex": 44, "town": 72, "diagnosis": 84}  # widths of the columns
AFTER = {"age": 78, "sex": 44, "town": 84, "diagnosis": 84}
GAP = 116  # between the cards

LIGHT = ("#ffffff", "#d5dae1", "#1d2733", "#667383", 0.10, ("#0b6fb8", "#b35a00", "#1a7f4b"))
DARK = ("#131a22", "#2f3b48", "#e4e9ef", "#93a1b0", 0.15, ("#5db2f2", "#f2a355", "#58c78d"))
SHAPES = """
text { font: 14px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
.title { font-size: 15px; font-weight: 600 }
.head { font-size: 12px }
.gone { text-decoration: line-through }
.new { font-weight: 600 }
.way { fill: none; stroke-width: 1.6; opacity: .75 }
"""


def picture() -> str:
    """The picture as SVG."""
    table = read_file(FOLDER / "example" / "patients.csv")
    release = shoal.anonymize(
        table,
        quasi_identifiers={
            "age": shoal.Interval(),
            "sex": shoal.Suppression(),
            "town": shoal.Hierarchy.from_csv(FOLDER / "example" / "town.csv"),
        },
        sensitive=["diagnosis"],
        identifiers=["name"],
        k=3,
        keep_order=True,
    )
    groups = release.groups.tolist()
    colours = {group: colour for colour, group in enumerate(dict.fromkeys(groups))}
    before, after = table.to_pylist(), release.data.to_pylist()
    order = sorted(range(len(before)), key=lambda i: colours[groups[i]])
    rows = [(colours[groups[i]], before[i], {}) for i in range(len(before))]
    right = sum(BEFORE.values()) + 2 * PAD + GAP
    parts = _card(1, "A table about people", BEFORE, rows)
    rows = [(colours[groups[i]], after[i], before[i]) for i in order]
    parts += _card(right, "Its release, k = 3", AFTER, rows)
    start, stop = right - GAP + 3, right - 3
    for place, i in enumerate(order):
        y, z = (TOP + ROW * (at + 0.5) for at in (i, place))
        bend = (stop - start) / 2
        curve = f"M{start} {y} C{start + bend} {y} {stop - bend} {z} {stop} {z}"
        parts.append(f'<path class="way g{colours[groups[i]]}" d="{curve}"/>')
    width = right + sum(AFTER.values()) + 2 * PAD + 1
    height = TOP + ROW * len(before) + PAD
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">\n'
        "<title>Nine records; names removed; three groups of three that read the same</title>\n"
        f"<style>{_style()}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _style() -> str:
    return f"{SHAPES}{_colours(LIGHT)}@media (prefers-color-scheme: dark) {{\n{_colours(DARK)}}}\n"


def _colours(palette: tuple) -> str:
    page, line, text, dim, tint, inks = palette
    rules = [
        f".card {{ fill: {page}; stroke: {line} }}",
        f"text {{ fill: {text} }}",
        f".head, .gone {{ fill: {dim} }}",
        f".band {{ opacity: {tint} }}",
    ]
    for n, ink in enumerate(inks):
        rules.append(f".g{n} rect, .g{n} .new {{ fill: {ink} }}")
        rules.append(f".way.g{n} {{ stroke: {ink} }}")
    return "\n".join(rules) + "\n"


def _card(left: int, title: str, widths: dict[str, int], rows: list[tuple]) -> list[str]:
    """A table at this place; a cell that differs from the record it came from stands out."""
    width = sum(widths.values()) + 2 * PAD - 1
    parts = [
        f'<rect class="card" x="{left}" y="1" width="{width}" height="{TOP + ROW * len(rows) + PAD - 2}" rx="9"/>',
        f'<text class="title" x="{left + PAD}" y="30">{title}</text>',
    ]
    for n, (colour, cells, original) in enumerate(rows):
        y = TOP + ROW * n
        parts.append(
            f'<g class="g{colour}"><rect class="band" x="{left + 1}" y="{y}" width="{width - 2}" height="{ROW}"/>'
            f'<rect class="edge" x="{left + 1}" y="{y}" width="4" height="{ROW}"/>'
        )
        x = left + PAD
        for name, space in widths.items():
            if n == 0:
                parts.append(f'<text class="head" x="{x}" y="{TOP - 10}">{name}</text>')
            kind = ' class="gone"' if name == "name" else ""
            if original and str(cells[name]) != str(original[name]):
                kind = ' class="new"'
            parts.append(f'<text{kind} x="{x}" y="{y + 18}">{escape(str(cells[name]))}</text>')
            x += space
        parts.append("</g>")
    return parts


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
