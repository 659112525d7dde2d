"""The words of the pages for roles, models, requirements and methods."""

from __future__ import annotations

from shoal.errors import REASONS as REASONS

# The look of each state of the verdict.
STATES = {"protected": "", "proved for some columns only": " doubtful", "not proved": " failed"}

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

METHODS = {
    "auto": "Let shoal choose (recommended)",
    "cover": "Cover: lowest loss, also for large tables",
    "sequential": "Sequential: moves records until no move helps",
    "agglomerative": "Agglomerative: merges the closest groups",
    "k_member": "k-member: grows one group after the other",
    "mondrian": "Mondrian: the fastest, loses more",
    "hilbert": "Hilbert: cuts a line through all records",
    "bottom_up": "Bottom-up: merges small groups",
    "top_down": "Top-down: splits large groups",
    "two_means": "Two means: splits groups around their means",
    "forest": "Forest: with a guarantee on the loss",
    "enhanced_pk": "Enhanced pk: shares out rare sensitive values first",
    "greedy_pk": "Greedy pk: sensitive values first, loss second",
    "incognito": "Incognito: one level per column for all records",
    "non_homogeneous": "Non-homogeneous: records of a group read differently",
    "exact": "Exact: the optimum, for at most 18 records",
}

OBJECTIVES = {
    "lm": "lm: how much of a column's values a released value may stand for",
    "entropy": "entropy: how hard it is to guess the original value",
    "suppressed": "suppressed: how many values became *",
}

STAGES = {
    "starting": "starting",
    "reading": "reading the table",
    "encoding": "checking and encoding",
    "grouping": "grouping similar records",
    "refining": "improving the groups",
    "leaving out": "leaving records out",
    "closing": "generalizing",
    "rendering": "generalizing",
    "auditing": "proving the requirement on the result",
    "writing": "writing the files and proving them",
    "reporting": "writing the report",
}
ORDER = tuple(dict.fromkeys(STAGES.values()))


def stage_in_words(stage: str) -> str:
    """What a person is told of a stage."""
    if stage in STAGES:
        return STAGES[stage]
    return stage.partition(":")[0]


def stage_number(stage: str) -> int | None:
    """The place of a stage among all, from 1; None for one of a method's own."""
    return ORDER.index(STAGES[stage]) + 1 if stage in STAGES else None
