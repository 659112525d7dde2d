"""The parts of a report that hold charts: what was lost, what risk is left, and distributions."""

from __future__ import annotations

from collections.abc import Callable

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
    listed,
    more,
    number,
    percent,
    rest,
    table,
    whole_percent,
)

NAME, LABEL = 40, 24  # characters of a column's name in a table, and of a name in a chart
MOST_COLUMNS, MOST_CHARTS = 60, 24  # columns in a table, and those drawn

_BEFORE_AFTER = key(("before", "before: original table"), ("after", "after: release"))


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


def measure_parts(facts: Facts) -> list[Markup]:
    """Losses as measures count them, by column and of the whole release."""
    shown = facts.columns[:MOST_COLUMNS]
    weighted = any(column.weight != 1 for column in facts.columns)
    heads = ["Column", "Model", *(["Weight"] if weighted else []), f"Loss ({facts.objective.name})"]
    show = short if facts.objective.rounded else number
    rounded = (
        "The objective looks at how sensitive values and original quasi-identifiers go together. It is rounded to "
        "two digits, since more would tell which value was whose."
    )
    return [
        element(
            "p",
            "The objective is the measure that was made small; the others are for comparison. Less is better. ",
            rounded if facts.objective.rounded else "",
        ),
        table(
            heads,
            [
                [
                    cut(column.name, NAME),
                    column.model,
                    *([f"{column.weight:g}"] if weighted else []),
                    show(column.loss),
                ]
                for column in shown
            ],
            "Loss by column, mean over records",
            numbers=range(2, len(heads)),
        ),
        *rest(len(facts.columns) - len(shown)),
        table(
            ["Measure", "What it is", "Value"],
            [
                [
                    join([element("code", item.name), " (objective)" if i == 0 else ""]),
                    f"{item.meaning[0].upper()}{item.meaning[1:]}",
                    (short if item.rounded else number)(item.value),
                ]
                for i, item in enumerate((facts.objective, *facts.measures))
            ],
            "Loss of the whole release",
            numbers=(2,),
        ),
    ]


def short(value: float) -> str:
    """A loss of two digits."""
    return f"{value:.2g}"


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
            table(
                ["Records in a group", "Groups", "Records in all"],
                [[_range(item), f"{item.groups:,}", f"{item.records:,}"] for item in sizes.classes],
                "Groups by size",
                numbers=(1, 2),
            ),
        ),
    ]


def _range(item: SizeClass) -> str:
    return f"{item.least:,}" if item.least == item.most else f"{item.least:,} to {item.most:,}"


_RISKS: tuple[tuple[str, str, bool, Callable[[Risk], float]], ...] = (
    (
        "Highest chance",
        "of finding the record of a person who is known to be in the table",
        False,
        lambda risk: risk.reidentification.prosecutor_highest,
    ),
    (
        "Average chance",
        "the same, mean over records",
        False,
        lambda risk: risk.reidentification.prosecutor_average,
    ),
    (
        "Records at high risk",
        "whose chance is above {threshold:g} %",
        True,
        lambda risk: risk.reidentification.at_risk,
    ),
    (
        "Records alone",
        "that read like no other record",
        True,
        lambda risk: risk.sizes.unique_share,
    ),
)  # name, meaning, whether it is a share of records, how it is found

_ATTACKERS: tuple[tuple[str, str, Callable[[Risk], float]], ...] = (
    (
        "Prosecutor, highest",
        "knows that the person is in the table; the least safe record",
        lambda risk: risk.reidentification.prosecutor_highest,
    ),
    (
        "Prosecutor, average",
        "the same, mean over records",
        lambda risk: risk.reidentification.prosecutor_average,
    ),
    (
        "Journalist, highest",
        "does not know it; the table stands for all people, which is the worst case",
        lambda risk: risk.reidentification.journalist_highest,
    ),
    (
        "Journalist, average",
        "the same, mean over records",
        lambda risk: risk.reidentification.journalist_average,
    ),
    (
        "Marketer",
        "looks for everyone: share of records that are found",
        lambda risk: risk.reidentification.marketer,
    ),
)


def of_originals(share: float, records: int, k: int) -> tuple[str, float]:
    """A share of original records as it may be told and drawn: never one that stands for fewer than k people.

    Examples
    --------
    >>> of_originals(0.04, 100, 5), of_originals(0.0512, 1000, 5)
    (('fewer than 5 records', 0.0), ('5 %', 0.05))
    """
    number = round(share * records)
    if 0 < number < k:
        return f"fewer than {k:,} records", 0.0
    if 0 < records - number < k:
        return f"all but fewer than {k:,} records", 1.0
    return whole_percent(share), round(share, 2)


def risk_parts(facts: Facts) -> list[Markup]:
    """How likely records are found, and sensitive values learned."""
    before, after = facts.risks.before, facts.risks.after
    threshold = 100 * before.reidentification.threshold
    rows = []
    for name, meaning, of_records, risk in _RISKS:
        told = of_originals(risk(before), before.sizes.records, facts.k)
        if not of_records:
            told = whole_percent(risk(before)), round(risk(before), 2)
        rows.append((name, meaning.format(threshold=threshold), told, risk(after)))
    return [
        element("p", _chance(facts), class_="lead"),
        element(
            "p",
            "This holds for an outsider who knows all quasi-identifiers of a person exactly, and nothing else. ",
            more("risk"),
        ),
        *([] if facts.tells_before else [element("p", _NO_BEFORE, class_="quiet")]),
        element(
            "figure",
            element("figcaption", "Risk of being found"),
            *([_BEFORE_AFTER] if facts.tells_before else []),
            bars(
                "risk-chart",
                "Risk of being found",
                "Bars per line, outlined before and filled after; the same numbers follow as a table.",
                [
                    Row(
                        name,
                        f"{told[0]} → {percent(a)}" if facts.tells_before else percent(a),
                        [
                            *([[Part("before", 100 * told[1])]] if facts.tells_before else []),
                            [Part("after", 100 * a)],
                        ],
                    )
                    for name, _, told, a in rows
                ],
                "100 %",
            ),
            details(
                "As a table",
                table(
                    ["Risk", *(["Before"] if facts.tells_before else []), "After"],
                    [
                        [
                            join([name, element("p", meaning)]),
                            *([told[0]] if facts.tells_before else []),
                            percent(a),
                        ]
                        for name, meaning, told, a in rows
                    ],
                    "Risk of being found",
                    numbers=(1, 2),
                ),
            ),
        ),
        *_disclosure(facts),
    ]


_NO_BEFORE = (
    "Which records of the table were left out of this release is not known here, so nothing is told about the "
    "originals: figures of before would count people who are not in the release."
)


def _chance(facts: Facts) -> str:
    """The risk that is left, in a sentence."""
    hidden = facts.risks.after.sizes.smallest
    if hidden == 1:
        return "At least one record reads like no other: whoever knows the person finds it."
    if facts.persons:
        return (
            f"Whoever looks for a person finds at least {hidden:,} records that fit, but these may all be records of "
            "the same person: for persons no limit of the chance is proved."
        )
    return (
        f"Whoever looks for a person finds at least {hidden:,} records that fit: the chance to pick the right one is "
        f"at most 1 in {hidden:,} ({percent(1 / hidden)})."
    )


def attacker_parts(facts: Facts) -> list[Markup]:
    """The same risks by the attackers of the literature."""
    before, after = facts.risks.before, facts.risks.after
    return [
        table(
            ["Risk", *(["Before"] if facts.tells_before else []), "After"],
            [
                [
                    join([name, element("p", meaning)]),
                    *([whole_percent(risk(before))] if facts.tells_before else []),
                    percent(risk(after)),
                ]
                for name, meaning, risk in _ATTACKERS
            ],
            "Risk of being found, by what the outsider knows and wants",
            numbers=(1, 2),
        )
    ]


def _disclosure(facts: Facts) -> list[Markup]:
    """What groups tell about sensitive columns."""
    found = facts.risks.after.attributes
    if not found:
        return []
    shown = found[:MOST_COLUMNS]
    return [
        element("h3", "Learning a sensitive value without finding the record"),
        element(
            "p",
            "Guessing the most frequent value of the whole release is right in the share of cases below “base rate”; "
            "guessing the most frequent value of the person's group in the share below “with the group”. The closer "
            "both are, the less a group tells. ",
            more("disclosure"),
        ),
        table(
            ["Column", "Base rate", "With the group", "Certain", "Highest share in a group"],
            [
                [
                    cut(item.column, NAME),
                    percent(item.base_rate),
                    percent(item.average_share),
                    percent(item.disclosed),
                    percent(item.largest_share),
                ]
                for item in shown
            ],
            "How often a guess of the sensitive value is right",
            numbers=range(1, 5),
        ),
        *rest(len(found) - len(shown)),
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
        *([_BEFORE_AFTER] if compared else []),
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
