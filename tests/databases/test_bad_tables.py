"""What goes wrong with databases: one sentence with its remedy, nothing written, no cell and no password shown."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from stored import PASSWORD, Server, filled_duckdb, filled_sqlite, people

import shoal
from shoal.data.databases.address import database_of
from shoal.data.databases.error_messages import driver_errors

ROLES = ["-q", "age", "-q", "town", "-s", "ill", "-i", "name", "-k", 5, "--refine", "off"]
JOB: dict[str, Any] = {
    "quasi_identifiers": ["age", "town"],
    "sensitive": ["ill"],
    "identifiers": ["name"],
    "k": 5,
    "method": "mondrian",
    "refine": False,
}
SECRETS = (PASSWORD, "Zyzzyva", "hunter")


@pytest.fixture
def guarded(server: Server, shell) -> Any:
    """Run a command that must fail: returns what it says, once it is sure that nothing was written or shown."""
    server.do(
        'DROP SCHEMA IF EXISTS "release" CASCADE',
        "CREATE SCHEMA release",
        "CREATE TABLE release.old AS SELECT 1 AS one",
        "CREATE VIEW release.seen AS SELECT * FROM health.people",
        "CREATE TABLE release.needed AS SELECT 1 AS one",
        "CREATE VIEW release.needing AS SELECT * FROM release.needed",
        "CREATE TABLE release.parts (one integer) PARTITION BY LIST (one)",
        "GRANT USAGE ON SCHEMA release TO careful",
    )
    before = server.relations()

    def run(*arguments: object, code: int = 2) -> str:
        found, out, err = shell(*arguments)
        assert found == code, err
        assert not [secret for secret in SECRETS if secret in out + err]
        assert server.relations() == before
        assert all(line.startswith("shoal: ") for line in err.splitlines())
        return err

    return run


def in_and_out(server: Server) -> dict[str, list[Any]]:
    """A command that would work, by its parts."""
    return {
        "from": [server.uri(), "--table", "health.people"],
        "to": ["-o", server.uri(), "--output-table", "release.people"],
    }


READING = {
    "no such table": ["--table", "health.peopel"],
    "no such schema": ["--table", "healht.people"],
    "names that are none": ["--table", "a.b.c.d"],
    "an open quote": ["--table", 'health."people'],
    "no table": [],
    "two things": ["--table", "health.people", "--query", "SELECT 1"],
    "an empty query": ["--query", " "],
    "a query that is none": ["--query", "SELEC age FROM health.people"],
    "two queries": ["--query", "SELECT 1 AS a; DROP TABLE release.old"],
    "a query that breaks out": ["--query", "SELECT 1 AS a) AS b; DROP TABLE release.old; --"],
    "a query that writes": ["--query", "DELETE FROM health.people RETURNING *"],
    "a query that writes in WITH": [
        "--query",
        "WITH gone AS (DELETE FROM release.old RETURNING *) SELECT * FROM gone",
    ],
    "a function that writes": ["--query", "SELECT setval('release.numbers', 7) AS age"],
    "a cell that is no number": ["--query", "SELECT name::integer AS age FROM health.people"],
    "columns of one name": ["--query", "SELECT age, age FROM health.people"],
    "a connection that is lost": [
        "--query",
        "SELECT age, town FROM health.people WHERE CASE WHEN name = 'Zyzzyva 5700' "
        "THEN pg_terminate_backend(pg_backend_pid()) ELSE true END",
    ],
}
SAID = {
    "no such table": "There is no table 'health.peopel' in 'postgresql:///postgres'; did you mean 'health.people'?",
    "no such schema": "There is no table 'healht.people'",
    "names that are none": "is not a valid table name. Write TABLE or SCHEMA.TABLE",
    "an open quote": "is not a valid table name. Write TABLE or SCHEMA.TABLE",
    "no table": "neither is named. Name one with shoal.DatabaseTable(…, table=…) (--table)",
    "two things": "both are named. Name one",
    "an empty query": "must be a SELECT",
    "a query that is none": "does not understand the query. Test it there first",
    "two queries": "does not understand the query. Test it there first",
    "a query that breaks out": "does not understand the query. Test it there first",
    "a query that writes": "does not understand the query. Test it there first",
    "a query that writes in WITH": "does not understand the query. Test it there first",
    "a function that writes": "is read-only for you. A query must be a SELECT",
    "a cell that is no number": "could not convert a value to the type the query asks",
    "columns of one name": "has 2 columns named 'age'",
    "a connection that is lost": "closed the connection",
}


@pytest.mark.parametrize("case", READING)
def test_what_cannot_be_read_is_said(server: Server, guarded, tmp_path: Path, case: str) -> None:
    if case == "a function that writes":
        server.do("CREATE SEQUENCE IF NOT EXISTS release.numbers")
    err = guarded("anonymize", server.uri(), *READING[case], *ROLES, "-o", tmp_path / "out.csv")
    assert SAID[case] in err
    assert list(tmp_path.iterdir()) == []


WRITING = {
    "no table": ([], "Name it with --output-table"),
    "exists": (["--output-table", "release.old"], "'release.old' exists in"),
    "wrong schema": (["--output-table", "relaese.new"], "no schema 'relaese' in"),
    "source": (
        ["--output-table", "health.people", "--if-exists", "replace"],
        "'health.people' in 'postgresql:///postgres' is read to make this release and would be lost",
    ),
    "view": (["--output-table", "release.seen", "--if-exists", "replace"], "is a view"),
    "needed": (
        ["--output-table", "release.needed", "--if-exists", "replace"],
        "is needed by views",
    ),
    "parts": (
        ["--output-table", "release.parts", "--if-exists", "replace"],
        "or a partitioned table, or part of one",
    ),
    "unknown if_exists": (["--output-table", "release.x", "--if-exists", "append"], "'replace'"),
    "long": (["--output-table", "release." + "x" * 64], "more than 63 bytes"),
}


@pytest.mark.parametrize("case", WRITING)
def test_what_cannot_be_written_is_said_before_the_work(server: Server, guarded, case: str) -> None:
    options, sentence = WRITING[case]
    source = [server.uri(), "--table", "health.people"]
    assert sentence in guarded("anonymize", *source, *ROLES, "-o", server.uri(), *options)


def test_all_problems_are_said_together(server: Server, guarded, tmp_path: Path) -> None:
    err = guarded(
        "anonymize", server.uri(), "--table", "health.peopel", "-o", server.uri(),
        "--output-table", "relaese.new", "--report", tmp_path / "no" / "report.html", "-q", "age",
    )  # fmt: skip
    for sentence in ("health.peopel", "schema 'relaese'", "no' does not exist", "k is missing"):
        assert sentence in err


# Functions that read a table which no plan shows; the last one gives its lock on the table back.
_RETURNS = "RETURNS SETOF health.people LANGUAGE"
FUNCTIONS = (
    f"CREATE FUNCTION release.in_sql() {_RETURNS} sql VOLATILE AS 'SELECT * FROM health.people'",
    f"CREATE FUNCTION release.in_code() {_RETURNS} plpgsql AS "
    "$$ BEGIN RETURN QUERY SELECT * FROM health.people; END $$",
    f"CREATE FUNCTION release.in_text() {_RETURNS} plpgsql AS "
    "$$ BEGIN RETURN QUERY EXECUTE 'SELECT * FROM health.' || 'people'; END $$",
    f"CREATE FUNCTION release.forgotten() {_RETURNS} plpgsql AS $$ DECLARE found health.people[]; BEGIN "
    "BEGIN found := ARRAY(SELECT p FROM health.people AS p); RAISE EXCEPTION 'no'; EXCEPTION WHEN OTHERS THEN END; "
    "RETURN QUERY SELECT * FROM unnest(found); END $$",
)


def make_far(server: Server) -> None:
    """A foreign table that leads back to the same server."""
    if not server.rows("SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'"):
        pytest.skip("postgres_fdw is not installed on this server")
    server.do(
        "CREATE EXTENSION IF NOT EXISTS postgres_fdw",
        "DROP SERVER IF EXISTS back CASCADE",
        f"CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{server.socket}', dbname 'postgres')",
        "CREATE USER MAPPING FOR postgres SERVER back OPTIONS (user 'postgres')",
        "CREATE FOREIGN TABLE release.far (name text, age bigint, town text, ill text) SERVER back "
        "OPTIONS (schema_name 'health', table_name 'people')",
    )


@pytest.mark.parametrize(
    ("table", "given"),
    [
        ({"query": "SELECT * FROM health.people"}, {}),
        ({"table": "release.seen"}, {}),
        ({"table": "health.people"}, {"engine": "duckdb"}),
        ({"query": "SELECT * FROM release.in_sql()"}, {}),
        ({"query": "SELECT * FROM release.in_code()"}, {}),
        ({"query": "SELECT * FROM release.in_text()"}, {"engine": "duckdb"}),
        ({"query": "SELECT * FROM release.forgotten()"}, {}),
        ({"table": "release.far"}, {}),
    ],
)
def test_the_source_is_known_through_queries_views_functions_and_other_addresses(
    server: Server, guarded, table: dict[str, str], given: dict[str, str]
) -> None:
    if "engine" in given:
        pytest.importorskip(given["engine"])
    if "release.far" in table.values():
        make_far(server)
    server.do(*FUNCTIONS)
    before = server.relations()
    release = shoal.anonymize(shoal.DatabaseTable(server.uri(), **table), **JOB, **given)
    other = server.uri().replace("postgresql://postgres@", "postgres://") + "&user=postgres"
    with pytest.raises(shoal.InputError, match="would be lost"):
        release.save(other, table="health.people", if_exists="replace")
    assert server.relations() == before


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_the_source_is_known_in_files(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    rows = (filled_sqlite if kind == "sqlite" else filled_duckdb)(path, people(300))
    (tmp_path / f"b.{kind}").symlink_to(path)
    queries = [
        "SELECT * FROM (SELECT * FROM People) AS p",
        # Of such a table, statistics are enough for DuckDB, and its plan does not name it.
        "WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 20) "
        "SELECT i AS age, 2 AS town, 3 AS ill, 4 AS name, (SELECT COUNT(*) FROM people) AS n FROM numbers",
    ]
    for asked in ({"table": "people"}, *({"query": query} for query in queries)):
        release = shoal.anonymize(shoal.DatabaseTable(path, **asked), **JOB, others="drop")
        for name in ("people", "PEOPLE"):
            with pytest.raises(shoal.InputError, match="would be lost"):
                release.save(tmp_path / f"b.{kind}", table=name, if_exists="replace")
    assert len(rows("SELECT name FROM people")) == 300


def test_names_that_sqlite_keeps_are_refused_before_a_new_file_is_made(
    tmp_path: Path, shell: Any
) -> None:
    source, new = tmp_path / "a.sqlite", tmp_path / "new.sqlite"
    filled_sqlite(source, people(60))
    where = ("-o", new, "--output-table", "SQLite_mine")
    code, _, err = shell("anonymize", source, "--table", "people", *ROLES, *where, "--dry-run")
    assert (code, "SQLite reserves names like" in err) == (2, True)
    assert not new.exists()


def test_rights_are_asked_for(server: Server, guarded, monkeypatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    careful = server.uri("careful")
    source = [careful, "--table", "health.people"]
    new = ["--output-table", "release.new"]
    err = guarded("anonymize", *source, *ROLES, "-o", careful, *new)
    assert "You may not create tables in schema 'release'" in err
    server.do("GRANT CREATE ON SCHEMA release TO careful")
    replace = ["--output-table", "release.old", "--if-exists", "replace"]
    assert "belongs to another user." in guarded(
        "anonymize", *source, *ROLES, "-o", careful, *replace
    )
    stranger = [server.uri("stranger"), "--table", "health.people"]
    err = guarded("anonymize", *stranger, *ROLES, "-o", careful, *new)
    assert "denies you permission. Ask the owner to GRANT it" in err


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("wrong password", "refused the login. Check the user, and the password in PGPASSWORD"),
        ("no password", "refused the login. Check"),
        ("no user", "refused the login. Check"),
        ("no database", "has no such database"),
        (
            f"postgresql://me:{PASSWORD}@127.0.0.1:1/db",
            "'postgresql://127.0.0.1:1/db' cannot be reached",
        ),
        (f"postgresql://me:{PASSWORD}/db", "'postgresql://…' has an address that cannot be read"),
        (
            f"postgresql://h/db?user=a@b&password={PASSWORD}&nonsense=1",
            "has an address that cannot be read",
        ),
        (f"postgresql:///db?service=none&password={PASSWORD}", "has no such service"),
        (f"mysql://me:{PASSWORD}@host/db", "Databases of kind 'mysql' are not supported"),
        ("sqlite://people.db", "Write sqlite:///FILE"),
        ("sqlite:///none.db", "'none.db' does not exist"),
        ("none.duckdb", "'none.duckdb' does not exist"),
    ],
)
def test_addresses_that_lead_nowhere(server: Server, guarded, address: str, sentence: str) -> None:
    if address.endswith(".duckdb"):
        pytest.importorskip("duckdb")
    given = {
        "wrong password": server.uri("careful", f"{PASSWORD}-not"),
        "no password": server.uri("careful"),
        "no user": server.uri("nobody"),
        "no database": server.uri(name="none"),
    }.get(address, address)
    assert sentence in guarded("audit", given, "--table", "people", "-q", "age", "-k", 2)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:p@host:5432/db", "postgresql://host:5432/db"),
        ("postgres://me:p@ss@host/db?password=x", "postgresql://host/db"),
        ("postgresql://me:p/w@host/db", "postgresql://host/db"),
        ("postgresql+psycopg://me:p@h1:1,h2:2/db", "postgresql://h1:1,h2:2/db"),
        ("postgresql://host/db?password=a@b", "postgresql://b"),
        ("postgresql://host/db?user=a@b&password=c", "postgresql://…"),
        ("postgresql://me:secret/db", "postgresql://…"),
        ("postgresql:///?service=x", "postgresql:///"),
        ("sqlite:////srv/a b.db", "/srv/a b.db"),
    ],
)
def test_an_address_is_shown_without_user_and_password(address: str, shown: str) -> None:
    assert str(database_of(address)) == shown
    assert "secret" not in repr(database_of(address))
    assert address not in repr(shoal.DatabaseTable(address, "t"))


@pytest.mark.parametrize(
    "options",
    [
        ["evaluate", "t.csv", "t.csv", "--holdout"],
        ["evaluate", "t.csv", "t.csv", "--population"],
        ["audit", "t.csv", "--settings"],
        ["audit", "t.csv", "-q", "age", "-k", "2", "--junit"],
        ["anonymize", "t.csv", "-q", "age", "-k", "2", "-o", "o.csv", "--report"],
    ],
)
def test_an_address_in_the_place_of_a_file_shows_no_password(shell, options: list[str]) -> None:
    for address in ("postgresql://me:{}@host/db", "postgresql://host/db?user=me&password={}"):
        code, out, err = shell(*options, address.format(PASSWORD))
        assert (code, PASSWORD in out + err) == (2, False)


@pytest.mark.parametrize(
    "words",
    [
        "host=db dbname=x password={}",
        "password = '{} '",
        "jdbc:postgresql://db/x?user=me&password={}",
    ],
)
def test_other_ways_to_name_a_database_are_refused_without_their_password(
    shell, tmp_path: Path, words: str
) -> None:
    told = words.format(PASSWORD)
    asked = ["-q", "age", "-k", "2"]
    for arguments in (
        ["audit", told, "--table", "t", *asked],
        ["anonymize", "t.csv", *asked, "-o", told, "--output-table", "t"],
        ["audit", "t.csv", "--settings", told],
        ["init", told],
    ):
        code, out, err = shell(*arguments)
        assert (code, PASSWORD in out + err) == (2, False), err
    assert "address" in shell("audit", told, "--table", "t", *asked)[2] or "jdbc" in told
    for data in (told, Path(told)):
        with pytest.raises(shoal.InputError) as raised:
            shoal.audit(data, quasi_identifiers=["age"], k=2)
        assert PASSWORD not in str(raised.value)


def test_a_file_may_be_called_like_an_option(tmp_path: Path) -> None:
    shoal.anonymize(people(60), **JOB).save(tmp_path / "user=1.csv")
    assert shoal.audit(tmp_path / "user=1.csv", quasi_identifiers=["age"], k=1).records == 60


def test_an_address_that_was_made_a_path_is_refused() -> None:
    path = Path(f"postgresql://me:{PASSWORD}@host/db")
    release = shoal.anonymize(people(60), **JOB)
    for attempt in (
        lambda: shoal.audit(shoal.DatabaseTable(path, "t"), quasi_identifiers=["age"], k=2),
        lambda: release.save(path, table="t"),
    ):
        with pytest.raises(shoal.InputError, match="must be text, not a path"):
            attempt()


def test_a_password_file_is_enough(server: Server, shell, monkeypatch, tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.write_text(f"*:*:*:careful:{PASSWORD}\n")
    file.chmod(0o600)
    asked = ["audit", server.uri("careful"), "--table", "health.people", "-q", "town", "-k", 2]
    assert shell(*asked)[0] == 2
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert shell(*asked)[0] == 0


def test_a_password_is_used_and_never_seen(server: Server, shell, tmp_path: Path) -> None:
    server.do(
        "GRANT USAGE, CREATE ON SCHEMA release TO careful", "DROP TABLE IF EXISTS release.new"
    )
    uri = server.uri("careful", PASSWORD)
    files = ["--report", tmp_path / "r.html", "--save-settings", tmp_path / "s.toml"]
    where = ["-o", uri, "--output-table", "release.new"]
    code, out, err = shell(
        "anonymize", uri, "--table", "health.people", *ROLES, *where, *files, "--verbose"
    )
    assert code == 0
    seen = out + err + "".join(path.read_text() for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 2
    assert not [secret for secret in (*SECRETS, "careful") if secret in seen]
    server.do("DROP TABLE release.new")


def test_no_traceback_shows_what_the_database_said(server: Server) -> None:
    uri, query = server.uri("careful", PASSWORD), "SELECT name::integer AS age FROM health.people"
    for given in ({"query": query}, {"table": "none"}):
        with pytest.raises(shoal.InputError) as raised:
            shoal.anonymize(shoal.DatabaseTable(uri, **given), quasi_identifiers=["age"], k=2)
        shown = "".join(traceback.format_exception(raised.value))
        assert not [secret for secret in SECRETS if secret in shown]


@pytest.mark.parametrize("is_told", [True, False])
def test_an_interrupt_that_a_driver_takes_for_itself_stays_one(is_told: bool) -> None:
    words = "[SQLite] Cancel is not supported"
    if is_told:
        words = "ERROR: canceling statement due to user request"
    error = pa.ArrowNotImplementedError(words)
    if not is_told:
        error.__cause__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt), driver_errors(database_of("a.sqlite")):
        raise error


def test_a_connection_lost_while_writing_leaves_the_old_table(server: Server, guarded) -> None:
    server.do(
        "CREATE OR REPLACE FUNCTION health.hang_up() RETURNS event_trigger LANGUAGE plpgsql AS "
        "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); END'",
        "CREATE EVENT TRIGGER hang_up ON ddl_command_end WHEN TAG IN ('ALTER TABLE') "
        "EXECUTE FUNCTION health.hang_up()",
    )
    before = server.relations()
    try:
        release = shoal.anonymize(shoal.DatabaseTable(server.uri(), "health.people"), **JOB)
        with pytest.raises(shoal.InputError, match="closed the connection"):
            release.save(server.uri(), table="release.old", if_exists="replace")
    finally:
        server.do("DROP EVENT TRIGGER hang_up")
    assert server.relations() == before
    assert server.rows("SELECT one FROM release.old") == [(1,)]
