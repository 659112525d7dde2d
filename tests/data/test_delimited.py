"""CSV: what stands in a file comes back letter by letter; what is torn is refused without showing cells."""

from __future__ import annotations

import pyarrow as pa
import pytest
from torn import SECRET, assert_same
from torn import torn as refused

from shoal.data.files.table_file import open_file, read_file, read_file_texts, write_file
from shoal.encoding.source import Dialect, Input
from shoal.errors import InputError


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "-20", "0"], pa.int64()),
        (["1", "9223372036854775807"], pa.int64()),
        (["1", "9223372036854775808"], pa.string()),
        (["02139", "10001"], pa.string()),
        (["+1", "2"], pa.string()),
        (["-0", "2"], pa.string()),
        ([" 1", "2"], pa.string()),
        (["1", "2.5", "-0.5"], pa.float64()),
        (["1", "2.50"], pa.string()),
        (["250.1", "250.10"], pa.string()),
        (["2.0", "3.5"], pa.string()),
        (["-0", "2.5"], pa.string()),
        (["-.5"], pa.string()),
        (["1e-7", "1.5e+20"], pa.float64()),
        (["1E50", "1E51"], pa.string()),
        (["1.5", "12345678901234567890"], pa.string()),
        (["1.5", "nan"], pa.string()),
        (["1.5", "inf"], pa.string()),
        (["1.5", "-inf"], pa.string()),
        (["1.5", "1,5"], pa.string()),
        (["1.5", ""], pa.string()),
        (["true", "false"], pa.bool_()),
        (["TRUE", "TRUE"], pa.string()),
        (["True", "False"], pa.string()),
        (["true", "1"], pa.string()),
        (["2024-02-29", "1850-01-01"], pa.date32()),
        (["0001-01-01", "9999-12-31"], pa.date32()),
        (["0000-01-01", "2024-01-01"], pa.string()),
        (["2023-02-29", "2024-01-01"], pa.string()),
        (["2024-1-1", "2024-01-01"], pa.string()),
        (["2024-01-01 10:00:00", "1850-01-01 00:00:00"], pa.timestamp("s")),
        (["2024-01-01 10:00:00.500"], pa.timestamp("ms")),
        (["2024-01-01 10:00:00.500000"], pa.timestamp("us")),
        (["2024-01-01 10:00:00.123456789"], pa.timestamp("ns")),
        (["1500-01-01 10:00:00.123456789"], pa.string()),
        (["0000-01-01 10:00:00"], pa.string()),
        (["2024-01-01T10:00:00"], pa.string()),
        (["2024-01-01 10:00"], pa.string()),
        (["2024-01-01 10:00:00", "2024-01-01 10:00:00.5"], pa.string()),
        (["2024-01-01 10:00:00Z"], pa.string()),
        (["2024-01-01T10:00:00+01:00"], pa.string()),
        (["2024-01-01", "2024-01-01 10:00:00"], pa.string()),
        (["x", "1"], pa.string()),
        (["1", "x"], pa.string()),
        ([""], pa.string()),
    ],
)
def test_a_column_is_typed_only_where_nothing_is_lost(tmp_path, values, type_):
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\n" + "".join(f'x,"{value}",\n' for value in values) + "x,,\n")
    table = read_file(path)
    assert table.schema.types == [pa.string(), type_, pa.string()]
    assert table["a"].null_count == 1
    write_file(table, tmp_path / "again.csv")
    assert read_file_texts(tmp_path / "again.csv")["a"].to_pylist() == [*values, None]


def test_one_late_value_decides_the_type(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 300_000 + "x\n")
    assert read_file(path)["a"].type == pa.string()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(tmp_path, delimiter):
    path = tmp_path / "t.csv"
    rows = [['"a,b;c\t|,;\t|"', "d", "e"], ["1", "x", "y"]]
    path.write_text("\n".join(delimiter.join(row) for row in rows))
    assert read_file(path).to_pydict() == {"a,b;c\t|,;\t|": [1], "d": ["x"], "e": ["y"]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_line_ends_and_blank_lines_around_rows_do_not_matter(tmp_path, end):
    path = tmp_path / "t.CSV"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(["", "a,b", "1,x", "", "2,y", "", ""]).encode())
    assert read_file(path).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("block", range(64, 80))
def test_a_line_break_in_a_value_may_fall_anywhere(tmp_path, monkeypatch, block):
    monkeypatch.setattr("shoal.data.files.csv._BLOCK_BYTES", block)
    table = pa.table({"a": ["x\r\n" * i for i in range(15)], "b": ["y\n,\r"] * 15})
    write_file(table, tmp_path / "t.csv")
    assert_same(read_file(tmp_path / "t.csv"), table)


def test_a_row_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.data.files.csv._BLOCK_BYTES", 64)
    assert "cannot be read as CSV" in refused(tmp_path, "a,b\n1," + SECRET * 100 + "\n1,2\n" * 9)


def test_a_header_alone_is_a_table_without_records(tmp_path):
    path = tmp_path / "t.csv"
    for content in ("a,b", "a,b\n", "a,b\n\n"):
        path.write_text(content)
        assert read_file(path).to_pydict() == {"a": [], "b": []}


def test_column_names_are_kept_exactly(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a ""b""\nc", D,é\n1,2,3\n')
    assert read_file(path).column_names == ['a "b"\nc', " D", "é"]


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (
            ["", "1,2", "", SECRET, "3,4"],
            "(not counting blank lines) has 1 column, but the heading has 2.",
        ),
        (["1,2", f"3,4,{SECRET}"], "has 3 columns, but the heading has 2."),
        (["1,2"] * 5_000_000 + [SECRET], "Row 5000002 of"),
        ([SECRET, "1,2", SECRET, SECRET], "Row 2 of"),
        ([SECRET, "1,2", SECRET, SECRET], "and 2 more rows differ."),
    ],
    ids=["short", "long", "late", "first", "several"],
)
def test_a_ragged_row_is_refused_with_its_number(tmp_path, rows, where):
    assert where in refused(tmp_path, "\n".join(["a,b", *rows]) + "\n")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f'a,b\n1,2\n1,"{SECRET}\n2,x\n', 3),
        (f'a,b\n1,2\n1,"{SECRET}', 3),
        (f'a,b\n"1",{SECRET}\n"', 3),
        (f'a,"b\n1,{SECRET}\n', 1),
        (f'a,b\r1,"{SECRET}\r', 2),
    ],
)
def test_an_unterminated_quote_is_refused_with_its_line(tmp_path, content, line):
    assert f"The quote opened in line {line} of" in refused(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f'a,b\n1,"{SECRET}\n2,x\n3,"y"\n', 4),
        (f'a,b\n1,"{SECRET}"x\n', 2),
        (f'a,b\n1,2\n1,{SECRET} 5" pipe\n', 3),
    ],
)
def test_a_quote_inside_a_value_is_refused_with_its_line(tmp_path, content, line):
    assert f"Line {line} of" in refused(tmp_path, content)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le"])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path, encoding):
    rows = f"a,b\n1,{SECRET}\n2,é\n".encode(encoding)
    line = 3 if encoding == "latin-1" else 1
    message = refused(tmp_path, rows)
    assert f"not UTF-8 text (line {line})" in message
    assert '--encoding cp1252 (encoding="cp1252")' in message
    lines = f'{{"a": "{SECRET}"}}\n{{"a": 2}}\n{{"a": "é"}}\n'.encode(encoding)
    assert f"not UTF-8 text (line {line})" in refused(tmp_path, lines, "people.jsonl")


def test_a_header_that_is_not_utf8_is_refused(tmp_path):
    assert "not UTF-8 text (line 1)" in refused(tmp_path, "é,b\n1,2\n".encode("latin-1"))


# How a file was written


def test_the_dialect_of_a_file_is_found(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffa;b\r\n1;x\r\n".encode())
    source = open_file(path, Input(decimal=",", date_format="%d.%m.%Y"))
    assert source.dialect == Dialect(";", ",", "%d.%m.%Y", "\r\n", "utf-8", True)
    path.write_text("a|b")
    assert open_file(path).dialect == Dialect("|")


@pytest.mark.parametrize(
    "encoding", ["cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7"]
)
def test_any_encoding_is_read_and_written_again(tmp_path, encoding):
    path, again = tmp_path / "t.csv", tmp_path / "again.csv"
    path.write_bytes("näme,b\r\né€,x\r\n".encode(encoding))
    source = open_file(path, Input(encoding=encoding))
    assert source.data.to_pydict() == {"näme": ["é€"], "b": ["x"]}
    write_file(source.data, again, dialect=source.dialect)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_says_the_encoding(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\né,x\n".encode(encoding))
    assert read_file(path).to_pydict() == {"a": ["é"], "b": ["x"]}
    assert open_file(path).dialect.has_mark


def test_the_wrong_encoding_is_one_sentence(tmp_path):
    content = f"a\n{SECRET}é".encode("latin-1")
    assert "is not utf-16-le text" in refused(tmp_path, content, input=Input("utf-16-le"))
    assert "is not ascii text" in refused(tmp_path, content, input=Input("ascii"))
    assert "is not cp1252 text" in refused(
        tmp_path, "a\n\0é".encode("cp1252"), input=Input("cp1252")
    )


@pytest.mark.parametrize(
    ("input", "sentence"),
    [
        (Input(encoding="klingon"), "The encoding must be .* Got 'klingon'"),
        (Input(encoding="hex"), "The encoding must be"),
        (Input(encoding="a\0b"), "The encoding must be"),
        (Input(delimiter=""), "The delimiter must be one character .* Got ''"),
        (Input(delimiter=";;"), "The delimiter must be"),
        (Input(delimiter='"'), "The delimiter must be"),
        (Input(delimiter="\n"), "The delimiter must be"),
        (Input(delimiter="§"), "The delimiter must be"),
        (Input(delimiter="x"), "The delimiter must be"),
        (Input(decimal="·"), "The decimal separator must be"),
        (Input(date_format="dd.mm.yyyy"), "The date format must .* Got 'dd.mm.yyyy'"),
        (Input(date_format="%d.%m."), "The date format must"),
        (Input(date_format="%Q"), "The date format must"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(tmp_path, input, sentence):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=sentence) as caught:
        read_file(tmp_path / "t.csv", input)
    assert len(caught.value.problems) == 1


def test_options_that_make_no_sense_are_told_with_the_missing_file(tmp_path):
    with pytest.raises(InputError) as caught:
        read_file(tmp_path / "none.csv", Input(encoding="klingon", decimal="x"))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("delimiter", "content"),
    [("tab", "a,b\tc\n1\t2\n"), ("\\t", "a,b\tc\n1\t2\n"), ("^", "a,b^c\n1^2\n")],
)
def test_a_delimiter_that_is_said_is_not_guessed(tmp_path, delimiter, content):
    (tmp_path / "t.csv").write_text(content)
    assert read_file(tmp_path / "t.csv", Input(delimiter=delimiter)).to_pydict() == {
        "a,b": [1],
        "c": [2],
    }


def test_decimal_commas_and_formatted_dates_stay_text_until_they_are_asked_for(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;c;d\n2,5;2.5;31121999;1999-12-31\n")
    table = read_file(tmp_path / "t.csv", Input(decimal=",", date_format="%d%m%Y"))
    assert table.schema.types == [pa.string()] * 4


# A file without a header


@pytest.mark.parametrize(
    "first",
    [
        f"{SECRET},34,02139,HIV",
        f"{SECRET},3.5",
        f"{SECRET},-1e5",
        f'{SECRET},"1,5"',
        f"{SECRET},31.12.1999",
        f"{SECRET},1999-12-31",
        f"{SECRET},2024-01-01T10:00:00Z",
        f"{SECRET},12/31/99",
        f"{SECRET},10:30",
        f"{SECRET},12 %",
    ],
)
def test_a_first_row_that_reads_like_a_record_is_refused_without_showing_it(tmp_path, first):
    message = refused(tmp_path, f"{first}\n{first}\n".replace(SECRET, SECRET + "x", 1))
    assert "seems to have no row of column names: the names of columns 2" in message
    assert "HIV" not in message


def test_a_name_that_occurs_among_its_values_is_no_name(tmp_path):
    message = refused(tmp_path, f"{SECRET},flu\nx,{SECRET}\ny,flu\n")
    assert (
        "seems to have no row of column names: the names of columns 2 occur among their values"
        in message
    )


def test_a_name_may_hold_digits_or_occur_in_another_column(tmp_path):
    (tmp_path / "t.csv").write_text("q1,2nd,icd-10,b\nb,x,y,q1\n")
    assert read_file(tmp_path / "t.csv").column_names == ["q1", "2nd", "icd-10", "b"]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_what_is_written_is_read_as_text_whatever_its_columns_are_called(tmp_path, suffix):
    table = pa.table({"2024": ["x"], "stroke": ["stroke"], "3.5": ["y"]})
    write_file(table, tmp_path / f"t{suffix}")
    assert_same(read_file_texts(tmp_path / f"t{suffix}"), table)
