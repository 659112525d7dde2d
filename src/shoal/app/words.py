"""Texts of the pages about roles, models and requirements."""

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

PAGES = {
    "month": "New month",
    "advice": "More detail",
    "explore": "Explore",
    "settings": "Settings from a file",
    **dict(STEPS),
}  # the titles of all pages of a project

ROLES = {
    "quasi-identifier": "Others may know it, such as age, town or job. It is generalized: made less precise, so "
    "that several people have the same values.",
    "sensitive": "Nobody should learn it about a person, such as an illness. It is released unchanged, or less "
    "precise in every record.",
    "identifier": "It identifies a person directly, such as a name or card number. It is removed.",
    "pseudonym": "It identifies a person directly and is replaced by a code made with a secret key. The same "
    "person gets the same code in every release made with this key. Without the key, nobody can find the name.",
    "keep": "It is released unchanged, or less precise in every record. Nothing else protects it.",
    "drop": "It is not released.",
}
ROLE_NAMES = {
    "quasi-identifier": "quasi-identifier: generalize",
    "sensitive": "sensitive: release unchanged",
    "identifier": "identifier: remove",
    "pseudonym": "identifier: replace by a pseudonym",
    "keep": "keep: release without protection",
    "drop": "leave out: do not release",
}

TEXTS = ("text", "true or false", "nothing")  # column types other than numbers and dates
PERIODS = ("day", "week", "month", "quarter", "year", "decade")  # to which dates can be coarsened

TYPES = {"text": "text", "number": "numbers", "date": "dates"}  # that the user can set for a column
# How the form of one column asks for settings that otherwise name their columns.
OF_COLUMN = {
    "rename": ("Name", "leave empty to keep the name in the file"),
    "types": ("Read as", ""),
    "date_format": ("Format of its dates", "like %d.%m.%Y"),
    "missing": ('Texts that mean "missing" in this column', "separated by commas, like 97, 98"),
    "thousands": ("Its thousands separator", ""),
}

MODELS = {
    "": "Ranges for numbers and dates; for other values, the value or *.",
    "interval": "Ranges of numbers or dates, such as 30–34.",
    "hierarchy": "A tree of ever larger categories, such as Lyon, France, Europe.",
    "suppression": "The value itself, or * for any value.",
    "subset": "The set of all values in the group, such as {nurse, teacher}.",
    "order": "Ranges of ordered categories, such as primary .. secondary.",
    "calendar": "Longer and longer periods: day, month, year.",
    "prefix": "The first characters of a code, such as 021**.",
    "ready": "A ready-made hierarchy, such as countries in their regions.",
    "point": "Cells of latitude and longitude, such as 48.12..48.16, 11.56..11.60.",
}

# What a tree can be built from, besides ready-made ones.
TREES = {
    "data": "similar categories",
    "numbers": "ranges of numbers",
    "dates": "periods of dates",
    "codes": "first characters of codes",
    "values": "single values, to be grouped by hand",
}

SUGGESTED = "suggested"
# Models that several columns can get at once: what each is called, and which columns it needs.
MANY_MODELS = {
    "interval": ("ranges", "Ranges need numbers or dates."),
    "calendar": ("longer and longer periods", "Periods need dates."),
    "prefix": ("first characters", "First characters need codes or texts, not dates."),
    "suppression": ("the value or *", ""),
    "subset": ("sets of values", ""),
}


class Option(NamedTuple):
    """How the page asks for an option of a requirement."""

    label: str
    usual: Any
    least: float = 1
    most: float = 1e6
    is_percent: bool = False
    choices: Mapping[str, str] = {}


# For each requirement: what it means, its options, and an example of what an outsider can learn.
REQUIRED = {
    "diversity": (
        "the sensitive values in each group are well mixed",
        {
            "l": Option("Strength l", 2),
            "kind": Option(
                "Measured by",
                "frequency",
                choices={
                    "frequency": "frequency: no value makes up more than 1/l of a group",
                    "distinct": "distinct values: each group has at least l different ones",
                    "entropy": "entropy: each group is as mixed as l equally frequent values",
                },
            ),
        },
        "With l = 2 and frequency, an outsider who guesses the most frequent value of a group is right at most half "
        "of the time.",
    ),
    "closeness": (
        "the sensitive values in each group are distributed almost as in the whole table",
        {"t": Option("Largest distance t (0 to 1)", 0.2, 0, 1)},
        "With t = 0.2, a value that 24 % of all records have makes up at most 44 % of a group.",
    ),
    "alpha": (
        "no sensitive value makes up more than a given share of a group",
        {"alpha": Option("Largest share in percent", 80, 0, 100, is_percent=True)},
        "With 80 %, nobody can be more than 80 % sure of a person's value from the group alone.",
    ),
    "sensitivity": (
        "each group has at least p different sensitive values",
        {"p": Option("Number of values p", 2)},
        "With p = 2, no group has only one value. One of its two values may still be very likely.",
    ),
}
