"""A report as one HTML file: no network, no script, readable on a phone, on paper, in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from shoal.evaluation.histograms import Histogram
from shoal.evaluation.risk import Reidentification
from shoal.report.charts import Part, Row, bars
from shoal.report.facts import Facts, SizeClass
from shoal.report.markup import Markup, cut, details, element, join, table
from shoal.report.words import WORDS

NAME, VALUE = 40, 24  # characters of a column's name or a value that are shown
MOST_COLUMNS, MOST_CHARTS = 60, 24  # columns in a table, and those drawn
NOTE = 300


def render_page(facts: Facts) -> str:
    """The report."""
    sections = (
        ("verdict", "Verdict", _verdict(facts)),
        ("done", "What was done", _done(facts)),
        ("loss", "What it cost", _loss(facts)),
        ("groups", "Group sizes", _groups(facts)),
        ("risk", "Risk before and after", _risk(facts)),
        ("distributions", "Distributions before and after", _distributions(facts)),
        ("certificate", "How near the best possible", _certificate(facts)),
        ("sample", "A few released records", _sample(facts)),
        ("settings", "Settings", _settings(facts)),
        ("words", "What the figures mean", _words()),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="robots", content="noindex"),
        element("title", "Release report"),
        element("style", Markup(Path(__file__).with_name("style.css").read_text(encoding="utf-8"))),
    )
    links = [element("a", title, href=f"#{name}") + Markup(" ") for name, title, _ in sections]
    main = element(
        "main",
        element("h1", "Release report"),
        element("p", _subtitle(facts), class_="quiet"),
        *(_section(*section) for section in sections[:1]),
        element("nav", *map(Markup, links), aria_label="Sections"),
        *(_section(*section) for section in sections[1:]),
        element(
            "footer", f"Made by shoal {facts.version}. This file loads nothing from elsewhere."
        ),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', main), lang='en')}\n"


def _section(name: str, title: str, content: Sequence[str]) -> Markup:
    return element("section", element("h2", title), *content, id=name)


def _subtitle(facts: Facts) -> str:
    columns = len(facts.roles.quasi_identifiers)
    noun = "quasi-identifier" if columns == 1 else "quasi-identifiers"
    return f"{facts.records:,} records, {columns:,} {noun}, k = {facts.k:,}"


def _verdict(facts: Facts) -> list[Markup]:
    count = len(facts.promises)
    what = "The requirement is proved." if count == 1 else f"All {count} requirements are proved."
    return [
        element(
            "div",
            element("strong", f"✓ {what}"),
            element(
                "p",
                "An independent audit counted in the finished release, before it was handed out, that every "
                "requirement below is kept. ",
                _more("audit"),
            ),
            class_="verdict",
        ),
        table(
            ["Requirement", "Required", "Least safe group", "Audit"],
            [
                [
                    join(
                        [element("b", cut(promise.name, 2 * NAME)), element("p", promise.meaning)]
                    ),
                    promise.required,
                    promise.reached,
                    element("span", "✓ proved", class_="proved"),
                ]
                for promise in facts.promises
            ],
            "Requirements and what the audit found",
            numbers=(1, 2),
        ),
        element(
            "div",
            element("h3", "What the audit cannot know"),
            element("ul", *(element("li", line) for line in _cares(facts))),
            class_="care",
        ),
    ]


def _cares(facts: Facts) -> list[str]:
    """What a data protection officer should ask about."""
    roles = facts.roles
    lines = [
        f"Protected are the quasi-identifiers: {_names(roles.quasi_identifiers)}. Ask whether an outsider could know "
        "any other column of a person."
    ]
    if roles.sensitive:
        lines.append(f"Sensitive, released unchanged: {_names(roles.sensitive)}.")
        if len(facts.promises) == 1:
            lines.append(
                "Only k is required. All records of a group may share a sensitive value, and then it is known of "
                "everyone in the group."
            )
    if roles.unchanged:
        lines.append(
            f"Neither protected nor named as sensitive, released unchanged: {_names(roles.unchanged)}."
        )
    return lines


def _done(facts: Facts) -> list[Markup]:
    roles = facts.roles
    what = {
        "Method": join([element("code", facts.method), f", {facts.refined}"]),
        "Notes": "; ".join(cut(note, NOTE) for note in facts.notes) or "none",
        "Removed": _names(roles.removed) or "none",
        "Generalized": _names(roles.quasi_identifiers),
        "Unchanged": _names((*roles.sensitive, *roles.unchanged)) or "none",
        "Seconds": _seconds(facts.seconds),
    }
    return [
        _tiles(
            ("Records released", f"{facts.records:,}", ""),
            ("Records left out", f"{facts.left_out:,}", ""),
            ("Groups", f"{facts.groups:,}", ""),
            ("Smallest group", f"{facts.sizes.smallest:,}", f"{facts.k:,} required"),
        ),
        element(
            "dl",
            *(join([element("dt", name), element("dd", text)]) for name, text in what.items()),
            class_="facts",
        ),
    ]


def _seconds(spent: dict[str, float]) -> Markup:
    """Seconds in all and by stage, marked as times: they are all that differs between two equal runs."""
    stages = [[f"{stage} ", _time(f"{seconds:.2f}")] for stage, seconds in spent.items()]
    total = [_time(f"{sum(spent.values()):.2f}"), " in all: "]
    return join([*total, *(part for stage in stages for part in (*stage, ", "))][:-1])


def _time(text: str) -> Markup:
    return element("time", text, datetime=f"PT{text}S")


def _loss(facts: Facts) -> list[Markup]:
    shown = facts.columns[:MOST_COLUMNS]
    rows = [
        Row(
            cut(column.name, 28),
            f"{_percent(column.exact)} exact",
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
    numbers = range(2, len(heads))
    return [
        element(
            "p",
            "How much of each quasi-identifier can still be read. ",
            _more("loss"),
        ),
        element(
            "figure",
            element("figcaption", "Cells of each quasi-identifier, by how they are released"),
            _key(("exact", "exact"), ("general", "more general"), ("hidden", "hidden")),
            bars(
                "loss-chart",
                "Share of cells released exactly, more generally or not at all",
                "One bar per quasi-identifier; the table below holds the same numbers.",
                rows,
            ),
        ),
        table(
            heads,
            [
                [
                    cut(column.name, NAME),
                    column.model,
                    *([f"{column.weight:g}"] if weighted else []),
                    f"{column.loss:.4g}",
                    _percent(column.exact),
                    _percent(column.general),
                    _percent(column.hidden),
                ]
                for column in shown
            ],
            "Loss by column",
            numbers,
        ),
        *_rest(len(facts.columns) - len(shown), "column"),
        table(
            ["Measure", "What it is", "Value"],
            [
                [
                    join([element("code", item.name), " (objective)" if i == 0 else ""]),
                    f"{item.meaning[0].upper()}{item.meaning[1:]}",
                    f"{item.value:,.4g}" if abs(item.value) < 1e4 else f"{item.value:,.0f}",
                ]
                for i, item in enumerate((facts.objective, *facts.measures))
            ],
            "Loss of the whole release",
            numbers=(2,),
        ),
    ]


def _groups(facts: Facts) -> list[Markup]:
    sizes = facts.sizes
    most = max(item.groups for item in sizes.classes)
    same = (
        ""
        if facts.reads_the_same
        else "By this method records hide among records that read differently, so groups may be smaller than k. "
    )
    return [
        element(
            "p",
            f"The smallest group has {sizes.smallest:,} records, half of the groups have at most {sizes.median:,}, "
            f"the largest has {sizes.largest:,}. {same}",
            _more("sizes"),
        ),
        element(
            "figure",
            element("figcaption", "Number of groups by size, in records"),
            bars(
                "size-chart",
                "Number of groups by size",
                f"{facts.groups:,} groups from {sizes.smallest:,} to {sizes.largest:,} records.",
                [
                    Row(
                        _range(item),
                        f"{item.groups:,}",
                        [[Part("after", 100 * item.groups / most)]],
                    )
                    for item in sizes.classes
                ],
            ),
            details(
                "Numbers of this chart",
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


def _risk(facts: Facts) -> list[Markup]:
    before, after = facts.risks.before, facts.risks.after
    limit = before.reidentification.threshold
    found: list[tuple[str, str, float, float]] = []
    for name, who, of in _ATTACKS:
        found.append((name, who, of(before.reidentification), of(after.reidentification)))
    found += [
        (
            f"Records at a risk above {100 * limit:g} %",
            "share of all records",
            before.reidentification.at_risk,
            after.reidentification.at_risk,
        ),
        (
            "Records that are alone",
            "nobody else reads the same",
            before.sizes.unique_share,
            after.sizes.unique_share,
        ),
    ]
    return [
        element(
            "p",
            "The chance that an outsider who knows all quasi-identifiers of a person finds the person's record. ",
            _more("risk"),
        ),
        element(
            "figure",
            element("figcaption", "Risk of being found, from 0 to 100 %"),
            _BEFORE_AFTER,
            _pairs(
                "risk-chart",
                "Risk of being found, before and after",
                [(name, *shares) for name, _, *shares in found],
                1.0,
            ),
        ),
        table(
            ["Risk", "Before", "After"],
            [
                [join([name, element("p", who)]), _percent(b), _percent(a)]
                for name, who, b, a in found
            ],
            "Risk of being found",
            numbers=(1, 2),
        ),
        *_disclosure(facts),
    ]


_ATTACKS: tuple[tuple[str, str, Callable[[Reidentification], float]], ...] = (
    (
        "Prosecutor, highest",
        "knows that the person is in the table; least safe record",
        lambda risk: risk.prosecutor_highest,
    ),
    ("Prosecutor, average", "the same, mean over records", lambda risk: risk.prosecutor_average),
    (
        "Journalist, highest",
        "does not know it; the table stands for the population, the worst case",
        lambda risk: risk.journalist_highest,
    ),
    ("Journalist, average", "the same, mean over records", lambda risk: risk.journalist_average),
    ("Marketer", "looks for everyone: share of records found", lambda risk: risk.marketer),
)


def _disclosure(facts: Facts) -> list[Markup]:
    """What groups tell about sensitive columns."""
    before, after = facts.risks.before.attributes, facts.risks.after.attributes
    if not after:
        return []
    shown = list(zip(before, after, strict=True))[:MOST_COLUMNS]
    return [
        element("h3", "Learning a sensitive value without finding the record"),
        table(
            [
                "Column",
                "Certain, before",
                "after",
                "Guessed, before",
                "after",
                "Highest share, after",
            ],
            [
                [
                    cut(b.column, NAME),
                    _percent(b.disclosed),
                    _percent(a.disclosed),
                    _percent(b.average_share),
                    _percent(a.average_share),
                    _percent(a.largest_share),
                ]
                for b, a in shown
            ],
            "Certain: share of records whose group has one value only. Guessed: how often the most frequent value "
            "of the group is right. Highest share: of a value in any group.",
            numbers=range(1, 6),
        ),
        *_rest(len(after) - len(shown), "column"),
        element("p", _more("disclosure")),
    ]


def _distributions(facts: Facts) -> list[Markup]:
    drawn = [item for item in facts.distributions.histograms if item.labels][:MOST_CHARTS]
    distance = {item.column: item for item in facts.distributions.columns}
    return [
        element(
            "p",
            "How often values occur in the original table and how often the release lets one expect them. Values of "
            f"fewer than {facts.k:,} records are counted as other. ",
            _more("distributions"),
        ),
        _BEFORE_AFTER,
        element(
            "div",
            *(
                _distribution(f"column-{i}", item, distance[item.column].total_variation)
                for i, item in enumerate(drawn)
            ),
            class_="grid",
        ),
        *_rest(len(facts.distributions.histograms) - len(drawn), "column"),
    ]


def _distribution(name: str, item: Histogram, distance: float) -> Markup:
    before, after = sum(item.before), sum(item.after)
    shares = [
        (label, b / before, a / after if after else 0.0)
        for label, b, a in zip(item.labels, item.before, item.after, strict=True)
    ]
    most = max(share for _, *pair in shares for share in pair)
    column = cut(item.column, NAME)
    return element(
        "figure",
        element("h3", column),
        element("figcaption", f"{_percent(distance)} of the records would have to change"),
        _pairs(name, f"Distribution of {column}, before and after", shares, most),
    )


def _pairs(
    name: str, title: str, shares: Sequence[tuple[str, float, float]], most: float
) -> Markup:
    """Two bars per line, before and after, with their numbers as a table; `most` is the full width."""
    drawing = bars(
        name,
        title,
        "Two bars per line, outlined before and filled after; the same numbers follow as a table.",
        [
            Row(
                cut(label, VALUE),
                f"{_percent(before)} → {_percent(after)}",
                [[Part("before", 100 * before / most)], [Part("after", 100 * after / most)]],
            )
            for label, before, after in shares
        ],
    )
    numbers = [[cut(label, VALUE), _percent(b), _percent(a)] for label, b, a in shares]
    return join(
        [
            drawing,
            details("As a table", table(["", "Before", "After"], numbers, title, numbers=(1, 2))),
        ]
    )


def _certificate(facts: Facts) -> list[Markup]:
    return [
        _tiles(
            (f"Loss ({facts.objective.name})", f"{facts.objective.value:.4g}", ""),
            ("Certificate", facts.certificate, facts.bound),
        )
        if facts.bound
        else element("p", f"Certificate: {facts.certificate}."),
        element("p", _more("certificate")),
    ]


def _sample(facts: Facts) -> list[Markup]:
    columns = facts.sample.columns
    rows = [
        [
            element("span", "missing", class_="missing") if cell is None else cut(cell, NAME)
            for cell in row
        ]
        for row in zip(*columns.values(), strict=True)
    ]
    return [
        element("p", "As anyone who gets the release will read them."),
        element(
            "div",
            table([cut(name, NAME) for name in columns], rows, "Released records"),
            class_="sample",
        ),
        *_rest(facts.sample.more, "column"),
    ]


def _settings(facts: Facts) -> list[Markup]:
    return [
        element("p", "What makes this release again from the same table. ", _more("settings")),
        element("pre", element("code", facts.settings)),
        *(element("p", remark, class_="quiet") for remark in facts.remarks),
    ]


def _words() -> list[Markup]:
    entries = [
        join([element("dt", term, id=f"about-{name}"), element("dd", text)])
        for name, (term, text) in WORDS.items()
    ]
    return [element("dl", *entries, class_="words")]


def _more(word: str) -> Markup:
    return element("a", "What this means", href=f"#about-{word}", class_="more")


def _tiles(*tiles: tuple[str, str, str]) -> Markup:
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name),
                element("dd", value, *([element("small", note)] if note else [])),
            )
            for name, value, note in tiles
        ),
        class_="tiles",
    )


def _key(*kinds: tuple[str, str]) -> Markup:
    """What each filling means."""
    return element(
        "ul",
        *(
            element(
                "li",
                Markup(
                    '<svg aria-hidden="true" width="14" height="12">'
                    f'<rect class="{kind}" x="1" y="1" width="12" height="10"/></svg>'
                ),
                text,
            )
            for kind, text in kinds
        ),
        class_="key",
    )


_BEFORE_AFTER = _key(("before", "before: original table"), ("after", "after: release"))


def _names(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(cut(name, NAME) for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def _rest(count: int, noun: str) -> list[Markup]:
    """A line that says how many are not shown."""
    if count <= 0:
        return []
    return [element("p", f"and {count:,} more {noun}{'s' if count > 1 else ''}", class_="quiet")]


def _percent(share: float) -> str:
    """A share that never rounds to none or all unless it is."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"
