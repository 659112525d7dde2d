"""Dates that are texts are dates in every frame, and no form of them is guessed where two fit."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from engines import put_on

import shoal
from shoal.encoding.type_inference import date_format_in_words, found_dates
from shoal.settings.settings import Settings

Shell = Callable[..., tuple[int, str, str]]

RECORDS = 200
_RNG = random.Random(5)
DAYS = [date(1990, 1, 1) + timedelta(days=_RNG.randrange(3_000)) for _ in range(RECORDS)]
SEX = _RNG.choices("mf", k=RECORDS)
FORMS = ["%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y", "%d.%m.%Y 10:30"]


def _frame(form: str = "%Y-%m-%d") -> pd.DataFrame:
    return pd.DataFrame({"dob": [day.strftime(form) for day in DAYS], "sex": SEX})


def _on(carrier: str, frame: pd.DataFrame) -> Any:
    return frame if carrier == "memory" else put_on(carrier, pa.Table.from_pandas(frame))


def _released(release: Any, folder: Path) -> pd.DataFrame:
    release.save(folder / "release.csv", overwrite=True)
    return pd.read_csv(folder / "release.csv", dtype=str)


def _loss(data: Any, **options: Any) -> float:
    release = shoal.anonymize(data, quasi_identifiers=["dob", "sex"], k=5, seed=1, **options)
    return float(release.loss())


def test_iso_dates_as_text_become_ranges_of_dates(carrier: str, tmp_path: Path) -> None:
    release = shoal.anonymize(_on(carrier, _frame()), quasi_identifiers=["dob", "sex"], k=5)
    texts = _released(release, tmp_path)["dob"]
    assert texts.str.fullmatch(r"\d{4}-\d\d-\d\d( – \d{4}-\d\d-\d\d)?").all()
    assert release.loss() < 0.2


@pytest.mark.parametrize("form", FORMS)
def test_other_dates_as_text_are_read_in_the_one_form_that_fits(
    form: str, carrier: str, tmp_path: Path
) -> None:
    release = shoal.anonymize(_on(carrier, _frame(form)), quasi_identifiers=["dob", "sex"], k=5)
    own = form.replace("10:30", "%H:%M")
    assert release.settings.reading.date_format == {"dob": own}
    assert "'dob' contains dates" in release.reading_notes[0]
    assert release.loss() < 0.2
    first = _released(release, tmp_path)["dob"].str.split(" – ").str[0]
    assert set(first) <= {day.strftime(form) for day in DAYS}


def test_dates_of_a_calendar_need_no_date_type_and_no_format() -> None:
    models = {"dob": shoal.Calendar(), "sex": shoal.Suppression()}
    release = shoal.anonymize(_frame("%d.%m.%Y"), quasi_identifiers=models, k=5)
    assert not set(release.data["dob"]) & {"*"}
    assert release.data["dob"].str.fullmatch(r"\d{4}.*").all()


def test_kept_and_sensitive_dates_stay_as_they_are() -> None:
    frame = _frame("%d.%m.%Y").assign(seen="2024-02-06 04:38", left="06.02.2024")
    release = shoal.anonymize(
        frame,
        quasi_identifiers=["dob"],
        sensitive=["seen"],
        keep=["left", "sex"],
        allow=["left", "sex"],
        k=5,
    )
    assert set(release.data["seen"]) == {"2024-02-06 04:38"}
    assert set(release.data["left"]) == {"06.02.2024"}


def test_days_that_could_be_months_are_asked_about(carrier: str) -> None:
    frame = _frame().assign(dob=[f"{1 + i % 12:02d}/{1 + i % 11:02d}/1980" for i in range(RECORDS)])
    with pytest.raises(shoal.InputError) as refused:
        _loss(_on(carrier, frame))
    assert "--date-format '%d/%m/%Y' or --date-format '%m/%d/%Y'" in str(refused.value)
    assert "1980" not in str(refused.value)
    assert _loss(_on(carrier, frame), reading={"date_format": {"dob": "%d/%m/%Y"}}) < 0.3
    assert _loss(_on(carrier, frame), reading={"types": {"dob": "text"}}) > 0.3


def test_days_that_could_be_months_matter_only_where_dates_are_meant() -> None:
    frame = _frame().assign(dob=[f"{1 + i % 2:02d}/01/1980" for i in range(RECORDS)])
    models = {"dob": shoal.Suppression(), "sex": None}
    assert shoal.anonymize(frame, quasi_identifiers=models, k=5).loss() < 0.3
    release = shoal.anonymize(frame, quasi_identifiers=["sex"], keep=["dob"], k=5)
    assert set(release.data["dob"]) == {"01/01/1980", "02/01/1980"}


def test_years_of_two_digits_are_asked_about() -> None:
    with pytest.raises(shoal.InputError, match="two-digit years"):
        _loss(_frame("%d.%m.%y"))


def test_forms_that_give_the_same_days_need_no_question() -> None:
    texts = pa.array([f"0{i}/0{i}/2000" for i in range(1, 7)], pa.large_string())
    found = found_dates("dob", texts)
    assert found is not None
    assert found[0] == "%d/%m/%Y"


def test_a_form_of_dates_is_told_in_words() -> None:
    assert date_format_in_words("%d.%m.%Y") == "day.month.year, like 31.12.1980"


def test_settings_of_a_release_read_its_table_in_the_same_way(tmp_path: Path) -> None:
    frame = _frame("%d/%m/%Y").assign(seen=[day.strftime("%d.%m.%Y") for day in DAYS])
    frame.to_csv(tmp_path / "t.csv", index=False)
    release = shoal.anonymize(
        tmp_path / "t.csv", quasi_identifiers=["dob", "seen"], keep=["sex"], allow=["sex"], k=5
    )
    release.settings.save(tmp_path / "t.toml")
    settings = Settings.load(tmp_path / "t.toml")
    assert settings.reading.date_format == {"dob": "%d/%m/%Y", "seen": "%d.%m.%Y"}
    again = shoal.anonymize(tmp_path / "t.csv", settings=settings)
    assert again.loss() == release.loss()
    assert again.reading_notes == ()  # nothing had to be found out


def test_bounds_are_written_in_the_form_of_their_column(tmp_path: Path) -> None:
    _frame("%d/%m/%Y").to_csv(tmp_path / "t.csv", index=False)
    release = shoal.anonymize(
        tmp_path / "t.csv", quasi_identifiers=["dob", "sex"], k=5, render="bounds"
    )
    assert set(_released(release, tmp_path)["dob_min"]) <= set(_frame("%d/%m/%Y")["dob"])


def test_dates_without_a_format_are_told_on_the_screen(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _frame("%d/%m/%Y").to_csv("t.csv", index=False)
    code, said, _ = shell("anonymize", "t.csv", "-q", "dob", "-q", "sex", "-k", 5, "-o", "r.csv")
    assert code == 0
    assert "day/month/year, like 31/12/1980 (%d/%m/%Y)" in said
    code, said, _ = shell(
        "anonymize", "t.csv", "-q", "dob", "-q", "sex", "-k", 5, "-o", "r2.csv",
        "--date-format", "dob:%d/%m/%Y",
    )  # fmt: skip
    assert (code, "note" in said) == (0, False)


def test_releases_with_dates_that_were_found_are_proved_without_groups(tmp_path: Path) -> None:
    release = shoal.anonymize(
        _frame("%d/%m/%Y"), quasi_identifiers=["dob", "sex"], k=5, method="non_homogeneous"
    )
    release.save(tmp_path / "r.csv")
    assert release.audit.k >= 5


@pytest.mark.parametrize(
    ("form", "what"), [("%d/%m/%Y", "dates"), ("%Y-%m-%d", "dates"), ("%Y", "numbers")]
)
def test_texts_that_are_not_all_dates_are_told(form: str, what: str) -> None:
    frame = _frame(form)
    if what == "numbers":
        frame["dob"] = [str(i % 90) for i in range(RECORDS)]
    frame.loc[:4, "dob"] = "not known"
    release = shoal.anonymize(frame, quasi_identifiers=["dob", "sex"], k=5)
    (note,) = release.reading_notes
    assert f"most of its values look like {what}" in note
    assert "not known" not in note
    said = {"missing": {"dob": ["not known"]}}
    again = shoal.anonymize(frame, quasi_identifiers=["dob", "sex"], k=5, reading=said)
    assert again.loss() < release.loss() / 2
