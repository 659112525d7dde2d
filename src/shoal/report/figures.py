"""The parts of a report that hold charts: loss, group sizes, risk and distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shoal.evaluation.histograms import Histogram
from shoal.evaluation.risk import Risk
from shoal.report.charts import Part, Row, bars, key, round_up
from shoal.report.facts import Facts, SizeClass
from shoal.report.markup import (
    Markup,
    count,
    cut,
    details,
    element,
    join,
    more,
    number,
    percent,
    rest,
    table,
)

NAME, LABEL = 40, 24  # characters of a column's name in a table, and of a name in a chart
MOST_COLUMNS, MOST_CHARTS = 60, 24  # columns in a table, and those drawn

_BEFORE_AFTER = key(("before", "before: original table"), ("after", "after: release"))


def loss_parts(facts: Facts) -> list[Markup]:
    """What every column lost, and the whole release by some measures."""
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
    weighted = any(column.weight != 1 for column in facts.columns)
    heads = ["Column", "Model", *(["Weight"] if weighted else [])]
    heads += [f"Loss ({facts.objective.name})", "Exact", "More general", "Hidden"]
    return [
        element("p", "How much of each quasi-identifier can still be read. ", more("loss")),
        element(
            "figure",
            element("figcaption", "Cells of each quasi-identifier, by how they are released"),
            key(("exact", "exact"), ("general", "more general"), ("hidden", "hidden")),
            bars(
                "loss-chart",
                "Share of cells released exactly, more generally or not at all",
                "A bar for each quasi-identifier; the table below has the same numbers.",
                rows,
                "100 %",
            ),
        ),
        table(
            heads,
            [
                [
                    cut(column.name, NAME),
                    column.model,
                    *([f"{column.weight:g}"] if weighted else []),
                    number(column.loss),
                    percent(column.exact),
                    percent(column.general),
                    percent(column.hidden),
                ]
                for column in shown
            ],
            "Loss by column",
            numbers=range(2, len(heads)),
        ),
        *rest(len(facts.columns) - len(shown)),
        table(
            ["Measure", "What it is", "Value"],
            [
                [
                    join([element("code", item.name), " (objective)" if i == 0 else ""]),
                    f"{item.meaning[0].upper()}{item.meaning[1:]}",
                    number(item.value),
                ]
                for i, item in enumerate((facts.objective, *facts.measures))
            ],
            "Loss of the whole release",
            numbers=(2,),
        ),
    ]


def group_parts(facts: Facts) -> list[Markup]:
    """How large groups are."""
    sizes = facts.sizes
    most = round_up(max(item.groups for item in sizes.classes))
    unlike = "By this method records hide among some that read differently: groups may be below k. "
    return [
        element(
            "p",
            f"The smallest group has {count(sizes.smallest, 'record')}, half of the groups have at most "
            f"{sizes.median:,}, the largest has {sizes.largest:,}. {'' if facts.reads_the_same else unlike}",
            more("sizes"),
        ),
        element(
            "figure",
            element("figcaption", "Number of groups by their size in records"),
            bars(
                "size-chart",
                "Number of groups by size",
                f"{facts.groups:,} groups of {sizes.smallest:,} to {sizes.largest:,} records; "
                "the same numbers follow as a table.",
                [
                    Row(
                        f"{_range(item)} record{'' if item.most == 1 else 's'}",
                        f"{item.groups:,}",
                        [[Part("after", 100 * item.groups / most)]],
                    )
                    for item in sizes.classes
                ],
                count(round(most), "group"),
            ),
            details(
                "As a table",
                table(
                    ["Records in a group", "Groups", "Records in all"],
                    [
                        [_range(item), f"{item.groups:,}", f"{item.records:,}"]
                        for item in sizes.classes
                    ],
                    "Groups by size",
                    numbers=(1, 2),
                ),
            ),
        ),
    ]


def _range(item: SizeClass) -> str:
    return f"{item.least:,}" if item.least == item.most else f"{item.least:,} to {item.most:,}"


_RISKS: tuple[tuple[str, str, bool, Callable[[Risk], float]], ...] = (
    (
        "Prosecutor, highest",
        "knows that the person is in the table; the least safe record",
        True,
        lambda risk: risk.reidentification.prosecutor_highest,
    ),
    (
        "Prosecutor, average",
        "the same, mean over records",
        True,
        lambda risk: risk.reidentification.prosecutor_average,
    ),
    (
        "Journalist, highest",
        "does not know it; the table stands for all people, which is the worst case",
        False,
        lambda risk: risk.reidentification.journalist_highest,
    ),
    (
        "Journalist, average",
        "the same, mean over records",
        False,
        lambda risk: risk.reidentification.journalist_average,
    ),
    (
        "Marketer",
        "looks for everyone: share of records that are found",
        False,
        lambda risk: risk.reidentification.marketer,
    ),
    (
        "Records at high risk",
        "share of records that a prosecutor finds with a chance above {threshold:g} %",
        True,
        lambda risk: risk.reidentification.at_risk,
    ),
    (
        "Records alone",
        "share of records that no other one reads like",
        True,
        lambda risk: risk.sizes.unique_share,
    ),
)  # name, meaning, whether it is drawn, how it is found


def risk_parts(facts: Facts) -> list[Markup]:
    """How likely records are found, and sensitive values learned."""
    before, after = facts.risks.before, facts.risks.after
    threshold = 100 * before.reidentification.threshold
    found = [
        (name, meaning.format(threshold=threshold), drawn, risk(before), risk(after))
        for name, meaning, drawn, risk in _RISKS
    ]
    return [
        element(
            "p",
            "The chance that an outsider who knows all quasi-identifiers of a person finds the person's record. ",
            more("risk"),
        ),
        element(
            "figure",
            element("figcaption", "Risk of being found"),
            _BEFORE_AFTER,
            _pairs(
                "risk-chart",
                "Risk of being found, before and after",
                [(name, b, a) for name, _, drawn, b, a in found if drawn],
                1.0,
            ),
        ),
        table(
            ["Risk", "Before", "After"],
            [
                [join([name, element("p", meaning)]), percent(b), percent(a)]
                for name, meaning, _, b, a in found
            ],
            "Risk of being found",
            numbers=(1, 2),
        ),
        *_disclosure(facts),
    ]


def _disclosure(facts: Facts) -> list[Markup]:
    """What groups tell about sensitive columns."""
    before, after = facts.risks.before.attributes, facts.risks.after.attributes
    if not after:
        return []
    shown = list(zip(before, after, strict=True))[:MOST_COLUMNS]
    return [
        element("h3", "Learning a sensitive value without finding the record"),
        element(
            "p",
            "Certain: share of records whose group has one value only. Guessed: how often the most frequent value of "
            "a record's group is right. Highest share: of one value in any group. ",
            more("disclosure"),
        ),
        table(
            ["Column", "Certain before", "after", "Guessed before", "after", "Highest share after"],
            [
                [
                    cut(b.column, NAME),
                    percent(b.disclosed),
                    percent(a.disclosed),
                    percent(b.average_share),
                    percent(a.average_share),
                    percent(a.largest_share),
                ]
                for b, a in shown
            ],
            "Risk of learning a sensitive value",
            numbers=range(1, 6),
        ),
        *rest(len(after) - len(shown)),
    ]


def distribution_parts(facts: Facts) -> list[Markup]:
    """How often values occur before and after, a chart per column."""
    histograms = [item for item in facts.distributions.histograms if item.labels]
    drawn = histograms[:MOST_CHARTS]
    distance = {item.column: item.total_variation for item in facts.distributions.columns}
    return [
        element(
            "p",
            "How often values occur in the original table, and how often the release lets one expect them. Values of "
            f"fewer than {facts.k:,} records are counted among others. ",
            more("distributions"),
        ),
        _BEFORE_AFTER,
        element(
            "div",
            *(
                _distribution(f"column-{i}", item, distance[item.column])
                for i, item in enumerate(drawn)
            ),
            class_="columns",
        ),
        *rest(len(histograms) - len(drawn)),
    ]


def _distribution(name: str, item: Histogram, distance: float) -> Markup:
    before, after = sum(item.before), sum(item.after) or 1.0
    shares = [
        (label, b / before, a / after)
        for label, b, a in zip(item.labels, item.before, item.after, strict=True)
    ]
    most = min(1.0, round_up(max(share for _, *pair in shares for share in pair)))
    column = cut(item.column, NAME)
    title = f"Distribution of {column}, before and after"
    numbers = [[cut(label, LABEL), percent(b), percent(a)] for label, b, a in shares]
    heads = ["Of the records", "Before", "After"]
    return element(
        "figure",
        element("h3", column),
        element(
            "figcaption",
            f"{percent(distance)} of the records differ" if distance else "no difference",
        ),
        _pairs(name, title, shares, most),
        details("As a table", table(heads, numbers, title, numbers=(1, 2))),
    )


def _pairs(
    name: str, title: str, shares: Sequence[tuple[str, float, float]], most: float
) -> Markup:
    """Two bars per line, before and after; `most` is the full width."""
    return bars(
        name,
        title,
        "Two bars per line, outlined before and filled after; the same numbers follow as a table.",
        [
            Row(
                cut(label, LABEL),
                f"{percent(before)} → {percent(after)}",
                [[Part("before", 100 * before / most)], [Part("after", 100 * after / most)]],
            )
            for label, before, after in shares
        ],
        f"{100 * most:g} %",
    )
