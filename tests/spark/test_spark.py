"""Large tables on Spark: the promises of the other engines, on a session of the user's that is left as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import parity
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ASKED, people, rows_of
from fuzz.engines import try_on

import shoal

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'shoal[spark]'")
from shoal.data.engines import spark as executors

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own, about pandas and open sockets


def test_columns_are_coarsened_as_in_memory(session: Any) -> None:
    table = people().append_column("pay", pa.array(range(1000, 5000, 10)))
    coarsen = {"pay": shoal.Interval(step=1000), "ward": shoal.Interval(high=3)}
    asked = {
        **ASKED,
        "keep": ["ward", "pay"],
        "allow": ["ward", "pay"],
        "coarsen": coarsen,
        "suppression_limit": 0.05,
    }
    release = shoal.anonymize(session.createDataFrame(table), **asked)
    found = release.data.toArrow()
    assert set(found["ward"].to_pylist()) == {"0", "1", "2", "≥ 3"}
    assert set(found["pay"].to_pylist()) == {f"{n}000–{n}999" for n in range(1, 5)}


def names(session: Any) -> list[str]:
    return [row.tableName for row in session.sql("SHOW TABLES").collect()]


def test_a_random_case_keeps_every_promise(session: Any) -> None:
    assert try_on("spark", 2, ("agglomerative",), session).kind == "released"


@pytest.fixture
def on_a_cluster() -> Iterator[None]:
    """Let Spark run where it shares no folder with this process, so that tables are staged."""
    with patch("shoal.data.engines.spark._shared_folder", lambda session: None):
        yield


def test_a_release_is_a_frame_of_the_session_and_equals_the_one_in_memory(
    session: Any, on_a_cluster: None
) -> None:
    frame = session.createDataFrame(people())
    release, memory = shoal.anonymize(frame, **ASKED), shoal.anonymize(people(), **ASKED)
    assert release.data.sparkSession is session
    assert release.audit == memory.audit
    assert release.loss() == pytest.approx(memory.loss())
    assert release.risk == memory.risk
    assert [name.rsplit("_", 1)[1] for name in names(session)] == ["release"]
    release.close()  # type: ignore[attr-defined]
    assert names(session) == []
    assert session.range(3).count() == 3  # it still runs


def test_what_is_staged_on_this_machine_is_for_its_owner_alone(session: Any) -> None:
    from shoal.data.engines.spark import Tables

    seen, write = [], Tables.write

    def watched(self: Any, native: Any, what: str) -> Any:
        found = write(self, native, what)
        folder = Path(found.inputFiles()[0].removeprefix("file://")).parent.parent
        seen.append((what, folder, folder.stat().st_mode & 0o777))
        return found

    with patch.object(Tables, "write", watched):
        release = shoal.anonymize(session.createDataFrame(people()), **ASKED)
    assert {what for what, _, _ in seen} == {"encoded", "counts", "release"}
    assert {mode for _, _, mode in seen} == {0o700}
    assert names(session) == []
    [folder] = {folder for _, folder, _ in seen}
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "release"]
    release.close()  # type: ignore[attr-defined]
    assert not folder.exists()


def test_staged_tables_hold_no_hash_that_can_be_computed_from_a_name(
    session: Any, on_a_cluster: None
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from shoal.data.engines.spark import Tables

    hashes: list[dict[str, set[int]]] = []
    write = Tables.write

    def watched(self: Any, native: Any, what: str) -> Any:
        found = write(self, native, what)
        if what == "encoded":
            rows = found.toArrow()
            own = {name: set(rows[name].to_pylist()) for name in ("_shoal_hash", "_shoal_person0")}
            hashes.append(own)
        return found

    frame = session.createDataFrame(people())
    with patch.object(Tables, "write", watched):
        for _ in range(2):
            shoal.anonymize(frame, **ASKED).close()  # type: ignore[attr-defined]
    first, second = hashes
    assert len(first["_shoal_person0"]) == 400
    assert first["_shoal_hash"] == second["_shoal_hash"]  # so that both runs make the same groups
    assert not first["_shoal_person0"] & second["_shoal_person0"]
    for columns in (["name"], frame.columns):
        for start in ([], [F.lit(0)], [F.lit(1)]):
            plain = F.xxhash64(*start, *columns)
            guessed = frame.select(plain, F.shiftrightunsigned(plain, 2)).toArrow()
            guesses = {value for column in guessed.columns for value in column.to_pylist()}
            assert not guesses & (first["_shoal_person0"] | first["_shoal_hash"])


HOSTILE = ["a.b", 'say "it"', "one `tick`", "x[0].y", "it's; -- 50 %"]


def test_names_with_dots_and_quotes_are_released_as_in_memory(session: Any, tmp_path: Path) -> None:
    table = people().rename_columns(HOSTILE)
    name, age, town, ill, ward = HOSTILE
    asked = {
        **ASKED,
        "quasi_identifiers": [age, town],
        "sensitive": [ill],
        "keep": [ward],
        "allow": [ward],
    }
    asked["identifiers"] = [name]
    release = shoal.anonymize(session.createDataFrame(table), **asked)
    assert release.data.columns == HOSTILE[1:]
    assert release.audit == shoal.anonymize(table, **asked).audit
    release.save(tmp_path / "out")
    release.save("hostile")
    assert pq.read_table(tmp_path / "out").column_names == HOSTILE[1:]
    assert rows_of(session.table("hostile")) == rows_of(release.data)
    session.sql("DROP TABLE hostile")
    release.close()  # type: ignore[attr-defined]


def released(given: Any, most: int, version: str) -> tuple[Counter[str], str]:
    """The records and notes of a release, as if executors had this version of shoal."""
    with (
        patch("shoal.pipeline.carriers.on_engine.records_at_once", lambda memory: most),
        patch.object(executors.Executors, "version", version),
    ):
        release = shoal.anonymize(given, **ASKED)
        found = rows_of(release.data)
    release.close()  # type: ignore[attr-defined]
    return found, " ".join(release.notes)


@pytest.fixture(scope="module")
def by_driver(session: Any) -> tuple[Counter[str], str]:
    """A release of one partition whose rounds the driver solved."""
    return released(session.createDataFrame(people()).coalesce(1), 40, "")


@pytest.mark.parametrize("most", [40, 10_000])
def test_partitions_and_tasks_that_fail_once_change_nothing(
    session: Any, by_driver: Any, most: int, tmp_path: Path
) -> None:
    scan, solve = tmp_path / "scan", tmp_path / "solve"

    def fails_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not scan.exists():
            scan.touch()
            raise OSError("this task fails once")
        yield from batches

    def solved(part: pa.Table) -> pa.Table:
        if not solve.exists():
            solve.touch()
            raise OSError("this task fails once")
        return executors.solve_chunks(part)

    frame = session.createDataFrame(people())
    failing = frame.repartition(5).mapInArrow(fails_once, frame.schema)
    in_rounds = most == 40
    first = by_driver if in_rounds else released(frame.coalesce(1), most, "")
    with patch("shoal.data.engines.spark.solve_chunks", solved):
        second = released(failing, most, shoal.__version__)
    assert first[0] == second[0]
    assert scan.exists()
    assert solve.exists() == in_rounds
    assert ("because the executors have no shoal" in first[1]) == in_rounds
    assert ("the Spark executors solved" in second[1]) == in_rounds


def test_executors_tell_their_version_and_chunks_find_together(session: Any) -> None:
    place = executors.Executors(session)
    assert place.version == shoal.__version__
    with patch.object(executors, "__version__", "another"):
        assert not place.is_ready()
        assert f"executors have version {shoal.__version__} of shoal" in place.note
    parts = [b"", b"a", bytes(range(256)) * 3]
    with patch.object(executors, "CHUNK", 100):
        sent = executors.in_chunks(parts)
    mixed = sent.take(np.random.default_rng(0).permutation(sent.num_rows))
    assert executors.out_of_chunks(mixed, 3) == parts


def test_a_release_is_saved_to_a_table_or_a_folder(session: Any, tmp_path: Path) -> None:
    release = shoal.anonymize(session.createDataFrame(people()), **ASKED)
    release.save("released")
    with pytest.raises(shoal.InputError, match="exists"):
        release.save("released")
    release.save("released", overwrite=True)
    assert rows_of(session.table("released")) == rows_of(release.data)
    release.save(tmp_path / "out")
    assert pq.read_table(tmp_path / "out").num_rows == 400
    release.save(tmp_path / "out", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    for path, sentence in (
        ("out.csv", "cannot write"),
        ("s3://bucket/out", "cannot be replaced"),
    ):
        with pytest.raises(shoal.InputError, match=sentence):
            release.save(path, overwrite=True)
    release.close()  # type: ignore[attr-defined]
    session.sql("DROP TABLE released")
    assert names(session) == []


def test_tables_of_a_killed_run_are_dropped_by_the_next(session: Any) -> None:
    from shoal.data.engines.spark import Tables

    own, mine = Tables(session), str(os.getpid())
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True
    )
    dead = own.prefix.replace(f"_{mine}_", f"_{ended.stdout.strip()}_") + "_encoded"
    session.range(3).write.saveAsTable(dead)
    session.range(3).write.saveAsTable(own.name("encoded"))
    other = Tables(session)
    assert names(session) == [own.names[0]]
    for tables in (own, other):
        tables.close()
    assert names(session) == []


def test_a_failed_run_leaves_no_tables(session: Any) -> None:
    frame = session.createDataFrame(people())
    with pytest.raises(shoal.Infeasible, match="needs at least 1,000 records"):
        shoal.anonymize(frame, **{**ASKED, "k": 1000})
    assert names(session) == []


def test_parquet_files_are_read_in_the_session_of_the_environment(
    session: Any, tmp_path: Path
) -> None:
    pq.write_table(people(), tmp_path / "people.parquet")
    release = shoal.anonymize(tmp_path / "people.parquet", engine="spark", **ASKED)
    assert release.audit.records == 400
    release.close()  # type: ignore[attr-defined]
    with pytest.raises(shoal.InputError, match="into a DataFrame"):
        shoal.anonymize(tmp_path / "people.csv", engine="spark", **ASKED)


def test_spark_connect_makes_the_same_release(session: Any, by_driver: Any, tmp_path: Path) -> None:
    pq.write_table(people(), tmp_path / "people.parquet")
    script = Path(__file__).with_name("connect.py")
    port = session.conf.get("spark.connect.grpc.binding.port")
    remote = f"sc://127.0.0.1:{port}"
    ended = subprocess.run(
        [sys.executable, str(script), str(tmp_path), remote],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert rows_of(session.read.parquet(str(tmp_path / "release"))) == by_driver[0]


def test_a_release_answers_the_same_as_one_in_memory(session: Any, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    expected = parity.asked_of(
        shoal.anonymize(parity.people(), **parity.ASKED), tmp_path / "memory"
    )
    frame = session.createDataFrame(parity.people())
    found = parity.asked_of(shoal.anonymize(frame, **parity.ASKED), tmp_path)
    lacking = {name for name, own in found.items() if own is shoal.NotAvailable}
    assert lacking == parity.UNAVAILABLE_ON_ENGINES
    assert parity.differing(found, expected) == []
