"""Models that fold values, drawn at random with their plain twins: see `folded` for what these are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from math import floor
from typing import Any

from hypothesis import strategies as st

import reference
import shoal
from reference.folded import (
    UNITS,
    Bin,
    code_path,
    cut_paths,
    date_bin,
    end_bin,
    end_paths,
    exact,
    first_day,
    last_day,
    number_bin,
    order_bin,
    parts_path,
    period,
    tree_column,
    tree_paths,
)
from shoal.encoding.models import Model

Drawn = tuple[reference.Column, Model]


@st.composite
def folded_interval(draw: st.DrawFn, cells: list[Any], known: list[Any]) -> Drawn:
    """An interval with a step, with ends, or with both."""
    values = sorted({v for v in cells if v is not None})
    low, high = draw(ends_among(sorted(known)))
    step = draw(st.sampled_from(steps_for(values[0])))
    if step is None:
        if low is None and high is None:
            high = values[-1]
        bins = {v: end_bin(v, low, high) for v in values}
    elif isinstance(step, str):
        low = None if low is None else last_day(low, step)
        high = None if high is None else first_day(high, step)
        low = None if low is not None and high is not None and low >= high else low
        bins = {v: date_bin(v, step, low, high) for v in values}
    else:
        is_whole = all(exact(v).denominator == 1 for v in values)
        bins = {v: number_bin(v, step, low, high, is_whole) for v in values}
    if step is not None:
        bins = renumbered(bins, step)
    folded = [None if v is None else bins[v] for v in cells]
    twin = reference.Column("interval", folded, sorted(set(bins.values())))
    return twin, shoal.Interval(step=step, low=low, high=high)


def renumbered(bins: dict[Any, Bin], step: Any) -> dict[Any, Bin]:
    """Bins that lie as many steps apart as the grid says; one beyond an end at least a step from its neighbour."""
    if isinstance(step, str):
        return bins
    width = exact(step)
    inner = [
        floor(exact(b.bounds[0]) / width)
        for b in bins.values()
        if not b.is_lowest and not b.is_highest
    ]
    found = {}
    for v, b in bins.items():
        at = floor(exact(b.bounds[0] if b.bounds[0] is not None else b.bounds[1]) / width)
        if b.is_lowest and inner:
            at = min(at, min(inner) - 1)
        if b.is_highest:
            lowest = [floor(exact(o.bounds[1]) / width) for o in bins.values() if o.is_lowest]
            at = max([at, *(n + 1 for n in (*inner, *lowest))])
        found[v] = Bin(Fraction(at), b.label, b.begins, b.ends, b.bounds, b.is_lowest, b.is_highest)
    return found


def steps_for(value: Any) -> Sequence[Any]:
    """Steps that suit a value, and none."""
    if isinstance(value, date):
        return (*UNITS, None)
    return (1, 2, 5, 10, 2.5, 1000, None) if isinstance(value, int) else (0.1, 0.25, 5, 10**6, None)


@st.composite
def ends_among(draw: st.DrawFn, known: list[Any]) -> tuple[Any, Any]:
    """No end, or one or two that are values."""
    low = draw(st.sampled_from([None, *known[:-1]]))
    above = [v for v in known if low is None or v > low]
    return low, draw(st.sampled_from([None, *above]))


@st.composite
def folded_set(draw: st.DrawFn, model: str, cells: list[Any], known: list[Any]) -> Drawn:
    """Suppression or a subset with ends."""
    low, high = draw(ends_among(sorted(known)))
    values = sorted({v for v in cells if v is not None})
    bins = {v: end_bin(v, low, high) for v in values}
    folded = [None if v is None else bins[v] for v in cells]
    kind = shoal.Suppression if model == "suppression" else shoal.Subset
    twin = reference.Column(model, folded, sorted(set(bins.values())))
    return twin, kind(low=low, high=high)


@st.composite
def folded_order(draw: st.DrawFn, cells: list[Any], order: list[str]) -> Drawn:
    """An order with ends."""
    low = draw(st.sampled_from([None, *order[:-1]]))
    above = order[0 if low is None else order.index(low) + 1 :]
    high = draw(st.sampled_from([None, *above]))
    folded = [None if v is None else order_bin(v, order, low, high) for v in cells]
    domain = list(dict.fromkeys(order_bin(v, order, low, high) for v in order))
    domain = [
        Bin(Fraction(i), b.label, b.begins, b.ends, b.bounds, b.is_lowest, b.is_highest)
        for i, b in enumerate(domain)
    ]
    again = {b.label: b for b in domain}
    folded = [None if b is None else again[b.label] for b in folded]
    return reference.Column("order", folded, domain), shoal.Order(order, low=low, high=high)


@st.composite
def calendar(draw: st.DrawFn, cells: list[Any]) -> Drawn:
    """A calendar of some levels, perhaps by weeks, perhaps with ends."""
    by_weeks = draw(st.booleans())
    all_levels = [u for u in UNITS if u not in (("month", "quarter") if by_weeks else ("week",))]
    chosen = draw(st.lists(st.sampled_from(all_levels), min_size=1, unique=True))
    levels = [u for u in UNITS if u in chosen]
    by_weeks = "week" in levels
    finest = draw(st.sampled_from([None, *levels]))
    units = levels[levels.index(finest or levels[0]) :]
    values = sorted({v for v in cells if v is not None})
    high = None
    if not (by_weeks and units[0] in ("year", "decade")) and draw(st.booleans()):
        high = first_day(draw(st.sampled_from(values)), units[0], by_weeks)
    paths = {}
    for v in values:
        day = date(v.year, v.month, v.day)
        paths[v] = [period(day, unit, by_weeks) for unit in units]
        if high is not None and day >= high:
            label = period(high, units[0], by_weeks)
            paths[v] = [f"≥ {label[:4] if units[0] == 'decade' else label}"]
    model = shoal.Calendar(tuple(draw(st.permutations(levels))), finest, high=high)
    return tree_column(cells, paths, top=len(units)), model


@st.composite
def prefix(draw: st.DrawFn, cells: list[Any]) -> Drawn:
    """Beginnings of codes, of signs or of parts."""
    values = sorted({v for v in cells if v is not None})
    finest = draw(st.none() | st.integers(1, 4))
    if draw(st.booleans()):
        width = max(len(v.split(".")) for v in values)
        paths = {v: parts_path(v, width, finest) for v in values}
        cut = min(width, finest or width)
        above = {label for path in paths.values() for label in path[1:]}
        twin = tree_column(cells, paths, {label: cut - label.count(".") for label in above}, cut)
        return twin, shoal.Prefix(separator=".", finest=finest)
    lengths = draw(st.none() | st.lists(st.integers(1, 4), min_size=1))
    width = max(len(v) for v in values)
    paths = {v: code_path(v, width, lengths, finest) for v in values}
    cut = min(width, finest or width)
    steps = [n for n in range(cut - 1, 0, -1) if lengths is None or n in lengths]
    above = {label for path in paths.values() for label in path[1:]}
    heights = {label: 1 + steps.index(len(label.rstrip("*"))) for label in above}
    return tree_column(cells, paths, heights, 1 + len(steps)), shoal.Prefix(lengths, finest=finest)


@st.composite
def folded_hierarchy(
    draw: st.DrawFn, cells: list[Any], by_label: dict[str, Any], tree: dict[str, Any]
) -> Drawn:
    """A hierarchy with a finest level, or one of numbers with a highest value."""
    [below] = tree.values()
    paths = tree_paths(below)
    high = None
    finest = draw(st.integers(0, max(len(path) for path in paths.values()) - 1))
    if all(isinstance(v, int) and not isinstance(v, bool) for v in by_label.values()):
        high = draw(st.none() | st.sampled_from(sorted(by_label.values())))
    cut = cut_paths(paths, finest)
    if high is not None:
        beyond = {leaf for leaf, v in by_label.items() if v >= high}
        ended = end_paths(paths, beyond, f"≥ {high}")
        cut = {leaf: ended[leaf] if leaf in beyond else cut[leaf] for leaf in paths}
    model = shoal.Hierarchy.from_dict(tree, finest=finest, high=high)
    return tree_column(cells, {by_label[leaf]: path for leaf, path in cut.items()}), model


_DEGREES = ("0", "-0.1", "0.25", "45", "48.137", "48.14", "89.9")
POINTS = st.builds(
    "{}, {}".format,
    st.sampled_from((*_DEGREES, "-90", "90.00")),
    st.sampled_from((*_DEGREES, "-180", "179.99", "180")),
)


@st.composite
def point(draw: st.DrawFn, cells: list[Any]) -> Drawn:
    """Cells of latitude and longitude: the square that contains the Earth, quartered again and again."""
    text = draw(st.sampled_from(["0.01", "0.5", "0.07", "45", "90"]))
    finest = Fraction(text)
    digits = len(text.partition(".")[2])
    top, width = 0, finest
    while width < 360:
        top, width = top + 1, 2 * width

    def path(value: str) -> list[str]:
        place = [Fraction(part) for part in value.split(",")]
        low, width, found = [Fraction(-90), Fraction(-180)], finest * 2**top, []
        while width > finest:
            width /= 2
            for i, end in enumerate((90, 180)):
                if low[i] + width <= place[i] and low[i] + width < end:
                    low[i] += width
            ends = [(low[i], min(low[i] + width, end)) for i, end in enumerate((90, 180))]
            found.append(
                ", ".join(f"{float(a):.{digits}f}..{float(b):.{digits}f}" for a, b in ends)
            )
        return found[::-1]

    paths = {value: path(value) for value in sorted({v for v in cells if v is not None})}
    heights = {label: level for own in paths.values() for level, label in enumerate(own)}
    return tree_column(cells, paths, heights, top), shoal.Point(finest=float(text))


PLACES = {
    "FR": ["Western Europe", "Europe"],
    "DEU": ["Western Europe", "Europe"],
    "austria": ["Western Europe", "Europe"],
    "Italy": ["Southern Europe", "Europe"],
    "JP": ["Eastern Asia", "Asia"],
    "South Korea": ["Eastern Asia", "Asia"],
    "Viet Nam": ["Southeast Asia", "Asia"],
    "KE": ["Eastern Africa", "Africa"],
    "Atlantis": [],
}  # spelled as people do, each with its regions; the last is nowhere


@st.composite
def ready(draw: st.DrawFn, cells: list[Any]) -> Drawn:
    """Countries in their regions, perhaps with values that are none."""
    values = sorted({v for v in cells if v is not None})
    finest = draw(st.sampled_from([None, "subregion", "region"]))
    if "Atlantis" in values:
        finest = None
    skipped = ["subregion", "region"].index(finest) + 1 if finest else 0
    paths = {v: [v, *PLACES[v]][skipped:] for v in values}
    heights = {name: n - skipped for v in values for n, name in enumerate(PLACES[v], start=1)}
    model = shoal.Ready("countries", finest, "refuse" if finest else "keep")
    return tree_column(cells, paths, heights, 3 - skipped), model
