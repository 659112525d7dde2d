"""The words of the pages for roles, models, requirements and methods."""

from __future__ import annotations

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
