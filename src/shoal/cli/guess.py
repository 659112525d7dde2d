"""Guess roles and models from names and values, for a settings file that a person then corrects."""

from __future__ import annotations

import json
import re

import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.table.encode import default_model
from shoal.table.frames import Frame, arrow_column

_IDENTIFIER = r"\b(id|ids|name|names|surname|forename|ssn|nin|email|mail|phone|telephone|mobile|address|passport)\b"
_SENSITIVE = (
    r"\b(diagnosis|disease|ill|illness|condition|symptom|income|salary|wage|religion|crime|therapy|"
    r"treatment|medication|drug|outcome|result|status hiv|hiv|debt|score)\b"
)
_TITLE = (
    "Settings for {table}, guessed: read every line, an attacker's knowledge cannot be guessed."
)
_HEADER = """
# identifiers are removed, sensitive columns released unchanged, quasi-identifiers generalized.
# Columns that stand nowhere below are released unchanged.
"""
_FOOTER = """
[requirement]
k = 10  # at least this many records read the same; larger is safer and costs more

# Without this, all records of a group may share a sensitive value; see `shoal requirements`.
# [[requirement.diversity]]
# l = 2  # no sensitive value has more than 1/l of a group's records
# kind = "frequency"  # or distinct, entropy, recursive (then also c)
# columns = ["COLUMN"]  # by default all sensitive columns

[objective]
measure = "lm"  # what to minimize, see `shoal measures`

[method]
name = "auto"  # see `shoal methods`
refine = "quick"  # false for the method's own groups, 60.0 to improve them for a minute
seed = 0

[output]
keep_order = false  # true keeps the order of records, which can identify them
render = "text"  # "bounds": two columns of numbers per interval
"""


def guessed_settings(frame: Frame, table: str) -> str:
    """The text of a settings file for a table."""
    if not frame.shape[0]:
        raise InputError("The table has no records to guess from; give at least one.")
    roles: dict[str, list[str]] = {"identifiers": [], "sensitive": []}
    blocks = []
    for name in frame.columns:
        words = re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower()
        try:
            array = arrow_column(frame, name)
        except InputError as error:
            roles["identifiers"].append(name)
            blocks.append(_comment(f"{name}: to be removed. {error.problems[0]}"))
            continue
        known = len(array) - array.null_count
        distinct = len(pc.unique(array.drop_null()))
        model = default_model(array.type).name
        if re.search(_IDENTIFIER, words) or (model == "suppression" and distinct == known > 20):
            roles["identifiers"].append(name)
        elif re.search(_SENSITIVE, words):
            roles["sensitive"].append(name)
        elif known == 0:
            blocks.append(_comment(f"{name}: left out, it is empty."))
        else:
            blocks.append(
                f"[quasi_identifiers.{_quoted(name)}]  # {distinct:,} values\n"
                f'model = "{model}"' + _hint(model)
            )
    lists = "\n".join(
        f"{role} = [{', '.join(map(_quoted, names))}]" for role, names in roles.items()
    )
    return (
        _comment(_TITLE.format(table=table))
        + _HEADER
        + f"[columns]\n{lists}\n\n"
        + "\n\n".join(blocks)
        + "\n"
        + _FOOTER
    )


def _comment(text: str) -> str:
    return "# " + re.sub(r"[\x00-\x1f\x7f]+", " ", text)


def _quoted(name: str) -> str:
    """A name as TOML: like JSON, which leaves DEL as it is."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _hint(model: str) -> str:
    if model == "interval":
        return "  # [24, 30]; or suppression, subset, hierarchy"
    return '  # value or *; finer: model = "hierarchy" and hierarchy = "FILE.csv"; or subset'
