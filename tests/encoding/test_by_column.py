"""Missing values and formats of dates, said of all columns or of one: read, written, and kept to everywhere."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from starlette.datastructures import FormData

import shoal
from shoal.app.forms import with_answers
from shoal.encoding.source import (
    Input,
    read_formats,
    read_missing,
    written_formats,
    written_missing,
)
from shoal.settings.settings import Settings


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], None),
        (["?"], ["?"]),
        (["?,97", "98"], ["?", "97", "98"]),
        (["age:97,98"], {"age": ["97", "98"]}),
        (["?", "age:97", "age:98"], {"*": ["?"], "age": ["97", "98"]}),
        ([r"a\:b,c\,d"], ["a:b", "c,d"]),
        (["Kosten: total:0"], {"Kosten: total": ["0"]}),
    ],
)
def test_missing_values_are_said_of_all_columns_or_of_one(given: list[str], found: Any) -> None:
    assert read_missing(given) == found
    if found:
        assert read_missing(written_missing(found)) == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], None),
        (["%d.%m.%Y"], "%d.%m.%Y"),
        (["born:%d.%m.%Y"], {"born": "%d.%m.%Y"}),
        (["%d.%m.%Y", "seen:%d.%m.%Y %H:%M"], {"*": "%d.%m.%Y", "seen": "%d.%m.%Y %H:%M"}),
    ],
)
def test_formats_of_dates_are_said_of_all_columns_or_of_one(given: list[str], found: Any) -> None:
    assert read_formats(given) == found
    assert read_formats(written_formats(found)) == found


def test_what_is_said_of_a_column_adds_to_what_is_said_of_all() -> None:
    how = Input(
        missing={"*": ("?",), "age": ("99",)}, date_format={"*": "%d.%m.%Y", "seen": "%d/%m/%Y"}
    )
    assert (how.missing_in("age"), how.missing_in("sex")) == (("?", "99"), ("?",))
    assert (how.format_of("seen"), how.format_of("born")) == ("%d/%m/%Y", "%d.%m.%Y")
    assert how.named_columns == ["seen", "age"]


@pytest.mark.parametrize(
    ("input", "problem"),
    [
        ({"missing": {"age": [99]}}, "'missing' in [input] must be a list of texts"),
        ({"missing": {"agee": ["99"]}}, "Column 'agee' is not in the table; did you mean 'age'?"),
        ({"date_format": {"age": 3}}, "'date_format' in [input] must be text"),
        ({"date_format": ["%d"]}, "'date_format' in [input] must be text"),
        ({"header_row": 0}, "'header_row' in [input] must be a whole number of at least 1. Got 0"),
        ({"header_row": True}, "'header_row' in [input] must be a whole number of at least 1"),
        ({"skip_last": -1}, "'skip_last' in [input] must be a whole number of at least 0. Got -1"),
        ({"skip_last": "1"}, "'skip_last' in [input] must be a whole number of at least 0"),
    ],
)
def test_wrong_entries_are_refused_in_plain_words(input: dict[str, Any], problem: str) -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "sex": list("mfmf")})
    with pytest.raises(shoal.InputError) as refused:
        shoal.anonymize(frame, quasi_identifiers=["age", "sex"], k=2, reading=input)
    assert problem in str(refused.value)


def _ages(kind: str) -> Any:
    frame = pd.DataFrame(
        {
            "age": [*["99"] * 4, *[str(20 + i % 9) for i in range(56)]],
            "room": [str(90 + i % 10) for i in range(60)],
            "ill": ["99" if i % 3 else "flu" for i in range(60)],
        }
    )
    if kind == "pandas":
        return frame
    return getattr(pytest.importorskip("polars"), kind)(frame.to_dict("list"))


@pytest.mark.parametrize("kind", ["pandas", "DataFrame", "LazyFrame"])
def test_a_missing_value_of_one_column_is_a_value_of_the_others(kind: str, tmp_path: Path) -> None:
    said = {"missing": {"age": ["99"], "ill": ["99"]}, "header_row": 3, "skip_last": 0}
    release = shoal.anonymize(
        _ages(kind), quasi_identifiers=["age", "room"], sensitive=["ill"], k=4, reading=said
    )
    release.save(tmp_path / "r.csv")
    read = pd.read_csv(tmp_path / "r.csv", dtype=str)
    assert not read["age"].str.contains("99", na=False).any()
    assert read["room"].str.contains("99").any()
    assert (read["ill"] == "99").sum() == 40  # sensitive values are released as they are
    release.settings.save(tmp_path / "t.toml")
    again = Settings.load(tmp_path / "t.toml")
    assert again.reading.missing == {"age": ("99",), "ill": ("99",)}
    assert (again.reading.header_row, again.reading.skip_last) == (3, 0)
    assert shoal.audit(tmp_path / "r.csv", settings=again).k >= 4


def test_the_audit_counts_missing_values_by_column() -> None:
    table = pd.DataFrame(
        {"age": ["20"] * 4, "ill": ["flu", "99", "flu", "99"], "work": list("abab")}
    )
    said = {"quasi_identifiers": ["age"], "sensitive": ["ill", "work"], "k": 4}
    two = [shoal.LDiversity(2, kind="distinct", columns=["ill"])]
    assert (
        shoal.audit(table, **said, requirements=two, reading={"missing": {"work": ["99"]}}).k == 4
    )
    release = shoal.anonymize(
        table.assign(ill=["flu", "cold", "flu", "99"]),
        quasi_identifiers=["age"],
        sensitive=["ill"],
        keep=["work"],
        allow=["work"],
        k=4,
        requirements=two,
        reading={"missing": {"ill": ["99"]}},
    )
    assert release.audit.proofs[0].reached == 3  # a missing value counts as one


def test_the_form_of_the_app_says_what_the_command_line_says() -> None:
    form = FormData(
        {
            "missing": "?, 97; age: Unknown , 99",
            "date_format": "%d.%m.%Y; seen:%d/%m/%Y",
            "header_row": "4",
            "skip_last": "1",
            "decimal": "",
        }
    )
    assert with_answers({}, form, "table")["input"] == {
        "missing": {"*": ["?", "97"], "age": ["Unknown", "99"]},
        "date_format": {"*": "%d.%m.%Y", "seen": "%d/%m/%Y"},
        "header_row": 4,
        "skip_last": 1,
    }
