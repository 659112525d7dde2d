"""The verdict covers the whole release: it is green only where no released column identifies anybody."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.assess.singling_out import count_identified
from shoal.audits.verdict import Unprotected, judge
from shoal.encoding.frames import open_frame

Shell = Callable[..., tuple[int, str, str]]
N = 300
RNG = np.random.default_rng(8)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "sex": RNG.choice(["f", "m"], N),
        "ward": RNG.choice(list("abcd"), N),
        "ill": RNG.choice(["flu", "gout", "cold"], N),
    }
)
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"], "k": 5}


def alone(frame: pd.DataFrame, columns: list[str]) -> int:
    """The plain definition: records whose combination of some columns no other record has."""
    rows = [tuple(row) for row in frame[columns].astype(str).to_numpy()]
    return sum(count == 1 for count in Counter(rows).values())


def test_a_release_without_unprotected_columns_is_protected() -> None:
    release = shoal.anonymize(PEOPLE.drop(columns="ward"), **ROLES)
    assert release.verdict.state == "protected"
    assert release.verdict.is_protected
    assert "at least 4 others" in release.verdict.sentence


def test_kept_columns_are_counted_together_with_the_released_quasi_identifiers() -> None:
    release = shoal.anonymize(PEOPLE, **ROLES, keep=["ward"], allow={"ward": "unique"})
    found = release.verdict.unprotected
    assert found.columns == ("ward",)
    assert found.identified == alone(release.data, ["age", "sex", "ward"]) > 0
    assert alone(release.data, ["ward"]) == 0  # alone it identifies nobody
    assert release.verdict.state == "proved for some columns only"
    assert "'ward'" in release.verdict.sentence
    assert f"{found.identified} of {N} people" in release.verdict.sentence


def test_kept_columns_that_identify_people_are_refused_until_somebody_allows_it() -> None:
    with pytest.raises(shoal.Refused, match=r"Kept column 'ward' .* of 300 people") as raised:
        shoal.anonymize(PEOPLE, **ROLES, keep=["ward"])
    (refusal,) = raised.value.refusals
    assert (refusal.column, refusal.reason) == ("ward", "unique")
    assert refusal.identified > 0
    assert "--allow ward:unique" in str(raised.value)


def test_what_a_limit_lets_through_is_protected_and_said() -> None:
    identifies = shoal.anonymize(PEOPLE, **ROLES, keep=["ward"], allow=["ward"]).verdict
    share = identifies.unprotected.identified / N
    assert share > 0
    table = pd.concat([PEOPLE] * 30, ignore_index=True)
    table.loc[0, "ward"] = "rare"
    with pytest.raises(shoal.Refused, match="1 of 9,000 people"):
        shoal.anonymize(table, **ROLES, keep=["ward"])
    release = shoal.anonymize(table, **ROLES, keep=["ward"], identified_limit=0.01)
    assert release.verdict.state == "protected"
    assert "within the limit of 1 %" in release.verdict.sentence


@pytest.mark.parametrize("limit", [-0.1, 0.06, "much", True])
def test_a_limit_beyond_a_twentieth_is_no_limit(limit: object) -> None:
    with pytest.raises(shoal.InputError, match="identified_limit"):
        shoal.anonymize(PEOPLE, **ROLES, keep=["ward"], identified_limit=limit)


def test_allowing_one_reason_leaves_all_other_checks_on() -> None:
    table = PEOPLE.assign(twice=PEOPLE["age"] * 2)
    options = {**ROLES, "keep": ["twice"], "others": "drop"}
    with pytest.raises(shoal.Refused) as raised:
        shoal.anonymize(table, **options, allow={"twice": "unique"})
    assert {own.reason for own in raised.value.refusals} == {"reveals"}
    release = shoal.anonymize(table, **options, allow={"twice": ["unique", "reveals"]})
    assert release.verdict.state == "proved for some columns only"


@pytest.mark.parametrize(
    "allow", [{"ward": "everything"}, {"ward": []}, {"ward": 3}, {1: "unique"}]
)
def test_reasons_that_do_not_exist_are_told(allow: object) -> None:
    with pytest.raises(shoal.InputError, match="unique, reveals, identifier"):
        shoal.anonymize(PEOPLE, **ROLES, keep=["ward"], allow=allow)


def test_a_column_that_is_not_there_cannot_be_allowed() -> None:
    with pytest.raises(shoal.InputError, match="'wrad' is not in the table; did you mean 'ward'"):
        shoal.anonymize(PEOPLE, **ROLES, keep=["ward"], allow={"wrad": "unique"})


def test_a_reason_that_does_not_exist_is_told_on_the_command_line(
    tmp_path: Path, shell: Shell
) -> None:
    PEOPLE.to_csv(tmp_path / "t.csv", index=False)
    command = ("anonymize", str(tmp_path / "t.csv"), "-q", "age", "-k", "5", "--others", "drop")
    code, _, err = shell(*command, "--allow", "ward:unqiue", "-o", str(tmp_path / "r.csv"))
    assert code == 2
    assert "did you mean 'unique'" in err


def test_what_is_allowed_survives_a_settings_file(tmp_path: Path) -> None:
    settings = shoal.Settings(
        quasi_identifiers={"age": None},
        keep=("ward",),
        k=5,
        allow={"ward": ("unique", "reveals")},
        identified_limit=0.01,
    )
    settings.save(tmp_path / "s.toml")
    assert shoal.Settings.load(tmp_path / "s.toml") == settings
    assert shoal.Settings.from_dict(settings.to_dict()) == settings


def test_k_of_1_is_never_green(tmp_path: Path) -> None:
    release = shoal.anonymize(PEOPLE.drop(columns="ward"), **{**ROLES, "k": 1})
    assert release.verdict.state == "not proved"
    release.save_report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "✗ Not proved" in page
    assert "✓ Protected" not in page
    assert shoal.audit(release.data, quasi_identifiers=["age"], k=1).verdict.state == "not proved"


def test_every_view_of_a_release_has_the_same_verdict(tmp_path: Path) -> None:
    release = shoal.anonymize(PEOPLE, **ROLES, keep=["ward"], allow={"ward": "unique"})
    sentence = release.verdict.sentence
    assert release.to_dict()["verdict"]["sentence"] == sentence
    assert json.loads(json.dumps(release.to_dict()))["verdict"]["state"] == release.verdict.state
    assert sentence.replace("'", "&#39;") in release._repr_html_()
    release.save_report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "! Proved for some columns only" in page
    assert sentence.replace("'", "&#39;") in page
    assert release.evaluate(queries=0).verdict == release.verdict
    release.save(tmp_path / "r.csv")
    audit = shoal.audit(tmp_path / "r.csv", settings=release.settings)
    assert audit.verdict == release.verdict
    assert audit.to_dict()["verdict"] == release.to_dict()["verdict"]


def test_the_command_line_says_the_verdict_first(tmp_path: Path, shell: Shell) -> None:
    PEOPLE.to_csv(tmp_path / "t.csv", index=False)
    roles = ("-q", "age", "-q", "sex", "-s", "ill", "-x", "ward", "-k", "5")
    command = ("anonymize", str(tmp_path / "t.csv"), *roles, "-o", str(tmp_path / "r.csv"))
    code, out, err = shell(*command)
    assert (code, out) == (2, "")
    assert "--allow ward:unique" in err
    assert not (tmp_path / "r.csv").exists()
    code, out, _ = shell(*command, "--allow", "ward:unique")
    assert code == 0
    assert "! Proved for some columns only" in out.splitlines()[0]


def test_columns_without_a_role_count_as_unprotected_in_an_audit() -> None:
    release = shoal.anonymize(PEOPLE.drop(columns="ward"), **ROLES)
    table = release.data.assign(number=range(N))
    verdict = shoal.audit(table, quasi_identifiers=["age", "sex"], sensitive=["ill"], k=5).verdict
    assert verdict.state == "proved for some columns only"
    assert verdict.unprotected == Unprotected(("number",), N, N)


def test_a_failed_requirement_is_not_proved_whatever_else_holds() -> None:
    found = shoal.evaluate(
        PEOPLE, PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["ill", "ward"], k=5
    )
    assert found.verdict.state == "not proved"
    assert found.verdict.failures


def test_all_engines_count_the_same_people(carrier: str, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pandas(PEOPLE), tmp_path / "t.parquet")
    options = {**ROLES, "keep": ["ward"], "engine": carrier}
    with pytest.raises(shoal.Refused):
        shoal.anonymize(tmp_path / "t.parquet", **options)
    release = shoal.anonymize(tmp_path / "t.parquet", **options, allow=["ward"])
    release.save(tmp_path / "r.csv")
    frame = pd.read_csv(tmp_path / "r.csv", dtype=str)
    assert release.verdict.unprotected.identified == alone(frame, ["age", "sex", "ward"])


def test_where_persons_are_counted_the_verdict_counts_persons() -> None:
    table = pd.concat([PEOPLE] * 2, ignore_index=True).assign(who=[*range(N), *range(N)])
    options = {**ROLES, "keep": ["ward"], "person": "who", "allow": ["ward"]}
    found = shoal.anonymize(table, **options, keep_order=True)
    verdict = found.verdict
    combinations: dict[tuple[str, ...], set[int]] = {}
    for row, who in zip(
        found.data[["age", "sex", "ward"]].astype(str).to_numpy(), table["who"], strict=True
    ):
        combinations.setdefault(tuple(row), set()).add(who)
    single = {next(iter(people)) for people in combinations.values() if len(people) == 1}
    assert verdict.unprotected.identified == len(single)
    assert verdict.unprotected.of == N


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), max_size=30))
def test_people_alone_with_their_values_are_counted_as_the_plain_definition_does(
    rows: list[tuple[int, int, int]],
) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b", "who"])
    together: dict[tuple[int, int], set[int]] = {}
    for a, b, who in rows:
        together.setdefault((a, b), set()).add(who)
    single = {next(iter(people)) for people in together.values() if len(people) == 1}
    persons = frame["who"].to_numpy(dtype=np.int64)
    counted = count_identified(open_frame(frame), ["a", "b"], persons)
    assert counted == len(single)
    assert count_identified(open_frame(frame), ["a", "b"]) == alone(frame, ["a", "b"])


def test_each_state_has_its_sentence() -> None:
    assert str(judge("Fine", 5)) == "✓ Protected. Fine."
    assert str(judge("", 5, ["k is missed"])).startswith("✗ Not proved.")
    one = judge("", 5, unprotected=Unprotected(("a",), 1, 10)).sentence
    assert "the unprotected column 'a'" in one
    assert "1 of 10 people" in one
    many = judge("", 5, unprotected=Unprotected(tuple("abcdefghijklmnop"), 2, 10)).sentence
    assert "16 unprotected columns" in many
    assert "and 4 more" in many
