"""The parts of a report that show columns: what was lost, and distributions."""

from __future__ import annotations

from shoal.assess.histograms import Histogram
from shoal.report.charts import Part, Row, bars, key, round_up
from shoal.report.facts import Facts
from shoal.report.markup import (
    Markup,
    cut,
    details,
    element,
    join,
    listed,
    more,
    percent,
    rest,
    table,
)

NAME, LABEL = 40, 24  # characters of a column's name in a table, and of a name in a chart
MOST_COLUMNS, MOST_CHARTS = 60, 24  # columns in a table, and those drawn

BEFORE_AFTER = key(("before", "before: original table"), ("after", "after: release"))


def loss_parts(facts: Facts) -> list[Markup]:
    """What became of every quasi-identifier: a sentence and a bar each."""
    shown = facts.columns[:MOST_COLUMNS]
    rows = [
        Row(
            cut(column.name, LABEL),
            f"{percent(column.exact)} exact",
            [
                [
                    Part("exact", 100 * column.exact),
                    Part("general", 100 * column.general),
                    Part("hidden", 100 * column.hidden),
                ]
            ],
        )
        for column in shown
    ]
    return [
        element("p", "How much of each quasi-identifier can still be read. ", more("loss")),
        listed(
            join([element("b", cut(column.name, NAME)), f": {column.sentence}"]) for column in shown
        ),
        *rest(len(facts.columns) - len(shown)),
        element(
            "figure",
            element("figcaption", "Cells of each quasi-identifier, by how they are released"),
            key(("exact", "exact"), ("general", "more general"), ("hidden", "hidden")),
            bars(
                "loss-chart",
                "Share of cells released exactly, more generally or not at all",
                "A bar for each quasi-identifier; the same numbers follow as a table.",
                rows,
                "100 %",
            ),
            details(
                "As a table",
                table(
                    ["Column", "Exact", "More general", "Hidden"],
                    [
                        [
                            cut(column.name, NAME),
                            percent(column.exact),
                            percent(column.general),
                            percent(column.hidden),
                        ]
                        for column in shown
                    ],
                    "Cells by how they are released",
                    numbers=(1, 2, 3),
                ),
            ),
        ),
    ]


def distribution_parts(facts: Facts) -> list[Markup]:
    """How often values occur, a chart per column."""
    if not facts.hides_records:
        return [element("p", "None are drawn: the audit did not prove that records are hidden.")]
    histograms = [item for item in facts.histograms if item.labels]
    drawn = histograms[:MOST_CHARTS]
    compared = any(item.before for item in drawn)
    return [
        element(
            "p",
            "How often values occur in the original table, and how often the release lets one expect them. ",
            more("distributions"),
        ),
        *([BEFORE_AFTER] if compared else []),
        element(
            "div",
            *(_distribution(f"column-{i}", item, facts) for i, item in enumerate(drawn)),
            class_="columns",
        ),
        *rest(len(histograms) - len(drawn)),
    ]


def _distribution(name: str, item: Histogram, facts: Facts) -> Markup:
    before, after = sum(item.before) or 1, sum(item.after) or 1.0
    column = cut(item.column, NAME)
    shares = [[n / after] for n in item.after]
    if item.before:
        shares = [[b / before, *one] for b, one in zip(item.before, shares, strict=True)]
    most = min(1.0, round_up(max(share for one in shares for share in one)))
    heads = ["Of the records", *(["Before", "After"] if item.before else ["Released"])]
    title = f"Distribution of {column}"
    kinds = ("before", "after")[-len(heads) + 1 :]
    rows = [
        Row(
            cut(label, LABEL),
            " → ".join(map(percent, one)),
            [[Part(kind, 100 * share / most)] for kind, share in zip(kinds, one, strict=True)],
        )
        for label, one in zip(item.labels, shares, strict=True)
    ]
    numbers = [
        [cut(label, LABEL), *map(percent, one)]
        for label, one in zip(item.labels, shares, strict=True)
    ]
    return element(
        "figure",
        element("h3", column),
        element("figcaption", _caption(item, facts)),
        bars(name, title, "The same numbers follow as a table.", rows, f"{100 * most:g} %"),
        details("As a table", table(heads, numbers, title, numbers=range(1, len(heads)))),
    )


def _caption(item: Histogram, facts: Facts) -> str:
    if item.unchanged:
        return "released unchanged"
    if item.before:
        differing = item.differing
        return (
            f"{percent(differing)} of the records differ" if differing > 1e-9 else "no difference"
        )
    if len(item.labels) == 1 or not facts.tells_before:
        return "the release alone"
    return f"the release alone: counts of originals would betray fewer than {facts.k:,} people"
