"""A report as one HTML file: no network, no script, readable on a phone, on paper, in light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shoal.report.facts import Facts
from shoal.report.figures import (
    MOST_COLUMNS,
    NAME,
    distribution_parts,
    group_parts,
    loss_parts,
    risk_parts,
)
from shoal.report.markup import Markup, cut, element, join, more, number, rest, table, tiles
from shoal.report.words import WORDS

NOTE = 300  # characters
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no browser loads or runs anything


def render_page(facts: Facts) -> str:
    """The report."""
    sections = (
        ("verdict", "Verdict", _verdict(facts)),
        ("done", "What was done" if facts.making else "What was released", _done(facts)),
        ("loss", "What it cost", loss_parts(facts)),
        ("groups", "Group sizes", group_parts(facts)),
        ("risk", "Risk before and after", risk_parts(facts)),
        ("distributions", "Distributions before and after", distribution_parts(facts)),
        *_certificate(facts),
        ("sample", "A few released records", _sample(facts)),
        ("settings", "Settings", _settings(facts)),
        ("words", "What the figures mean", _words(facts)),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="robots", content="noindex"),
        element("title", "Release report"),
        element("style", Markup(Path(__file__).with_name("style.css").read_text(encoding="utf-8"))),
    )
    links = [element("a", title, href=f"#{name}") + Markup(" ") for name, title, _ in sections]
    main = element(
        "main",
        element("h1", "Release report"),
        element(
            "p",
            f"{_subtitle(facts)}, ",
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
    columns = len(facts.roles.quasi_identifiers)
    noun = "quasi-identifier" if columns == 1 else "quasi-identifiers"
    return f"{facts.records:,} records, {columns:,} {noun}, k = {facts.k:,}"


def _verdict(facts: Facts) -> list[Markup]:
    return [
        _proved(facts) if facts.is_proved else _missed(facts),
        table(
            ["Requirement", "Reached", "Audit"],
            [
                [
                    join(
                        [element("b", cut(promise.name, 2 * NAME)), element("p", promise.meaning)]
                    ),
                    join([promise.reached, element("p", f"{promise.required} required")]),
                    element("span", "✗ not proved", class_="missed")
                    if promise.miss
                    else element("span", "✓ proved", class_="proved"),
                ]
                for promise in facts.promises[:MOST_COLUMNS]
            ],
            "Requirements, and what the least safe group reaches",
            numbers=(1,),
        ),
        *rest(len(facts.promises) - MOST_COLUMNS, "requirement"),
        element(
            "div",
            element("h3", "What the audit cannot know"),
            element("ul", *(element("li", line) for line in _cares(facts))),
            class_="care",
        ),
    ]


def _proved(facts: Facts) -> Markup:
    count = len(facts.promises)
    what = "The requirement is proved." if count == 1 else f"All {count} requirements are proved."
    when = ", before it was handed out," if facts.making else ""
    return element(
        "div",
        element("strong", f"✓ {what}"),
        element(
            "p",
            f"An independent audit counted in the finished release{when} that every requirement below is kept. ",
            more("audit"),
        ),
        class_="verdict",
    )


def _missed(facts: Facts) -> Markup:
    misses = [promise.miss for promise in facts.promises if promise.miss]
    which = "the requirement" if len(facts.promises) == 1 else "every requirement"
    return element(
        "div",
        element("strong", "✗ Not proved: do not release this table."),
        element(
            "p", f"An independent audit counted in it and found that it does not keep {which}. "
        ),
        element("ul", *(element("li", f"{cut(miss, NOTE)}.") for miss in misses[:MOST_COLUMNS])),
        element("p", more("audit")),
        class_="verdict failed",
    )


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
    if roles.others:
        lines.append(
            f"Neither protected nor named as sensitive, yet in the release: {_names(roles.others)}."
        )
    return lines


def _done(facts: Facts) -> list[Markup]:
    roles, making = facts.roles, facts.making
    what: dict[str, str] = {
        "Removed": _names(roles.removed) or "none",
        "Generalized": _names(roles.quasi_identifiers),
        "Sensitive": _names(roles.sensitive) or "none",
        "Others": _names(roles.others) or "none",
    }
    if making:
        what = {
            "Method": join([element("code", facts.method), f", {facts.refined}"]),
            "Notes": "; ".join(cut(note, NOTE) for note in making.notes) or "none",
            **what,
            "Seconds": _seconds(making.seconds),
        }
    else:
        what["Method"] = "not known: the release was compared with its table as it was given"
    return [
        tiles(
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


def _seconds(spent: Mapping[str, float]) -> Markup:
    """Seconds in all and by stage, marked as times: they are all that differs between two equal runs."""
    stages = [[f"{stage} ", _time(f"{seconds:.2f}")] for stage, seconds in spent.items()]
    total = [_time(f"{sum(spent.values()):.2f}"), " in all: "]
    return join([*total, *(part for stage in stages for part in (*stage, ", "))][:-1])


def _time(text: str) -> Markup:
    return element("time", text, datetime=f"PT{text}S")


def _certificate(facts: Facts) -> list[tuple[str, str, list[Markup]]]:
    """The section about the certificate, which only a release that was made here can have."""
    if not facts.making:
        return []
    found, measure = facts.making.certificate, facts.objective
    if found is None:
        why = f"No certificate: {facts.making.no_certificate}. "
        content = [element("p", why, more("certificate"))]
    else:
        beyond = (
            " It does not know of the requirements beyond k, which may cost more."
            if len(facts.promises) > 1
            else ""
        )
        verdict = str(found)
        content = [
            element("p", element("strong", f"{verdict[0].upper()}{verdict[1:]}."), class_="lead"),
            element(
                "p",
                f"No release of this table that keeps k = {facts.k:,} can lose less than {number(found.bound)}, and "
                f"this one loses {number(measure.value)} ({measure.name}). Found by: {found.how}.{beyond} ",
                more("certificate"),
            ),
        ]
    return [("certificate", "How near the best possible", content)]


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


def _settings(facts: Facts) -> list[Markup]:
    what = (
        "They make this release again from the same table. "
        if facts.making
        else "The release was read and audited by them. "
    )
    return [
        element("p", what, more("settings")),
        element("pre", element("code", facts.settings)),
        *(element("p", remark, class_="quiet") for remark in facts.remarks),
    ]


def _words(facts: Facts) -> list[Markup]:
    entries = [
        join([element("dt", term, id=f"about-{name}"), element("dd", text)])
        for name, (term, text) in WORDS.items()
        if facts.making or name != "certificate"
    ]
    return [element("dl", *entries, class_="words")]


def _names(names: Sequence[str], most: int = 12) -> str:
    """Names in a row, not all where they are many."""
    shown = ", ".join(cut(name, NAME) for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
