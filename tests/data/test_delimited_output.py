"""Writing CSV: quotes only where they are needed, in the dialect of the file a table came from."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torn import SECRET, names_in

from shoal.data.files.table_file import (
    file_content_problems,
    open_file,
    read_file_texts,
    write_file,
)
from shoal.encoding.source import Dialect, Input
from shoal.errors import InputError


def test_only_fields_that_need_quotes_have_them(tmp_path):
    texts = ["plain", "", None, "a,b", 'say "x"', "two\nlines", "cr\rlf", " blank ", "a;b"]
    write_file(pa.table({"t": texts, "n": range(9), "n,2": [1.5] * 9}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes().decode() == (
        't,n,"n,2"\nplain,0,1.5\n"",1,1.5\n,2,1.5\n"a,b",3,1.5\n"say ""x""",4,1.5\n'
        '"two\nlines",5,1.5\n"cr\rlf",6,1.5\n blank ,7,1.5\na;b,8,1.5\n'
    )


def test_a_dialect_is_kept_in_numbers_dates_and_lines(tmp_path):
    table = pa.table(
        {
            "f": [2.5, None],
            "m": pa.array([1, 2], pa.decimal128(5, 2)),
            "d": [date(999, 12, 31), None],
            "t": pa.array([0, 1], pa.timestamp("s")),
            "i": [1, 2],
        }
    )
    dialect = Dialect(";", ",", "%d.%m.%Y%%", "\r\n", "utf-8", True)
    write_file(table, tmp_path / "t.csv", dialect=dialect)
    assert (tmp_path / "t.csv").read_bytes().decode() == (
        "\ufefff;m;d;t;i\r\n2,5;1,00;31.12.0999%;1970-01-01 00:00:00;1\r\n"
        ";2,00;;1970-01-01 00:00:01;2\r\n"
    )
    write_file(table, tmp_path / "t.tsv", dialect=Dialect(",", ","))
    assert (tmp_path / "t.tsv").read_text().startswith("f\tm\td\tt\ti\n2,5\t1,00\t")
    timed = Dialect(date_format="%d.%m.%Y %H:%M:%S")
    write_file(table.select(["d", "t"]), tmp_path / "u.csv", dialect=timed)
    assert (tmp_path / "u.csv").read_text() == (
        "d,t\n0999-12-31,01.01.1970 00:00:00\n,01.01.1970 00:00:01\n"
    )


@pytest.mark.parametrize("delimiter", [",", "-", ".", ":", " "])
def test_a_delimiter_that_stands_in_numbers_or_dates_is_quoted(tmp_path, delimiter):
    table = pa.table({"f": [-2.5], "d": [date(2024, 1, 2)], "t": pa.array([0], pa.timestamp("s"))})
    write_file(table, tmp_path / "t.csv", dialect=Dialect(delimiter, ","))
    found = read_file_texts(tmp_path / "t.csv", Input(delimiter=delimiter)).to_pylist()
    assert found == [{"f": "-2,5", "d": "2024-01-02", "t": "1970-01-01 00:00:00"}]


def test_what_the_encoding_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    table = pa.table({"ok": ["é"], "Ω": ["x"], "b": [SECRET + "Ω"]})
    with pytest.raises(
        InputError, match="Column 'Ω' has a name that the encoding cp1252"
    ) as caught:
        write_file(table, tmp_path / "t.csv", dialect=Dialect(encoding="cp1252"))
    assert len(caught.value.problems) == 2
    assert SECRET not in str(caught.value)
    assert names_in(tmp_path) == []
    assert file_content_problems(table, "t.csv", Dialect(encoding="cp1252")) == [
        *caught.value.problems
    ]
    assert file_content_problems(table, "t.csv") == []


# Round trips

CELLS = st.none() | st.text(
    st.characters(codec="utf-8", exclude_characters="\0")
    | st.sampled_from(list(",;\t|\"\r\n .'0a")),
    max_size=8,
)
DIALECTS = [
    Dialect(),
    Dialect(";", ",", "%d.%m.%Y", "\r\n", "utf-8", True),
    Dialect("\t", line_end="\r"),
    Dialect("|", encoding="utf-16-le", has_mark=True),
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=["comma", "semicolon", "tab", "utf-16"])
@pytest.mark.parametrize("width", [1, 2])
@given(data=st.data())
def test_every_text_comes_back(tmp_path_factory, dialect, width, data):
    rows = data.draw(st.lists(st.tuples(*[CELLS] * width), max_size=6))
    table = pa.table(
        [pa.array([row[i] for row in rows], pa.string()) for i in range(width)],
        [f"column {i}" for i in range(width)],
    )
    path = tmp_path_factory.mktemp("round") / "t.csv"
    write_file(table, path, dialect=dialect)
    how = Input(delimiter=dialect.delimiter)
    assert read_file_texts(path, how).to_pylist() == table.to_pylist()
    source = open_file(path, how)
    write_file(source.data, path, overwrite=True, dialect=dialect)
    assert read_file_texts(path, how).to_pylist() == table.to_pylist()


VALUES = st.sampled_from(
    ["", '""', "1", "-0", "007", "2.5", "2.50", "1e5", "true", "True", "2024-01-01", "0000-01-01",
     "2024-01-01 10:00:00", "2024-01-01T10:00Z", '"a,b"', '"say ""x"""', '"two\nlines"', "é", " x "]
)  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@given(rows=st.lists(st.tuples(VALUES, VALUES), max_size=6))
def test_a_file_in_minimal_quoting_is_written_as_it_was_read(tmp_path_factory, rows, end):
    path = tmp_path_factory.mktemp("same") / "t.csv"
    content = end.join(["column 1,column 2", *(",".join(row) for row in rows), ""]).encode()
    path.write_bytes(content)
    source = open_file(path)
    write_file(source.data, path, overwrite=True, dialect=source.dialect)
    assert path.read_bytes() == content
