"""A report as one HTML file: no network, no script, readable on a phone, on paper, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shoal.errors import REASONS
from shoal.report.experts import NOTE, expert_parts
from shoal.report.facts import Facts, Promise, Roles
from shoal.report.figures import MOST_COLUMNS, NAME, distribution_parts, loss_parts
from shoal.report.markup import (
    Markup,
    count,
    cut,
    element,
    fact_list,
    join,
    listed,
    more,
    percent,
    rest,
    table,
    tiles,
)
from shoal.report.risks import person_care, pseudonym_care, risk_parts
from shoal.report.words import WORDS

TITLE = 120  # characters
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no browser loads or runs anything
DEFAULT_TITLE = "Release report"
# The look of each state of the verdict.
STATES = {"protected": "", "proved for some columns only": "doubtful", "not proved": "failed"}


def render_page(facts: Facts) -> str:
    """The report."""
    sections = (
        ("verdict", "Verdict", _verdict(facts)),
        ("done", "What was released", _done(facts)),
        ("loss", "What it cost", loss_parts(facts)),
        ("risk", "What risk is left", risk_parts(facts)),
        ("care", "What to care about", _care(facts)),
        ("distributions", "Distributions", distribution_parts(facts)),
        ("sample", "A few released records", _sample(facts)),
        ("experts", "For experts", expert_parts(facts)),
        ("words", "What the figures mean", _words(facts)),
    )
    title = cut(facts.title.strip(), TITLE) or DEFAULT_TITLE
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", Markup(Path(__file__).with_name("style.css").read_text(encoding="utf-8"))),
    )
    links = [element("a", name, href=f"#{anchor}") + Markup(" ") for anchor, name, _ in sections]
    main = element(
        "main",
        element("h1", title),
        element(
            "p",
            f"{'' if title == DEFAULT_TITLE else f'{DEFAULT_TITLE}: '}{_subtitle(facts)}, ",
            element(
                "time", f"{facts.written:%Y-%m-%d %H:%M %Z}", datetime=facts.written.isoformat()
            ),
            class_="quiet",
        ),
        *(_section(*section) for section in sections[:1]),
        element("nav", *map(Markup, links), aria_label="Sections"),
        *(_section(*section) for section in sections[1:]),
        element(
            "footer",
            f"Report made by shoal {facts.version}. This file loads nothing from elsewhere.",
        ),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', main), lang='en')}\n"


def _section(name: str, title: str, content: Sequence[str]) -> Markup:
    return element("section", element("h2", title), *content, id=name)


def _subtitle(facts: Facts) -> str:
    """What the report is about, in a line."""
    columns = count(len(facts.roles.quasi_identifiers), "quasi-identifier")
    return f"{count(facts.records, 'record')}, {columns}, k = {facts.k:,}"


def _verdict(facts: Facts) -> list[Markup]:
    return [
        _stated(facts),
        table(
            ["Requirement", "Reached", "Audit"],
            [
                [
                    join(
                        [element("b", cut(promise.name, 2 * NAME)), element("p", promise.meaning)]
                    ),
                    join([promise.reached, element("p", f"{promise.required} required")]),
                    _mark(promise, facts.leaves_persons),
                ]
                for promise in facts.promises[:MOST_COLUMNS]
            ],
            "Requirements, and what the least safe group reaches",
            numbers=(1,),
        ),
        *rest(len(facts.promises) - MOST_COLUMNS, "requirement"),
    ]


def _mark(promise: Promise, repeats: bool) -> Markup:
    """What the audit says of a promise; where persons have several records, it is about records only."""
    if promise.miss:
        return element("span", "✗ not proved", class_="missed")
    proved = element("span", f"✓ proved{' for records' if repeats else ''}", class_="proved")
    if not repeats:
        return proved
    return join([proved, element("br"), element("span", "✗ not for persons", class_="missed")])


def _stated(facts: Facts) -> Markup:
    """The verdict in its colour: what it is, why, and who found out."""
    verdict = facts.verdict
    lines = [*verdict.reasons, *verdict.failures]
    when = " before it was written" if facts.making else ""
    return element(
        "div",
        element("strong", f"{verdict.title}."),
        element("p", cut(verdict.sentence, NOTE)),
        *([listed(cut(line, NOTE) for line in lines[:MOST_COLUMNS])] if lines else []),
        element(
            "p", f"A separate check counted this in the finished release{when}. ", more("audit")
        ),
        class_=f"verdict {STATES[verdict.state]}".strip(),
    )


def _care(facts: Facts) -> list[Markup]:
    """What no audit can know and a data protection officer should ask about."""
    roles = facts.roles
    lines = [
        f"Protected are the quasi-identifiers: {_names(roles.quasi_identifiers)}. Ask whether an outsider could know "
        "any other column of a person."
    ]
    if roles.unnamed:
        lines.append(
            f"Nobody gave these columns a role, yet they are in the release: {_names(roles.unnamed)}. Nothing is "
            "proved about them; name or remove them."
        )
    if roles.kept:
        lines.append(_kept_care(facts))
    if roles.allowed:
        lines.append(
            "The settings allow in spite of what speaks against it: "
            + "; ".join(
                f"'{cut(name, NAME)}', although {' and '.join(REASONS[own] for own in reasons)}"
                for name, reasons in list(roles.allowed.items())[:MOST_COLUMNS]
            )
            + "."
        )
    lines += person_care(facts) + pseudonym_care(facts)
    if roles.sensitive:
        unchanged = _unchanged(roles, roles.sensitive)
        if unchanged:
            lines.append(f"Sensitive, released unchanged: {_names(unchanged)}.")
        if len(facts.promises) == 1:
            lines.append(
                "Only k is required. All records of a group may share a sensitive value, and then it is known of "
                "everyone in the group."
            )
    lines += [
        f"'{cut(name, NAME)}' is released coarsened to {cut(text, NOTE)}, alike in all records."
        for name, text in roles.coarsened.items()
    ]
    certain = [item for item in facts.risks.after.attributes if item.disclosed][:MOST_COLUMNS]
    lines += [
        f"For {percent(item.disclosed)} of the records the group alone tells '{cut(item.column, NAME)}' for certain."
        for item in certain
    ]
    if facts.left_out:
        lines.append(
            f"{count(facts.left_out, 'record')} of the table "
            f"{'is' if facts.left_out == 1 else 'are'} not in the release: whoever counts in it misses "
            f"{'that one' if facts.left_out == 1 else 'those'}."
        )
    return [element("div", listed(lines), class_="care")]


def _kept_care(facts: Facts) -> str:
    return (
        f"Released as they are, though neither protected nor sensitive: {_names(facts.roles.kept)}. Anyone who knows "
        "these values of a person can use them to find the record; k does not protect against that."
    )


def _done(facts: Facts) -> list[Markup]:
    roles = facts.roles
    what: dict[str, str] = {
        "Removed": _names(roles.removed) or "none",
        **({"Replaced by pseudonyms": _names(roles.replaced)} if roles.replaced else {}),
        "Made less exact": _names(roles.quasi_identifiers),
        "Sensitive, unchanged": _names(_unchanged(roles, roles.sensitive)) or "none",
        "Others, unchanged": _names(_unchanged(roles, roles.kept)) or "none",
        **_coarsened(roles),
        **_loosened(facts),
    }
    return [
        tiles(
            ("Records released", f"{facts.records:,}", ""),
            ("Records left out", f"{facts.left_out:,}", ""),
            ("Groups that read the same", f"{facts.groups:,}", ""),
            ("Smallest group", f"{facts.sizes.smallest:,}", f"{facts.k:,} required"),
        ),
        fact_list(what),
        *_kept(facts),
    ]


def _unchanged(roles: Roles, names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in roles.coarsened]


def _coarsened(roles: Roles) -> dict[str, str]:
    """Columns that were made coarser in all records, and how."""
    found = [f"{cut(name, NAME)} to {cut(text, NOTE)}" for name, text in roles.coarsened.items()]
    return {"Coarsened in all records alike": "; ".join(found)} if found else {}


def _loosened(facts: Facts) -> dict[str, str]:
    """That values were made more general than needed, and what it cost, where it was so."""
    making = facts.making
    if making is None or not making.loosen:
        return {}
    return {
        "Loosened at random": f"about {percent(making.loosen)} of the values that are not exact are more general than "
        f"their group needs, so that nobody can rely on the others; about {100 * making.loosening_cost:.1f} percentage "
        "points of the detail lost come of it"
    }


def _kept(facts: Facts) -> list[Markup]:
    """Every column that is released as it is without being sensitive, and whom it singles out."""
    if not facts.kept:
        return []
    rows = []
    for item in facts.kept:
        remarks = []
        if len(item.columns) == 1 and item.columns[0] in facts.roles.unnamed:
            remarks.append("nobody gave it a role")
        if len(item.columns) == 1 and item.columns[0] in facts.roles.allowed:
            remarks.append("the settings allow it")
        if len(item.columns) == 1 and item.columns[0] in facts.roles.coarsened:
            remarks.append(f"coarsened to {facts.roles.coarsened[item.columns[0]]}")
        name = cut(item.columns[0], NAME) if len(item.columns) == 1 else "all of them together"
        rows.append([join([name, *(element("p", text) for text in remarks)]), f"{item.alone:,}"])
    return [
        element("p", "Columns that are released as they are, though not sensitive. ", more("kept")),
        table(
            ["Other column", "Records it identifies"],
            rows,
            "Records whose value no other released record has",
            numbers=(1,),
        ),
    ]


def _sample(facts: Facts) -> list[Markup]:
    if facts.sample is None:
        return [element("p", "None is shown: the audit did not prove that records are hidden.")]
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
        *rest(facts.sample.more),
    ]


def _words(facts: Facts) -> list[Markup]:
    entries = [
        join([element("dt", term, id=f"about-{name}"), element("dd", text)])
        for name, (term, text) in WORDS.items()
        if facts.making or name != "certificate"
    ]
    return [element("dl", *entries, class_="words")]


def _names(names: Sequence[str]) -> str:
    """Names in a row, all of them."""
    return ", ".join(cut(name, NAME) for name in names)
