"""Suggestions get roles and models right or say that they are unsure, and never show a value that few records have."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suggested import PERSONAL, Made
from suggested.cases import TABLES as OWN
from suggested.messy import TABLES as MESSY
from suggested.new import TABLES as NEW
from suggested.public import TABLES as PUBLIC
from suggested.unseen import TABLES as UNSEEN

import shoal
from shoal.encoding.models import Model
from shoal.risk.patterns import identifier_pattern
from shoal.risk.persons import agreement
from shoal.suggestions import profile as shapes
from shoal.suggestions.profile import shapes_of
from shoal.suggestions.reading import (
    date_formats,
    in_order,
    number_codes,
    number_column,
    text_markers,
)
from shoal.suggestions.singling_out import greedy_columns, group_by
from shoal.suggestions.words import names_in_words

LETTER = {"identifier": "I", "quasi-identifier": "Q", "sensitive": "S", "keep": "K", "drop": "D"}
CASES = (*OWN, *PUBLIC, *UNSEEN, *MESSY, *NEW)
RIGHT = 0.95  # share of all columns whose role and model must be right
FIRST_RIGHT = 0.9  # the same of tables that no rule was made for
Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def suggested(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Made, Path, Any]]:
    """All made-up tables with what is suggested for them."""
    folder, found = tmp_path_factory.mktemp("tables"), {}
    for case in CASES:
        table = case()
        path = folder / f"{case.__name__}{table.suffix}"
        path.write_bytes(table.content)
        found[case.__name__] = (table, path, shoal.suggest(path))
    return found


def is_right(column: Any, truth: tuple[str, str]) -> bool:
    roles, model = truth
    letter = LETTER[column.role]
    return letter in roles and (letter != "Q" or not model or column.model == model)


NAMES = [case.__name__ for case in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_every_role_and_model_is_right_or_said_to_be_unsure(name: str, suggested: Any) -> None:
    made, _, found = suggested[name]
    assert [column.name for column in found.columns] == list(made.truth)
    wrong = [c.name for c in found.columns if not is_right(c, made.truth[c.name])]
    assert set(wrong) <= set(found.unsure)


@pytest.mark.parametrize("name", NAMES)
def test_no_identifier_is_suggested_for_release(name: str, suggested: Any) -> None:
    made, _, found = suggested[name]
    for column in found.columns:
        if set(made.truth[column.name][0]) <= set(PERSONAL):
            assert LETTER[column.role] in PERSONAL, column


def test_nearly_all_columns_are_right(suggested: Any) -> None:
    marks = [
        is_right(column, made.truth[column.name])
        for made, _, found in suggested.values()
        for column in found.columns
    ]
    assert np.mean(marks) >= RIGHT
    few = [  # without the table of two hundred columns, which are alike
        is_right(column, made.truth[column.name])
        for name, (made, _, found) in suggested.items()
        for column in found.columns
        if name != "wide"
    ]
    assert np.mean(few) >= RIGHT
    unseen = [case.__name__ for case in UNSEEN]
    first = [
        is_right(column, made.truth[column.name])
        for name, (made, _, found) in suggested.items()
        for column in found.columns
        if name in unseen
    ]
    assert np.mean(first) >= FIRST_RIGHT


@pytest.mark.parametrize("name", NAMES)
def test_the_suggested_settings_make_a_release(name: str, suggested: Any, tmp_path: Path) -> None:
    _, path, found = suggested[name]
    settings = tmp_path / "settings.toml"
    settings.write_text(found.to_toml(path.name), encoding="utf-8")
    loaded, meant = shoal.Settings.load(settings), found.settings()
    for role in ("keep", "sensitive", "identifiers"):
        assert sorted(getattr(loaded, role)) == sorted(getattr(meant, role))
    in_order = {role: getattr(meant, role) for role in ("keep", "sensitive", "identifiers")}
    assert replace(loaded, **in_order) == meant
    release = shoal.anonymize(path, settings=settings, method="mondrian", refine=False)
    assert release.k >= found.k
    stars = [np.mean(np.array(release.data[n]) == "*") for n in found.of("quasi-identifier")]
    assert min(stars) < 0.5  # not suppressed everywhere


@pytest.mark.parametrize("name", NAMES)
def test_every_column_stands_in_the_file_with_its_reason(name: str, suggested: Any) -> None:
    made, _, found = suggested[name]
    text = found.to_toml("a table")
    for column in made.truth:
        assert f'"{column}"' in text
    for column in found.columns:
        assert column.reason
        assert column.reason in text
    tomllib.loads(text)


def test_a_file_for_two_hundred_columns_can_be_read(suggested: Any) -> None:
    text = suggested["wide"][2].to_toml("wide.csv")
    assert len(text.partition("[input")[0].splitlines()) < 100
    assert max(map(len, text.splitlines())) < 200


def test_how_a_german_export_is_written_is_found_out(suggested: Any) -> None:
    _, _, found = suggested["klinik"]
    reading = found.reading
    assert (reading.encoding, reading.decimal) == ("cp1252", ",")
    assert reading.date_format == {"*": "%d.%m.%Y", "erstellt_am": "%d.%m.%Y %H:%M"}
    assert reading.missing == ("00.00.0000",)
    text = "\n".join(found.remarks)
    for told in (
        "cp1252",
        "decimal commas",
        "day.month.year, like 31.12.1980",
        "'Patientennummer' has 4",
    ):
        assert told in text


def test_no_column_is_released_with_less_protection_than_it_needs(suggested: Any) -> None:
    """A quasi-identifier or an identifier is never suggested as sensitive or kept, nor a sensitive column as kept."""
    less = {"S": "IDQ", "K": "IDQS", "Q": "ID"}
    for made, _, found in suggested.values():
        for column in found.columns:
            needed = set(made.truth[column.name][0])
            assert not needed <= set(less.get(LETTER[column.role], "")), column


def test_the_person_is_found_by_values(suggested: Any) -> None:
    """The number rather than a name that several have or the doctor; the device of a log; nobody if nobody repeats."""
    persons = {name: found.person for name, (_, _, found) in suggested.items()}
    assert persons["station"] == "Pat-Nr."
    assert persons["school"] is None
    assert persons["log"] == "device"
    assert persons["emergencies"] in ("num_historia", "DNI")
    assert persons["riders"] == "user_hash"
    for name in ("benefits", "trial", "affairs", "staff", "voters", "job_centre", "tribunal"):
        assert persons[name] is None


def test_batteries_are_decided_together_and_listed_once(suggested: Any) -> None:
    _, _, found = suggested["trial"]
    columns = {column.name: column for column in found.columns}
    labs = [columns[f"Lab{n:02d}"] for n in range(1, 9)]
    assert {(c.role, c.reason, c.battery) for c in labs} == {
        ("sensitive", labs[0].reason, "Lab01 … Lab08 (8 columns)")
    }
    assert "outsiders do not know" in labs[0].reason
    assert len({tuple(column.options.items()) for column in labs}) == 1
    assert labs[0].model == "interval"
    assert {columns[f"AE{n:02d}"].role for n in range(1, 11)} == {"sensitive"}
    assert columns["zx1"].battery == "zx1 … zx5 (5 columns)"
    assert "Left out, meaning unknown: zx1 … zx5 (5 columns)" in str(found)


def test_a_question_with_a_scale_of_its_own_is_no_answer_of_the_battery(suggested: Any) -> None:
    columns = {column.name: column for column in suggested["voters"][2].columns}
    assert columns["Q2_1"].battery != columns["Q8_1"].battery != ""
    assert columns["Q30"].role == "drop"


def test_nearly_unique_sensitive_numbers_are_coarsened_until_values_repeat(suggested: Any) -> None:
    _, path, found = suggested["staff"]
    coarse = found.settings().coarsen
    assert {"Salary", "Bruttogehalt", "Bonus"} <= set(coarse)
    release = shoal.anonymize(path, settings=found.settings(), method="mondrian", refine=False)
    for name in coarse:
        counts = Counter(release.data[name].to_pylist())
        rare = sum(times for times in counts.values() if times < 10)
        assert rare <= 0.06 * found.records
        assert len(counts) >= 3


def test_a_file_that_cannot_hold_the_sign_of_an_open_end_gets_none(suggested: Any) -> None:
    found = suggested["benefits"][2]
    amount = next(column for column in found.columns if column.name == "Montant mensuel")
    assert set(amount.options) == {"step"}


def test_persons_that_repeat_are_told(suggested: Any) -> None:
    assert suggested["visits"][2].persons[0] == "subject_id"
    assert suggested["diabetes"][2].persons[0] == "patient_nbr"
    assert suggested["survey"][2].persons == ()
    visits = suggested["visits"][2]
    assert visits.person == visits.settings().person == "subject_id"
    assert 'person = "subject_id"' in visits.to_toml()
    assert suggested["survey"][2].person is None


def test_codes_and_dates_that_mean_missing_are_proposed(suggested: Any) -> None:
    columns = {column.name: column for column in suggested["survey"][2].columns}
    assert columns["q1"].missing == ("97", "98")
    assert columns["gender"].missing == ("9",)
    assert "9999-99-99" in suggested["visits"][2].reading.missing
    assert "?" in suggested["diabetes"][2].reading.missing


def test_init_tells_what_it_found_and_the_next_command_runs(
    shell: Shell, suggested: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = suggested["klinik"][1]
    Path("klinik.csv").write_bytes(path.read_bytes())
    code, out, err = shell("init", "klinik.csv")
    assert (code, err) == (0, "")
    assert "quasi-identifiers     Geburtsdatum, Geschlecht, PLZ" in out
    assert "Unsure: erstellt_am" in out
    assert "Removed as identifiers: Fallnummer, Patientennummer" in out
    command = out.splitlines()[-1].split()
    assert command[:2] == ["shoal", "anonymize"]
    code, out, _ = shell(*command[1:])
    assert code == 0
    assert "Geburtsdatum" in out
    assert "Protected" in out


# What names mean, together with values


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("Nb enfants à charge", list(range(6)), "quasi-identifier"),
        ("Patologia", ["asma", "diabete", "nessuna"], "sensitive"),
        ("Prestation", ["RSA", "AAH", "APL"], "sensitive"),
        ("SEN Status", ["N", "K", "E"], "sensitive"),
        ("agegrp", list(range(1, 7)), "quasi-identifier"),
        ("yob", list(range(1945, 2008)), "quasi-identifier"),
        ("relig", list(range(1, 6)), "sensitive"),
        ("occup", list(range(1, 8)), "quasi-identifier"),
        ("male", [0, 1], "quasi-identifier"),
        ("black", [0, 1], "quasi-identifier"),
        ("marr", [0, 1], "quasi-identifier"),
        ("Geschl.", ["männlich", "weiblich"], "quasi-identifier"),
        ("Kasse", ["AOK", "TK", "Barmer"], "quasi-identifier"),
        ("Krankenkasse", ["AOK", "TK", "Barmer"], "quasi-identifier"),
        ("cpt", ["99213", "99214", "J1885", "59400"], "sensitive"),
        ("urbrur", [1, 2, 3], "quasi-identifier"),
        ("hhsize", list(range(1, 8)), "quasi-identifier"),
        ("FTE", [1.0, 0.5, 0.75], "quasi-identifier"),
        ("employer", ["a", "b", "c"], "quasi-identifier"),
        ("male", ["Anna", "Eva", "Ida", "Lea", "Rosa"], "identifier"),
        ("deathmon", list(range(1, 13)), "quasi-identifier"),
        ("code", ["I10.9", "E11.9", "J44.1", "F32.1", "M54.5"], "sensitive"),
        ("part", ["train", "test"], "drop"),
    ],
)
def test_a_name_decides_together_with_the_values(name: str, values: list[Any], role: str) -> None:
    some = np.random.default_rng(4).integers(0, len(values), 1200)
    table = pa.table({name: [values[place] for place in some], "sex": ["m", "f"] * 600})
    assert shoal.suggest(table).columns[0].role == role


def test_a_date_of_custody_is_no_money_whatever_its_letters(tmp_path: Path) -> None:
    rows = [f"2013-01-{1 + i % 28:02d},{i % 2}" for i in range(600)]
    (tmp_path / "t.csv").write_text("\n".join(["in_custody,male", *rows]))
    assert shoal.suggest(tmp_path / "t.csv").columns[0].model == "calendar"


@pytest.mark.parametrize(
    ("mean", "spread", "role"), [(1.0, 0.4, "drop"), (74.0, 12.0, "quasi-identifier")]
)
def test_a_weight_of_a_survey_is_no_weight_of_a_body(mean: float, spread: float, role: str) -> None:
    chance = np.random.default_rng(5)
    table = pa.table(
        {"weight": abs(chance.normal(mean, spread, 900)).round(3), "sex": ["m", "f"] * 450}
    )
    assert shoal.suggest(table).columns[0].role == role


def test_records_of_a_person_agree_and_those_of_a_family_do_not() -> None:
    chance = np.random.default_rng(6)
    person = np.repeat(np.arange(200), 3)
    birth = chance.integers(0, 400, 200)[person]
    family = person // 2
    assert agreement(person, birth) == pytest.approx(1)
    assert agreement(family, birth) < 0.6
    assert agreement(np.arange(600), birth) is None


# How values are read


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (["31.12.1980", "01.02.1999"], ["%d.%m.%Y"]),
        (["12/31/1980", "1/2/1999"], ["%m/%d/%Y"]),
        (["31/12/1980"], ["%d/%m/%Y"]),
        (["01/02/1980"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["19801231", "19990201"], ["%Y%m%d"]),
        (["31.12.80"], ["%d.%m.%y"]),
        (["31-Dec-1980"], ["%d-%b-%Y"]),
        (["December 31, 1980"], ["%B %d, %Y"]),
        (["31.12.1980 23:59"], ["%d.%m.%Y %H:%M"]),
        (["31.02.1980"], []),
        (["31.12.1980", "soon"], []),
        (["1.2.3"], []),
    ],
)
def test_forms_of_dates(texts: list[str], forms: list[str]) -> None:
    assert date_formats(pa.array(texts, pa.large_string())) == forms


def test_days_that_could_be_months_are_unsure(tmp_path: Path) -> None:
    rows = [f"{1 + i % 12:02d}/{1 + i % 11:02d}/1980,{i % 3}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["seen,shop", *rows]))
    found = shoal.suggest(tmp_path / "t.csv")
    assert "no day is above 12" in found.columns[0].doubts[0]
    assert "seen" in found.unsure


def test_dates_in_two_forms_are_read_each_in_its_own(tmp_path: Path) -> None:
    rows = [f"{1 + i % 28}.01.1980,01/{1 + i % 27}/1980,2.01.{1950 + i}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["born,seen,left", *rows]))
    found = shoal.suggest(tmp_path / "t.csv")
    assert found.reading.date_format == {"*": "%d.%m.%Y", "seen": "%m/%d/%Y"}
    assert [column.doubts for column in found.columns] == [(), (), ()]
    assert found.columns[1].model == "calendar"


def test_decimal_points_beside_commas_are_unsure(tmp_path: Path) -> None:
    rows = [f"{60 + i % 9},5;{70 + i % 8},5;{i % 7}.5;1.{i % 5}00,5" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["weight;height;age;car", *rows]))
    found = shoal.suggest(tmp_path / "t.csv")
    assert found.reading.decimal == ","
    models = [column.model for column in found.columns]
    assert models == ["interval", "interval", "suppression", "interval"]
    assert found.reading.thousands == {"car": "."}
    assert found.unsure == ("age",)
    shoal.anonymize(tmp_path / "t.csv", settings=found.settings(), method="mondrian", refine=False)


def test_names_and_notes_of_few_records_are_not_released() -> None:
    table = pa.table({"name": [1, 2, 3, 4, 5], "note": list("abcde"), "x": [1, 1, 2, 2, 3]})
    assert [column.role for column in shoal.suggest(table).columns][:2] == [
        "identifier",
        "drop",
    ]


@pytest.mark.parametrize(
    ("values", "counts", "apart", "spikes"),
    [
        ([1, 2, 97, 98], [50, 60, 20, 20], ("97", "98"), ()),
        ([1, 2, 3, 4, 5, 9], [50] * 6, ("9",), ()),
        ([1, 2, 3, 4, 5, 9], [50, 50, 50, 50, 50, 9], (), ()),  # fewer than ten records
        ([0, 1, 2, -9], [50] * 4, ("-9",), ()),
        ([-2, -1, 0, 1], [50] * 4, (), ()),
        (list(range(100)), [20] * 99 + [900], (), ("99",)),
        (list(range(100)), [20] * 100, (), ()),
        (list(range(10)), [20] * 10, (), ()),
    ],
)
def test_numbers_that_mean_missing(
    values: list[int], counts: list[int], apart: tuple[str, ...], spikes: tuple[str, ...]
) -> None:
    assert number_codes(pa.array(values), np.array(counts)) == (apart, spikes)


@pytest.mark.parametrize(
    ("texts", "missing"),
    [
        (["12", "?", "14"], ("?",)),
        (["12", "unknown", "14"], ("unknown",)),
        (["red", "unknown", "blue"], ()),
        (["DE", "FR", "NA", "US", "ES"], ()),
        (["red", "NA", "blue"], ("NA",)),
        (["1980-01-01", "9999-99-99"], ("9999-99-99",)),
        (["1,5", "k.A."], ("k.A.",)),
        (["?"], ("?",)),
    ],
)
def test_texts_that_mean_missing(texts: list[str], missing: tuple[str, ...]) -> None:
    column = number_column("a", pa.chunked_array([texts], pa.large_string()))
    assert text_markers(column) == missing


def test_a_code_that_is_a_value_elsewhere_is_missing_in_its_own_column_alone() -> None:
    table = pa.table(
        {
            "education": [1, 2, 3, 99] * 30,
            "age": [20 + i % 80 for i in range(120)],
        }
    )
    found = shoal.suggest(table)
    assert found.columns[0].missing == ("99",)
    assert found.reading.missing == {"education": ("99",)}
    assert any("99 looks like \"missing\" in 'education'" in remark for remark in found.remarks)


# Patterns


@pytest.mark.parametrize(
    ("texts", "plain"),
    [
        (["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"], "IBANs"),
        (["12345678Z", "X1234567L"], "Spanish"),
        (["255081416802538"], "French"),
        (["A123456780"], "German health"),
        (["4111 1111 1111 1111"], "payment card numbers"),
        (["529.982.247-25"], "Brazilian"),
        (["123-45-6789"], "US social security"),
        (["AB 12 34 56 C"], "British"),
        (["RSSMRA85T10A562S"], "Italian"),
        (["+49 221 123456", "+33 1 22 33 44 55"], "telephone"),
        (["(555) 123-4567"], "telephone"),
        (["ann@example.org"], "e-mail"),
        (["https://example.org/a"], "web"),
        (["123e4567-e89b-12d3-a456-426614174000"], "UUIDs"),
        (["192.168.0.1"], "IP"),
    ],
)
def test_patterns_of_identifiers(texts: list[str], plain: str) -> None:
    pattern = identifier_pattern(pa.array(texts, pa.large_string()), "column")
    assert pattern is not None
    assert pattern.plain.startswith(plain)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "DE89370400440532013001",
            "12345678A",
            "255081416802539",
            "A123456781",
            "4111111111111112",
        ),
        *("31.12.1980", "1980-12-31", "02139", "I10.0", "250.01", "13:45", "Never-married"),
    ],
)
def test_wrong_check_digits_and_ordinary_values_are_no_identifiers(text: str) -> None:
    assert identifier_pattern(pa.array([text] * 20, pa.large_string()), "column") is None


def test_one_address_among_texts_is_enough() -> None:
    texts = ["red", "blue"] * 50 + ["write to ann@example.org"]
    [column] = shoal.suggest(pa.table({"colour": texts})).columns
    assert column.role == "identifier"


def test_names_of_persons_are_known_without_a_word() -> None:
    names = ["Anna Müller", "Ben Rossi", "Clara Silva", "David Braun", "Eva Dupont"] * 40
    [column] = shoal.suggest(pa.table({"x": names})).columns
    assert column.role == "identifier"


def test_a_letter_that_all_names_begin_with_hides_no_word() -> None:
    names = {"iage": "iage age", "isex": "isex sex", "irace": "irace race"}
    assert names_in_words(list(names)) == names
    assert names_in_words(["age", "sex"]) == {"age": "age", "sex": "sex"}
    assert names_in_words(["sex", "score", "shop"])["sex"].split()[0] == "sex"


# Counting


@given(st.lists(st.tuples(*[st.integers(-1, 3)] * 3), min_size=2, max_size=40))
def test_singled_out_records_and_pairs_are_counted_right(rows: list[tuple[int, ...]]) -> None:
    codes = {
        name: np.array(column) for name, column in zip("abc", zip(*rows, strict=True), strict=True)
    }
    for size in (1, 2, 3):
        for names in combinations("abc", size):
            told = [tuple(row["abc".index(name)] for name in names) for row in rows]
            times = Counter(told)
            found = group_by(codes, names, len(rows)).singled()
            assert found.columns == names
            assert found.unique == pytest.approx(sum(times[t] == 1 for t in told) / len(rows))
            assert found.distinction == pytest.approx(len(times) / len(rows))
            apart = [a != b for a, b in combinations(told, 2)]
            assert found.separation == pytest.approx(sum(apart) / len(apart))


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=2, max_size=40))
def test_each_step_adds_the_column_that_singles_out_most(rows: list[tuple[int, ...]]) -> None:
    codes = {
        name: np.array(column) for name, column in zip("abcd", zip(*rows, strict=True), strict=True)
    }
    _, steps = greedy_columns(group_by(codes, [], len(rows)), codes, list("abcd"), 4)
    chosen: list[str] = []
    for name in steps:
        unique = {
            other: group_by(codes, [*chosen, other], len(rows)).singled().unique
            for other in "abcd"
            if other not in chosen
        }
        assert unique[name] == pytest.approx(max(unique.values()))
        chosen.append(name)
    assert sorted(chosen) == list("abcd")


def test_large_tables_are_compared_by_a_sample_that_is_stated() -> None:
    chance = np.random.default_rng(0)
    table = pa.table(
        {
            "age": chance.integers(0, 90, 60_000),
            "zip": chance.integers(10000, 10400, 60_000),
            "sex": chance.choice(["m", "f"], 60_000),
        }
    )
    one, two = shoal.suggest(table), shoal.suggest(table)
    assert one.compared == 50_000
    assert "on a sample of 50,000 of 60,000 records" in str(one)
    assert str(one) == str(two)
    assert one.to_toml() == two.to_toml()
    rows = Counter(
        zip(*(table[step].to_pylist() for step in one.together[-1].columns), strict=True)
    )
    assert one.together[-1].unique == sum(n == 1 for n in rows.values()) / 60_000


# Few quasi-identifiers, and nothing that undoes them


def test_at_most_ten_quasi_identifiers_are_suggested() -> None:
    chance = np.random.default_rng(1)
    table = pa.table({f"country_{n}": chance.choice(list("abcdef"), 500) for n in range(30)})
    found = shoal.suggest(table)
    assert len(found.of("quasi-identifier")) == 10
    assert len(found.of("drop")) == 20
    assert set(found.of("drop")) <= set(found.unsure)


def test_a_copy_of_a_quasi_identifier_is_left_out() -> None:
    ages = [20 + 7 * i % 50 for i in range(500)]
    table = pa.table(
        {"age": ages, "age_code": [f"A{age}" for age in ages], "sex": ["m", "f"] * 250}
    )
    found = shoal.suggest(table)
    assert (found.columns[1].role, found.columns[1].is_sure) == ("drop", False)
    assert "'age' contains the same information" in found.columns[1].reason


def test_a_column_that_follows_from_a_quasi_identifier_is_not_released_unchanged() -> None:
    ages = [20 + 7 * i % 50 for i in range(500)]
    table = pa.table(
        {
            "age": ages,
            "shelf": [age // 10 for age in ages],
            "score": [age // 5 for age in ages],
            "colour": [["red", "blue"][i // 50 % 2] for i in range(500)],
        }
    )
    found = shoal.suggest(table)
    assert found.of("sensitive") == ()
    assert found.unknown == ("shelf", "colour")
    assert (
        shoal.anonymize(table, settings=found.settings(), method="mondrian", refine=False).k >= 10
    )


def test_unknown_columns_are_left_out_and_never_kept() -> None:
    chance = np.random.default_rng(2)
    table = pa.table(
        {
            "sex": chance.choice(["m", "f"], 500),
            "size_a": chance.normal(50, 9, 500).round(1),
            "shop": chance.choice(["x", "y"], 500),
            "same": ["a"] * 500,
        }
    )
    found = shoal.suggest(table)
    assert found.unknown == found.of("drop") == ("size_a", "shop")
    assert set(found.unknown) <= set(found.unsure)
    assert found.of("keep") == ("same",)
    assert "Left out, meaning unknown: size_a, shop" in str(found)


def test_numbers_that_repeat_like_persons_are_not_released() -> None:
    chance = np.random.default_rng(3)
    table = pa.table({"age": chance.integers(20, 80, 900), "x": 7 * chance.integers(0, 300, 900)})
    assert shoal.suggest(table).columns[1].role == "identifier"


# Models


def test_models_are_chosen_by_the_rules() -> None:
    table = pa.table(
        {
            "born": pa.array([10_000 + i for i in range(60)], pa.date32()),
            "zip": [f"0{1000 + i % 4}" for i in range(60)],
            "age_group": ["18-24", "25-34", "<18"] * 20,
        }
    )
    found = shoal.suggest(table)
    assert [column.model for column in found.columns] == ["calendar", "prefix", "order"]
    assert found.models["age_group"] == shoal.Order(["<18", "18-24", "25-34"])
    assert 'values = ["<18", "18-24", "25-34"]' in found.to_toml()


def test_bands_of_few_records_are_not_named() -> None:
    bands = ["18-24"] * 30 + ["25-34"] * 30 + ["35-44"] * 9
    found = shoal.suggest(pa.table({"age_group": bands, "sex": ["m", "f", "f"] * 23}))
    assert found.columns[0].model == "suppression"
    assert "35-44" not in found.to_toml() + str(found) + repr(found)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["High", "Low", "Medium"], ["Low", "Medium", "High"]),
        (["hoch", "niedrig", "mittel"], ["niedrig", "mittel", "hoch"]),
        (["[70-80)", "[0-10)", "[10-20)"], ["[0-10)", "[10-20)", "[70-80)"]),
        (["65+", "18 to 24", "under 18"], ["under 18", "18 to 24", "65+"]),
        (["red", "blue", "green"], None),
        (["1", "2", "3"], None),
    ],
)
def test_categories_in_order(texts: list[str], order: list[str] | None) -> None:
    assert in_order(pa.array(texts, pa.large_string())) == order


# No values


@given(
    st.text("bcdefghjklmnpqrtuvwxyzBCDEFGHJK", min_size=5, max_size=9).map("Qzk{}".format),
    st.integers(10**7, 10**8 - 1),
    st.sampled_from(["name", "town", "x", "diagnosis", "note", "income", "zip", "born"]),
    st.integers(1, 9),
    st.booleans(),
)
def test_no_rare_value_is_shown(
    token: str, number: int, name: str, times: int, mixed: bool
) -> None:
    texts = ["red", "blue", "green"] * 30 + [token] * times
    numbers = [i % 40 for i in range(90)] + [number] * times
    sizes = [f"{i % 40}" for i in range(90)] + [f"{token} {number}"] * times
    table = pa.table({name: texts, f"{name}_2": numbers, "other": sizes if mixed else texts})
    found = shoal.suggest(table)
    shown = found.to_toml("t") + str(found) + repr(found)
    assert token not in shown
    assert str(number) not in shown


def test_shapes_of_few_records_are_not_shown() -> None:
    texts = pa.array(["02139", "AB-1", "x"], pa.large_string())
    assert shapes_of(texts, np.array([30, 9, 12]), 10) == ("99999", "a")


@given(st.lists(st.text(st.characters(max_codepoint=127), max_size=30), min_size=1, max_size=9))
def test_shapes_of_plain_texts_are_those_by_the_rules_for_any_text(texts: list[str]) -> None:
    counts = np.ones(len(texts), np.int64)
    found = shapes_of(pa.array(texts), counts, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "_PLAIN_STEPS", shapes._STEPS)
        assert shapes_of(pa.array(texts), counts, 1) == found


# What is given

ODD_TEXTS = ["?", "99", "1,5", "1.234,5", "*", "{a}", "=1", "00.00.0000", "7", "1.2.1980"]
ODD = st.one_of(
    *(
        st.lists(st.none() | values, min_size=12, max_size=12)
        for values in (
            st.text(max_size=6),
            st.integers(-(2**62), 2**62),
            st.floats(),
            st.booleans(),
            st.dates(),
            st.datetimes(),
            st.sampled_from(ODD_TEXTS),
        )
    )
)
ODD_NAMES = st.sampled_from(
    ["age", "name", "id", "x", "note", "zip", "born", "income", "[a]", "é\n", '"', "#"]
)


@given(st.dictionaries(ODD_NAMES, ODD, min_size=1, max_size=5), st.integers(1, 5))
def test_odd_columns_are_suggested_for_and_the_settings_can_be_used(
    columns: dict[str, list[Any]], times: int
) -> None:
    table = pa.table({name: values * times for name, values in columns.items()})
    found = shoal.suggest(table)
    raw = tomllib.loads(found.to_toml("odd\n"))
    assert set(raw["quasi_identifiers"] if found.models else ()) == set(found.models)
    if found.models:
        release = shoal.anonymize(table, settings=found.settings(), method="mondrian", refine=False)
        assert release.k >= found.k


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_all_kinds_are_suggested_for(make: Any) -> None:
    columns = {"name": [f"P{i}" for i in range(60)], "age": [20 + i % 30 for i in range(60)]}
    found = shoal.suggest(make(columns))
    assert [column.role for column in found.columns] == ["identifier", "quasi-identifier"]


def test_whole_numbers_of_pandas_with_gaps_are_read_as_such() -> None:
    table = pd.DataFrame({"education": [1.0, 2.0, 3.0, None] * 30, "sex": ["m", "f"] * 60})
    assert shoal.suggest(table).columns[0].model == "suppression"


def test_dates_as_text_in_a_frame_are_dates() -> None:
    table = pd.DataFrame({"born": [f"{1 + i % 28}.01.1980" for i in range(60)], "age": range(60)})
    found = shoal.suggest(table)
    assert found.columns[0].model == "calendar"
    assert found.reading.date_format == "%d.%m.%Y"
    assert "born" not in found.unsure


def test_columns_that_cannot_be_released_are_left_out() -> None:
    table = pa.table(
        {
            "age": [20 + i % 30 for i in range(60)],
            "tags": [["x"]] * 60,
            "void": pa.nulls(60),
            "cells": ["=1+1", "b", "c"] * 20,
            "bad": [float("nan")] * 60,
        }
    )
    found = shoal.suggest(table)
    assert found.of("drop") == ("tags", "void", "cells", "bad")
    assert found.settings().others == "drop"


def test_k_is_less_for_few_records() -> None:
    assert shoal.suggest(pa.table({"age": list(range(9))})).k == 3
    assert shoal.suggest(pa.table({"age": list(range(60))})).k == 10
    assert shoal.suggest(pa.table({"age": list(range(60))}), k=4).settings().k == 4


ONE = pa.table({"a": [1]})


@pytest.mark.parametrize(
    ("table", "options", "says"),
    [
        (ONE[:0], {}, "The table has no records to learn from. Give at least one."),
        (ONE, {"k": 0}, "The 'k' parameter must be a whole number of at least 1. Got 0 instead."),
        (
            ONE,
            {"reading": {"sheets": "x"}},
            "Unknown key 'sheets' in [input]; did you mean 'sheet'?",
        ),
        ([1], {}, "A table of type list cannot be read. Give a pandas, polars or Arrow frame"),
        ("nothing.csv", {}, "'nothing.csv' does not exist. Check the path."),
    ],
)
def test_bad_input_is_said_in_a_sentence(table: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(shoal.InputError) as error:
        shoal.suggest(table, **options)
    assert str(error.value).startswith(says)


def test_a_file_in_no_known_encoding_is_refused_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"age\n\x81\x8d\xa4\xa6\xff\xfe\n")
    with pytest.raises(shoal.InputError, match="not UTF-8"):
        shoal.suggest(path)


def test_ends_of_ranges_print_no_value_that_one_record_alone_has() -> None:
    chance = np.random.default_rng(1)
    table = pa.table(
        {
            "age": [*chance.integers(20, 60, 299).tolist(), 97],
            "sex": ["f", "m"] * 150,
        }
    )
    found = shoal.suggest(table)
    assert found.models["age"] == shoal.Interval(step=5)
    assert "no range ends at a single person's value" in found.columns[0].model_reason
    assert "step = 5" in found.to_toml()
    release = shoal.anonymize(table, settings=found.settings(), k=3, method="mondrian")
    bounds = {text for text in release.data["age"].to_pylist() if text != "*"}
    assert all(int(text.split("–")[0]) % 5 == 0 for text in bounds)


@pytest.mark.parametrize(
    ("codes", "model"),
    [
        (["02139", "02140", "10001"], shoal.Prefix()),
        (["A01", "A01.1", "B20.12"], shoal.Prefix()),
        (["A1.11", "A1.2", "B12.3"], shoal.Prefix(separator=".")),
        ([12345, 12346, 54321], shoal.Prefix()),
        ([2139, 12345, 12346], shoal.Suppression()),
        (["02*39", "02140", "10001"], shoal.Suppression()),
    ],
)
def test_codes_get_a_prefix_where_their_beginnings_can_be_told(codes, model) -> None:
    table = pa.table({"zip": codes * 20, "age": [20 + i % 7 for i in range(60)]})
    assert shoal.suggest(table).models["zip"] == model


LANDS = ["FR", "DE", "IT", "AT"]
NAMES = ["France", "Germany", "Italy", "Côte d'Ivoire"]
STATES = ["CA", "AL", "DE", "GA"]  # of the US, and countries as well
LEEDS = [f"LS{n} {m}AB" for n in range(1, 6) for m in range(5)]
TOWNS = ["Cologne", "Bonn", "Georgia", "Jena"]


@pytest.mark.parametrize(
    ("name", "values", "model"),
    [
        ("country", LANDS, shoal.Ready("countries", unlisted="keep")),
        ("nationality", ["FRA", "DEU", "ITA", "AUT"], shoal.Ready("countries", unlisted="keep")),
        ("birthplace", NAMES, shoal.Ready("countries", unlisted="keep")),
        ("residence", NAMES, shoal.Ready("countries", unlisted="keep")),
        ("state", STATES, shoal.Suppression()),
        ("country", TOWNS, shoal.Suppression()),
        ("postcode", LEEDS, shoal.Ready("uk-postcodes", unlisted="keep")),
        ("postcode", ["LS1 2AB", "LS1 3AB", "M1 1AE"], shoal.Prefix()),
    ],
)  # fmt: skip
def test_a_ready_made_hierarchy_is_suggested_if_name_or_shape_and_nearly_all_values_fit(
    name: str, values: list[str], model: Model
) -> None:
    table = pa.table({name: values * 20, "age": [20 + i % 7 for i in range(20 * len(values))]})
    assert shoal.suggest(table).models[name] == model


def test_what_is_suggested_does_not_depend_on_a_few_values_that_a_hierarchy_lacks() -> None:
    lands = LANDS * 50
    known, other = (shoal.suggest(pa.table({"country": own})) for own in (lands, [*lands, "Mars"]))
    assert known.columns[0].options == other.columns[0].options
    assert known.columns[0].model_reason == other.columns[0].model_reason
