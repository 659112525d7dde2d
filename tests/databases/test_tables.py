"""Tables of databases go in and out: proved where they are written, with their types, whole or not at all."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from allowed import allowing
from stored import PASSWORD, RECORDS, Place, Server, filled_duckdb, filled_sqlite, people

import shoal
from shoal.data import open as opening
from shoal.data.databases.types import Digits
from shoal.data.databases.writing import STAGING
from shoal.data.open import open_table
from shoal.pipeline.carriers.released import InMemory, Staged

K = 100  # more than the records of any combination of values
JOB: dict[str, Any] = {
    "quasi_identifiers": ["age", "town"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "k": K,
    "method": "mondrian",
    "refine": False,
}
OPTIONS = ["-q", "age", "-q", "town", "-s", "ill", "-i", "name", "-k", K, "--method", "mondrian"]
OPTIONS += ["--refine", "off"]


def anonymize(place: Place, **given: Any) -> shoal.Release:
    return shoal.anonymize(shoal.DatabaseTable(place.address, place.source), **{**JOB, **given})


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_a_release_is_written_beside_its_source_and_keeps_k_there(
    place: Place, shell, engine
) -> None:
    if engine:
        pytest.importorskip(engine)
    before = place.rows(f"SELECT * FROM {place.source}")
    where = ["-o", place.address, "--output-table", place.target]
    how = ["--engine", engine] if engine else []
    code, out, err = shell(
        "anonymize", place.address, "--table", place.source, *OPTIONS, *where, *how
    )
    assert (code, err) == (0, "")
    assert f"written      {place.target} in" in out
    counted = f"SELECT COUNT(*) FROM {place.target} GROUP BY age, town"
    sizes = [row[0] for row in place.rows(counted)]
    assert min(sizes) >= K
    assert sum(sizes) == len(before)
    ill = "SELECT ill, COUNT(*) FROM {} GROUP BY ill ORDER BY ill"
    assert place.rows(ill.format(place.target)) == place.rows(ill.format(place.source))
    assert sorted(place.rows(f"SELECT * FROM {place.source}")) == sorted(before)
    assert not [name for name in place.tables() if STAGING in name]
    code, out, _ = shell("audit", place.address, "--table", place.target, *OPTIONS[:4], "-k", K)
    assert (code, f"Proved: {RECORDS:,} records" in out) == (0, True)


def test_the_same_release_is_made_of_a_database_and_of_a_file(place: Place, tmp_path: Path) -> None:
    pq.write_table(people(), tmp_path / "people.parquet")
    of_file = shoal.anonymize(tmp_path / "people.parquet", **JOB)
    of_database = anonymize(place)
    assert of_database.loss() == of_file.loss()
    assert rows_of(of_database.data) == rows_of(of_file.data)


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*table.to_pydict().values(), strict=True), key=repr)


def test_a_query_is_read_and_is_not_in_the_settings_of_the_release(place: Place) -> None:
    query = f"SELECT age, town, ill FROM {place.source} WHERE name <> 'Zyzzyva 7' -- all but one"
    release = shoal.anonymize(
        shoal.DatabaseTable(place.address, query=query),
        **{**JOB, "identifiers": []},
        reading={"missing": ["?"]},
    )
    assert release.audit.records == people().num_rows - 1
    assert "Zyzzyva" not in str(release.settings.to_dict())
    assert release.settings.reading == shoal.Input(missing=("?",))


def test_settings_name_the_table(place: Place, shell, tmp_path: Path) -> None:
    made, again = tmp_path / "made.toml", tmp_path / "again.toml"
    code, out, _ = shell("init", place.address, "--table", place.source, "-o", made)
    assert code == 0
    assert PASSWORD not in out
    assert shoal.Settings.load(made).reading.table == place.source
    where = ["-o", place.address, "--output-table", place.target, "--save-settings", again]
    code, out, err = shell(
        "anonymize", place.address, "--settings", made, "--refine", "off", *where
    )
    assert (code, err) == (0, "")
    assert shoal.Settings.load(again).reading.table == place.source
    code, out, err = shell("audit", place.address, "--settings", again)
    assert code == 2  # the table of the settings is the original, which nobody meant
    release = ["--release-table", place.target]
    code, out, err = shell(
        "evaluate", place.address, place.address, *release, "--settings", again, "--queries", 0
    )
    assert (code, err) == (0, "")
    assert "✓ Protected" in out


@pytest.mark.parametrize("asked", ["--table", "--query"])
def test_the_command_that_init_prints_runs(
    place: Place, shell, tmp_path: Path, monkeypatch, asked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    address = place.address
    if place.kind != "postgresql":  # as it is typed in the folder of the file
        odd = tmp_path / "it's people.db"
        shutil.copyfile(tmp_path / f"people.{place.kind}", odd)
        address = f"{place.kind}:///{odd.name}"
    wanted = place.source if asked == "--table" else f"SELECT * FROM {place.source} WHERE age > 20"
    code, out, err = shell("init", address, asked, wanted)
    assert code == 0, err
    command = shlex.split(out.splitlines()[-1])
    assert command[:3] == ["shoal", "anonymize", address]
    code, _, err = shell(*command[1:], "--refine", "off", "--quiet")
    assert code == 0, err
    assert (tmp_path / "release.csv").exists()


def test_the_command_that_init_prints_needs_a_password_but_does_not_show_it(
    server: Server, shell, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = shell("init", server.uri("careful", PASSWORD), "--table", "health.people")
    assert (code, PASSWORD in out) == (0, False)
    assert "Supply it with PGPASSWORD" in out
    command = shlex.split(out.splitlines()[-1])
    assert command[2] == server.uri("careful")
    assert shell(*command[1:], "--refine", "off")[0] == 2
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert shell(*command[1:], "--refine", "off")[0] == 0


def test_python_takes_a_table_of_a_database_wherever_it_takes_a_file(place: Place) -> None:
    release = anonymize(place)
    release.save(place.address, table=place.target)
    stored = shoal.DatabaseTable(place.address, place.target)
    assert shoal.audit(stored, settings=release.settings).records == RECORDS
    assert (
        shoal.audit(shoal.DatabaseTable(place.address, place.target), settings=release.settings).k
        >= K
    )
    original = shoal.DatabaseTable(place.address, place.source)
    found = shoal.evaluate(original, stored, settings=release.settings, queries=0)
    assert found.verdict.is_proved
    assert shoal.suggest(shoal.DatabaseTable(place.address, place.source)).of("identifier") == (
        "name",
    )
    read = shoal.read_release(stored, release.settings)
    assert {"age_min", "age_max"} <= set(read.data.column_names)


def test_a_table_is_replaced_only_when_asked_and_seen_whole_by_others(place: Place) -> None:
    if place.kind != "postgresql":
        pytest.skip("a file has one writer")
    anonymize(place, k=500).save(place.address, table=place.target)
    release = anonymize(place)
    with pytest.raises(shoal.InputError, match=r"exists in .*if_exists"):
        release.save(place.address, table=place.target)
    seen: list[Any] = []
    count = f"SELECT COUNT(*) FROM (SELECT 1 FROM {place.target} GROUP BY age, town) AS g"
    [(old,)] = place.rows(count)
    real = InMemory._prove_stored

    def prove(self: Any, written: Any) -> None:
        seen.extend([place.rows(count), place.tables()])
        real(self, written)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InMemory, "_prove_stored", prove)
        release.save(place.address, table=place.target, if_exists="replace")
    assert seen == [[(old,)], ["people", "people"]]  # what others saw while the new one was audited
    assert place.rows(count)[0][0] > old


@pytest.mark.parametrize("is_large", [False, True])
def test_nothing_is_written_when_the_audit_there_fails(place: Place, monkeypatch, is_large) -> None:
    if is_large:
        pytest.importorskip("duckdb")
    release = anonymize(place, engine="duckdb" if is_large else None)
    before = place.tables()

    def fail(*given: Any) -> None:
        raise shoal.AuditFailed("no")

    if is_large:
        monkeypatch.setattr(Staged, "_prove", fail)
    else:
        monkeypatch.setattr(InMemory, "_prove_stored", fail)
    with pytest.raises(shoal.AuditFailed):
        release.save(place.address, table=place.target)
    assert place.tables() == before


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_new_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch, kind: str) -> None:
    if kind == "duckdb":
        pytest.importorskip("duckdb")
    release = shoal.anonymize(people(200), **JOB)
    target = tmp_path / f"new.{kind}"
    with monkeypatch.context() as patch:
        patch.setattr(InMemory, "_prove_stored", lambda *given: fail_audit())
        with pytest.raises(shoal.AuditFailed):
            release.save(target, table="people")
    assert list(tmp_path.iterdir()) == []
    release.save(target, table="people")
    assert list(tmp_path.iterdir()) == [target]
    assert (
        shoal.audit(shoal.DatabaseTable(target, "people"), settings=release.settings).records == 200
    )


@pytest.mark.parametrize("kind", ["sqlite", "sqlite in a log", "duckdb"])
def test_rows_of_a_table_that_is_replaced_are_nowhere_in_the_file(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / f"old.{kind.partition(' ')[0]}"
    rows = (filled_duckdb if kind == "duckdb" else filled_sqlite)(path, people(5_000), "released")
    path.chmod(0o640)
    release = shoal.anonymize(people(900), **JOB)
    with logged(path) if kind == "sqlite in a log" else nullcontext():
        release.save(path, table="released", if_exists="replace")
        assert not [own for own in tmp_path.iterdir() if b"Zyzzyva" in own.read_bytes()]
        assert len(list(tmp_path.iterdir())) == (3 if kind == "sqlite in a log" else 1)
    assert rows("SELECT COUNT(*) FROM released") == [(900,)]
    assert path.stat().st_mode & 0o777 == 0o640


def test_rows_that_somebody_else_still_reads_are_warned_of(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "old.sqlite"
    rows = filled_sqlite(path, people(5_000), "released")
    monkeypatch.setattr("shoal.data.databases.sqlite._PATIENCE", 50)
    release = shoal.anonymize(people(900), **JOB)
    reads = "held.execute('BEGIN'); held.execute('SELECT * FROM released').fetchone()"
    with logged(path, reads), pytest.warns(UserWarning, match="still in .* run PRAGMA wal_check"):
        release.save(path, table="released", if_exists="replace")
    assert rows("SELECT COUNT(*) FROM released") == [(900,)]


@contextmanager
def logged(path: Path, more: str = "pass") -> Iterator[None]:
    """Let another process, which stays, change the names in a SQLite file that keeps changes in a log."""
    code = (
        "import sqlite3, sys; held = sqlite3.connect(sys.argv[1]); held.execute('PRAGMA journal_mode = WAL'); "
        "held.execute('UPDATE released SET name = name || 1').connection.commit(); "
        f"{more}; print('done', flush=True); input()"
    )
    asked = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "done\n"
        yield
        other.communicate("\n")


RICH = """
CREATE SCHEMA s; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE SEQUENCE numbers START 5;
CREATE TABLE s.parents (id INTEGER PRIMARY KEY DEFAULT nextval('numbers'), mood mood, CHECK (id > 0));
CREATE TABLE s.children (own INTEGER, parent INTEGER REFERENCES s.parents (id), twice INTEGER AS (own * 2));
INSERT INTO s.parents (mood) VALUES ('ok'), ('sad'); INSERT INTO s.children VALUES (1, 5);
CREATE INDEX by_parent ON s.children (parent); CREATE MACRO more(x) AS x + 1;
CREATE VIEW names AS SELECT name FROM released; CREATE VIEW far AS SELECT * FROM s.children;
COMMENT ON TABLE s.children IS 'kept';
"""


def test_everything_else_in_a_duckdb_file_survives_a_replacement(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "old.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS a (STORAGE_VERSION 'v1.2.0', BLOCK_SIZE 16384)")
    filled_duckdb(path, people(300), "released")
    link = tmp_path / "link.duckdb"
    link.symlink_to(path)
    with duckdb.connect(str(path)) as connection:
        connection.execute(RICH)
        before = _catalogue(connection)
    release = shoal.anonymize(people(200), **JOB)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InMemory, "_prove_stored", lambda *given: fail_audit())
        with pytest.raises(shoal.AuditFailed):
            release.save(link, table="released", if_exists="replace")
    with duckdb.connect(str(path)) as connection:
        assert _catalogue(connection) == before
    release.save(link, table="released", if_exists="replace")
    assert sorted(own.name for own in tmp_path.iterdir()) == ["link.duckdb", "old.duckdb"]
    assert link.is_symlink()
    with duckdb.connect(str(path)) as connection:
        assert _catalogue(connection) == before
        assert connection.execute("SELECT nextval('numbers'), more(1)").fetchall() == [(7, 2)]
        assert connection.execute("SELECT * FROM far").fetchall() == [(1, 5, 2)]


def _catalogue(connection: Any) -> list[Any]:
    found = connection.execute(
        "SELECT sql, comment FROM duckdb_tables() WHERE table_name <> 'released' "
        "UNION ALL SELECT sql, comment FROM duckdb_views() WHERE NOT internal "
        "UNION ALL SELECT sql, NULL FROM duckdb_indexes() "
        "UNION ALL SELECT block_size::VARCHAR, NULL FROM pragma_database_size() "
        "UNION ALL SELECT tags['storage_version'], NULL FROM duckdb_databases() WHERE path IS NOT NULL"
    )
    return sorted(found.fetchall(), key=str)


def fail_audit() -> None:
    raise shoal.AuditFailed("no")


TYPES = """
CREATE TABLE health.kinds AS SELECT i % 40 AS age, (i % 9)::numeric / 4 AS score, 12.50::numeric(10, 2) AS fee,
  ('00000000-0000-0000-0000-' || lpad((i % 50)::text, 12, '0'))::uuid AS own, jsonb_build_object('a', i % 3) AS doc,
  (ARRAY['sad', 'ok'])[1 + i % 2]::health."Mood of day" AS mood,
  timestamptz '2024-02-29 12:00:00.25+02' + (i % 4) * interval '1 day' AS seen,
  ARRAY[i % 3, NULL] AS numbers, ARRAY['a' || i % 2, 'x,"y'] AS words, (i % 2)::smallint AS small,
  date '2020-01-01' + i % 5 AS day, (i % 3 = 0) AS flag, interval '1 day' * (i % 2) AS wait,
  CASE WHEN i % 2 = 0 THEN 'ab'::char(4) END AS code, '192.168.0.1'::inet AS net, '\\x00ff'::bytea AS raw
FROM generate_series(1, 600) AS i
"""
KEPT = [
    "score",
    "fee",
    "own",
    "doc",
    "mood",
    "seen",
    "numbers",
    "words",
    "small",
    "day",
    "flag",
    "wait",
    "code",
    "net",
    "raw",
]


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_types_of_postgresql_are_kept(server: Server, engine: str | None) -> None:
    if engine:
        pytest.importorskip(engine)
    server.do(
        "DROP TABLE IF EXISTS health.kinds, release.kinds",
        'DROP TYPE IF EXISTS health."Mood of day"',
        "CREATE TYPE health.\"Mood of day\" AS ENUM ('sad', 'ok', 'never')",
        TYPES,
    )
    release = shoal.anonymize(
        shoal.DatabaseTable(server.uri(), "health.kinds"),
        quasi_identifiers=["age"],
        keep=KEPT,
        allow=allowing(*KEPT),
        k=10,
        method="mondrian",
        refine=False,
        engine=engine,
    )
    release.save(server.uri(), table="release.kinds")
    kinds = (
        "SELECT attname::text, atttypid::regtype::text FROM pg_attribute "
        "WHERE attrelid = '{}.kinds'::regclass AND attnum > 0 ORDER BY 1"
    )
    before, after = (dict(server.rows(kinds.format(schema))) for schema in ("health", "release"))
    assert after == {**before, "age": "text", "code": "text"}  # a length is not known
    values = f"SELECT ({', '.join(KEPT)})::text FROM {{}}.kinds ORDER BY 1"
    same = values.replace("score, fee", "score::float, fee::float").replace("code", "trim(code)")
    assert server.rows(same.format("health")) == server.rows(same.format("release"))


def test_exact_numbers_arrive_exactly(server: Server) -> None:
    asked = "SELECT v::numeric AS n, 1 AS one FROM (VALUES ('-0.10'), ('12345678901234567890.5'), (NULL)) AS t(v)"
    found = open_table(shoal.DatabaseTable(server.uri(), query=asked)).data
    assert [str(v) for v in found["n"].to_list()] == ["-0.1", "12345678901234567890.5", "None"]
    endless = shoal.DatabaseTable(server.uri(), query="SELECT 'NaN'::numeric AS n")
    assert open_table(endless).data["n"].to_list() == ["NaN"]


def test_digits_are_counted_over_blocks() -> None:
    digits = Digits()
    for block in (["100", "-7.50"], [None, None], ["0.125"]):
        digits.add(pa.array(block, pa.string()))
    assert digits.type == pa.decimal128(6, 3)
    assert [str(v) for v in digits.typed(pa.array(["-7.50", "100"]))] == ["-7.500", "100.000"]


def test_columns_of_sqlite_have_the_type_of_all_their_values(tmp_path: Path) -> None:
    late = [None] * 70_000  # more than a batch
    table = pa.table(
        {
            "whole": [1, *late[1:-1], 3],
            "mixed": ["1.5", *late[1:]],
            "text": [*late[:-1], "late"],
            "empty": pa.array(late, pa.string()),
        }
    )
    filled_sqlite(tmp_path / "t.sqlite", table)
    source = open_table(shoal.DatabaseTable(tmp_path / "t.sqlite", "people"))
    found = source.data.to_native()
    assert found.schema.types == [pa.int64(), pa.string(), pa.string(), pa.string()]
    assert found.to_pydict() == table.to_pydict()


def test_types_of_duckdb_are_kept_and_no_list_of_values(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'never')")
        connection.execute(
            "CREATE TABLE kinds AS SELECT i % 40 AS age, uuid() AS own, 1.50::DECIMAL(9, 2) AS fee, [i % 2] AS list, "
            "(CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'ok' END)::mood AS mood, 7::HUGEINT AS huge FROM range(600) t(i)"
        )
    kept = ["own", "fee", "list", "mood", "huge"]
    release = shoal.anonymize(
        shoal.DatabaseTable(tmp_path / "t.duckdb", "kinds"),
        quasi_identifiers=["age"],
        keep=kept,
        allow=allowing(*kept),
        k=5,
    )
    release.save(tmp_path / "t.duckdb", table="released")
    with duckdb.connect(str(tmp_path / "t.duckdb"), read_only=True) as connection:
        kinds = connection.execute("DESCRIBE released").fetchall()
    assert [row[1] for row in kinds] == [
        "VARCHAR",
        "UUID",
        "DECIMAL(9,2)",
        "BIGINT[]",
        "VARCHAR",
        "HUGEINT",
    ]


def test_a_table_that_outgrows_memory_is_copied_and_worked_on_elsewhere(
    place: Place, monkeypatch
) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.setattr(opening, "BYTES_OF_TEXT", 40_000)
    release = anonymize(place, engine=shoal.Engine(memory="256MB"))
    assert isinstance(release.released, Staged)
    assert release.audit.records == RECORDS
    release.close()


def test_a_dry_run_on_an_engine_takes_databases_in_and_out(place: Place, shell) -> None:
    pytest.importorskip("duckdb")
    where = ["-o", place.address, "--output-table", place.target]
    for more in ([], where):
        code, out, err = shell(
            "anonymize", place.address, "--table", place.source, *OPTIONS, "--engine", "duckdb", "--dry-run", *more
        )  # fmt: skip
        assert code == 0, err
        assert "6,000" in out
    assert place.tables().count("people") == 1


def test_persons_are_counted_in_what_was_written(place: Place) -> None:
    """The audit must find the records in the order in which they were written: it knows whose each one is."""
    query = f"SELECT substr(name, 1, length(name) - 1) AS who, age, town, ill FROM {place.source}"
    job = {**JOB, "identifiers": [], "person": "who", "k": 20}
    release = shoal.anonymize(shoal.DatabaseTable(place.address, query=query), **job)
    release.save(place.address, table=place.target)
    assert release.k >= 20
    assert place.rows(f"SELECT COUNT(*) FROM {place.target}") == [(RECORDS,)]


def test_several_threads_may_work_in_databases_at_once(place: Place) -> None:
    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(lambda k: anonymize(place, k=k), [K, 5 * K]))
    made[0].save(place.address, table=place.target)
    assert [release.settings.k for release in made] == [K, 5 * K]
    assert all(release.k >= release.settings.k for release in made)


def test_hierarchies_and_recodings_take_tables_of_databases(
    place: Place, shell, tmp_path: Path
) -> None:
    tree = ["hierarchy", place.address, "town", "--table", place.source, "--kind", "prefix"]
    code, _, err = shell(*tree, "-o", tmp_path / "town.csv")
    assert (code, err) == (0, "")
    recoding = tmp_path / "made.recoding"
    anonymize(place).recoding.save(recoding)
    asked = f"SELECT age, town, ill, name FROM {place.source} WHERE age < 40"
    new = ["apply", place.address, "--query", asked, "--recoding", recoding]
    code, out, err = shell(*new, "-o", tmp_path / "batch.csv", "--save-held", tmp_path / "held.csv")
    assert (code, err) == (0, "")
    assert "proved         together" in out
