"""A report as one HTML file: no network access, no scripts, readable on a phone, on paper, in light and dark mode.

Each section has a template of the same name; this module computes their charts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import floor, log10
from pathlib import Path
from typing import Any

from shoal.assess.distributions import Distributions
from shoal.assess.histograms import Histogram
from shoal.assess.risk import Risk, Risks
from shoal.data.files.table_file import write_text
from shoal.errors import REASONS, counted
from shoal.report.facts import Facts, Sizes
from shoal.report.formats import make_templates, percent, shorten, whole_percent
from shoal.report.gather import ReportSource, gather_facts

TITLE, LABEL = 120, 24  # characters of the title, and of a label in a chart
MOST_COLUMNS, MOST_CHARTS = 60, 24  # most columns in a table, and most charts
SECTIONS = {
    "verdict": "Verdict",
    "done": "What was released",
    "loss": "What it cost",
    "risk": "What risk is left",
    "care": "What to watch out for",
    "distributions": "Distributions",
    "sample": "A few released records",
    "experts": "For experts",
    "words": "What the figures mean",
}


def write_report(
    release: ReportSource,
    risks: Risks,
    distributions: Distributions,
    path: str | os.PathLike[str],
    overwrite: bool = False,
) -> None:
    """Write a report to a file, completely or not at all."""
    facts = gather_facts(release, risks, distributions, Path(path).parent)
    write_text(render_page(facts), path, overwrite)


def render_page(facts: Facts) -> str:
    histograms = [item for item in facts.histograms if item.labels]
    drawn = (
        histograms[:MOST_CHARTS] if facts.verdict.is_proved else []
    )  # else nothing protects records
    return fill_template(
        "page.html",
        facts=facts,
        title=shorten(facts.title.strip(), TITLE) or "Release report",
        sections=SECTIONS,
        reasons=REASONS,
        most_columns=MOST_COLUMNS,
        loss_chart=_loss_chart(facts),
        risk_chart=_risk_chart(facts),
        size_chart=size_chart(facts.sizes, facts.audit.groups),
        distributions=[_distribution(i, item, facts) for i, item in enumerate(drawn)],
        undrawn=len(histograms) - len(drawn),
    )


@cache
def _templates() -> Any:
    return make_templates(Path(__file__).parent / "templates")


def fill_template(template: str, **context: Any) -> str:
    return _templates().get_template(template).render(context)


@dataclass(frozen=True)
class Row:
    """A row of a bar chart: its label, the texts at its end, and its bars from top to bottom.

    A bar consists of parts next to each other: the CSS class and the length in percent of each.
    """

    label: str
    texts: Sequence[str]
    bars: Sequence[dict[str, float]]
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """A bar chart whose rows have the same number of bars; `most` labels the end of the axis."""

    name: str
    title: str
    description: str
    rows: Sequence[Row]
    most: str


def _loss_chart(facts: Facts) -> Chart:
    """How precisely the cells of each quasi-identifier are released."""
    rows = []
    for column in facts.columns[:MOST_COLUMNS]:
        shares = {"exact": column.exact, "general": column.general, "hidden": column.hidden}
        parts = {kind: 100 * share for kind, share in shares.items()}
        rows.append(Row(shorten(column.name, LABEL), [f"{percent(column.exact)} exact"], [parts]))
    return Chart(
        "loss-chart",
        "Share of values released exactly, less precisely or not at all",
        "One bar for each quasi-identifier. The same numbers follow as a table.",
        rows,
        "100 %",
    )


def _risk_chart(facts: Facts) -> Chart:
    """The chance of finding records; before the release only if that may be shown."""
    before, after = _chances(facts.risks.before), _chances(facts.risks.after)
    threshold = 100 * facts.risks.before.reidentification.threshold
    notes = {
        "Highest chance": "of finding the record of a person who is known to be in the table",
        "Average chance": "the same, averaged over records",
        "Records at high risk": f"whose chance of being found is above {threshold:g} %",
        "Unique records": "that look like no other record",
    }
    rows = []
    for label, note in notes.items():
        share = after[label]
        texts, bars = [percent(share)], [{"after": 100 * share}]
        if facts.tells_before:
            counted = facts.risks.before.sizes.records if "chance" not in label else None
            text, drawn = of_originals(before[label], counted, facts.k)
            texts, bars = [text, *texts], [{"before": 100 * drawn}, *bars]
        rows.append(Row(label, texts, bars, note))
    return Chart(
        "risk-chart",
        "Risk of being found",
        "Each row has an outlined bar (before) and a filled bar (after). The same numbers follow as a table.",
        rows,
        "100 %",
    )


def _chances(risk: Risk) -> dict[str, float]:
    return {
        "Highest chance": risk.reidentification.prosecutor_highest,
        "Average chance": risk.reidentification.prosecutor_average,
        "Records at high risk": risk.reidentification.at_risk,
        "Unique records": risk.sizes.unique_share,
    }


def of_originals(share: float, records: int | None, k: int) -> tuple[str, float]:
    """A figure of the original table, as text and as a share to draw, as far as it may be shown.

    If it is a share of `records` records, it never stands for fewer than k people.

    Examples
    --------
    >>> of_originals(0.04, 100, 5), of_originals(0.0512, 1000, 5)
    (('fewer than 5 records', 0.0), ('5 %', 0.05))
    """
    number = 0 if records is None else round(share * records)
    if 0 < number < k:
        return f"fewer than {k:,} records", 0.0
    if records is not None and 0 < records - number < k:
        return f"all but fewer than {k:,} records", 1.0
    return whole_percent(share), round(share, 2)


def size_chart(sizes: Sizes, groups: int) -> Chart:
    """How many groups there are of each size."""
    most = round_up(max(item.groups for item in sizes.classes))
    between = f"{sizes.smallest:,} to " if sizes.smallest < sizes.largest else ""
    return Chart(
        "size-chart",
        "Number of groups by size",
        f"{counted(groups, 'group')} of {between}{counted(sizes.largest, 'record')}. "
        "The same numbers follow as a table.",
        [
            Row(
                f"{item.span} record{'' if item.most == 1 else 's'}",
                [f"{item.groups:,}"],
                [{"after": 100 * item.groups / most}],
            )
            for item in sizes.classes
        ],
        counted(round(most), "group"),
    )


@dataclass(frozen=True)
class Distribution:
    """How often the values of a column occur after and, if that may be shown, before."""

    column: str
    caption: str
    compares: bool  # whether with the original table
    chart: Chart


def _distribution(place: int, item: Histogram, facts: Facts) -> Distribution:
    counted = {"before": item.before, "after": item.after} if item.before else {"after": item.after}
    shares = {kind: [n / (sum(own) or 1) for n in own] for kind, own in counted.items()}
    most = min(1.0, round_up(max(map(max, shares.values()))))
    column = shorten(item.column)
    rows = []
    for label, *own in zip(item.labels, *shares.values(), strict=True):
        bars = [{kind: 100 * share / most} for kind, share in zip(shares, own, strict=True)]
        rows.append(Row(shorten(label, LABEL), list(map(percent, own)), bars))
    title, description = f"Distribution of {column}", "The same numbers follow as a table."
    chart = Chart(f"column-{place}", title, description, rows, f"{100 * most:g} %")
    return Distribution(column, _caption(item, facts), bool(item.before), chart)


def _caption(item: Histogram, facts: Facts) -> str:
    if item.unchanged:
        is_coarsened = item.column in facts.roles.coarsened
        return "less precise in every record" if is_coarsened else "released unchanged"
    if item.before:
        differ = percent(item.differing) if item.differing > 1e-9 else "none"
        if item.hidden:
            return (
                f"hidden in {percent(item.hidden)} of the records; of the others, {differ} differ"
            )
        return f"{differ} of the records differ" if differ != "none" else "no difference"
    if len(item.labels) == 1 or not facts.tells_before:
        return "only the release"
    return f"Original counts are hidden because they would reveal fewer than {facts.k:,} people."


def round_up(number: float) -> float:
    """The smallest of 1, 1.5, 2, 3, 5, 7.5, 10, … (0.1, 0.15, …) that is not below a number.

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
