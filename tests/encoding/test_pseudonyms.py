"""Pseudonyms: equal for equal values, without a trace of key or identifier, and refused where they link records."""

from __future__ import annotations

import hmac
import os
import pickle
import stat
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.audits.persons import prove_replaced, read_replaced
from shoal.encoding.frames import open_frame
from shoal.encoding.other_columns import DIGITS, Key, canonical_texts, read_key, write_key
from shoal.errors import AuditFailed, InputError

SECRET = "a secret of twenty-six signs"
HOW: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 2}


def people(ids: Any = ("P-1", "P-2", "P-3", "P-4")) -> pd.DataFrame:
    return pd.DataFrame({"patient": list(ids), "age": [31, 33, 52, 58], "ill": list("abca")})


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret.key"
    path.write_text(f"{SECRET}\n")
    path.chmod(0o600)
    return path


def expected(text: str) -> str:
    return hmac.new(SECRET.encode(), text.encode(), "sha256").hexdigest()[:DIGITS]


def released(table: Any, key_file: Path, **more: Any) -> Any:
    return shoal.anonymize(table, pseudonyms=["patient"], key_file=key_file, **HOW, **more)


@pytest.mark.parametrize("kind", [lambda t: t, pl.from_pandas, pa.Table.from_pandas])
def test_pseudonyms_are_the_hmac_of_each_value(kind: Any, key_file: Path) -> None:
    release = released(kind(people()), key_file, keep_order=True)
    column = open_frame(release.data).get_column("patient").to_list()
    assert column == [expected(f"P-{i}") for i in (1, 2, 3, 4)]
    assert release.removed == ()


def test_pseudonyms_go_with_their_records_when_these_are_shuffled(key_file: Path) -> None:
    table = people().assign(ill=["a", "b", "c", "d"])
    release = released(table, key_file)
    found = dict(zip(release.data["ill"], release.data["patient"], strict=True))
    assert found == {ill: expected(f"P-{i + 1}") for i, ill in enumerate("abcd")}


def test_whole_numbers_texts_and_unicode_forms_of_a_value_agree(key_file: Path) -> None:
    numbers = released(people([17, 18, 19, 20]), key_file, keep_order=True).data["patient"]
    floats = released(people([17.0, 18.0, 19.0, 20.0]), key_file, keep_order=True).data["patient"]
    texts = released(people(["17", " 18", "19", "20"]), key_file, keep_order=True).data["patient"]
    assert list(numbers) == list(floats) == list(texts)
    composed, apart = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    both = [
        released(people([name, "b", "c", "d"]), key_file, keep_order=True).data["patient"][0]
        for name in (composed, apart)
    ]
    assert both[0] == both[1] == expected(composed)


def test_missing_values_stay_missing(key_file: Path) -> None:
    release = released(
        people(["P-1", None, "?", "P-4"]), key_file, keep_order=True, reading={"missing": ["?"]}
    )
    assert release.data["patient"].isna().tolist() == [False, True, True, False]


def test_tables_with_other_names_and_releases_join(key_file: Path) -> None:
    one = released(people(), key_file)
    table = people().rename(columns={"patient": "pid"})
    other = shoal.anonymize(table, pseudonyms=["pid"], key_file=key_file, **HOW)
    assert set(one.data["patient"]) == set(other.data["pid"])


def test_another_key_gives_other_pseudonyms(key_file: Path, tmp_path: Path) -> None:
    write_key(tmp_path / "other.key")
    one = released(people(), key_file)
    other = released(people(), tmp_path / "other.key")
    assert not set(one.data["patient"]) & set(other.data["patient"])


def test_the_key_may_be_in_the_environment(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_KEY", SECRET)
    release = shoal.anonymize(people(), pseudonyms=["patient"], **HOW)
    assert set(release.data["patient"]) == set(released(people(), key_file).data["patient"])


def test_a_pseudonym_that_repeats_is_refused_unless_allowed(key_file: Path) -> None:
    table = people(["P-1", "P-1", "P-2", "P-3"])
    with pytest.raises(InputError, match="1 pseudonym of column 'patient' would occur in several"):
        released(table, key_file)
    release = released(table, key_file, allow={"patient": "links"})
    assert release.data["patient"].nunique() == 3
    assert release.verdict.state == "proved for some columns only"
    assert "Pseudonyms of 'patient' link" in release.verdict.sentence


def test_files_keep_pseudonyms_and_settings_know_the_path_alone(
    key_file: Path, tmp_path: Path
) -> None:
    release = released(people(), key_file)
    release.save(tmp_path / "release.csv")
    release.save_report(tmp_path / "report.html")
    release.settings.save(tmp_path / "settings.toml")
    assert shoal.Settings.load(tmp_path / "settings.toml").key_file == str(key_file)
    again = pd.read_csv(tmp_path / "release.csv")
    assert set(again["patient"]) == {expected(f"P-{i}") for i in (1, 2, 3, 4)}
    audit = shoal.audit(tmp_path / "release.csv", settings=tmp_path / "settings.toml")
    assert audit.unnamed == ()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "xlsx"])
def test_no_original_identifier_is_in_a_file(suffix: str, key_file: Path, tmp_path: Path) -> None:
    names = ["Adalbert-17", "Brunhilde-18", "Cunigunde-19", "Dietlinde-20"]
    released(people(names), key_file).save(tmp_path / f"release.{suffix}")
    content = (tmp_path / f"release.{suffix}").read_bytes()
    if suffix == "xlsx":
        with zipfile.ZipFile(tmp_path / "release.xlsx") as parts:
            content = b"".join(parts.read(name) for name in parts.namelist())
    assert not [name for name in names if name.encode() in content]


def test_the_key_is_nowhere(key_file: Path, tmp_path: Path) -> None:
    release = released(people(), key_file)
    release.save_report(tmp_path / "report.html")
    release.settings.save(tmp_path / "settings.toml")
    said = [
        (tmp_path / "report.html").read_text(encoding="utf-8"),
        (tmp_path / "settings.toml").read_text(encoding="utf-8"),
        repr(release),
        repr(release.settings),
        str(release.to_dict()),
        release._repr_html_(),
        pickle.dumps(release).decode("latin-1"),
        repr(read_key(str(key_file))),
    ]
    assert all(SECRET not in text for text in said)
    assert key_file.name not in said[0]  # a report does not tell where the key lies
    with pytest.raises(TypeError):
        pickle.dumps(Key(SECRET.encode()))


def test_no_message_shows_what_was_given_as_key() -> None:
    given = "0123456789abcdef0123456789abcdef"  # a key where its path should be
    with pytest.raises(InputError) as error:
        released(people(), Path(given))
    assert given not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"pseudonyms": ["patient"]}, "Pseudonyms need a key"),
        ({"pseudonyms": ["patient"], "key_file": "none.key"}, "cannot be read"),
        ({"pseudonyms": ["patient"], "key_file": "."}, "not a regular file"),
        (
            {"pseudonyms": ["patient"], "key_file": "short.key"},
            "has 15 bytes, which can be guessed",
        ),
        ({"pseudonyms": ["patient"], "key_file": 7}, "must be the path of a file"),
        ({"key_file": "short.key", "identifiers": ["patient"]}, "a key file but no column"),
        ({"pseudonyms": ["patient"], "identifiers": ["patient"]}, "both identifier and pseudonym"),
        (
            {"pseudonyms": ["age"], "identifiers": ["patient"]},
            "both quasi-identifier and pseudonym",
        ),
        ({"pseudonyms": ["patent"], "key_file": "good.key", "others": "drop"}, "did you mean"),
    ],
)
def test_bad_input_gets_one_clear_sentence(
    settings: dict[str, Any], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOAL_KEY", raising=False)
    Path("short.key").write_text("  fifteen_bytes__\n")
    Path("good.key").write_text(SECRET)
    for name in ("short.key", "good.key"):
        Path(name).chmod(0o600)
    with pytest.raises(InputError, match=sentence):
        shoal.anonymize(people(), **settings, **HOW)


def test_a_new_key_is_random_long_and_its_owners(tmp_path: Path) -> None:
    one, other = tmp_path / "one.key", tmp_path / "other.key"
    write_key(one)
    write_key(other)
    assert one.read_text() != other.read_text()
    assert len(bytes.fromhex(one.read_text())) == 32
    if os.name == "posix":
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    before = one.read_text()
    with pytest.raises(InputError, match="exists and may be a key"):
        write_key(one)
    assert one.read_text() == before
    with pytest.raises(InputError, match="cannot be written"):
        write_key(tmp_path / "no" / "folder.key")


def test_the_command_line_makes_and_uses_keys(
    tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    made, out, err = shell("key", "-o", tmp_path / "my.key")
    assert made == 0
    assert (tmp_path / "my.key").read_text().strip() not in out + err
    assert shell("key", "-o", tmp_path / "my.key")[0] == 2
    how = ["-q", "age", "-s", "ill", "-k", "2", "--pseudonym", "patient"]
    files = ["--key-file", tmp_path / "my.key", "-o", tmp_path / "out.csv"]
    code, _, err = shell("anonymize", tmp_path / "people.csv", *how, *files)
    assert code == 0, err
    key = read_key(str(tmp_path / "my.key"))
    found = pd.read_csv(tmp_path / "out.csv")["patient"]
    assert set(found) == {key.pseudonym(f"P-{i}") for i in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (["P-1", "0" * 32], "values that are not pseudonyms"),
        (["0" * 31 + "g", "0" * 32], "values that are not pseudonyms"),
        (["0" * 32, "f" * 32], "contains original identifiers"),
        (["1" * 32, "1" * 32], "occurs in several records"),
    ],
)
def test_the_audit_finds_what_is_no_pseudonym(column: list[str], sentence: str) -> None:
    table = open_frame(pa.table({"id": ["P-1", "F" * 32]}))
    replaced = read_replaced(table, ["id"], [])
    with pytest.raises(AuditFailed, match=sentence):
        prove_replaced(open_frame(pa.table({"id": column})), replaced)
    prove_replaced(open_frame(pa.table({"id": ["1" * 32, None, None]})), replaced)


def test_a_file_with_original_identifiers_is_not_proved(tmp_path: Path) -> None:
    people().assign(age="*").to_csv(tmp_path / "raw.csv", index=False)
    settings = shoal.Settings(**HOW | {"quasi_identifiers": {"age": None}}, pseudonyms=("patient",))
    with pytest.raises(AuditFailed, match="values that are not pseudonyms"):
        shoal.audit(tmp_path / "raw.csv", settings=settings)


def test_a_run_whose_pseudonyms_are_not_replaced_fails(
    key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.pipeline.carriers.memory.pseudonyms_of", lambda texts, key: texts)
    with pytest.raises(AuditFailed, match="contains original identifiers"):
        released(people(), key_file)


def test_canonical_texts_know_missing_values() -> None:
    frame = open_frame(pa.table({"id": ["a", None, "", " "]}))
    assert canonical_texts(frame, "id").to_pylist() == ["a", None, None, None]
