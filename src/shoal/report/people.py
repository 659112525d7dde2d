"""The parts of a report about persons: whether they were counted, and what pseudonyms leave possible."""

from __future__ import annotations

from shoal.report.facts import Facts
from shoal.report.figures import NAME
from shoal.report.markup import count, cut, whole_percent


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
