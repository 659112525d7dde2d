"""An audit as a test that fails a build: JUnit XML, SQL for databases, and the examples of the page."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.auditing.sql import audit_sql

DOCS = Path(__file__).parents[2] / "docs"
ODD = 'a"ge; DROP TABLE t; --'


def released(seed: int = 0, records: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    ages = np.array(["20–29", "30–39", None], dtype=object)
    return pd.DataFrame(
        {
            ODD: rng.choice(ages, records),
            "sex": rng.choice(["f", "*"], records),
            "ill": rng.choice(
                np.array(["Flu", "flu ", "cold", "gout", None], dtype=object), records
            ),
        }
    )


def missed_by_sql(table: pd.DataFrame, relation: str, sql: str) -> set[str]:
    base = sqlite3.connect(":memory:")
    table.to_sql(relation, base, index=False)
    found = {row[0] for row in base.execute(sql)}
    assert base.execute(f'SELECT count(*) FROM "{relation}"').fetchone() == (len(table),)
    return found


@given(
    seed=st.integers(0, 500),
    records=st.integers(5, 80),
    k=st.integers(1, 9),
    asked=st.sampled_from(
        [
            shoal.LDiversity(2),
            shoal.LDiversity(1.5),
            shoal.LDiversity(3, kind="distinct"),
            shoal.PSensitive(2),
            shoal.AlphaK(0.5),
        ]
    ),
)
def test_sql_misses_what_the_audit_misses(
    seed: int, records: int, k: int, asked: shoal.privacy.Requirement
) -> None:
    table = released(seed, records)
    sql = audit_sql("t; --", [ODD, "sex"], k, [asked], ["ill"])
    found = missed_by_sql(table, "t; --", sql)
    settings = shoal.Settings(
        quasi_identifiers={ODD: None, "sex": None}, sensitive=("ill",), k=k, requirements=(asked,)
    )
    from shoal.examine import examine_table

    misses = examine_table(table, settings).misses
    names = (f"k = {k}", asked.describe("ill"))
    assert found == {name for name, miss in zip(names, misses, strict=True) if miss}


def test_an_empty_table_is_missed() -> None:
    assert missed_by_sql(released()[:0], "t", audit_sql("t", ["sex"], 1)) == {"at least one record"}


BAD: list[tuple[str, Any, str]] = [
    ("t", shoal.TCloseness(0.1), "cannot be counted by plain SQL"),
    ("t", shoal.LDiversity(2, "entropy"), "cannot be counted by plain SQL"),
    ("t", shoal.AlphaK(0.1, values=["x"]), "cannot be counted by plain SQL"),
    ("a..b", shoal.LDiversity(2), "SCHEMA.NAME"),
    ("a.b.c.d", shoal.LDiversity(2), "SCHEMA.NAME"),
    ("a\0b", shoal.LDiversity(2), "NUL"),
]


@pytest.mark.parametrize(("relation", "asked", "says"), BAD)
def test_what_sql_cannot_say_gets_a_sentence(relation: str, asked: Any, says: str) -> None:
    with pytest.raises(shoal.InputError, match=says):
        audit_sql(relation, ["age"], 2, [asked], ["ill"])


def test_only_plain_templates_are_left_as_they_are() -> None:
    assert "FROM {{ model }} GROUP" in audit_sql("{{ model }}", ["age"], 2)
    assert '"{{ model }}; DROP TABLE t"' in audit_sql("{{ model }}; DROP TABLE t", ["age"], 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(DOCS / "example", tmp_path, dirs_exist_ok=True)
    pd.DataFrame({"age": ["20–29"] * 3 + ["30–39"], "ill": list("abab")}).to_csv(
        "r.csv", index=False
    )
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "code", "counts"),
    [
        (("-k", 1), 0, {"tests": "1", "failures": "0", "errors": "0"}),
        (("-k", 2), 3, {"tests": "1", "failures": "1", "errors": "0"}),
        (
            ("-k", 1, "-s", "ill", "--require", "diversity:l=2"),
            3,
            {"tests": "2", "failures": "1", "errors": "0"},
        ),
        (("-k", 1, "-q", "agee"), 2, {"tests": "1", "failures": "0", "errors": "1"}),
    ],
)
def test_junit_tells_what_the_exit_code_tells(
    folder: Path, shell: Any, flags: tuple[Any, ...], code: int, counts: dict[str, str]
) -> None:
    got, _, _ = shell("audit", "r.csv", "-q", "age", *flags, "--junit", "audit.xml", "--quiet")
    assert got == code
    root = ElementTree.parse(folder / "audit.xml").getroot()
    assert root.attrib == counts
    assert len(root.findall(".//failure")) == int(counts["failures"])
    again, _, _ = shell("audit", "r.csv", "-q", "age", *flags, "--junit", "audit.xml", "--quiet")
    assert again == code  # a later run replaces the file


def test_bad_commands_get_a_sentence(folder: Path, shell: Any) -> None:
    code, _, error = shell("audit", "r.csv", "-q", "age", "-k", 2, "--junit", "r.csv")
    assert (code, "would be lost" in error) == (2, True)
    code, _, error = shell("audit", "t", "-q", "age", "-k", 2, "--print-sql", "--junit", "a.xml")
    assert (code, "only printed" in error) == (2, True)
    code, out, _ = shell("audit", "health.t", "-q", "age", "-k", 2, "--print-sql")
    assert (code, '"health"."t"' in out) == (0, True)


def test_the_commands_of_the_pipelines_on_the_page_run(folder: Path, shell: Any) -> None:
    page = (DOCS / "how-to" / "test-a-pipeline.md").read_text(encoding="utf-8")
    settings = re.search(r'```toml title="release.toml"\n(.*?)```', page, re.S)
    assert settings
    (folder / "release.toml").write_text(settings[1], encoding="utf-8")
    commands = re.findall(r"(?:run: |bash_command=\")(shoal [^\"\n]+)", page)
    assert len(commands) >= 4
    for command in commands:
        code, out, error = shell(*shlex.split(command)[1:])
        assert code == 0, (command, out, error)
