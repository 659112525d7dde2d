"""Guess roles and models from names and values, for a settings file that a person then corrects."""

from __future__ import annotations

import json
import re
from dataclasses import fields

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.generalization.models import is_ordered
from shoal.table.encode import default_model
from shoal.table.frames import arrow_column, order_of
from shoal.table.inference import infer
from shoal.table.source import Input, Source

FEW = 20  # records or values, from which on numbers tell something
ALL_DIFFERENT = 0.9  # distinct values per record of an identifier
MOST_REPEATS = 4  # records per value, up to which a column named like an identifier may be one

_NAME = (
    r"\b(name|names|surname|forename|ssn|email|mail|phone|telephone|mobile|fax|address|street|passport|iban)\b|"
    r"^(first|last|given|family|maiden)$"
)
_IDENTIFIER = r"\b(id|ids|mrn|nin|nhs|account|plate|url|ip|token|hash|uuid|guid)\b"
_SENSITIVE = (
    r"\b(diagnosis|diagnoses|disease|ill|illness|condition|symptom|income|salary|wage|religion|crime|therapy|"
    r"treatment|medication|drug|outcome|result|dead|death|died|status hiv|hiv|debt|score|charges)\b"
)
_CODE = r"\b(zip|zipcode|postcode|postal|plz|code|codes|icd|type|class|category|status|ward|id)\b"
_DATE = r"^\d{1,2}([./-])\d{1,2}[./-]\d{4}$"
_TITLE = (
    "Settings for {table}, guessed: read every line, an attacker's knowledge cannot be guessed."
)
_HEADER = """
# identifiers are removed, sensitive columns released unchanged, quasi-identifiers generalized.
# keep names columns that are released as they are and nothing protects; others says what becomes of columns that
# stand nowhere: "refuse" the table, "drop" or "keep" them.
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
render = "text"  # "bounds": two columns per interval or order
"""


def guessed_settings(source: Source, table: str, reading: Input) -> str:
    """The text of a settings file for a table."""
    frame = source.data
    if not frame.shape[0]:
        raise InputError("The table has no records to guess from; give at least one.")
    roles: dict[str, list[str]] = {"identifiers": [], "sensitive": [], "keep": []}
    blocks = []
    for name in frame.columns:
        try:
            array = arrow_column(frame, name)
        except InputError as error:
            roles["identifiers"].append(name)
            blocks.append(_comment(f"{name}: to be removed. {error.problems[0]}"))
            continue
        role, why = _role(name, array)
        if role in roles:
            roles[role].append(name)
            blocks.append(_comment(f"{name}: {role}, {why}."))
        else:
            block = _quasi_identifier(name, array, source.is_text, reading)
            blocks.append(_ordered(name, array) if order_of(frame, name) else block)
    lists = "\n".join(
        f"{role} = [{', '.join(map(_quoted, names))}]" for role, names in roles.items()
    )
    return (
        _comment(_TITLE.format(table=table))
        + _HEADER
        + f'[columns]\n{lists}\nothers = "refuse"\n\n'
        + "\n\n".join(blocks)
        + "\n"
        + _FOOTER
        + _input_section(reading)
    )


def _role(name: str, array: pa.ChunkedArray) -> tuple[str, str]:
    """What a column probably is, and why."""
    known = len(array) - array.null_count
    distinct = len(pc.unique(array.drop_null()))
    words = _words(name)
    repeats = known > FEW and distinct <= known / MOST_REPEATS
    if known == 0:
        return "identifiers", "since it is empty"
    if re.search(_NAME, words) or (re.search(_IDENTIFIER, words) and not repeats):
        return "identifiers", "by its name"
    if re.search(_SENSITIVE, words):
        return "sensitive", "by its name"
    is_number = is_ordered(array.type) and not pa.types.is_integer(array.type)
    if known > FEW and distinct >= ALL_DIFFERENT * known and not is_number:
        return "identifiers", "since its values are almost all different"
    if _is_prose(array, distinct, known):
        return "identifiers", "since it holds free text"
    return "quasi_identifiers", ""


def _is_prose(array: pa.ChunkedArray, distinct: int, known: int) -> bool:
    """Whether a column holds texts of several words that seldom repeat."""
    if not pa.types.is_large_string(array.type) or distinct < max(FEW, known / 3):
        return False
    words = pc.mean(pc.count_substring_regex(pc.unique(array.drop_null()), r"\s+")).as_py()
    return bool(words >= 2)


def _quasi_identifier(name: str, array: pa.ChunkedArray, is_text: bool, reading: Input) -> str:
    values = pc.unique(array.drop_null())
    kind = values.type
    if is_text and pa.types.is_large_string(kind):
        kind = infer(values, reading).type
    model = default_model(kind).name
    if model == "interval" and re.search(_CODE, _words(name)) and pa.types.is_integer(kind):
        model = "suppression"
    block = (
        f"[quasi_identifiers.{_quoted(name)}]  # {len(values):,} values\n"
        f'model = "{model}"' + _hint(model)
    )
    if pa.types.is_large_string(kind) and pc.all(pc.match_substring_regex(values, _DATE)).as_py():
        block += (
            "\n# These look like dates: say how they are written, as in --date-format %d.%m.%Y."
        )
    return block


def _ordered(name: str, array: pa.ChunkedArray) -> str:
    """A column whose categories have an order."""
    values = len(pc.unique(array.drop_null()))
    return (
        f"[quasi_identifiers.{_quoted(name)}]  # {values:,} values\n"
        'model = "order"  # low .. high, in the order of the file; or values = ["lowest", …, "highest"]'
    )


def _words(name: str) -> str:
    """The words of a column's name: patientId, patient_id and PATIENT-ID are two."""
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower()


def _input_section(reading: Input) -> str:
    said = {f.name: getattr(reading, f.name) for f in fields(reading)}
    said = {n: v for n, v in said.items() if v and v != getattr(Input(), n)}
    if not said:
        return ""
    entries = "\n".join(
        f"{name} = {json.dumps(list(v) if isinstance(v, tuple) else v, ensure_ascii=False)}"
        for name, v in said.items()
    )
    return f"\n[input]\n{entries}\n"


def _comment(text: str) -> str:
    return "# " + re.sub(r"[\x00-\x1f\x7f]+", " ", text)


def _quoted(name: str) -> str:
    """A name as TOML: like JSON, which leaves DEL as it is."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _hint(model: str) -> str:
    if model == "interval":
        return "  # [24, 30]; or suppression, subset, hierarchy"
    return '  # value or *; finer: model = "hierarchy" and hierarchy = "FILE.csv"; or order, subset'
