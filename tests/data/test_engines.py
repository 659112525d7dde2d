"""Large tables on engines: what is promised in memory holds there, whatever the engine and the parts it works in."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from allowed import allowing
from engines import ASKED, ENGINES, as_arrow, needs_duckdb, people, put_on, rows_of
from fuzz.engines import collected, try_on
from fuzz.runs import release_faults, write_table

import shoal
from shoal.data.engines.base import engine_errors, free_memory, read_memory
from shoal.data.files import csv, text
from shoal.data.files import large_text as blocks
from shoal.data.files.table_file import open_file, read_file_texts
from shoal.data.open import engine_for
from shoal.encoding.source import Input

LOCAL = ("agglomerative", "cover")


def test_a_traceback_shows_nothing_of_what_an_engine_said() -> None:
    with pytest.raises(shoal.InputError) as raised, engine_errors("duckdb"):
        raise pa.ArrowInvalid("could not convert 'Zyzzyva'")
    assert "Zyzzyva" not in "".join(traceback.format_exception(raised.value))


def in_words(found: object) -> object:
    """A result without the last digits of its numbers."""
    if isinstance(found, float):
        return float(f"{found:.9g}")
    if isinstance(found, dict):
        return {key: in_words(value) for key, value in found.items()}
    return [in_words(item) for item in found] if isinstance(found, list | tuple) else found


def solving(most: int) -> Any:
    """Let so many records be solved at once."""
    return patch("shoal.pipeline.carriers.on_engine.records_at_once", lambda memory: most)


@pytest.mark.parametrize("start", range(0, 24, 12))
def test_random_cases_keep_every_promise(engine: str, start: int) -> None:
    outcomes = [try_on(engine, seed, LOCAL) for seed in range(start, start + 12)]
    assert not [outcome for outcome in outcomes if outcome.kind == "failed"]
    assert sum(outcome.kind == "released" for outcome in outcomes) >= 3


ODD = pa.table(
    {
        "number": pa.array([0.0, -0.0, 2.5, None, 1e300]),
        "text": pa.array(["é", "e\u0301", "", None, "a b"]),
        "flag": pa.array([True, False, None, True, False]),
        "amount": pa.array([Decimal("1.10"), Decimal("1.25"), None, Decimal("7.00"), Decimal("0.01")]),
        "born": pa.array([date(1900, 1, 1), None, date(2020, 2, 29), date(1, 1, 1), date(1999, 9, 9)]),
        "seen": pa.array(
            [datetime(2020, 1, 1, tzinfo=UTC), None, *[datetime(2021, 5, i, 3, tzinfo=UTC) for i in (1, 2, 3)]],
            pa.timestamp("us", "UTC"),
        ),
        "kind": pa.array(["x", "y", None, "x", "z"]).dictionary_encode(),
        "secret": pa.array(["HIV", "hiv ", None, "flu", "ＨＩＶ"]),
    }
)  # fmt: skip


def test_odd_values_are_released_as_in_memory(on: Any) -> None:
    table = pa.concat_tables([ODD] * 6)
    models = [name for name in ODD.column_names if name != "secret"]
    asked: dict[str, Any] = {
        "quasi_identifiers": models,
        "sensitive": ["secret"],
        "allow": allowing("secret"),
        "k": 6,
        "method": "cover",
        "refine": False,
    }
    given = on(table)
    memory = shoal.anonymize(collected(given), **asked)
    found = shoal.anonymize(given, **asked)
    assert rows_of(found.data) == rows_of(memory.data)
    assert found.risk == memory.risk
    assert found.risk.after.attributes[0].values == 3  # HIV in three spellings, flu, none
    assert as_arrow(found.data)["number"].to_pylist().count("0") == 12


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused_as_in_memory(on: Any, bad: float) -> None:
    table = pa.table({"a": [1.0, bad, bad, 2.0], "b": list("xyxy")})
    sentences = []
    for given in (table, on(table)):
        with pytest.raises(shoal.InputError, match=r"NaN or infinite numbers in 2 record") as error:
            shoal.anonymize(given, quasi_identifiers=["a", "b"], k=2)
        sentences.append(str(error.value))
    assert sentences[0] == sentences[1]


@pytest.mark.parametrize("most", [20, 100, 10_000])
def test_the_same_records_in_any_order_and_parts_give_the_same_release(
    engine: str, most: int, tmp_path: Path
) -> None:
    table = people()
    found = []
    for turn, parts in enumerate((1, 3, 7)):
        order = np.random.default_rng(turn).permutation(table.num_rows)
        paths = [tmp_path / f"{turn}-{part}.parquet" for part in range(parts)]
        for path, some in zip(paths, np.array_split(order, parts), strict=True):
            pq.write_table(table.take(some), path)
        with solving(most):
            release = shoal.anonymize(tmp_path / f"{turn}-*.parquet", engine=engine, **ASKED)
        found.append(rows_of(release.data))
    assert found[0] == found[1] == found[2]


def test_everything_said_of_a_release_is_that_of_the_way_in_memory(on: Any, tmp_path: Path) -> None:
    table = people()
    one, other = shoal.anonymize(table, **ASKED), shoal.anonymize(on(table), **ASKED)
    assert other.audit == one.audit
    for measure in shoal.list_measures():
        assert other.loss(measure) == pytest.approx(one.loss(measure), rel=1e-9), measure
    assert in_words(other.risk.to_dict()) == in_words(one.risk.to_dict())
    assert in_words(other.distributions.to_dict()) == in_words(one.distributions.to_dict())
    assert one.certificate is not None
    assert other.certificate is not None
    assert other.certificate.bound == pytest.approx(one.certificate.bound, rel=1e-9)
    assert other.singled_out == one.singled_out
    facts, expected = (
        {key: in_words(value) for key, value in release.to_dict().items() if key != "seconds"}
        for release in (other, one)
    )
    assert facts == expected
    other.save_report(tmp_path / "report.html")
    assert "400" in (tmp_path / "report.html").read_text()
    assert other.evaluate(queries=20).verdict.is_proved


def test_identifiers_that_repeat_are_told_as_in_memory(on: Any) -> None:
    table = people()
    order = np.argsort(table["age"].to_numpy(), kind="stable")  # whose records agree in age
    table = table.take(order)
    names = pa.array([None if i % 50 == 0 else f"person {i // 3}" for i in range(400)])
    table = table.set_column(0, "name", names)
    memory, release = (shoal.anonymize(given, **ASKED) for given in (table, on(table)))
    assert release.audit.persons == memory.audit.persons
    assert release.audit.persons[0].persons < 400


def test_left_out_records_leave_no_trace(on: Any) -> None:
    table = people(600)
    far = np.where(np.arange(600) % 150 == 0, 5000, table["age"].to_numpy())
    table = table.set_column(1, "age", [far])
    asked = {**ASKED, "objective": "ncp", "suppression_limit": 0.01, "k": 5}
    memory, release = (shoal.anonymize(given, **asked) for given in (table, on(table)))
    assert release.suppressed == memory.suppressed == 2
    assert release.audit.records == 598
    for one, other in zip(release.closed.table.columns, memory.closed.table.columns, strict=True):
        assert one.form.labels == other.form.labels
        assert one.counts.tolist() == other.counts.tolist()
    assert release.loss("lm") == pytest.approx(memory.loss("lm"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"keep_order": True}, "has no order to keep"),
        ({"method": "non_homogeneous"}, "needs all records in memory"),
        ({"render": "mean"}, "needs all records in memory"),
        ({"person": "name", "identifiers": []}, "Counting people works only in memory"),
        ({"quasi_identifiers": ["age", "twon"]}, "did you mean 'town'"),
        ({"keep": []}, "'ward' has no role"),
        ({"k": 1000}, "k = 1,000 needs at least 1,000 records"),
        ({"identifiers": [], "keep": ["name", "ward"]}, "identifies"),
    ],
)
def test_what_cannot_be_had_is_refused_in_a_sentence(
    on: Any, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises((shoal.InputError, shoal.Infeasible), match=sentence):
        shoal.anonymize(on(people()), **{**ASKED, **changes})


def test_names_that_differ_in_case_alone_are_refused() -> None:
    """DuckDB renames such columns itself."""
    table = people().append_column("WARD", people()["ward"])
    with pytest.raises(shoal.InputError, match="differ only in upper and lower case"):
        shoal.anonymize(put_on("polars", table), **{**ASKED, "keep": ["ward", "WARD"]})


def test_what_unchanged_columns_give_away_is_found_in_part_of_the_records(on: Any) -> None:
    table = people(3000)
    table = table.append_column("twice", pa.array(2 * table["age"].to_numpy()))
    notes = pa.array([f"seen on ward {i % 700} by doctor {i % 900} again" for i in range(3000)])
    table = table.append_column("note", notes)
    asked = {**ASKED, "keep": ["ward", "twice", "note"]}
    with (
        patch("shoal.pipeline.carriers.joining.LOOKED_AT", 800),
        pytest.raises(shoal.InputError) as error,
    ):
        shoal.anonymize(on(table), **asked)
    said = str(error.value)
    assert "'twice' reveals quasi-identifier 'age'" in said
    assert "'note' contains free text" in said
    assert "'ward'" not in said


def test_a_method_that_needs_all_records_says_so(on: Any) -> None:
    with solving(100), pytest.raises(shoal.InputError, match="needs all 400 records at once"):
        shoal.anonymize(on(people()), **{**ASKED, "method": "incognito"})


@needs_duckdb
def test_a_relation_of_the_users_is_left_as_it_was() -> None:
    import duckdb

    table = people()
    connection = duckdb.connect()
    connection.register("people", table)
    before = connection.sql("SELECT * FROM duckdb_settings()").fetchall()
    release = shoal.anonymize(connection.table("people"), **ASKED)
    assert connection.sql("SELECT * FROM duckdb_settings()").fetchall() == before
    assert [name for (name, *_) in connection.sql("SHOW TABLES").fetchall()] == ["people"]
    assert release.data.count("*").fetchall() == [(400,)]
    with pytest.raises(shoal.InputError, match="does not know the group"):
        _ = release.groups


@needs_duckdb
def test_duckdb_draws_no_bar_on_standard_output(tmp_path: Path) -> None:
    asked = """
import duckdb
from pathlib import Path
from shoal.data.databases.address import database_of
from shoal.data.databases.connection import connect
from shoal.data.engines.duckdb import DuckDB
from shoal.data.staging import Staging

setting = "SELECT current_setting('enable_progress_bar') AS bar"
duckdb.connect("t.duckdb").close()
theirs = duckdb.connect().sql(setting).fetchall()
with connect(database_of("duckdb:///t.duckdb")) as file:
    print(theirs, DuckDB.own(Staging(Path()), 10**9)._sql(setting).fetchall(), file._rows(setting))
"""
    ended = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, cwd=tmp_path
    )
    assert ended.stdout.split() == ["[(True,)]", "[(False,)]", "[(False,)]"], ended.stderr


def test_data_outlives_its_release_until_it_is_closed(engine: str) -> None:
    release = shoal.anonymize(put_on(engine, people()), **ASKED)
    folder = release.released.opened.staging.folder  # type: ignore[attr-defined]
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "release.parquet"]
    data = release.data
    del release
    assert as_arrow(data).num_rows == 400
    again = shoal.anonymize(put_on(engine, people()), **ASKED)
    again.close()  # type: ignore[attr-defined]
    with pytest.raises(Exception, match=r"."):
        as_arrow(again.data)


# Files


def csv_of(table: pa.Table, path: Path, encoding: str = "utf-8") -> Path:
    lines = [",".join(table.column_names)]
    lines += [
        ",".join("" if v is None else str(v) for v in row.values()) for row in table.to_pylist()
    ]
    data = ("\r\n".join(lines) + "\r\n").encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet"])
@pytest.mark.parametrize("saved_as", [".csv", ".jsonl", ".parquet"])
def test_a_file_is_released_as_in_memory(
    engine: str, suffix: str, saved_as: str, tmp_path: Path
) -> None:
    table, path = people(), tmp_path / f"people{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        csv_of(table, path)
    found = []
    with patch.object(text, "PIECE", 1500):
        for how in ("memory", engine):
            release = shoal.anonymize(path, engine=how, **ASKED)
            target = tmp_path / f"{how}{saved_as}"
            release.save(target)
            if saved_as == ".parquet":
                rows = [tuple(map(str, row.values())) for row in pq.read_table(target).to_pylist()]
            else:
                rows = [(line,) for line in target.read_bytes().split(b"\n")[:-1]]
            found.append(Counter(rows))
    assert found[0] == found[1]
    assert found[0].total() == 400 + (saved_as == ".csv")


def test_files_in_another_encoding_are_read_a_block_at_a_time(engine: str, tmp_path: Path) -> None:
    table = people()
    towns = [text and text.replace("Paris", "Orléans") for text in table["town"].to_pylist()]
    table = table.set_column(2, "town", [towns])
    path = csv_of(table, tmp_path / "people.csv", "cp1252")
    with patch.object(text, "PIECE", 999):
        release = shoal.anonymize(path, engine=engine, reading={"encoding": "cp1252"}, **ASKED)
        release.save(tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_bytes().decode("cp1252")
    assert "Orléans" in written
    release.save(tmp_path / "latin.csv", encoding="latin-1")
    latin = (tmp_path / "latin.csv").read_bytes().decode("latin-1")
    assert "–" not in latin  # which that encoding lacks
    assert re.search(r'"\[\d+, \d+\]"', latin)
    with pytest.raises(shoal.InputError, match="does not support"):
        release.save(tmp_path / "ascii.csv", encoding="ascii")
    assert not (tmp_path / "ascii.csv").exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("age,town\n1,a\n2,b\n3\n", "has 1 column, but the heading has 2"),
        ('age,town\n1,a\n2,"b\n', "never closed"),
        ("age,town\n", "no records"),
        ("age,age\n1,2\n", "columns named 'age'"),
    ],
)
def test_a_torn_file_is_refused_in_a_sentence(
    engine: str, content: str, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "torn.csv"
    path.write_text(content)
    with pytest.raises(shoal.InputError, match=sentence):
        shoal.anonymize(path, quasi_identifiers=["age", "town"], k=1, engine=engine)
    assert [own.name for own in tmp_path.iterdir()] == ["torn.csv"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1,a\n" * 100 + '2,"b\n' + "3,c\n" * 100, "line 102 "),
        ("1,a\n" * 100 + '2,b"c\n' + "3,c\n" * 100, "Line 102 "),
        ("1,a\n" * 100 + "2\n" + "3,c\n" * 100, "Row 102 "),
        ("1,a\n" * 100 + "2,\xff\n" + "3,c\n" * 100, "line 102"),
    ],
)
def test_a_torn_line_has_the_number_that_it_has_in_memory(
    engine: str, content: str, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "torn.csv"
    path.write_bytes(f"age,town\n{content}".encode("latin-1"))
    told = []
    with patch.object(text, "PIECE", 300):
        for on_engine in (engine, None):
            with pytest.raises(shoal.InputError, match=sentence) as raised:
                shoal.anonymize(path, quasi_identifiers=["age", "town"], k=1, engine=on_engine)
            told.append(str(raised.value))
    assert told[0] == told[1]


def test_lines_of_a_torn_json_file_are_counted_from_its_beginning(
    engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_text('{"age": 1}\n' * 100 + "{\n" + '{"age": 1}\n' * 100)
    with patch.object(text, "PIECE", 300), pytest.raises(shoal.InputError, match="Line 101 "):
        shoal.anonymize(path, quasi_identifiers=["age"], k=1, engine=engine)


_FIELDS = ["1", "2.5", "12345678901234567", "a", '"b\nc"', '"d""e"', "", '""', "2024-01-02", "true"]
_TORN = ["1,2,3", "x", "", '1,"b', 'a"b,c', '"a"b,c', "\xff,1", "Summe"]


@pytest.mark.parametrize("seed", range(20))
def test_a_large_text_file_is_read_as_in_memory(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    end = draw.choice(["\n", "\r\n", "\r"])
    kinds = [draw.sample(_FIELDS, draw.randint(1, 3)) for _ in range(2)]
    rows = [",".join(map(draw.choice, kinds)) for _ in range(draw.randint(0, 60))]
    if seed % 2:
        rows.insert(draw.randint(0, len(rows)), draw.choice(_TORN))
    path = tmp_path / "people.csv"
    path.write_bytes(end.join(["name,town", *rows, ""]).encode("latin-1"))
    with patch.object(text, "PIECE", draw.choice([40, 64, 300])):
        assert _large(path, tmp_path) == _whole(path)


def _whole(path: Path) -> object:
    try:
        source = open_file(path)
    except shoal.InputError as error:
        return str(error)
    return source.data.to_pydict(), source.data.schema, source.dialect


def _large(path: Path, folder: Path) -> object:
    try:
        read = blocks.texts_to_parquet([path], Input(), folder / "read.parquet")
    except shoal.InputError as error:
        return str(error)
    table = pq.read_table(folder / "read.parquet")
    kinds = [(name, read.types.get(name, pa.string())) for name in table.column_names]
    typed = table.cast(pa.schema(kinds))
    return typed.to_pydict(), typed.schema, read.dialect


def test_a_record_that_is_cut_off_is_looked_for_once_in_each_line() -> None:
    counted = []

    class Watched(bytes):
        def count(self, what: Any, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
            counted.append((len(self) if end is None else end) - start)
            return super().count(what, start, len(self) if end is None else end)

    data = Watched(b'a,"b\n' + b"1,2\n" * 1000)
    assert csv._last_end(data) == 0
    assert sum(counted) <= 2 * len(data)


@pytest.mark.parametrize("place", [0, 5_000, 9_999])
def test_a_quote_that_is_never_closed_is_told_without_the_file_in_memory(
    place: int, tmp_path: Path
) -> None:
    path = tmp_path / "torn.csv"
    rows = ["2,b\n"] * 10_000
    rows[place] = '2,"b\n'
    path.write_text("age,town\n" + "".join(rows))
    tracemalloc.start()
    try:
        with (
            patch.object(text, "PIECE", 500),
            pytest.raises(
                shoal.InputError, match=f"opened in line {place + 2} of .* is never closed"
            ),
        ):
            blocks.texts_to_parquet([path], Input(), tmp_path / "out.parquet")
        assert tracemalloc.get_traced_memory()[1] < 20_000
    finally:
        tracemalloc.stop()


def test_a_file_that_is_not_in_the_encoding_of_its_mark_is_told_so(
    engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "torn.csv"
    path.write_bytes("age,town\n1,a\n".encode("utf-16") + b"\x00")
    with pytest.raises(shoal.InputError, match=r"is not utf-16\S* text"):
        shoal.anonymize(path, quasi_identifiers=["age", "town"], k=1, engine=engine)


HOSTILE = [
    "a.b",
    'say "it"',
    "one `tick`",
    "x[0].y",
    "it's; -- 50 %",
    " odd_ ",
    "\\",
    "名.前",
    "_2e_",
]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
@pytest.mark.parametrize("turn", range(0, len(HOSTILE), 2))
def test_columns_may_have_any_name(engine: str, suffix: str, turn: int, tmp_path: Path) -> None:
    named = [HOSTILE[(turn + i) % len(HOSTILE)] for i in range(5)]
    table = people(200).rename_columns(named)
    pq.write_table(table, tmp_path / "in.parquet")
    released = [f"{named[1]}_min", f"{named[1]}_max", *named[2:]]
    plain = shoal.anonymize(put_on(engine, people(200)), **ASKED, render="bounds")
    asked = {
        role: [named[people().column_names.index(name)] for name in ASKED[role]]
        for role in ("quasi_identifiers", "sensitive", "keep", "identifiers")
    }
    asked["allow"] = asked["keep"]
    for given in (tmp_path / "in.parquet", put_on(engine, table)):
        how = {"engine": engine} if isinstance(given, Path) else {}
        found = shoal.anonymize(given, **{**ASKED, **asked}, render="bounds", **how)
        assert as_arrow(found.data).column_names == found.shown.columns == released
        assert rows_of(found.data) == rows_of(plain.data)
        assert [own.alone for own in found.singled_out] == [own.alone for own in plain.singled_out]
        out = tmp_path / f"out{suffix}"
        found.save(out, overwrite=True)
        assert read_file_texts(out, Input()).column_names == released
        again = shoal.audit(out, settings=found.settings)
        assert (again.records, again.groups) == (200, plain.audit.groups)
        found.close()  # type: ignore[attr-defined]


def lines_of(path: Path) -> Counter[str]:
    """The records of a file, as its texts."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        types = str(table.schema).replace("large_", "")
        return Counter([types, *(str(row) for row in table.to_pylist())])
    return Counter(path.read_text().splitlines())


def test_what_betrays_something_is_called_by_its_own_name(on: Any) -> None:
    table = people(200).rename_columns(["a.b", "age", "town", "ill", "ward"])
    with pytest.raises(shoal.InputError, match=r"Kept column 'a\.b' identifies"):
        shoal.anonymize(on(table), **{**ASKED, "identifiers": [], "keep": ["a.b", "ward"]})


# Half past eleven in London is another day in Berlin, and an earlier one in New York.
LATE = [datetime(2019, 12, 31, 23, 30, tzinfo=UTC), datetime(2020, 6, 30, 1, 5, tzinfo=UTC), None]
ZONED = {
    "berlin": pa.timestamp("us", "Europe/Berlin"),
    "york": pa.timestamp("ms", "America/New_York"),
    "fixed": pa.timestamp("ns", "+05:30"),
    "utc": pa.timestamp("us", "UTC"),
    "nowhere": pa.timestamp("ms"),
}


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_times_keep_their_zone(engine: str, suffix: str, tmp_path: Path) -> None:
    zones = {name: kind for name, kind in ZONED.items() if (engine, name) != ("polars", "fixed")}
    times = {
        name: pa.array(
            [at and at.replace(tzinfo=UTC if kind.tz else None) for at in LATE * 4], kind
        )
        for name, kind in zones.items()
    }
    kept = {f"kept {name}": column for name, column in times.items()}
    rest = {
        "days": pa.array([1, 2, 3] * 4, pa.duration("s")),
        "date": pa.array([0] * 12, pa.date64()),
        "list": pa.array([[at] for at in LATE * 4], pa.list_(ZONED["berlin"])),
    }
    if suffix != ".parquet":
        rest = {}
    pq.write_table(pa.table({**times, **kept, **rest}), tmp_path / "in.parquet")
    asked: dict[str, Any] = {
        "quasi_identifiers": {name: shoal.Calendar() for name in times},
        "keep": [*kept, *rest],
        "allow": allowing(*kept, *rest),
        "k": 4,
        "refine": False,
    }
    memory = shoal.anonymize(tmp_path / "in.parquet", **asked)
    memory.save(tmp_path / f"memory{suffix}")
    found = shoal.anonymize(tmp_path / "in.parquet", engine=engine, **asked)
    found.save(tmp_path / f"out{suffix}")
    assert lines_of(tmp_path / f"out{suffix}") == lines_of(tmp_path / f"memory{suffix}")


def test_types_that_an_engine_lacks_do_not_keep_a_release_from_being_saved(
    engine: str, tmp_path: Path
) -> None:
    odd = {
        "nothing": pa.nulls(8),
        "half": pa.array([1.5] * 8, pa.float16()),
        "parts": pa.array([{"a": 1, "b": None}] * 8),
        "small": pa.array([7] * 8, pa.uint8()),
        "bytes": pa.array([b"ab"] * 8, pa.binary(2)),
    }
    pq.write_table(pa.table({"age": [1, 2] * 4, **odd}), tmp_path / "in.parquet")
    asked = {"quasi_identifiers": ["age"], "keep": [*odd], "allow": allowing(*odd), "k": 2}
    release = shoal.anonymize(tmp_path / "in.parquet", engine=engine, **asked)  # type: ignore[arg-type]
    release.save(tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    for name, column in odd.items():
        assert found[name].to_pylist() == column.to_pylist()


def test_a_zone_that_polars_does_not_know_is_refused_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    pq.write_table(pa.table({"at": pa.array(LATE, ZONED["fixed"])}), tmp_path / "in.parquet")
    with pytest.raises(shoal.InputError, match=r"'at' has a time zone .* Use DuckDB"):
        shoal.anonymize(tmp_path / "in.parquet", engine="polars", quasi_identifiers=["at"], k=1)


@needs_duckdb
def test_a_relation_has_the_zone_of_its_session(tmp_path: Path) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Europe/Berlin'")
    query = "SELECT TIMESTAMPTZ '2019-12-31 23:30:00+00' AS at, 1 AS age FROM range(8)"
    release = shoal.anonymize(
        connection.sql(query), quasi_identifiers={"at": shoal.Calendar()}, keep=["age"], k=2
    )
    assert set(as_arrow(release.data)["at"].to_pylist()) == {"2020-01-01"}


def test_frames_of_engines_are_taken_wherever_a_table_is(on: Any) -> None:
    table = people()
    given, plain = on(table), shoal.anonymize(table, **ASKED, keep_order=True)
    roles = {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "k": 1}
    assert str(shoal.suggest(given)) == str(shoal.suggest(table))
    assert shoal.audit(given, **roles) == shoal.audit(table, **roles)
    release = on(plain.data)
    found = shoal.evaluate(given, release, settings=plain.settings)
    assert found.risk == shoal.evaluate(table, plain.data, settings=plain.settings).risk
    lost = shoal.loss(given, release, "lm", settings=plain.settings)
    assert lost == pytest.approx(plain.loss("lm"))


def test_what_is_known_of_a_large_release_is_right_and_the_rest_is_refused(on: Any) -> None:
    memory = shoal.anonymize(people(), **ASKED)
    release = shoal.anonymize(on(people()), **ASKED)
    counted = ["column", "value"]
    totals = [
        own.mapping.table.group_by(counted).aggregate([("records", "sum")]).sort_by([(n, "ascending") for n in counted])
        for own in (release, memory)
    ]  # fmt: skip
    assert totals[0] == totals[1]
    assert release.recoding.apply(people()).data.num_rows == 400
    for name in ("groups", "is_released"):
        with pytest.raises(shoal.InputError, match="does not know the group of each input record"):
            getattr(release, name)
    assert not hasattr(release, "is_relaesed")


@needs_duckdb
def test_a_folder_or_pattern_of_files_is_one_table(tmp_path: Path) -> None:
    table = people()
    (tmp_path / "in").mkdir()
    for part in range(4):
        csv_of(table.slice(100 * part, 100), tmp_path / "in" / f"{part}.csv")
    whole = rows_of(
        shoal.anonymize(csv_of(table, tmp_path / "all.csv"), engine="duckdb", **ASKED).data
    )
    for given in (tmp_path / "in", tmp_path / "in" / "*.csv"):
        assert rows_of(shoal.anonymize(given, **ASKED).data) == whole
    (tmp_path / "in" / "4.csv").write_text("age,town\n1,Lyon\n")
    with pytest.raises(shoal.InputError, match="other columns"):
        shoal.anonymize(tmp_path / "in", **ASKED)


def test_a_folder_of_parts_replaces_another_in_one_step(engine: str, tmp_path: Path) -> None:
    release = shoal.anonymize(put_on(engine, people()), **ASKED)
    target = tmp_path / "out"
    with patch("shoal.data.files.streams.PART", 100), patch("shoal.data.files.streams.BATCH", 50):
        release.save(target)
    parts = sorted(target.iterdir())
    assert len(parts) == 4
    assert sum(pq.read_table(part).num_rows for part in parts) == 400
    with pytest.raises(shoal.InputError, match="exists"):
        release.save(target)
    release.save(target, overwrite=True)
    assert len(list(target.iterdir())) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_output_that_fails_its_audit_is_not_written(engine: str, tmp_path: Path) -> None:
    release = shoal.anonymize(put_on(engine, people()), **ASKED)
    target = tmp_path / "release.csv"
    target.write_text("old")

    def torn(source: Path, file: Path, *rest: object) -> None:
        file.write_text("age,town,ill,ward\n" + "[20; 59],Lyon,flu,1\n" * 3)

    with patch("shoal.data.engines.publishing.copy_to", torn), pytest.raises(shoal.AuditFailed):
        release.save(target, overwrite=True)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["release.csv"]


# Which engine, and how much memory


def test_files_go_to_duckdb_when_they_outgrow_memory(tmp_path: Path) -> None:
    path = csv_of(people(), tmp_path / "people.csv")
    assert engine_for(path, None) == "memory"
    assert engine_for(path, "polars") == "polars"
    with path.open("r+b") as file:
        file.truncate(600_000_000)  # on paper only
    assert engine_for(path, None, "1GB") == "duckdb"
    assert engine_for(path, None, "100GB") == "memory"
    assert engine_for(tmp_path, None) == engine_for(tmp_path / "*.csv", None) == "duckdb"
    assert engine_for(people(), None) == "memory"


@pytest.mark.parametrize(
    ("table", "engine", "sentence"),
    [
        (people(5), "duckdb", "is already in memory. Leave"),
        ("people.csv", "sparc", "did you mean 'spark'"),
    ],
)
def test_a_wrong_engine_is_refused(table: Any, engine: str, sentence: str) -> None:
    with pytest.raises(shoal.InputError, match=sentence):
        shoal.anonymize(table, quasi_identifiers=["age"], k=2, engine=engine)  # type: ignore[arg-type]


def test_amounts_of_memory_are_read() -> None:
    assert read_memory("8GB") == 8_000_000_000
    assert read_memory("512 MiB") == 512 * 1024**2
    assert read_memory(10**9) == 10**9
    assert 0 < read_memory(None) < free_memory()
    for wrong in ("much", "3", "-8GB", True):
        with pytest.raises(shoal.InputError, match="amount of at least 256 MB"):
            read_memory(wrong)


# Kills and full disks


def command(table: Path, release: Path, engine: str, *more: str) -> list[str]:
    roles = ["-q", "age", "-q", "zip", "-q", "sex", "-s", "ill", "-k", "5", "--allow", "ill"]
    how = ["--method", "cover", "--refine", "off", "--engine", engine, "--overwrite"]
    start = [sys.executable, "-m", "shoal", "anonymize", str(table), "-o", str(release)]
    return [*start, *roles, *how, *more]


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize(
    ("engine", "number"),
    [("duckdb", signal.SIGKILL), ("polars", signal.SIGINT)],
    indirect=["engine"],
)
def test_killed_runs_leave_the_output_whole_and_the_next_run_cleans_up(
    engine: str, number: int, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    table, release = tmp_path / "table.csv", tmp_path / "release.csv"
    write_table(table, 2000)
    run = command(table, release, engine)
    assert shell(*run[3:])[0] == 0
    for more in (0.0, 0.4):  # seconds after something was staged
        known = set(tmp_path.iterdir())
        process = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and known.issuperset(tmp_path.iterdir()):
            time.sleep(0.002)
        time.sleep(more)
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
        assert not release_faults(release, table)
        assert b"Traceback" not in said
        if number != signal.SIGKILL and process.returncode == 130:
            assert sorted(path.name for path in tmp_path.iterdir()) == ["release.csv", "table.csv"]
    assert shell(*run[3:])[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release.csv", "table.csv"]


@pytest.mark.skipif(os.name == "nt", reason="needs limits on the size of files")
def test_a_full_disk_is_one_sentence_and_the_old_file_stays(engine: str, tmp_path: Path) -> None:
    table, release = tmp_path / "table.csv", tmp_path / "release.csv"
    write_table(table, 3000)
    release.write_bytes(b"old")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    ended = subprocess.run(
        command(table, release, engine), capture_output=True, text=True, preexec_fn=limit
    )
    assert ended.returncode == 2, ended.stderr
    sentences = [line for line in ended.stderr.splitlines() if not line.startswith("shoal: 0")]
    assert "disk is full" in ended.stderr or "cannot be written" in ended.stderr, sentences
    assert "Traceback" not in ended.stderr
    assert release.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release.csv", "table.csv"]


@needs_duckdb
def test_the_command_line_says_the_same_for_every_engine(
    tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    path = csv_of(people(), tmp_path / "people.csv")
    roles = [
        "-q",
        "age",
        "-q",
        "town",
        "-s",
        "ill",
        "-i",
        "name",
        "-x",
        "ward",
        "--allow",
        "ward:unique",
        "-k",
        "4",
    ]
    said, everywhere = [], ("memory", *ENGINES)
    for how in everywhere:
        more = [
            "--method",
            "cover",
            "--refine",
            "off",
            "--engine",
            how,
            "--report",
            tmp_path / f"{how}.html",
        ]
        code, out, error = shell("anonymize", path, *roles, *more, "-o", tmp_path / f"{how}.csv")
        assert (code, error) == (0, "")
        said.append(out.replace(how, "ENGINE"))
    assert said[0] == said[1] == said[2]
    dry = ("anonymize", path, *roles, "--dry-run", "--json", "--engine")
    plans = [json.loads(shell(*dry, how)[1]) for how in everywhere]
    for plan in plans:
        del plan["seconds"]
    assert plans[0] == plans[1] == plans[2]
    assert plans[0]["records"] == 400
    for how in ENGINES:
        code, _, error = shell("anonymize", path, *roles[:-1], "401", "--dry-run", "--engine", how)
        assert code == 3
        assert "401" in error
    code, _, error = shell(
        "anonymize", path, *roles, "--engine", "sparc", "--memory", "x", "-o", "y.csv"
    )
    assert code == 2
    assert "no engine 'sparc'" in error
    assert "'memory' parameter" in error
