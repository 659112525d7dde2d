"""The words of the pages for roles, models, requirements and methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from shoal.errors import REASONS as REASONS

STEPS = (
    ("table", "Table"),
    ("columns", "Columns"),
    ("generalization", "Generalization"),
    ("requirement", "Requirement"),
    ("run", "Run and compare"),
    ("release", "Release"),
)

ROLES = {
    "quasi-identifier": "Somebody outside may know it, like age, town or job. It is made more general.",
    "sensitive": "What nobody shall find out about a person, like an illness. It is released unchanged, or "
    "coarser in all records alike.",
    "identifier": "It names a person, like a name or a number of a card. It is removed.",
    "pseudonym": "It names a person, and is replaced by a code made with a secret key: the same person gets the same "
    "code in every release with this key, and nobody finds the name without it.",
    "keep": "It is released as it is, or coarser in all records alike, and nothing else protects it.",
    "drop": "It is not released.",
}
ROLE_NAMES = {
    "quasi-identifier": "quasi-identifier: generalize",
    "sensitive": "sensitive: release unchanged",
    "identifier": "identifier: remove",
    "pseudonym": "identifier: replace by a pseudonym",
    "keep": "keep as it is",
    "drop": "leave out",
}

TEXTS = ("text", "true or false", "nothing")  # types of columns that are neither numbers nor dates
PERIODS = ("day", "week", "month", "quarter", "year", "decade")  # to which dates are coarsened

TYPES = {"text": "text", "number": "numbers", "date": "dates"}  # that a column can be said to hold

MODELS = {
    "": "The usual one: ranges for numbers and dates, otherwise the value or *.",
    "interval": "Ranges of numbers or dates, like 30–34.",
    "hierarchy": "A tree of ever larger sets, like Lyon, France, Europe.",
    "suppression": "The value as it is, or * for any.",
    "subset": "The set of the group's values, like {nurse, teacher}.",
    "order": "Ranges of ordered categories, like primary .. secondary.",
    "calendar": "Days, months, years: ever longer periods.",
    "prefix": "The first signs of a code, like 021**.",
}


class Option(NamedTuple):
    """How the page asks for an option of a requirement."""

    label: str
    usual: Any
    least: float = 1
    most: float = 1e6
    is_percent: bool = False
    choices: Mapping[str, str] = {}


# Each requirement: what it is, its options, and what it means for an outsider.
REQUIRED = {
    "diversity": (
        "a group's sensitive values are well mixed",
        {
            "l": Option("l", 2),
            "kind": Option(
                "counted",
                "frequency",
                choices={
                    "frequency": "by frequency: no value has more than 1/l of a group",
                    "distinct": "distinct: at least l different values",
                    "entropy": "by entropy: as mixed as l equally frequent values",
                },
            ),
        },
        "With l = 2 by frequency, an outsider who guesses the most frequent value of a group is right at most half of "
        "the time.",
    ),
    "closeness": (
        "a group's sensitive values are spread almost as in the whole table",
        {"t": Option("t, the largest distance from 0 to 1", 0.2, 0, 1)},
        "With t = 0.2, a value that 24 % of all have, at most 44 % of a group have.",
    ),
    "alpha": (
        "no value has more than a share of a group",
        {"alpha": Option("Largest share in percent", 80, 0, 100, is_percent=True)},
        "With 80 %, nobody can be more than 80 % sure of a person's value from the group alone.",
    ),
    "sensitivity": (
        "a group has at least p different values",
        {"p": Option("p", 2)},
        "With p = 2, no group shares a single value; one of two values may still be very likely.",
    ),
}
