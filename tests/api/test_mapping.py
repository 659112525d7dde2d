"""What became what: pairs of value and text with counts, and SQL that does the same."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal

ODD = 'to"wn; DROP TABLE people; --'


def people(records: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    towns = np.array(["O'Hara", "a; DROP TABLE people", "c", None], dtype=object)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 40, records),
            ODD: rng.choice(towns, records),
            "ill": rng.choice(list("xy"), records),
        }
    )


def release_of(**options: Any) -> shoal.Release[Any]:
    given = {"quasi_identifiers": ["age", ODD], "sensitive": ["ill"], "k": 5, "keep_order": True}
    return shoal.anonymize(people(), **{**given, **options})


def test_the_mapping_counts_every_pair_of_value_and_text() -> None:
    release = release_of()
    expected = Counter(
        (name, None if pd.isna(value) else str(value), None if pd.isna(text) else text)
        for name in ("age", ODD)
        for value, text in zip(people()[name], release.data[name], strict=True)
    )
    rows = release.mapping.table.to_pylist()
    found = {(row["column"], row["value"], row["released"]): row["records"] for row in rows}
    assert found == expected


def test_the_expression_does_what_the_release_did_and_no_name_breaks_out_of_it() -> None:
    release = release_of(method="incognito")
    names = ("age", ODD)
    wanted = ", ".join(release.mapping.to_sql(name) for name in names)
    with closing(sqlite3.connect(":memory:")) as base:
        people().to_sql("people", base, index=False)
        rows = base.execute(f"SELECT {wanted} FROM people ORDER BY rowid").fetchall()
        count = base.execute("SELECT count(*) FROM people").fetchone()
    expected = release.data[list(names)].astype(object)
    expected = expected.where(expected.notna(), None)
    assert rows == list(map(tuple, expected.to_numpy()))
    assert count == (200,)


def test_the_mapping_is_saved_as_csv(tmp_path: Path) -> None:
    release = release_of()
    release.mapping.save(tmp_path / "mapping.csv")
    read = pd.read_csv(tmp_path / "mapping.csv")
    assert list(read.columns) == ["column", "value", "released", "records"]
    assert read["records"].sum() == 2 * 200
    with pytest.raises(shoal.InputError, match="exists"):
        release.mapping.save(tmp_path / "mapping.csv")


@pytest.mark.parametrize(
    ("column", "says"),
    [("age", "became different texts in different groups"), ("agee", "did you mean 'age'")],
)
def test_what_has_no_expression_says_why(column: str, says: str) -> None:
    with pytest.raises(shoal.InputError, match=says):
        release_of().mapping.to_sql(column)


@pytest.mark.parametrize(
    "model", [shoal.Interval(step=5), shoal.Interval(high=30), shoal.Suppression(high=30)], ids=str
)
def test_folded_values_have_no_expression(model: Any) -> None:
    options = {"quasi_identifiers": {"age": model}, "others": "drop", "method": "incognito"}
    with pytest.raises(shoal.InputError, match="folds values"):
        release_of(**options).mapping.to_sql("age")


def test_the_command_writes_it(shell: Any, tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    flags = ("-q", "age", "-s", "ill", "--others", "drop", "-k", 5, "--quiet")
    saved = ("-o", tmp_path / "r.csv", "--save-mapping", tmp_path / "m.csv")
    assert shell("anonymize", tmp_path / "people.csv", *flags, *saved)[0] == 0
    assert pd.read_csv(tmp_path / "m.csv")["records"].sum() == 200
    code, _, error = shell("anonymize", tmp_path / "people.csv", *flags, *saved)
    assert (code, error.count("exists")) == (2, 2)
