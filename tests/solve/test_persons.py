"""Persons in place of records: kernels beside their twins, what is refused, and what the audit finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
import reference.requirements
import tables
from allowed import allowing
from examples import several
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from partitions import assert_tidy, lists
from reference import persons as twin

import shoal
from shoal.audits.persons import PersonIds, maximum_matching, read_person_ids
from shoal.encoding.frames import open_frame
from shoal.errors import AuditFailed, Infeasible, InputError
from shoal.kernels.persons.improving import (
    mend_persons,
    move_among_persons,
    split_persons,
    swap_among_persons,
)
from shoal.kernels.splitting.mondrian import split_by_persons
from shoal.pipeline.prove import AuditEvidence, audit_release
from shoal.progress import silent
from shoal.risk.persons import People, person_numbers
from shoal.solve.leaving_out import remove_dearest
from shoal.solve.local_search.budget import Refine
from shoal.solve.persons import PersonSearch, improve_by_persons, repair_by_persons, search_of

Shell = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.usefixtures("briefly")

HOW: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"], "k": 3}
KINDS = ("frequency", "distinct", "entropy", "recursive", "p-sensitive", "closeness, equal")


def visits(seed: int = 0, records: int = 60, persons: int = 20) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "patient": rng.integers(0, persons, records),
            "age": rng.integers(20, 70, records),
            "sex": rng.choice(["f", "m"], records),
            "ill": rng.choice(list("abcdef"), records),
        }
    )


# Kernels


@st.composite
def starts(draw: st.DrawFn) -> tuple[Any, Any, PersonSearch, Any, list[list[int]]]:
    """A table with persons and requirements, a random partition of it, and plain code for what groups must keep."""
    sample = draw(tables.samples(min_records=6, max_records=14, sensitive=2))
    n = sample.records
    sample = sample.with_columns(
        sensitive2=pa.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    )
    persons = np.array(draw(st.lists(st.integers(0, n // 2), min_size=n, max_size=n)))
    persons = np.unique(persons, return_inverse=True)[1].reshape(-1).astype(np.int64)
    kind = draw(st.sampled_from([None, *KINDS]))
    required = draw(reference.requirements.requirements(kind)) if kind else []
    k = draw(st.integers(1, 3))
    problem = reference.requirements.problem_of(sample, "lm", k, required)
    people = People.of(persons, problem.rules, problem.values)
    number = draw(st.integers(1, max(1, n // 2)))
    groups = draw(st.lists(st.integers(0, number - 1), min_size=n, max_size=n))
    numbered = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int32)
    search = search_of(problem, people, numbered)
    meets = twin.meets(sample, persons.tolist(), k, required)
    return sample.objective("lm"), people, search, meets, lists(search.search)


@settings(max_examples=several(80))
@given(start=starts())
def test_groups_comply_as_plain_code_counts_them(start: Any) -> None:
    _, people, search, meets, groups = start
    comply, heads = people.comply(search.groups)
    filled = [group for group in groups if group]
    assert comply.tolist() == [meets(group) for group in filled]
    assert heads.tolist() == [len({*people.person[group].tolist()}) for group in filled]


@settings(max_examples=several(60))
@given(pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_the_audit_matches_persons_and_values_as_well_as_can_be(
    pairs: list[tuple[int, int]],
) -> None:
    found = maximum_matching([value for _, value in pairs], [person for person, _ in pairs])
    assert found == twin.most_different(list(dict.fromkeys(pairs)))


@settings(max_examples=several(60))
@given(start=starts(), may_hand_out=st.just(True))
def test_mending_does_what_its_twin_does(start: Any, may_hand_out: bool) -> None:
    objective, _, search, meets, groups = start
    small = [g for g, group in enumerate(groups) if group and not meets(group)]
    small.sort(key=lambda g: len(groups[g]))
    expected = twin.mend(objective, groups, small, meets)
    mend_persons(search.search, search.crowd, np.array(small, dtype=np.int64), may_hand_out)
    assert lists(search.search) == [sorted(group) for group in expected]


@settings(max_examples=several(60))
@given(start=starts())
def test_moves_are_those_of_the_twin(start: Any) -> None:
    objective, _, search, meets, _ = start
    records = np.arange(len(search.search.classes), dtype=np.int32)
    assume(meets(records.tolist()))
    repair_by_persons(search, silent)
    groups = lists(search.search)
    expected = twin.move(objective, groups, records.tolist(), meets)
    move_among_persons(search.search, search.crowd, records)
    assert lists(search.search) == [sorted(group) for group in expected]


@settings(max_examples=several(80))
@given(start=starts(), relaxed=st.booleans())
def test_mondrian_counts_persons_as_its_twin_does(start: Any, relaxed: bool) -> None:
    objective, people, search, meets, _ = start
    problem, everything = search.problem, list(range(len(people.person)))
    assume(meets(everything))
    groups = split_by_persons(
        problem.arrays,
        people.rules,
        people.crowd,
        problem.codes,
        problem.classes,
        np.arange(len(everything)),
        relaxed,
    )
    expected = reference.mondrian(objective, everything, meets, relaxed)
    found = tables.members(groups.tolist())
    assert sorted(found) == sorted(sorted(group) for group in expected)


@settings(max_examples=several(60))
@given(start=starts(), most=st.integers(1, 6))
def test_records_are_left_out_as_by_the_twin(start: Any, most: int) -> None:
    objective, people, search, meets, _ = start
    assume(meets(range(len(people.person))))
    repair_by_persons(search, silent)
    groups = search.groups
    expected = twin.leave_out(objective, tables.members(groups), most, meets)
    left = remove_dearest(search.problem, groups, most, people)
    kept = [sorted(np.flatnonzero(left == g).tolist()) for g in range(len(expected))]
    assert kept == [sorted(group) for group in expected]


@settings(max_examples=several(60))
@given(start=starts())
def test_local_search_keeps_what_complies_and_never_costs_more(start: Any) -> None:
    _, people, search, meets, _ = start
    assume(meets(range(len(search.search.classes))))
    repair_by_persons(search, silent)
    assert all(meets(group) for group in lists(search.search) if group)
    before = search.cost
    every = np.arange(len(search.search.s.size))
    records = np.arange(len(people.person), dtype=np.int32)
    for change in (
        lambda: split_persons(search.search, search.crowd, every),
        lambda: swap_among_persons(search.search, search.crowd, records, 2),
        lambda: improve_by_persons(search, Refine(steps=3), silent),
    ):
        change()
        assert all(meets(group) for group in lists(search.search) if group)
        assert search.cost <= before + 1e-9
        before = search.cost
    none = replace(
        search.problem,
        values=np.zeros((len(people.person), 0), dtype=np.int32),
        rules=people.rules._replace(start=people.rules.start[:1]),
    )
    assert_tidy(replace(search, problem=none))


def test_a_large_group_of_many_persons_is_split() -> None:
    table = visits(records=200, persons=60)
    one = shoal.anonymize(table, person="patient", method="cover", **HOW)
    assert one.audit.groups > 20


# What is counted


def test_k_counts_persons_and_records_are_said_no_more(tmp_path: Path) -> None:
    table = pd.concat([visits()] * 3)  # every record three times: k of records would be one person
    allow = {"patient": "person"}
    by_record = shoal.anonymize(table, identifiers=["patient"], allow=allow, **HOW)
    assert by_record.audit.persons
    release = shoal.anonymize(table, person="patient", **HOW)
    assert release.k == release.audit.by_person.smallest >= 3  # type: ignore[union-attr]
    assert release.audit.persons == ()
    assert release.removed == ("patient",)
    assert release.risk.after.reidentification.prosecutor_highest == pytest.approx(1 / release.k)
    release.save_report(tmp_path / "report.html")
    said = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "People, not records, were counted" in said
    assert "counted by persons" not in said  # no requirement beyond k
    assert "not for people" not in said
    assert "at least 2 other people" in release.verdict.sentence


def release_lines(release: Any) -> list[tuple[str, str]]:
    from shoal.api.summary import brief_lines

    return brief_lines(release)


def test_without_person_summary_and_report_warn(tmp_path: Path) -> None:
    table, allow = pd.concat([visits()] * 3), {"patient": "person"}
    release = shoal.anonymize(table, identifiers=["patient"], allow=allow, **HOW)
    assert "name it with person=" in dict(release_lines(release))["verdict"]
    release.save_report(tmp_path / "report.html")
    said = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "occurs in several records" in said


def test_one_person_with_many_values_makes_no_group_diverse() -> None:
    table = pd.DataFrame(
        {
            "patient": [1, 1, 1, 2, 3, 4],
            "age": [30, 30, 30, 30, 60, 60],
            "sex": "f",
            "ill": ["a", "b", "c", "a", "a", "b"],
        }
    )
    how = {**HOW, "k": 1, "requirements": [shoal.LDiversity(2, kind="distinct")]}
    alone = table[:3]  # three values, and all of them are one person's
    known = AuditEvidence(crowd=read_person_ids(open_frame(alone), "patient"))
    promised = shoal.Settings(
        quasi_identifiers={"age": None}, sensitive=("ill",), k=1, requirements=how["requirements"]
    )
    verdict = audit_release(open_frame(alone), known, promised)
    assert verdict.audit.proofs[0].reached == 1
    assert not verdict.is_proved
    assert audit_release(
        open_frame(alone), AuditEvidence(), promised
    ).is_proved  # by its records it would be
    release = shoal.anonymize(table, person="patient", keep_order=True, **how)
    assert release.audit.proofs[0].reached == 2
    table["ill"] = ["a", "b", "c", "a", "a", "a"]
    with pytest.raises(
        Infeasible, match="only 2 different people can be matched with different values"
    ):
        shoal.anonymize(
            table,
            person="patient",
            **{**how, "requirements": [shoal.LDiversity(3, kind="distinct")]},
        )


def test_ids_that_differ_in_case_spaces_or_unicode_form_are_one_person() -> None:
    frame = open_frame(pa.table({"id": ["A1", "a1 ", "Ａ1", "b"]}))
    problems: list[str] = []
    assert person_numbers(frame, "id", (), problems).tolist() == [0, 0, 0, 1]
    assert read_person_ids(frame, "id").person.tolist() == [0, 0, 0, 1]
    assert problems == []


def test_pseudonyms_may_stand_for_the_person(tmp_path: Path) -> None:
    (tmp_path / "my.key").write_text("a secret of twenty-six signs")
    (tmp_path / "my.key").chmod(0o600)
    release = shoal.anonymize(
        visits(),
        person="patient",
        pseudonyms=["patient"],
        allow=allowing("patient"),
        key_file=tmp_path / "my.key",
        **HOW,
    )
    assert release.data["patient"].nunique() == visits()["patient"].nunique()
    release.save(tmp_path / "release.csv")
    audit = shoal.audit(tmp_path / "release.csv", settings=release.settings)
    assert audit.by_person == release.audit.by_person  # pseudonyms tell persons apart


def test_a_certificate_of_records_holds_for_persons() -> None:
    release = shoal.anonymize(visits(), person="patient", method="cover", **HOW)
    by_record = shoal.anonymize(visits(), identifiers=["patient"], method="cover", **HOW)
    assert release.certificate is not None
    assert by_record.certificate is not None
    best = min(release.loss(), by_record.loss())
    assert 0 < release.certificate.bound <= best + 1e-9
    assert 0 < by_record.certificate.bound <= best + 1e-9


def test_runs_repeat_and_files_are_proved(tmp_path: Path) -> None:
    one, other = (
        shoal.anonymize(visits(3, 300, 90), person="patient", method="cover", **HOW)
        for _ in range(2)
    )
    assert one.groups.tolist() == other.groups.tolist()
    for name in ("release.csv", "release.parquet", "release.jsonl", "release.xlsx"):
        one.save(tmp_path / name)


# What the audit finds


def test_the_audit_finds_a_release_with_too_few_persons() -> None:
    release = shoal.anonymize(visits(), person="patient", **HOW)
    crowd = release.released.known.crowd
    assert crowd is not None
    frame, settings_ = open_frame(release.data), release.settings
    assert audit_release(frame, release.released.known, settings_).is_proved
    first = release.data.iloc[0][["age", "sex"]]
    group = (release.data[["age", "sex"]] == first).all(axis=1).to_numpy()
    fewer = np.where(group, crowd.person[group.argmax()], crowd.person)
    tampered = AuditEvidence(crowd=PersonIds("patient", fewer))
    verdict = audit_release(frame, tampered, settings_)
    assert not verdict.is_proved
    assert "fewer than k = 3 people (the smallest has 1)" in verdict.failures[0]
    with pytest.raises(AuditFailed, match="people are known for 59"):
        audit_release(frame, AuditEvidence(crowd=PersonIds("patient", crowd.person[1:])), settings_)


def test_the_audit_finds_a_swapped_cell() -> None:
    release = shoal.anonymize(visits(), person="patient", keep_order=True, **HOW)
    data = release.data.copy()
    alike = data.groupby(["age", "sex"])["age"].transform("size")
    data.loc[alike.idxmin(), "age"] = "[0, 99]"
    verdict = audit_release(open_frame(data), release.released.known, release.settings)
    assert not verdict.is_proved


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_the_audit_counts_requirements_by_persons(kind: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    n = 40
    columns = {name: rng.choice(["s", "t", "u"], n) for name in ("sensitive0", "sensitive1")}
    table = pa.table(
        {"q": rng.choice(["x", "y", "z"], n), "id": rng.integers(0, 14, n), **columns}
        | {"sensitive2": rng.integers(0, 5, n)}
    )
    required = data.draw(reference.requirements.requirements(kind))
    sample = tables.Sample(table, {}, {}, {})
    verdict = audit_release(
        open_frame(table),
        AuditEvidence(crowd=read_person_ids(open_frame(table), "id")),
        shoal.Settings(
            quasi_identifiers={"q": None},
            sensitive=tuple(sample.sensitive),
            k=3,
            requirements=tuple(required),
        ),
    )
    meets = twin.meets(sample, table["id"].to_pylist(), 3, required)
    cells = table["q"].to_pylist()
    groups = [[i for i in range(n) if cells[i] == cell] for cell in set(cells)]
    assert verdict.is_proved == all(meets(group) for group in groups)


def test_a_finished_file_says_that_persons_were_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    visits().to_csv("visits.csv", index=False)
    how = ["-q", "age", "-q", "sex", "-s", "ill", "--person", "patient", "-k", "3"]
    how += ["-o", "out.csv", "--save-settings", "out.toml"]
    code, told, error = shell("anonymize", "visits.csv", *how)
    assert code == 0, error
    assert "people, 3 required)" in told
    audit = ["audit", "out.csv", "--settings", "out.toml"]
    code, told, error = shell(*audit)
    assert code == 0, error
    assert "People could not be counted, because 'patient' is not in this table" in told
    facts = json.loads(shell(*audit, "--json")[1])
    assert facts["person"] == "patient"
    assert facts["by_person"] is None


def test_the_report_on_a_finished_file_says_so_too(tmp_path: Path) -> None:
    release = shoal.anonymize(visits(), person="patient", **HOW)
    found = shoal.evaluate(visits(), release.data, settings=release.settings, queries=0)
    found.save_report(tmp_path / "report.html")
    said = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "People could not be counted" in said
    assert "not for people" in said


def test_a_dry_run_says_whom_k_counts(tmp_path: Path, shell: Shell) -> None:
    visits().to_csv(tmp_path / "visits.csv", index=False)
    how = ["-q", "age", "-q", "sex", "-s", "ill", "--person", "patient", "-k", "3", "--dry-run"]
    _, told, error = shell("anonymize", tmp_path / "visits.csv", *how)
    assert "k = 3 people, identified by patient" in told, error


# What is refused


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"person": "patents"}, "Column 'patents' is not in the table; did you mean 'patient'"),
        ({"person": 7}, "The 'person' parameter must be the name of a column"),
        ({"person": "age"}, "identifies people, so it cannot also be quasi-identifier"),
        ({"person": "ill"}, "identifies people, so it cannot also be sensitive"),
        ({"person": "patient", "method": "non_homogeneous"}, "cannot be counted"),
        (
            {"person": "patient", "loosen": 0.2, "requirements": [shoal.LDiversity(1.5)]},
            "loosening cannot be combined with this kind of diversity. Set loosen to 0",
        ),
        (
            {"person": "patient", "suppression_limit": 0.1, "requirements": [shoal.AlphaK(0.9)]},
            "leaving records out cannot be combined with alpha. Set suppression_limit to 0",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        shoal.anonymize(visits(), **{"others": "drop", **HOW, **more})


def test_a_record_without_a_person_is_refused() -> None:
    table = visits().astype({"patient": object})
    table.loc[[3, 7], "patient"] = [None, " "]
    table["patient"] = table["patient"].map(lambda value: value if value is None else str(value))
    with pytest.raises(InputError, match="2 of 60 records have no value in column 'patient'"):
        shoal.anonymize(table, person="patient", **HOW)


def test_what_persons_cannot_keep_is_refused_with_the_nearest_that_they_can() -> None:
    table = visits(persons=5)
    with pytest.raises(Infeasible, match="k = 6 needs at least 6 people, but the table has 5"):
        shoal.anonymize(table, person="patient", **{**HOW, "k": 6})
    with pytest.raises(Infeasible, match="no release can meet frequency 4-diversity"):
        shoal.anonymize(table, person="patient", requirements=[shoal.LDiversity(4)], **HOW)
