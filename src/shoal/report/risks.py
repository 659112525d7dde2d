"""The parts of a report about risk: how likely a person is found, whether persons were counted, what groups
tell.
"""

from __future__ import annotations

from collections.abc import Callable

from shoal.assess.risk import Risk
from shoal.report.charts import Part, Row, bars
from shoal.report.facts import Facts
from shoal.report.figures import BEFORE_AFTER, MOST_COLUMNS, NAME
from shoal.report.markup import (
    Markup,
    count,
    cut,
    details,
    element,
    join,
    more,
    percent,
    rest,
    table,
    whole_percent,
)


def person_care(facts: Facts) -> list[str]:
    """What is left to say where persons were counted."""
    found = facts.by_person
    if found is None:
        return []
    share = (
        f" One person has up to {whole_percent(found.largest_share)} of a group's records."
        if found.largest_share
        else ""
    )
    return [
        f"Persons were counted by '{cut(found.identifier, NAME)}': {count(found.persons, 'person')}, of whom every "
        f"group holds at least {found.smallest:,}.{share} Whoever knows which several records are one person's knows "
        "more than any of their groups tells."
    ]


def pseudonym_care(facts: Facts) -> list[str]:
    """What pseudonyms leave possible."""
    roles = facts.roles
    if not roles.replaced:
        return []
    names = ", ".join(f"'{cut(name, NAME)}'" for name in roles.replaced)
    return [
        f"Pseudonyms are in the release: {names}. Equal values have equal pseudonyms in every release "
        "made with the same key, so that whoever has two of them can join a person's records, and what k promises of "
        "each alone does not hold for both together. Whoever has the key can find values by trying them."
    ]


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
            *([BEFORE_AFTER] if facts.tells_before else []),
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
    if facts.leaves_persons:
        return (
            f"Whoever looks for a person finds at least {hidden:,} records that fit, but these may all be records of "
            "the same person: for persons no limit of the chance is proved."
        )
    if facts.by_person is not None:
        return (
            f"Whoever looks for a person finds records of at least {hidden:,} persons that fit: the chance that one of "
            f"these persons, taken at random, is the right one is at most 1 in {hidden:,} ({percent(1 / hidden)})."
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
