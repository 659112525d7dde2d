"""Bad input gets its sentence, all of them at once, an exit code, no traceback, no cell, and no file."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import Hierarchy, Infeasible, InputError, Interval, ShoalError
from shoal.data.files.proposals import Proposal
from shoal.data.open import library_problem
from shoal.solve.measures.catalogue import objectives

CANARY = "CANARY-7731"
PEOPLE = f"""\
name,age,zip,ill
{CANARY}a,34,{CANARY},{CANARY}
{CANARY}b,35,{CANARY},{CANARY}
{CANARY}c,51,02139,{CANARY}
{CANARY}d,58,02139,{CANARY}
"""
ROLES = {
    "quasi_identifiers": ["age", "zip"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "others": "drop",
}
FLAGS = ("-q", "age", "-q", "zip", "-s", "ill", "-i", "name")
TOML = """\
[columns]
identifiers = ["name"]
sensitive = ["ill"]
[quasi_identifiers.age]
[quasi_identifiers.zip]
[requirement]
k = 2
"""
METHODS = ", ".join(shoal.list_methods())


@dataclass(frozen=True)
class Case:
    """One bad input: for Python a table and keywords, for the command line a file and flags."""

    name: str
    says: str | tuple[str, ...]
    table: Any = PEOPLE  # text or bytes are the content of people.csv
    python: Mapping[str, Any] | None = None  # keywords besides roles and k; None: not from Python
    flags: tuple[str, ...] | None = None  # besides k and, without -q, roles; None: not from a shell
    toml: str | bytes | None = None  # a settings file in place of roles and k
    file: str = "people.csv"  # the path given
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    output: str = "release.csv"
    raises: type[ShoalError] = InputError

    @property
    def sentences(self) -> tuple[str, ...]:
        return (self.says,) if isinstance(self.says, str) else self.says

    def lay_out(self, folder: Path) -> None:
        """Write the case's files."""
        files = {**self.files, "settings.toml": self.toml}
        if isinstance(self.table, str | bytes):
            files["people.csv"] = self.table
        for name, content in files.items():
            if content is not None:
                data = content.encode() if isinstance(content, str) else content
                (folder / name).write_bytes(data)
        (folder / "drawer").mkdir()


def both(name: str, says: str | tuple[str, ...], **more: Any) -> Case:
    """A case whose files alone make it bad: Python and the command line see the same."""
    return Case(name, says, **{"python": {}, "flags": (), **more})


def in_toml(name: str, says: str | tuple[str, ...], old: str, new: str = "", **more: Any) -> Case:
    """A settings file with one piece replaced, or with one more at its end."""
    toml = TOML.replace(old, new) if new else TOML + old
    assert toml != TOML
    return both(name, says, toml=toml, **more)


def in_python(name: str, says: str | tuple[str, ...], table: Any = PEOPLE, **keywords: Any) -> Case:
    return Case(name, says, table, python=keywords)


def people(**columns: Any) -> pd.DataFrame:
    """The table as pandas with some columns replaced."""
    frame = pd.DataFrame({"name": list("abcd"), "age": [34, 35, 51, 58]})
    frame["zip"] = CANARY
    frame["ill"] = CANARY
    return frame.assign(**columns)


def objects(*values: Any) -> pd.Series:
    return pd.Series(values, dtype=object)


def tree(name: str, says: str, content: str | bytes | None) -> list[Case]:
    """A hierarchy file for zip, named in flags and in a settings file."""
    entry = '[quasi_identifiers.zip]\nmodel = "hierarchy"\nhierarchy = "zip.csv"'
    files = {} if content is None else {"zip.csv": content}
    flags = ("-q", "age", "-q", "zip:hierarchy:zip.csv")
    by_file = in_toml(name, says, "[quasi_identifiers.zip]", entry, files=files)
    return [by_file, Case(f"{name}, in flags", says, flags=flags, files=files)]


ORDER = "Columns: name, age, zip, ill."
WHOLE_K = "The 'k' parameter must be a whole number of at least 1. Got {} instead."
REFINE = (
    "The 'refine' parameter must be 'quick', false, a number of seconds or shoal.Refine(…). "
    "Got {} instead."
)
SECONDS = "The 'seconds' of refine must be a finite number above 0."
SEED = "The 'seed' parameter must be a whole number from 0 to 2^64 - 1. Got {} instead."
WEIGHT = "The weight of 'age' must be a finite number above 0. Got {} instead."
NO_TABLE = "A table of type {} cannot be read. Give a pandas, polars or Arrow frame, or the path of a file."
MIXED = "Column 'age' mixes types, or contains values that are not numbers, dates or text. Convert it to one of these."
HOLDS = (
    "Column 'age' contains {}, which cannot be generalized. Convert it to numbers, dates or text."
)
NOT_FINITE = (
    "Column 'age' contains NaN or infinite numbers in 1 record. Make them missing or drop them."
)
NAMELESS = "A column has no name, or a name that is not text. Name every column."
NOT_AN_INTERVAL = (
    "Column 'zip' contains text, but an interval needs numbers or dates. Convert it, or choose order, "
    "hierarchy, subset or suppression."
)
MODELS = "Models: suppression, hierarchy, interval, order, calendar, prefix, ready, point, subset"
UNKNOWN_SUFFIX = (
    "The format of '{}' is unknown, because its {}. Use .csv, .tsv, .txt, .jsonl, .ndjson (each also with "
    ".gz), .parquet, .xlsx, .sav, .dta or .sas7bdat."
)

TABLES = [
    both("no records", "The table has no records. Give at least one.", table="name,age,zip,ill\n"),
    both(
        "a duplicate column",
        "In 'people.csv', column 3 repeats another heading. Name it, for example --rename 3:age_2 (rename).",
        table=PEOPLE.replace("age,zip", "age,age"),
        raises=Proposal,
    ),
    both(
        "a nameless column",
        "In 'people.csv', column 2 has no heading. Name it, for example --rename 2:column_2 (rename).",
        table=PEOPLE.replace("age", ""),
        raises=Proposal,
    ),
    both(
        "an empty column",
        "Column 'zip' is empty. Leave it out of the quasi-identifiers.",
        table=f"name,age,zip,ill\n{CANARY},1,,x\n{CANARY},2,,y\n",
    ),
    both(
        "the sign of suppression as a value",
        "Column 'zip' contains the text '*', which means suppressed. Rename it.",
        table=PEOPLE.replace("02139", "*"),
    ),
    both(
        "a torn row",
        "Row 6 of 'people.csv' (not counting blank lines) has 2 columns, but the heading has 4. Correct "
        "or remove such rows.",
        table=PEOPLE + f"{CANARY},1\n",
    ),
    both(
        "an open quote",
        "The quote opened in line 6 of 'people.csv' is never closed. The file may be incomplete: copy it again.",
        table=PEOPLE + f'"{CANARY}',
    ),
    both(
        "Latin-1",
        "'people.csv' is not UTF-8 text (line 6). Save it as UTF-8, in Excel as 'CSV UTF-8', or give its "
        'encoding, for example --encoding cp1252 (encoding="cp1252").',
        table=PEOPLE.encode() + f"{CANARY}é,1,2,3\n".encode("latin-1"),
        raises=Proposal,
    ),
    both("no bytes", "'people.csv' is empty. A table needs at least column names.", table=b""),
    both("no file", "'nowhere.csv' does not exist. Check the path.", file="nowhere.csv"),
    both(
        "an empty folder",
        "'drawer' matches no files. Name a file, a folder or a pattern like 'in/*.csv'.",
        file="drawer",
    ),
    both(
        "an unknown format",
        UNKNOWN_SUFFIX.format("people.sas", "suffix '.sas' is not supported"),
        file="people.sas",
        files={"people.sas": PEOPLE},
    ),
    in_python("a list", NO_TABLE.format("list"), [[1, CANARY]]),
    in_python("a dict", NO_TABLE.format("dict"), {"age": [CANARY]}),
    in_python("a record batch", NO_TABLE.format("RecordBatch"), pa.record_batch({"age": [1]})),
    in_python("nothing", NO_TABLE.format("NoneType"), None),
    in_python(
        "a frame without records", "The table has no records. Give at least one.", people().iloc[:0]
    ),
    in_python(
        "a duplicate column in a frame",
        "Column 'age' occurs 2 times. Rename all but one.",
        pd.DataFrame([[1, CANARY]], columns=["age", "age"]),
    ),
    in_python(
        "a nameless column in a frame", NAMELESS, pd.DataFrame([[1, 2]], columns=["age", " "])
    ),
    in_python("numbers for column names", NAMELESS, pd.DataFrame([[1, CANARY]])),
    in_python(
        "cells where a library looks for names",
        "Column 'age' is not in the table. Columns: name, zip, ill, column_names.",
        people().drop(columns="age").assign(column_names=CANARY),
    ),
    in_python("a mixed column", MIXED, people(age=objects(1, CANARY, 2, 3))),
    in_python("true among numbers", MIXED, people(age=objects(1, True, 2, 3))),
    in_python("a number beyond 64 bits", MIXED, people(age=objects(2**64, 1, 2, 3))),
    in_python(
        "a date among timestamps",
        MIXED,
        people(age=objects(date(2020, 1, 1), datetime(2020, 1, 1, 7), None, None)),
    ),
    in_python("objects", MIXED, people(age=objects(*[object()] * 4))),
    in_python(
        "a mixed sensitive column",
        MIXED.replace("age", "ill"),
        people(ill=objects(1, CANARY, 2, 3)),
    ),
    in_python("lists", HOLDS.format("lists or structures"), people(age=objects(*[[CANARY]] * 4))),
    in_python(
        "dicts", HOLDS.format("lists or structures"), people(age=objects(*[{CANARY: 1}] * 4))
    ),
    in_python(
        "bytes", HOLDS.format("binary data or objects"), people(age=objects(*[CANARY.encode()] * 4))
    ),
    in_python(
        "polars objects",
        HOLDS.format("binary data or objects"),
        pl.from_pandas(people()).with_columns(pl.Series("age", [CANARY] * 4, dtype=pl.Object)),
    ),
    in_python(
        "durations",
        HOLDS.format("times of day or durations"),
        people(age=pd.to_timedelta(range(4))),
    ),
    in_python("an infinity", NOT_FINITE, people(age=[1.0, 2.0, float("inf"), 3.0])),
    in_python(
        "NaN in polars",
        NOT_FINITE,
        pl.from_pandas(people()).with_columns(pl.Series("age", [1.0, 2.0, float("nan"), None])),
    ),
    in_python(
        "NaN in Arrow",
        NOT_FINITE,
        pa.table(people()).set_column(1, "age", [[1.0, 2.0, float("nan"), None]]),
    ),
    both(
        "text in an interval",
        NOT_AN_INTERVAL,
        python={"quasi_identifiers": {"age": None, "zip": Interval()}},
        flags=("-q", "age", "-q", "zip:interval"),
    ),
    both(
        "NaN as text in an interval",
        NOT_AN_INTERVAL.replace("zip", "age"),
        table=PEOPLE.replace(",34,", ",NaN,"),
        python={"quasi_identifiers": {"age": Interval(), "zip": None}},
        flags=("-q", "age:interval", "-q", "zip"),
    ),
    both(
        "bounds in the way of a column",
        "Column 'age_min' has the name of an interval's bounds. Rename it.",
        table=PEOPLE.replace("ill", "age_min"),
        python={"sensitive": [], "render": "bounds"},
        toml=TOML.replace('["ill"]', '[]\nothers = "drop"') + '[output]\nrender = "bounds"\n',
    ),
]

ROLES_AND_NUMBERS = [
    both(
        "a missing quasi-identifier",
        f"Column 'agee' is not in the table; did you mean 'age'? {ORDER}",
        python={"quasi_identifiers": ["agee"]},
        flags=("-q", "agee"),
    ),
    both(
        "three missing columns",
        (
            f"Column 'height' is not in the table. {ORDER}",
            f"Column 'illness' is not in the table; did you mean 'ill'? {ORDER}",
            f"Column 'names' is not in the table; did you mean 'name'? {ORDER}",
        ),
        python={
            "quasi_identifiers": ["age", "height"],
            "sensitive": "illness",
            "identifiers": "names",
        },
        flags=("-q", "age", "-q", "height", "-s", "illness", "-i", "names"),
    ),
    both(
        "no column that is there, as without a header",
        "None of the named columns is among the 4 columns of the table. Check the names, and that the "
        "first row of the file contains column names.",
        python={"quasi_identifiers": "height", "sensitive": "weight", "identifiers": "patient"},
        flags=("-q", "height", "-s", "weight", "-i", "patient"),
    ),
    both(
        "a column in two roles",
        "Column 'ill' is both sensitive and identifier. Give it one role.",
        python={"identifiers": ["ill"]},
        flags=("-q", "age", "-s", "ill", "-i", "ill"),
    ),
    both(
        "a role given twice",
        "Column 'ill' is named twice as sensitive. Name it once.",
        python={"sensitive": ["ill", "ill"]},
        flags=("-q", "age", "-s", "ill", "-s", "ill"),
    ),
    both(
        "a quasi-identifier given twice",
        "Quasi-identifier 'age' is named twice. Name it once.",
        python={"quasi_identifiers": ["age", "age"]},
        flags=("-q", "age", "-q", "age"),
    ),
    in_python(
        "no quasi-identifiers",
        "There are no quasi-identifiers. Name the columns to generalize.",
        quasi_identifiers=[],
    ),
    in_python(
        "a column of the table for its name",
        "The 'sensitive' parameter must be a list of column names. "
        "Got a value of type Series instead.",
        sensitive=people()["ill"],
    ),
    in_python(
        "numbers for roles",
        "The 'identifiers' parameter must be a list of column names, each of them text.",
        identifiers=[1],
    ),
    in_python(
        "text for a model",
        "The model of quasi-identifier 'age' must be shoal.Suppression(), Interval(), Order(), Calendar(), "
        "Prefix(), Subset(), Point(…), Ready(…) or a Hierarchy. Got 'interval' instead.",
        quasi_identifiers={"age": "interval"},
    ),
    both(
        "k of zero",
        "k is missing or 0. Choose the smallest number of records that must look the same, for example k = 10.",
        python={"k": 0},
        flags=(*FLAGS, "-k", "0"),
    ),
    in_toml(
        "no k",
        "k is missing or 0. Choose the smallest number of records that must look the same, for example k = 10.",
        "k = 2",
        "#",
    ),
    both("k below zero", WHOLE_K.format(-1), python={"k": -1}, flags=(*FLAGS, "-k", "-1")),
    in_python("k not whole", WHOLE_K.format(2.5), k=2.5),
    in_python("k of true", WHOLE_K.format(True), k=True),
    both(
        "k above the number of records",
        "k = 5 needs at least 5 records, but the table has 4. Choose k of at most 4.",
        python={"k": 5},
        flags=(*FLAGS, "-k", "5"),
        raises=Infeasible,
    ),
    both("a seed below zero", SEED.format(-1), python={"seed": -1}, flags=("--seed", "-1")),
    in_python("a seed beyond 64 bits", SEED.format(2**64), seed=2**64),
    in_python("a refine that is no time", REFINE.format("'slow'"), refine="slow"),
    Case(
        "a refine flag that is no time",
        "--refine must be quick, off, a number of seconds or steps=NUMBER.",
        flags=("--refine", "slow"),
    ),
    both(
        "a refine of minus a second",
        SECONDS,
        python={"refine": -1.0},
        flags=("--refine", "-1"),
    ),
    both(
        "a refine of half a step",
        "The 'steps' of refine must be a whole number of at least 0.",
        python={"refine": shoal.Refine(steps=0.5)},  # type: ignore[arg-type]
        flags=("--refine", "steps=0.5"),
    ),
    in_python(
        "a refine of seconds and steps",
        "Refine takes 'seconds' or 'steps', not both.",
        refine=shoal.Refine(seconds=1.0, steps=1),
    ),
    both(
        "a loosening of everything",
        "The 'loosen' parameter must be a share from 0 to below 1. Got 1.0 instead.",
        python={"loosen": 1.0},
        flags=("--loosen", "1"),
    ),
    both(
        "a loosened global recoding",
        "Values of method 'incognito' cannot be loosened, because its groups must fit together. Set "
        "loosen to 0, or choose a method of local recoding.",
        python={"loosen": 0.1, "method": "incognito"},
        flags=("--loosen", "0.1", "--method", "incognito"),
    ),
    in_python(
        "a loosen that is text",
        "The 'loosen' parameter must be a share from 0 to below 1. Got 'half' instead.",
        loosen="half",
    ),
    in_python(
        "a keep_order that only looks true",
        "The 'keep_order' parameter must be true or false. Got 'no' instead.",
        keep_order="no",
    ),
    both(
        "an unknown rendering",
        "The 'render' parameter must be 'text', 'bounds', 'midpoint' or 'mean'. Got 'html' instead.",
        python={"render": "html"},
        flags=("--render", "html"),
    ),
    both(
        "means of loosened ranges",
        "The mean of a group reveals where its values lie in a loosened range. Set loosen to 0, or "
        "render to 'midpoint', 'text' or 'bounds'.",
        python={"render": "mean", "loosen": 0.2},
        flags=("--render", "mean", "--loosen", "0.2"),
    ),
    both(
        "single numbers where the audit reads ranges",
        "The audit of method 'non_homogeneous' needs ranges. Set render to 'text' or 'bounds'.",
        python={"render": "midpoint", "method": "non_homogeneous"},
        flags=("--render", "midpoint", "--method", "non_homogeneous"),
    ),
    both(
        "a weight of zero",
        WEIGHT.format("0.0"),
        python={"weights": {"age": 0.0}},
        flags=("--weight", "age=0"),
    ),
    both(
        "a weight below zero",
        WEIGHT.format("-1.0"),
        python={"weights": {"age": -1.0}},
        flags=("--weight", "age=-1"),
    ),
    both(
        "a weight of NaN",
        WEIGHT.format("nan"),
        python={"weights": {"age": float("nan")}},
        flags=("--weight", "age=nan"),
    ),
    both(
        "an infinite weight",
        WEIGHT.format("inf"),
        python={"weights": {"age": float("inf")}},
        flags=("--weight", "age=inf"),
    ),
    both(
        "a weight of no quasi-identifier",
        "Weight for 'agee', which is not a quasi-identifier; did you mean 'age'?",
        python={"weights": {"agee": 1.0}},
        flags=("--weight", "agee=1"),
    ),
    in_python(
        "weights without columns",
        "The 'weights' parameter must be a dict from columns to numbers. Got a value of type list instead.",
        weights=[1, 2],
    ),
    Case(
        "a weight without a number",
        "--weight needs a name and a value. Write --weight NAME=VALUE.",
        flags=("--weight", "age"),
    ),
    Case(
        "a weight of text",
        "The weight of 'age' must be a number, for example --weight age=2.",
        flags=("--weight", "age=big"),
    ),
    both(
        "an unknown measure",
        f"There is no measure 'lmm'; did you mean 'lm'? Measures: {', '.join(objectives())}.",
        python={"objective": "lmm"},
        flags=("--objective", "lmm"),
    ),
    in_python(
        "a list for a measure",
        "The 'objective' parameter must be the name of a measure. "
        "Got a value of type list instead.",
        objective=["lm"],
    ),
    both(
        "an unknown method",
        f"Unknown method 'covr'; did you mean 'cover'? Methods: {METHODS}.",
        python={"method": "covr"},
        flags=("--method", "covr"),
    ),
    Case(
        "an unknown option",
        "Unknown key 'max_point' in method cover; did you mean 'max_points'?",
        flags=("--option", "max_point=3"),
    ),
    both(
        "an option of the wrong type",
        "The 'max_points' option of method cover must be a whole number. Got 3.5 instead.",
        python={"method": shoal.Cover(max_points=3.5)},  # type: ignore[arg-type]
        flags=("--option", "max_points=3.5"),
    ),
    both(
        "an option out of range",
        "The 'max_points' parameter must be at least 1. Got 0 instead.",
        python={"method": shoal.Cover(max_points=0)},
        flags=("--option", "max_points=0"),
    ),
    Case(
        "weights of other columns",
        (
            "The 'weights' option of method enhanced_pk names 'il', which is not a sensitive column; did "
            "you mean 'ill'?",
            "The 'weights' option of method enhanced_pk lacks 'ill'; give every sensitive column a weight.",
        ),
        python={"method": shoal.EnhancedPK({"il": 2})},
        flags=("--method", "enhanced_pk", "--option", "weights.il=2"),
    ),
    Case(
        "weights that weigh nothing",
        "The 'weights' option of method greedy_pk must be finite numbers above 0. Got 0 instead.",
        python={"method": shoal.GreedyPK({"ill": 0})},
        flags=("--method", "greedy_pk", "--option", "weights.ill=0"),
    ),
    Case(
        "weights that are no numbers by column",
        "The 'weights' option of method greedy_pk must be a dict of sensitive columns and numbers. Got 3 instead.",
        python={"method": shoal.GreedyPK(3)},
        flags=("--method", "greedy_pk", "--option", "weights=3"),
    ),
    Case(
        "an unknown model",
        f"Unknown model 'intervall' for column 'age'; did you mean 'interval'? {MODELS}. "
        "If the colon belongs to the column's name, write \\:.",
        flags=("-q", "age:intervall"),
    ),
    Case(
        "a model that needs a file",
        "Column 'age': only hierarchy and order take a file. Write age:hierarchy:FILE or age:order:FILE, "
        "or use another model without a file.",
        flags=("-q", "age:hierarchy"),
    ),
    Case(
        "an order that the column does not have",
        "Column 'zip' has no order of its own. List its values from the lowest to the highest "
        '(shoal.Order([…]), values = […] or COLUMN:order:FILE), or set it to "names" for alphabetical '
        "order.",
        python={"quasi_identifiers": {"age": None, "zip": shoal.Order}},
        flags=("-q", "age", "-q", "zip:order"),
    ),
    both(
        "several problems",
        (
            "Column 'ill' is both sensitive and identifier. Give it one role.",
            WHOLE_K.format(-3),
            "Weight for 'height', which is not a quasi-identifier. Leave it out.",
            SEED.format(-1),
        ),
        python={"identifiers": "ill", "k": -3, "weights": {"height": 1.0}, "seed": -1},
        flags=(
            "-q",
            "age",
            "-s",
            "ill",
            "-i",
            "ill",
            "-k",
            "-3",
            "--weight",
            "height=1",
            "--seed",
            "-1",
        ),
    ),
]

HIERARCHIES = [
    *tree(
        "a value that the hierarchy lacks",
        "1 of the 2 distinct values of column 'zip' is not in its hierarchy. Add a line for each.",
        "02139,*\n02140,*\n",
    ),
    *tree(
        "an empty cell in a hierarchy",
        "Hierarchy file 'zip.csv': line 2 has an empty cell. Name every level.",
        f"02139,East,*\n{CANARY},,*\n",
    ),
    *tree(
        "two parents in a hierarchy",
        "Hierarchy file 'zip.csv': lines 1 and 3 give the same level 1 label two parents. Use one parent.",
        f"02139,{CANARY}1,{CANARY}2\n02140,East,*\n{CANARY},{CANARY}1,*\n",
    ),
    *tree(
        "ragged lines in a hierarchy",
        "Hierarchy file 'zip.csv': line 2 has another number of levels than line 1. Give every line the "
        "same number; repeat a label if a branch is short.",
        f"02139,East,*\n{CANARY},*\n",
    ),
    *tree(
        "a hierarchy in Latin-1",
        "Hierarchy file 'zip.csv' cannot be read: not a UTF-8 CSV file. Save it as one.",
        f"{CANARY}é,*\n".encode("latin-1"),
    ),
    *tree(
        "a torn hierarchy",
        "Hierarchy file 'zip.csv' cannot be read: not a UTF-8 CSV file. Save it as one.",
        f'"{CANARY},*\n',
    ),
    *tree(
        "a missing hierarchy",
        "Hierarchy file 'zip.csv' cannot be read: No such file or directory. Check the path.",
        None,
    ),
    *tree(
        "an empty hierarchy",
        "Hierarchy file 'zip.csv' has no values. Give one line per value: value,level 1,…,root.",
        "",
    ),
    in_python(
        "a value that a dict lacks",
        "1 of the 2 distinct values of column 'zip' is not in its hierarchy. Add a line for each.",
        quasi_identifiers={"zip": Hierarchy.from_dict({"*": ["02139", "02140"]})},
    ),
]

SETTINGS = [
    both(
        "settings that are no TOML",
        "Settings file 'settings.toml' is not valid TOML at line 2. Correct it there.",
        toml="[columns]\nsensitive = [ill]\n",
    ),
    both(
        "settings cut off",
        "Settings file 'settings.toml' is not valid TOML at end of document. Correct it there.",
        toml='[columns]\nsensitive = ["ill"',
    ),
    both(
        "settings in Latin-1",
        "Settings file 'settings.toml' is not UTF-8 text. Save it as UTF-8.",
        toml="# é\n".encode("latin-1"),
    ),
    both(
        "settings that are missing",
        "Settings file 'nowhere.toml' cannot be read: No such file or directory. Check the path.",
        python={"settings": "nowhere.toml"},
        flags=("--settings", "nowhere.toml"),
    ),
    both(
        "a folder for settings",
        "Settings file 'drawer' cannot be read: Is a directory. Check the path.",
        python={"settings": "drawer"},
        flags=("--settings", "drawer"),
    ),
    in_python(
        "a dict for settings",
        "The 'settings' parameter must be a Settings object or the path of a TOML file. "
        "Got a value of type dict instead.",
        settings={"k": 2},
    ),
    in_toml(
        "an unknown section",
        "Unknown key 'methods' in the settings; did you mean 'method'?",
        "[methods]\n",
    ),
    in_toml(
        "an unknown role",
        "Unknown key 'sensitiv' in [columns]; did you mean 'sensitive'?",
        "sensitive",
        "sensitiv",
    ),
    in_toml(
        "an unknown key of a quasi-identifier",
        "Unknown key 'modle' in [quasi_identifiers.zip]; did you mean 'model'?",
        "[quasi_identifiers.zip]",
        '[quasi_identifiers.zip]\nmodle = "subset"',
    ),
    in_toml(
        "a domain without a model",
        "Unknown key 'domain' in [quasi_identifiers.zip]; known: model, weight.",
        "[quasi_identifiers.zip]",
        '[quasi_identifiers.zip]\ndomain = ["a"]',
    ),
    in_toml(
        "an unknown requirement",
        "Unknown key 'l' in [requirement]; known: k, suppression_limit, series, diversity, sensitivity, alpha, "
        "closeness.",
        "l = 3\n",
    ),
    in_toml(
        "an unknown key of the objective",
        "Unknown key 'measur' in [objective]; did you mean 'measure'?",
        '[objective]\nmeasur = "lm"\n',
    ),
    in_toml(
        "an unknown key of the method",
        "Unknown key 'max_point' in method cover; did you mean 'max_points'?",
        '[method]\nname = "cover"\nmax_point = 1\n',
    ),
    in_toml(
        "an unknown key of the output",
        "Unknown key 'keep_oder' in [output]; did you mean 'keep_order'?",
        "[output]\nkeep_oder = true\n",
    ),
    in_toml(
        "a section that is none",
        "'output' must be a table: [output].",
        "[columns]",
        "output = 1\n[columns]",
    ),
    in_toml(
        "a quasi-identifier that is no table",
        "Quasi-identifier 'age' must be a table: [quasi_identifiers.age].",
        "[quasi_identifiers.age]",
        '[quasi_identifiers]\nage = "interval"',
    ),
    in_toml("k as text", WHOLE_K.format("'ten'"), "k = 2", 'k = "ten"'),
    in_toml("k as a float", WHOLE_K.format("2.0"), "k = 2", "k = 2.0"),
    in_toml(
        "text for sensitive columns",
        "'sensitive' in [columns] must be a list of column names.",
        '["ill"]',
        '"ill"',
    ),
    in_toml(
        "numbers for identifiers",
        "'identifiers' in [columns] must be a list of column names.",
        '["name"]',
        "[1]",
    ),
    in_toml(
        "a weight of text in a file",
        WEIGHT.format("'big'"),
        "[quasi_identifiers.zip]",
        'weight = "big"\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "a weight of true in a file",
        WEIGHT.format(True),
        "[quasi_identifiers.zip]",
        "weight = true\n[quasi_identifiers.zip]",
    ),
    in_toml("a seed below zero in a file", SEED.format(-1), "[method]\nseed = -1\n"),
    in_toml("a refine of no seconds", SECONDS, "[method]\nrefine = 0\n"),
    in_toml(
        "a refine of minutes",
        "Unknown key 'minutes' in refine of [method]; known: seconds, steps.",
        "[method]\nrefine = { minutes = 1 }\n",
    ),
    in_toml(
        "a loosen of true",
        "The 'loosen' parameter must be a share from 0 to below 1. Got True instead.",
        "[output]\nloosen = true\n",
    ),
    in_toml(
        "a keep_order of 1",
        "The 'keep_order' parameter must be true or false. Got 1 instead.",
        "[output]\nkeep_order = 1\n",
    ),
    in_toml(
        "a share outside 0 … 1",
        "The 'w' parameter must be a number from 0 to 1. Got 2 instead.",
        "[objective]\nw = 2\n",
    ),
    in_toml(
        "an unknown model in a file",
        f"Unknown model 'intervall' for column 'age'; did you mean 'interval'? {MODELS}.",
        "[quasi_identifiers.zip]",
        'model = "intervall"\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "an unknown method in a file",
        f"Unknown method 'mondrain'; did you mean 'mondrian'? Methods: {METHODS}.",
        '[method]\nname = "mondrain"\n',
    ),
    in_toml(
        "a method that is no name",
        "The 'method' parameter must be the name of a method. Got a value of type list instead.",
        "[method]\nname = []\n",
    ),
    in_toml(
        "a hierarchy without a file",
        "Column 'age' needs 'hierarchy', the path of a CSV file, or 'rows'. Add one of them.",
        "[quasi_identifiers.zip]",
        'model = "hierarchy"\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "a hierarchy that is no path",
        "'hierarchy' in [quasi_identifiers.age] must be the path of a CSV file.",
        "[quasi_identifiers.zip]",
        'model = "hierarchy"\nhierarchy = 1\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "rows that are no lists",
        "'rows' in [quasi_identifiers.age] must be a list of lists: value, level 1, …, root.",
        "[quasi_identifiers.zip]",
        'model = "hierarchy"\nrows = ["34"]\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "a domain of text",
        "'domain' in [quasi_identifiers.age] must be a list of values.",
        "[quasi_identifiers.zip]",
        'model = "interval"\ndomain = "34"\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "an order that is a number",
        "'values' in [quasi_identifiers.age] must be a list, the lowest first, or \"names\".",
        "[quasi_identifiers.zip]",
        'model = "order"\nvalues = 3\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "an order with a value twice",
        "[quasi_identifiers.age]: Order: 1 value is listed again. List each once.",
        "[quasi_identifiers.zip]",
        'model = "order"\nvalues = ["34", "35", "34"]\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "an order with a domain",
        "Unknown key 'domain' in [quasi_identifiers.age]; known: model, weight, values, low, high.",
        "[quasi_identifiers.zip]",
        'model = "order"\ndomain = ["34"]\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "values outside their order",
        "3 of the 4 distinct values of column 'age' are not in its order. Add them in the right place.",
        "[quasi_identifiers.zip]",
        'model = "order"\nvalues = ["34"]\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "a domain of another type",
        "The domain of column 'age' does not have the column's type. List values like the column's.",
        "[quasi_identifiers.zip]",
        f'model = "interval"\ndomain = ["{CANARY}"]\n[quasi_identifiers.zip]',
    ),
    in_toml(
        "values outside their domain",
        "3 of the 4 distinct values of column 'age' are not in its declared domain. Add them to the "
        "domain, or leave the domain out.",
        "[quasi_identifiers.zip]",
        'model = "interval"\ndomain = [34, 99]\n[quasi_identifiers.zip]',
    ),
    both(
        "several problems in a file",
        (
            "Unknown key 'sensitiv' in [columns]; did you mean 'sensitive'?",
            "Hierarchy file 'no.csv' cannot be read: No such file or directory. Check the path.",
            WHOLE_K.format("'ten'"),
        ),
        toml=TOML.replace("sensitive", "sensitiv")
        .replace("k = 2", 'k = "ten"')
        .replace("age]", 'age]\nmodel = "hierarchy"\nhierarchy = "no.csv"'),
    ),
]

NO_FOLDER = "The folder '{}' does not exist. Create it or choose another."
EXISTS = (
    "The output 'release.csv' exists. Choose another name or pass --overwrite (overwrite=True)."
)
OUTPUTS = [
    both(
        "a folder as output",
        (
            UNKNOWN_SUFFIX.format("drawer", "name has no suffix"),
            "The output 'drawer' is a folder. Name a file in it.",
        ),
        output="drawer",
    ),
    both("an output in a missing folder", NO_FOLDER.format("no/where"), output="no/where/a.csv"),
    both("an output below a file", NO_FOLDER.format("people.csv"), output="people.csv/a.csv"),
    both("an output that exists", EXISTS, files={"release.csv": "older"}),
    both(
        "an output of unknown format",
        UNKNOWN_SUFFIX.format("release.doc", "suffix '.doc' is not supported"),
        output="release.doc",
    ),
    Case(
        "settings to a missing folder",
        NO_FOLDER.format("no"),
        flags=("--save-settings", "no/settings.toml"),
    ),
    Case(
        "settings to a folder",
        "The output 'drawer' is a folder. Name a file in it.",
        flags=("--save-settings", "drawer"),
    ),
    Case(
        "settings over the table",
        "'people.csv' is read by this command and would be lost. Name another output file.",
        flags=("--save-settings", "people.csv"),
    ),
    Case(
        "settings over the release",
        "'release.csv' is named for two outputs. Name two different files.",
        flags=("--save-settings", "release.csv"),
    ),
    Case(
        "a bad output and bad settings",
        (
            NO_FOLDER.format("no"),
            "--weight needs a name and a value. Write --weight NAME=VALUE.",
            WHOLE_K.format(-1),
        ),
        flags=(*FLAGS, "-k", "-1", "--weight", "age"),
        output="no/a.csv",
    ),
]

OUTSIDE = "1 of the 1 distinct value of column 'ill' is not in its hierarchy. Add a line for each."
REQUIREMENTS = [
    both(
        "a diversity that no release can have",
        "No release can meet frequency 2-diversity of 'ill': all records have the same value; choose l of at most 1.",
        python={"requirements": [shoal.LDiversity(2)]},
        flags=("--require", "diversity:l=2"),
        raises=Infeasible,
    ),
    both(
        "a share that no release can keep",
        (
            "No release can meet a share of at most 0.5 for each listed value of 'ill': one value has a "
            "share of 1.0000 of the table; choose alpha of at least 1.",
            "No release can meet 2-sensitivity of 'ill': it has 1 distinct value; choose p of at most 1.",
        )[::-1],
        python={"requirements": [shoal.AlphaK(0.5, [CANARY]), shoal.PSensitive(2)]},
        flags=("--require", f"alpha:alpha=0.5:values={CANARY}", "--require", "sensitivity:p=2"),
        raises=Infeasible,
    ),
    both(
        "sensitive values that a hierarchy lacks",
        OUTSIDE,
        python={
            "requirements": [
                shoal.TCloseness(
                    0.5, "hierarchical", Hierarchy.from_dict({"*": ["a", "b"]}), columns=["ill"]
                )
            ]
        },
        flags=(
            "--require",
            "closeness:t=0.5:ground=hierarchical:hierarchy=ill.csv:columns=ill",
        ),
        files={"ill.csv": "a,*\nb,*\n"},
    ),
    both(
        "values that do not occur and no order",
        (
            "1 of the 2 values of alpha does not occur in column 'ill'. List values of that column.",
            "Column 'ill' has no numbers or dates, but ordered closeness needs an order. Choose ground "
            "'equal' or 'hierarchical'.",
        ),
        python={
            "requirements": [
                shoal.TCloseness(0.5, "ordered"),
                shoal.AlphaK(1, [f"{CANARY}2", CANARY]),
            ]
        },
        flags=(
            *("--require", "closeness:t=0.5:ground=ordered"),
            *("--require", f"alpha:alpha=1:values={CANARY}2,{CANARY}"),
        ),
    ),
    both(
        "a requirement of a column that is not sensitive",
        "Column 'il' of alpha is not a sensitive column; did you mean 'ill'?",
        python={"requirements": [shoal.AlphaK(0.5, columns=["il"])]},
        flags=("--require", "alpha:alpha=0.5:columns=il"),
    ),
    both(
        "a requirement without a sensitive column",
        "Requirements are about sensitive columns. Name at least one (sensitive, -s).",
        python={"sensitive": [], "requirements": [shoal.AlphaK(0.5)]},
        flags=("-q", "age", "--require", "alpha:alpha=0.5"),
    ),
    both(
        "a method that keeps k only",
        "Method 'non_homogeneous' supports k only. Choose another method, or drop the requirements.",
        python={"method": "non_homogeneous", "requirements": [shoal.AlphaK(1)]},
        flags=("--method", "non_homogeneous", "--require", "alpha:alpha=1"),
    ),
    in_python(
        "a column of the table for values",
        "'values' of alpha must be a list of sensitive values. Leave it out to limit all values.",
        requirements=[shoal.AlphaK(0.5, people()["ill"])],
    ),
    in_python(
        "a column of the table for requirements",
        "The 'requirements' parameter must be a list of requirements, like [shoal.LDiversity(2)]. "
        "Got a value of type Series instead.",
        requirements=people()["ill"],
    ),
    Case(
        "an unknown requirement in flags",
        "Unknown requirement 'diversty'; did you mean 'diversity'? Requirements: diversity, sensitivity, "
        "alpha, closeness.",
        flags=("--require", "diversty:l=2"),
    ),
    Case(
        "a requirement without its parameter",
        "--require closeness needs 't'. Add it.",
        flags=("--require", "closeness"),
    ),
    Case(
        "a requirement that is cut short",
        (
            "Write --require diversity:KEY=VALUE. If the colon belongs to a value, write \\:.",
            "Unknown key 'l' in --require closeness; known: t, ground, hierarchy, rows, columns.",
            "--require closeness needs 't'. Add it.",
        ),
        flags=("--require", "diversity:l=2:kind", "--require", "closeness:l=2"),
    ),
    Case(
        "a parameter given twice",
        "--require diversity sets 'l' twice. Set it once.",
        flags=("--require", "diversity:l=2:l=3"),
    ),
    Case(
        "a number that is none",
        "'l' of diversity must be a number of at least 1. Got 'two' instead.",
        flags=("--require", "diversity:l=two"),
    ),
    Case(
        "a hierarchy of a requirement that is missing",
        "Hierarchy file 'no.csv' cannot be read: No such file or directory. Check the path.",
        flags=("--require", "sensitivity:p=2:hierarchy=no.csv:protected=a:columns=ill"),
    ),
    in_toml(
        "an unknown key of a requirement",
        "Unknown key 'll' in [[requirement.diversity]]; did you mean 'l'?",
        "[[requirement.diversity]]\nl = 2\nll = 3\n",
    ),
    in_toml(
        "a requirement without its parameter in a file",
        "[[requirement.sensitivity]] needs 'p'. Add it.",
        "[[requirement.sensitivity]]\n",
    ),
    in_toml(
        "a requirement that is no list",
        "Requirement 'alpha' must be a list of tables: [[requirement.alpha]].",
        "[requirement.alpha]\nalpha = 0.5\n",
    ),
    in_toml(
        "a hierarchy twice",
        "[[requirement.closeness]] has both 'hierarchy' and 'rows'. Give only one.",
        "[[requirement.closeness]]\nt = 0.5\nhierarchy = 'a.csv'\nrows = [['a', '*']]\n",
    ),
    in_toml(
        "rows of a requirement that are no lists",
        "'rows' in [[requirement.closeness]] must be a list of lists: value, level 1, …, root.",
        f"[[requirement.closeness]]\nt = 0.5\nrows = ['{CANARY}']\n",
    ),
    in_toml(
        "parameters of a requirement of the wrong type",
        (
            "'columns' of diversity must be a list of columns. Write ['ill'].",
            "'l' of diversity must be a number of at least 1. Got a value of type tuple instead.",
            "'protected' of sensitivity must be a list of labels.",
            "'values' of alpha must be a list of sensitive values. Leave it out to limit all values.",
            "'ground' of closeness must be one of equal, ordered, hierarchical. Got 3 instead.",
        ),
        "[[requirement.diversity]]\nl = [2]\ncolumns = 'ill'\n"
        "[[requirement.sensitivity]]\np = 2\nrows = [['a', '*']]\nprotected = [['a']]\ncolumns = ['ill']\n"
        f"[[requirement.alpha]]\nalpha = 0.5\nvalues = '{CANARY}'\n"
        "[[requirement.closeness]]\nt = 0.5\nground = 3\n",
    ),
]

CASES = [*TABLES, *ROLES_AND_NUMBERS, *HIERARCHIES, *SETTINGS, *REQUIREMENTS, *OUTPUTS]


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Case], dict[str, Any]]:
    """Lay out a case in an empty working directory and return what lies there."""

    def lay_out(case: Case) -> dict[str, Any]:
        case.lay_out(tmp_path)
        monkeypatch.chdir(tmp_path)
        return snapshot(tmp_path)

    return lay_out


NEEDS = {  # cases that go to an engine, which says first that it is not installed
    "an empty folder": pytest.mark.skipif(bool(library_problem("duckdb")), reason="needs DuckDB"),
}


def named(cases: list[Case]) -> list[Any]:
    return [
        pytest.param(case, id=case.name.replace(" ", "-"), marks=NEEDS.get(case.name, ()))
        for case in cases
    ]


@pytest.mark.parametrize("case", named([case for case in CASES if case.python is not None]))
def test_python_refuses(case: Case, room: Callable[[Case], Any], tmp_path: Path) -> None:
    before = room(case)
    keywords = {"settings": "settings.toml"} if case.toml is not None else {**ROLES, "k": 2}
    table = case.file if isinstance(case.table, str | bytes) else case.table
    with pytest.raises(ShoalError) as caught:
        shoal.anonymize(table, **{**keywords, **case.python}).save(case.output)
    error = caught.value
    assert str(error).split("\n") == list(case.sentences)
    assert type(error) is case.raises
    assert CANARY not in "".join(traceback.format_exception(error))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("case", named([case for case in CASES if case.flags is not None]))
def test_the_command_line_refuses(
    case: Case, room: Callable[[Case], Any], shell: Callable[..., Any], tmp_path: Path
) -> None:
    before = room(case)
    given = ["--settings", "settings.toml"] if case.toml is not None else [*FLAGS, "-k", "2"]
    if "-q" in case.flags:
        given = [] if "-k" in case.flags else ["-k", "2"]
    given += [] if case.toml is not None else ["--others", "drop"]
    code, out, err = shell("anonymize", case.file, *given, *case.flags, "-o", case.output)
    assert err.splitlines() == [f"shoal: {sentence}" for sentence in case.sentences]
    assert out == ""
    assert code == (3 if case.raises is Infeasible else 2)
    assert CANARY not in err
    assert snapshot(tmp_path) == before


def test_the_cases_without_their_fault_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Case("none", "", toml=TOML).lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    by_keywords = shoal.anonymize("people.csv", **ROLES, k=2).data
    by_file = shoal.anonymize("people.csv", settings="settings.toml").data
    records = (sorted(map(str, data.to_pylist())) for data in (by_keywords, by_file))
    assert next(records) == next(records)
    assert CANARY in str(by_file.to_pylist())
    assert shoal.anonymize(people(), **ROLES, k=2).k == 2


@pytest.mark.parametrize(
    "flags", [("-k", "ten"), ("-k", "2.5"), ("--seed", "x"), ("--colour", "1")]
)
def test_flags_that_cannot_be_read_are_refused(
    flags: tuple[str, str], shell: Callable[..., Any]
) -> None:
    code, out, err = shell("anonymize", "people.csv", "-o", "a.csv", *flags)
    assert code == 2
    assert flags[0] in err
    assert "Traceback" not in err + out
