"""`shoal hierarchy` writes a tree of a column, shows how records spread over it, and checks a file against a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import Hierarchy

Shell = Callable[..., tuple[int, str, str]]
RARE = "99999"


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = ["zip,age,born,school,pay"]
    for i in range(60):
        lines.append(
            f"{('02139', '02138', '10001')[i % 3]},{20 + i % 30},2020-0{1 + i % 3}-0{1 + i % 9},s{i % 4},{i}"
        )
    lines.append(f"{RARE},77,1999-12-31,,1")
    Path("people.csv").write_text("\n".join(lines) + "\n")
    Path("order.txt").write_text("s0\ns2\ns1\ns3\n")
    return tmp_path


@pytest.mark.parametrize(
    ("column", "options", "line"),
    [
        ("zip", "--kind prefix", "02139,0213*,*"),
        ("zip", "--kind prefix --lengths 2", "02139,02***,*"),
        ("age", "--kind numbers --widths 5,10", "23,20–24,20–29,*"),
        ("born", "--kind calendar --levels day,month,year", "2020-01-01,2020-01,2020,*"),
        ("school", "--kind order --order order.txt", "s2,s0 .. s2,*"),
        ("school", "--kind order --order names --levels 1", "s1,*"),
    ],
)
def test_a_file_is_written_that_anonymize_reads(
    column: str, options: str, line: str, shell: Shell
) -> None:
    code, out, err = shell("hierarchy", "people.csv", column, *options.split(), "-o", "tree.csv")
    assert (code, err) == (0, "")
    assert line in Path("tree.csv").read_text(encoding="utf-8").splitlines()
    assert out.splitlines()[-1].startswith("Wrote tree.csv. It lists the values")
    flags = ["-q", f"{column}:hierarchy:tree.csv", "--others", "drop", "-k", 3, "-o", "release.csv"]
    assert shell("anonymize", "people.csv", *flags)[0] == 0
    assert shell("hierarchy", "people.csv", column, "--check", "tree.csv")[0] == 0


def test_what_is_printed_names_no_rare_value(shell: Shell) -> None:
    for flags in ([], ["--json"]):
        made = shell(
            *("hierarchy", "people.csv", "zip", "--kind", "prefix", "-o", "zip.csv", "--overwrite"),
            *flags,
        )
        checked = shell("hierarchy", "people.csv", "zip", "--check", "zip.csv", *flags)
        assert "02139" in made[1]
        assert RARE not in "".join(made[1:] + checked[1:])
    assert RARE in Path("zip.csv").read_text()


def test_json_has_the_preview_and_the_check(shell: Shell) -> None:
    flags = ("--kind", "data", "--by", "pay", "--levels", 2, "-o", "zip.csv", "--json")
    made = json.loads(shell("hierarchy", "people.csv", "zip", *flags)[1])
    assert (made["hierarchy"], made["column"], made["kind"]) == ("zip.csv", "zip", "data")
    assert made["levels"][0]["count"] == 4
    checked = json.loads(shell("hierarchy", "people.csv", "zip", "--check", "zip.csv", "--json")[1])
    assert checked["fits"] is True


def test_a_file_that_does_not_fit_is_told_by_the_exit_code(shell: Shell) -> None:
    Path("zip.csv").write_text("02139,02***,*\n02138,02***,*\n")
    code, out, err = shell("hierarchy", "people.csv", "zip", "--check", "zip.csv")
    assert (code, err) == (1, "")
    assert "2 values of the column are not in the hierarchy (21 records)" in out
    assert shell("hierarchy", "people.csv", "zip", "--check", "zip.csv", "--quiet") == (1, "", "")


def test_texts_that_stand_for_missing_values_are_no_values(shell: Shell) -> None:
    flags = ("--missing", f"{RARE},s3", "-o")
    assert shell("hierarchy", "people.csv", "zip", "--kind", "prefix", *flags, "zip.csv")[0] == 0
    assert RARE not in Hierarchy.from_csv("zip.csv").leaves
    data = ("--kind", "data", "--by", "age")
    assert shell("hierarchy", "people.csv", "school", *data, *flags, "school.csv")[0] == 0
    assert set(Hierarchy.from_csv("school.csv").leaves) == {"s0", "s1", "s2"}


def test_a_column_with_an_order_of_its_own_needs_no_file(shell: Shell) -> None:
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    own = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2] * 10, pa.int8()), pa.array(["low", "mid", "high"]), ordered=True
    )
    pq.write_table(pa.table({"x": own.cast(kind)}), "ordered.parquet")
    code, _, err = shell("hierarchy", "ordered.parquet", "x", "--kind", "order", "-o", "x.csv")
    assert (code, err) == (0, "")
    assert shoal.Hierarchy.from_csv("x.csv").leaves == ("low", "mid", "high")


def test_dates_and_numbers_of_a_file_are_listed_as_it_writes_them(shell: Shell) -> None:
    rows = "".join(f"{i % 28 + 1:02}.0{i % 3 + 1}.1984;{i % 7},50\n" for i in range(60))
    Path("clinic.csv").write_text("born;weight\n" + rows)
    reading = ("--date-format", "%d.%m.%Y", "--decimal", ",")
    for column, kind, line in (
        ("born", "calendar", "14.02.1984,1984-02,*"),
        ("weight", "numbers", '"2,50",2–<4,0–<4,*'),
    ):
        flags = ("--kind", kind, *reading, "-o", f"{column}.csv")
        if column == "weight":
            flags = (*flags, "--widths", "2,4")
        code, _, err = shell("hierarchy", "clinic.csv", column, *flags)
        assert (code, err) == (0, "")
        assert line in Path(f"{column}.csv").read_text(encoding="utf-8").splitlines()
    models = ("-q", "born:hierarchy:born.csv", "-q", "weight:hierarchy:weight.csv", *reading)
    assert shell("anonymize", "clinic.csv", *models, "-k", 3, "-o", "release.csv")[0] == 0


def test_numbers_that_are_written_in_two_ways_come_together(shell: Shell) -> None:
    Path("n.csv").write_text("n\n" + "20\n20.0\n21\n" * 20)
    flags = ("--kind", "numbers", "--widths", "1,10", "-o", "tree.csv")
    assert shell("hierarchy", "n.csv", "n", *flags)[::2] == (0, "")
    rows = Hierarchy.from_csv("tree.csv").rows()
    assert shell("hierarchy", "n.csv", "n", "--check", "tree.csv")[0] == 0
    assert all(row[-1] == "*" for row in rows)
