"""The folded part of a report: how a release was made, and figures that take the literature for granted."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.report.charts import Part, Row, bars, round_up
from shoal.report.facts import Facts, Measured, SizeClass
from shoal.report.figures import MOST_COLUMNS, NAME
from shoal.report.markup import (
    Markup,
    count,
    cut,
    details,
    element,
    fact_list,
    join,
    more,
    number,
    rest,
    table,
)
from shoal.report.risks import attacker_parts

NOTE = 300  # characters


def expert_parts(facts: Facts) -> list[Markup]:
    """Everything that takes the literature for granted, folded."""
    return [
        element("p", "Figures for those who know the methods, each to be opened."),
        details("How it was made", _making(facts)),
        details("Loss by measures", *_measures(facts)),
        details("Group sizes", *_groups(facts)),
        details("Risk by kind of attacker", *attacker_parts(facts)),
        *([details("How near the best possible", *_certificate(facts))] if facts.making else []),
        details("Settings", *_settings(facts)),
    ]


def _making(facts: Facts) -> Markup:
    making = facts.making
    if not making:
        return fact_list(
            {"Method": "not known: the release was compared with its table as it was given"}
        )
    notes = [cut(note, NOTE) for note in making.notes]
    return fact_list(
        {
            "Method": join([element("code", facts.method), f", {facts.refined}"]),
            "Notes of the method": "; ".join(notes) or "none",
            "Seconds": _seconds(making.seconds),
        }
    )


def _seconds(spent: Mapping[str, float]) -> Markup:
    """Seconds in all and by stage, marked as times: they are all that differs between two equal runs."""
    stages = [[f"{stage} ", _time(f"{seconds:.2f}")] for stage, seconds in spent.items()]
    total = [_time(f"{sum(spent.values()):.2f}"), " in all: "]
    return join([*total, *(part for stage in stages for part in (*stage, ", "))][:-1])


def _time(text: str) -> Markup:
    return element("time", text, datetime=f"PT{text}S")


def _certificate(facts: Facts) -> list[Markup]:
    """How far from the least possible loss the release is, which only one that was made here can know."""
    assert facts.making
    assert facts.objective
    found, measure = facts.making.certificate, facts.objective
    if found is None:
        why = f"No certificate: {facts.making.no_certificate}. "
        return [element("p", why, more("certificate"))]
    has_more, knows = len(facts.promises) > 1, found.how.endswith("all requirements")
    beyond = (
        " It does not know of the requirements beyond k, which may cost more."
        if has_more and not knows
        else ""
    )
    kept = f"k = {facts.k:,}{' and all requirements' if knows else ''}"
    two = measure.digits == 2
    verdict = f"about {found.ratio:.2g} times the optimum" if two else str(found)
    bound, lost = (number(value, measure.digits) for value in (found.bound, measure.value))
    return [
        element("p", element("strong", f"{verdict[0].upper()}{verdict[1:]}."), class_="lead"),
        element(
            "p",
            f"No release of this table that keeps {kept} can lose less than {bound}, and this one loses "
            f"{lost} ({measure.name}, both rounded). Found by: {found.how}.{beyond} ",
            more("certificate"),
        ),
    ]


_NO_LOSS = (
    "Which records of the table were left out of this release is not known here, so no loss is told that depends on "
    "original values."
)


def _measures(facts: Facts) -> list[Markup]:
    """Losses as measures count them, by column and of the whole release."""
    measured = facts.measures if facts.objective is None else (facts.objective, *facts.measures)
    whole = table(
        ["Measure", "What it is", "Value"],
        [
            [
                join([element("code", item.name), " (objective)" * (item is facts.objective)]),
                f"{item.meaning[0].upper()}{item.meaning[1:]}",
                number(item.value, item.digits),
            ]
            for item in measured
        ],
        "Loss of the whole release",
        numbers=(2,),
    )
    if facts.objective is None:
        return [element("p", _NO_LOSS), whole]
    rounded = (
        "The objective looks at how sensitive values and original quasi-identifiers go together. It is rounded to "
        "two digits, since more would tell which value was whose."
    )
    return [
        element(
            "p",
            "The objective is the measure that was made small; the others are for comparison. Less is better. ",
            rounded if facts.objective.digits == 2 else "",
        ),
        *_column_table(facts, facts.objective),
        whole,
    ]


def _column_table(facts: Facts, objective: Measured) -> list[Markup]:
    shown = facts.columns[:MOST_COLUMNS]
    weighted = any(column.weight != 1 for column in facts.columns)
    heads = ["Column", "Model", *(["Weight"] if weighted else []), f"Loss ({objective.name})"]
    return [
        table(
            heads,
            [
                [
                    cut(column.name, NAME),
                    column.model,
                    *([f"{column.weight:g}"] if weighted else []),
                    number(column.loss, objective.digits),
                ]
                for column in shown
                if column.loss is not None
            ],
            "Loss by column, mean over records",
            numbers=range(2, len(heads)),
        ),
        *rest(len(facts.columns) - len(shown)),
    ]


def _groups(facts: Facts) -> list[Markup]:
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


def _settings(facts: Facts) -> list[Markup]:
    what = "The release was read and audited by them. "
    if facts.making:
        what = "They make this release again from the same table. "
        if facts.making.loosen:
            what = "They make this release again from the same table, but for what was loosened at random. "
    return [
        element("p", what, more("settings")),
        element("pre", element("code", facts.settings)),
        *(element("p", remark, class_="quiet") for remark in facts.remarks),
    ]
