"""The query of `shoal audit --print-sql` in real databases: nothing for a release, and what a table misses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from stored import KINDS, Server, filled_duckdb, filled_sqlite

import shoal
from shoal.audits.sql import audit_sql
from shoal.pipeline.prove import audit_table

DOCS = Path(__file__).parents[2] / "docs"
ODD = 'a"ge; --'
PAGE = (DOCS / "how-to" / "test-a-pipeline.md").read_text(encoding="utf-8")


def printed_for_dbt() -> str:
    """The query of the page that dbt fills with the name of a table."""
    [found] = re.findall(r'\$ shoal audit "\{\{ model \}\}"[^\n]*\n(.*?)```', PAGE, re.S)
    return found


def asked_of(kind: str, table: pa.Table, tmp_path: Path, request: Any) -> Any:
    """A function that asks a new database of a kind, which has the table as `released`."""
    if kind == "postgresql":
        server: Server = request.getfixturevalue("server")
        server.do('DROP SCHEMA IF EXISTS "release" CASCADE', "CREATE SCHEMA release")
        server.fill(table, "release", "released")
        return lambda query: server.rows(query.replace('"released"', '"release"."released"'))
    fill = {"sqlite": filled_sqlite, "duckdb": filled_duckdb}[kind]
    return fill(tmp_path / f"r.{kind}", table, "released")


@pytest.mark.parametrize("kind", KINDS)
def test_the_query_of_the_page_passes_a_release_and_fails_the_original(
    kind: str, tmp_path: Path, request: Any
) -> None:
    query = printed_for_dbt().replace("{{ model }}", '"released"')
    patients = pyarrow.csv.read_csv(DOCS / "example" / "patients.csv")
    release = shoal.anonymize(
        patients,
        quasi_identifiers={"age": shoal.Interval()},
        sensitive=["diagnosis"],
        others="drop",
        k=3,
        requirements=[shoal.LDiversity(2)],
    )
    (tmp_path / "one").mkdir()
    assert asked_of(kind, release.data, tmp_path / "one", request)(query) == []
    found = dict(asked_of(kind, patients, tmp_path, request)(query))
    assert found == {"k = 3": 9, "frequency 2-diversity of 'diagnosis'": 9}


CELLS: dict[str, list[str | None]] = {
    ODD: ["20–29"] * 4 + ["30–39"] * 3 + [None] * 2,
    "ill": ["Flu", "flu ", "cold", "gout", "flu", None, "FLU", "cold", None],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "asked",
    [
        shoal.LDiversity(2),
        shoal.LDiversity(3, kind="distinct"),
        shoal.PSensitive(3),
        shoal.AlphaK(0.6),
    ],
    ids=lambda asked: asked.describe("ill"),
)
def test_the_query_misses_what_the_audit_misses(
    kind: str, asked: Any, tmp_path: Path, request: Any
) -> None:
    ask = asked_of(kind, pa.table(CELLS), tmp_path, request)
    for k in (2, 3):
        settings = shoal.Settings(
            quasi_identifiers={ODD: None}, sensitive=("ill",), k=k, requirements=(asked,)
        )
        misses = audit_table(pa.table(CELLS), settings).misses
        names = (f"k = {k}", asked.describe("ill"))
        found = ask(audit_sql("released", [ODD], k, [asked], ["ill"]))
        assert {row[0] for row in found} == {
            name for name, miss in zip(names, misses, strict=True) if miss
        }
