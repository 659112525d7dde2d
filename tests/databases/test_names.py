"""Names, columns and files of databases: names are only names, and what cannot be held or read is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from allowed import allowing
from stored import KINDS, Server, filled_duckdb, filled_sqlite, people

import shoal
from shoal.data.databases.address import split_name
from shoal.data.databases.connection import quoted

JOB: dict[str, Any] = {
    "quasi_identifiers": ["age", "town"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "k": 5,
    "method": "mondrian",
    "refine": False,
}
STRANGE = ('a "quoted" one', "semi;colon", "Ünïcode", "select", "two words", "it's", "%s {}")


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_only_names(request, tmp_path: Path, kind: str) -> None:
    evil = 'x"; DROP TABLE people; --'
    table = pa.table({name: [i % 3 for i in range(60)] for name in STRANGE})
    schema = 'we.ird "schema'
    if kind == "postgresql":
        server = request.getfixturevalue("server")
        place, rows = server.uri(), server.rows
        server.do(
            f"DROP SCHEMA IF EXISTS {quoted(schema)} CASCADE", f"CREATE SCHEMA {quoted(schema)}"
        )
        server.fill(table, schema, evil)
        named = quoted(schema, evil)
    else:
        place = tmp_path / f"t.{kind}"
        rows = (filled_sqlite if kind == "sqlite" else filled_duckdb)(place, table, evil)
        named = quoted(evil)
    roles = {
        "quasi_identifiers": STRANGE[:4],
        "keep": STRANGE[4:],
        "allow": allowing(*STRANGE[4:]),
        "k": 3,
    }
    release = shoal.anonymize(
        shoal.DatabaseTable(place, named), **roles, refine=False, method="mondrian"
    )
    target = named.replace("DROP", "DELETE")
    release.save(place, table=target)
    release.save(place, table=target, if_exists="replace")
    assert (
        rows(f"SELECT COUNT(*) FROM {target}") == rows(f"SELECT COUNT(*) FROM {named}") == [(60,)]
    )
    assert shoal.audit(shoal.DatabaseTable(place, target), settings=release.settings).records == 60


@pytest.mark.parametrize("name", ["", ".", "a.", '"a', 'a"b', '"a"b', "a.b.c", "a\0b"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(shoal.InputError, match="is not a valid table"):
        split_name(name)


def test_columns_that_a_database_cannot_hold_are_named(server: Server, tmp_path: Path) -> None:
    table = people(60).append_column("kept", pa.array([f"a\0{i % 2}" for i in range(60)]))
    table = table.append_column("x" * 64, pa.array([i % 2 for i in range(60)]))
    table = table.append_column("parts", pa.array([{"a": i % 2} for i in range(60)]))
    kept = ["kept", "x" * 64, "parts"]
    release = shoal.anonymize(table, **JOB, keep=kept, allow=allowing(*kept))
    with pytest.raises(shoal.InputError) as raised:
        release.save(server.uri(), table="release.new")
    assert [problem.split(" ")[3] for problem in raised.value.problems] == ["a", "type", "texts"]
    with pytest.raises(shoal.InputError, match="'parts' has type struct"):
        release.save(tmp_path / "new.sqlite", table="new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_files_that_are_no_databases(shell, tmp_path: Path, kind: str) -> None:
    if kind == "duckdb":
        pytest.importorskip("duckdb")
    path = tmp_path / f"broken.{kind}"
    path.write_bytes(b"Zyzzyva " * 4096)
    before = path.read_bytes()
    code, _, err = shell("audit", path, "--table", "people", "-q", "age", "-k", 2)
    assert (code, "is damaged or has an unknown version." in err) == (2, True)
    release = shoal.anonymize(people(60), **JOB)
    with pytest.raises(shoal.InputError, match="is damaged or has an unknown version"):
        release.save(path, table="new")
    assert path.read_bytes() == before


def test_options_of_databases_are_refused_for_files(shell, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n1\n1\n")
    code, _, err = shell(
        "anonymize", tmp_path / "t.csv", "-q", "age", "-k", 2, "-o", tmp_path / "o.csv",
        "--table", "t", "--output-table", "t", "--if-exists", "fail",
    )  # fmt: skip
    assert code == 2
    assert [line.split(" ")[1] for line in err.splitlines()] == [
        "--table",
        "--output-table",
        "--if-exists",
    ]
    release = shoal.anonymize(people(60), **JOB)
    with pytest.raises(shoal.InputError, match="are for databases"):
        release.save(tmp_path / "o.csv", table="t")


def test_duckdb_reads_no_file_beside_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    filled_duckdb(path, people(60))
    (tmp_path / "other.csv").write_text("age\n1\n1\n")
    query = f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')"
    with pytest.raises(shoal.InputError, match="may only read"):
        shoal.anonymize(shoal.DatabaseTable(path, query=query), quasi_identifiers=["age"], k=2)


@pytest.mark.parametrize(
    ("address", "extra"),
    [("postgresql://h/d", "databases"), ("t.sqlite", "databases"), ("t.duckdb", "duckdb")],
)
def test_a_missing_driver_is_named_with_its_extra(monkeypatch, address: str, extra: str) -> None:
    monkeypatch.setattr("shoal.data.databases.connection.find_spec", lambda name: None)
    with pytest.raises(shoal.InputError, match=rf"Install it with: pip install 'shoal\[{extra}\]'"):
        shoal.audit(shoal.DatabaseTable(address, "t"), quasi_identifiers=["age"], k=2)


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_a_database_that_changes_what_is_written_is_found_out(server: Server, engine) -> None:
    if engine:
        pytest.importorskip(engine)
    release = shoal.anonymize(
        shoal.DatabaseTable(server.uri(), "health.people"), **JOB, engine=engine
    )
    before = server.relations()
    server.do(
        "CREATE OR REPLACE FUNCTION health.spoil() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN NEW.age := NEW.age || random(); RETURN NEW; END'",
        "CREATE OR REPLACE FUNCTION health.arm() RETURNS event_trigger LANGUAGE plpgsql AS $$ "
        "DECLARE made record; BEGIN FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP EXECUTE format("
        "'CREATE TRIGGER spoil BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION health.spoil()', "
        "made.object_identity); END LOOP; END $$",
        "CREATE EVENT TRIGGER arm ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION health.arm()",
    )
    try:
        with pytest.raises(shoal.AuditFailed):
            release.save(server.uri(), table="release.spoilt")
    finally:
        server.do("DROP EVENT TRIGGER arm")
    assert server.relations() == before
