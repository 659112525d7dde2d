"""An audit as a test that fails a build: JUnit XML, SQL for databases, and the examples of the page."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.audits.sql import audit_sql

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
    with closing(sqlite3.connect(":memory:")) as base:
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
    seed: int, records: int, k: int, asked: shoal.risk.Requirement
) -> None:
    table = released(seed, records)
    sql = audit_sql("t; --", [ODD, "sex"], k, [asked], ["ill"])
    found = missed_by_sql(table, "t; --", sql)
    settings = shoal.Settings(
        quasi_identifiers={ODD: None, "sex": None}, sensitive=("ill",), k=k, requirements=(asked,)
    )
    from shoal.pipeline.prove import audit_table

    misses = audit_table(table, settings).misses
    names = (f"k = {k}", asked.describe("ill"))
    assert found == {name for name, miss in zip(names, misses, strict=True) if miss}


def test_an_empty_table_is_missed() -> None:
    assert missed_by_sql(released()[:0], "t", audit_sql("t", ["sex"], 1)) == {"at least one record"}


BAD: list[tuple[str, Any, str]] = [
    ("t", shoal.TCloseness(0.1), "cannot count"),
    ("t", shoal.LDiversity(2, "entropy"), "cannot count"),
    ("t", shoal.AlphaK(0.1, values=["x"]), "cannot count"),
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
    source = "{{ source('clinic', 'patients') }}"
    assert f"FROM {source} GROUP" in audit_sql(source, ["age"], 2)
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
        (("-k", 1), 3, {"tests": "2", "failures": "1", "errors": "0"}),
        (("-k", 2), 3, {"tests": "2", "failures": "1", "errors": "0"}),
        (
            ("-k", 1, "-s", "ill", "--require", "diversity:l=2"),
            3,
            {"tests": "3", "failures": "1", "errors": "0"},
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
    assert (code, "only prints" in error) == (2, True)
    code, out, _ = shell("audit", "health.t", "-q", "age", "-k", 2, "--print-sql")
    assert (code, '"health"."t"' in out) == (0, True)


def page(name: str) -> str:
    return (DOCS / "how-to" / name).read_text(encoding="utf-8")


def written(folder: Path, text: str, *titles: str) -> None:
    """Write blocks of a page to the files that they are titled after."""
    for title in titles:
        block = re.search(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', text, re.S)
        assert block
        (folder / title).write_text(block[1], encoding="utf-8")


def spoil(folder: Path, release: str) -> None:
    """Put the original in place of a release, with its identifiers."""
    shutil.copyfile(folder / "patients.csv", folder / release)


def test_the_steps_of_the_workflow_for_github_run_and_stop_a_bad_release(
    folder: Path, shell: Any
) -> None:
    text = page("test-a-pipeline.md")
    written(folder, text, "release.toml")
    workflow = re.search(r"```text\n# \.github/workflows/release\.yml\n(.*?)```", text, re.S)
    assert workflow
    steps = re.findall(r"^ +- run: (.+)$", workflow[1], re.M)
    assert steps[0] == "pip install shoal"
    make, test = (shlex.split(step)[1:] for step in steps[1:])
    assert shell(*make)[0] == 0
    assert shell(*test)[0] == 0
    assert ElementTree.parse(folder / "audit.xml").getroot().attrib["failures"] == "0"
    pd.read_csv(folder / "patients.csv").to_parquet(folder / "release.parquet")
    code, out, error = shell(*test)
    assert (code, "Anna" in out + error) == (3, False)
    assert ElementTree.parse(folder / "audit.xml").getroot().attrib["failures"] == "1"


class Task:
    """What Airflow's BashOperator is given; `a >> b` puts b after a."""

    made: ClassVar[list[Task]] = []

    def __init__(self, task_id: str, bash_command: str) -> None:
        self.command = bash_command
        self.after: list[Task] = []
        Task.made.append(self)

    def __rshift__(self, other: Task) -> Task:
        other.after.append(self)
        return other


def test_the_tasks_for_airflow_run_one_after_the_other_and_stop_a_bad_release(
    folder: Path, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is read with a stand-in for Airflow, which is too large to be installed for tests."""
    text = page("test-a-pipeline.md")
    written(folder, text, "release.toml")
    dag = re.search(r"```text\n# dags/release\.py\n(.*?)```", text, re.S)
    assert dag
    given: list[dict[str, Any]] = []

    def of_airflow(*name: str, **options: Any) -> nullcontext[None]:
        given.append(options)
        return nullcontext()

    bash, sdk = ModuleType("bash"), ModuleType("sdk")
    monkeypatch.setattr(bash, "BashOperator", Task, raising=False)
    monkeypatch.setattr(sdk, "DAG", of_airflow, raising=False)
    monkeypatch.setitem(sys.modules, "airflow.providers.standard.operators.bash", bash)
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)
    for part in ("airflow", "airflow.providers", "airflow.providers.standard"):
        monkeypatch.setitem(sys.modules, part, ModuleType(part))
    monkeypatch.setitem(sys.modules, "airflow.providers.standard.operators", ModuleType("o"))
    monkeypatch.setattr(Task, "made", [])
    exec(compile(dag[1], "api/release.py", "exec"), {})
    make, test = Task.made
    assert (make.after, test.after) == ([], [make])
    assert given[0]["default_args"] == {"cwd": "/srv/release"}
    for task in (make, test):
        assert shell(*shlex.split(task.command)[1:])[0] == 0
    spoil(folder, "release.csv")
    assert shell(*shlex.split(test.command)[1:])[0] == 3


@pytest.mark.skipif(sys.platform == "win32", reason="cron is not there")
def test_the_line_for_cron_makes_the_next_night_and_logs_it(folder: Path, shell: Any) -> None:
    """By a real shell, with cron's own poor environment."""
    text = page("run-it-nightly.md")
    written(folder, text, "nightly.toml", "tuesday-patients.csv")
    [line] = re.findall(r"^0 2 \* \* \* +(.+)$", text, re.M)
    first = ("-o", "release.parquet", "--save-history", "history.shoal", "--quiet")
    assert shell("anonymize", "patients.csv", "--settings", "nightly.toml", *first)[0] == 0
    shutil.copyfile(folder / "tuesday-patients.csv", folder / "patients.csv")
    program = folder / "bin" / "shoal"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m shoal "$@"\n')
    program.chmod(0o755)
    kept = {n: v for n, v in os.environ.items() if n in ("PYTHONPATH", "XDG_CACHE_HOME", "HOME")}
    environment = {**kept, "PATH": f"{program.parent}:/usr/bin:/bin"}
    command = line.replace("/srv/release", shlex.quote(str(folder)))
    assert command != line
    assert "%" not in command  # which cron takes for the end of a line
    done = subprocess.run(["/bin/sh", "-c", command], env=environment, cwd="/", check=False)
    log = (folder / "nightly.log").read_text(encoding="utf-8")
    assert done.returncode == 0, log
    assert json.loads(log.splitlines()[-1])["proofs"][-1]["requirement"].endswith("over 2 releases")
    released = (folder / "release.parquet").read_bytes()
    (folder / "history.shoal").write_text("{}", encoding="utf-8")
    done = subprocess.run(["/bin/sh", "-c", command], env=environment, cwd="/", check=False)
    assert done.returncode == 2
    last = (folder / "nightly.log").read_text(encoding="utf-8").splitlines()[-1]
    assert "is not a history of a series" in json.loads(last)["error"]["problems"][0]
    assert (folder / "release.parquet").read_bytes() == released
