"""Draw refinement.svg: what refinement of 3,000 records tries, and what that gains (python docs/make_refinement.py)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import shoal
from shoal.solve.local_search import schedule
from shoal.solve.local_search.budget import Meter
from shoal.solve.local_search.state import Neighbourhood, SearchState

TARGET = Path(__file__).parent / "refinement.svg"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 360, 64, 74, 46
LEGEND = 118  # width of an entry
RECORDS = 3_000
LIGHT = ("#ffffff", "#d5dae1", "#1d2733", "#667383")
DARK = ("#131a22", "#2f3b48", "#e4e9ef", "#93a1b0")
INKS = {  # on light and dark pages
    "moves": ("#0b6fb8", "#5db2f2"),
    "relaxing": ("#b35a00", "#f2a355"),
    "choosing cells": ("#1a7f4b", "#58c78d"),
    "carving": ("#8a3ffc", "#be95ff"),
    "regrouping": ("#c2255c", "#ff7eb6"),
    "integer programs": ("#5c6773", "#aab4bf"),
}


class Step(NamedTuple):
    """A step of a neighbourhood: its name, and the budget spent and the cost reached before and after it."""

    name: str
    spent: tuple[float, float]
    cost: tuple[float, float]


def steps() -> list[Step]:
    """The steps of refining some records of the sample, as shares of the budget and of the cost at first."""
    found: list[Step] = []

    def search(now: SearchState, kinds: list[Neighbourhood], meter: Meter) -> SearchState:
        first = now.cost
        for kind in kinds:
            kind.step = recorded(kind, meter, first)  # type: ignore[method-assign]
        return plain(now, kinds, meter)

    def recorded(kind: Neighbourhood, meter: Meter, first: float) -> object:
        step = kind.step

        def run(now: SearchState) -> SearchState:
            done, cost = meter.done, now.cost
            after = step(now)
            spent = done / meter.allowance, meter.done / meter.allowance
            name = kind.name.removeprefix("solving ")
            found.append(Step(name, spent, (cost / first, after.cost / first)))
            return after

        return run

    plain = schedule.search
    settings = shoal.Settings.load(shoal.samples.adult_settings())
    with patch.object(schedule, "search", search):
        shoal.anonymize(shoal.samples.adult().slice(0, RECORDS), settings=settings)
    return found


def picture(found: list[Step]) -> str:
    """The picture as SVG."""
    lowest = found[-1].cost[1]
    end = max(1.0, found[-1].spent[1])

    def at(spent: float, cost: float) -> tuple[float, float]:
        across = LEFT + spent / end * (WIDTH - LEFT - 34)
        return across, TOP + (1 - cost) / (1 - lowest) * 0.9 * (HEIGHT - TOP - BOTTOM)

    parts = [f'<rect class="page" x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="9"/>']
    for n, name in enumerate(INKS):
        left = 20 + LEGEND * n
        parts.append(f'<rect class="n{n}" x="{left}" y="21" width="11" height="11" rx="2"/>')
        parts.append(f'<text x="{left + 17}" y="31">{name}</text>')
    floor = HEIGHT - BOTTOM
    for share in (1.0, (1 + lowest) / 2, lowest):
        y = at(0, share)[1]
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 34}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(
            f'<text class="dim" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share:.1%}</text>'
        )
    for name, spent, cost in found:
        (a, y), (b, z) = at(spent[0], cost[0]), at(spent[1], cost[1])
        n = list(INKS).index(name)
        shape = f"M{a:.1f} {y:.1f}L{b:.1f} {z:.1f}V{floor}H{a:.1f}Z"
        parts.append(f'<path class="n{n} area" d="{shape}"/>')
        parts.append(f'<path class="n{n} line" d="M{a:.1f} {y:.1f}L{b:.1f} {z:.1f}"/>')
    parts.append(
        f'<text class="dim" x="{LEFT}" y="{TOP - 16}">cost, as a share of that of the method\'s own groups</text>'
    )
    for share in range(0, 101, 25):
        x = at(share / 100, 1)[0]
        parts.append(
            f'<text class="dim" x="{x:.1f}" y="{floor + 18}" text-anchor="middle">{share} %</text>'
        )
    parts.append(
        f'<text class="dim" x="{WIDTH - 20}" y="{HEIGHT - 10}" text-anchor="end">budget spent</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">\n'
        "<title>Steps of refining 3,000 records, by neighbourhood, and the cost that they reach</title>\n"
        f"<style>{_style()}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _style() -> str:
    shapes = (
        'text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }\n'
        ".dim { font-size: 12px }\n.area { opacity: .28 }\n.line { fill: none; stroke-width: 2.5 }\n"
    )
    return f"{shapes}{_colours(0)}@media (prefers-color-scheme: dark) {{\n{_colours(1)}}}\n"


def _colours(dark: int) -> str:
    page, line, text, dim = (LIGHT, DARK)[dark]
    rules = [
        f".page {{ fill: {page}; stroke: {line} }}",
        f".grid {{ stroke: {line} }}",
        f"text {{ fill: {text} }}",
        f".dim {{ fill: {dim} }}",
    ]
    for n, inks in enumerate(INKS.values()):
        rules.append(
            f".n{n} {{ fill: {inks[dark]} }} .line.n{n} {{ fill: none; stroke: {inks[dark]} }}"
        )
    return "\n".join(rules) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(steps()), encoding="utf-8")
