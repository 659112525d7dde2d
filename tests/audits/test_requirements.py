"""Requirements beyond k all the way: the audit, whole runs, settings files and flags."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import in_order
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import JOB, PATIENTS, TREE

import shoal
from shoal import (
    AlphaK,
    AuditFailed,
    Hierarchy,
    InputError,
    LDiversity,
    PSensitive,
    Settings,
    TCloseness,
)
from shoal.audits import groups as audit_of_groups
from shoal.audits.requirements import REQUIREMENTS
from shoal.audits.requirements.base import Requirement
from shoal.cli import options
from shoal.settings.settings import make_settings

# The audit


def test_the_audit_names_no_value_and_says_all_that_is_missed() -> None:
    asked = [LDiversity(2, columns=["ill"]), TCloseness(0.1, "ordered", columns=["pay"])]
    frame = PATIENTS.assign(age=["a"] * 4 + ["b"] * 4)
    job = {"quasi_identifiers": ["age"], "sensitive": ["ill", "pay"], "k": 5}
    with pytest.raises(AuditFailed) as caught:
        shoal.audit(frame, **job, requirements=asked)
    assert str(caught.value).splitlines() == [
        "2 of 2 groups have fewer than k = 5 records (the smallest has 4). Do not release this table.",
        "1 of 2 groups misses frequency 2-diversity of 'ill' (the worst reaches 1.333). Do not release this table.",
        "2 of 2 groups miss 0.1-closeness (ordered) of 'pay' (the worst reaches 0.2857). Do not release this table.",
    ]


def test_the_audit_needs_the_sensitive_column() -> None:
    with pytest.raises(InputError) as caught:
        shoal.audit(
            PATIENTS.rename(columns={"ill": "illness"}), **JOB, requirements=[LDiversity(1)]
        )
    says = "Sensitive column 'ill' is not in the table; did you mean 'illness'?"
    assert caught.value.problems == (says,)
    assert shoal.audit(PATIENTS.drop(columns="ill"), **{**JOB, "k": 1}).k == 1


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9))
def test_blocks_of_groups_do_not_change_the_proof(seed: int, cells: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pa.table({"g": rng.integers(0, 9, 60), "s": rng.integers(0, 7, 60)})
    asked = [
        LDiversity(1, kind="entropy"),
        AlphaK(1),
        TCloseness(1),
        TCloseness(1, ground="ordered"),
    ]
    job = {"quasi_identifiers": ["g"], "sensitive": ["s"], "k": 1, "requirements": asked}
    whole = shoal.audit(frame, **job)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_of_groups, "CELLS", cells)
        patch.setattr(audit_of_groups, "GROUPS", groups)
        parts = shoal.audit(frame, **job)
    assert [proof.requirement for proof in parts.proofs] == [p.requirement for p in whole.proofs]
    assert [p.reached for p in parts.proofs] == pytest.approx([p.reached for p in whole.proofs])


def test_an_audit_shows_its_proofs_where_there_are_some() -> None:
    job = {"quasi_identifiers": ["g"], "sensitive": ["s"], "k": 1}
    frame = pa.table({"g": [1, 1], "s": ["a", "b"]})
    assert repr(shoal.audit(frame, **job)) == "Audit(records=2, groups=1, k=2)"
    assert repr(shoal.audit(frame, **job, requirements=[PSensitive(2)])) == (
        "Audit(records=2, groups=1, k=2, "
        """proofs=(Proof(requirement="2-sensitivity of 's'", required=2.0, reached=2.0),))"""
    )


# Whole runs

MANY = {
    "frequency": LDiversity(2.5),
    "distinct": LDiversity(3, kind="distinct"),
    "entropy": LDiversity(3, kind="entropy", columns=["ill"]),
    "recursive": LDiversity(2, kind="recursive", c=2.0, columns=["ill"]),
    "sensitive": PSensitive(3),
    "extended": PSensitive(3, TREE, ["cancer"], columns=["ill"]),
    "alpha": AlphaK(0.5),
    "alpha of a value": AlphaK(0.25, ["flu"], columns=["ill"]),
    "equal": TCloseness(0.25, columns=["ill"]),
    "ordered": TCloseness(0.2, ground="ordered", columns=["pay"]),
    "hierarchical": TCloseness(0.25, "hierarchical", TREE, columns=["ill"]),
}


def crowd(n: int = 120) -> pa.Table:
    ill = ["colon", "breast", "cold", "flu", None]
    return pa.table(
        {
            "age": [20 + 7 * i % 61 for i in range(n)],
            "sex": ["f" if i % 3 else "m" for i in range(n)],
            "ill": [ill[(i * i) % 11 % 5] for i in range(n)],
            "pay": [100 * (i * 13 % 17) for i in range(n)],
        }
    )


@pytest.mark.parametrize("name", MANY)
def test_a_release_keeps_its_requirement_and_comes_back_from_its_settings(
    name: str, tmp_path: Path
) -> None:
    job: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["ill", "pay"],
        "k": 4,
        "method": "agglomerative",
    }
    release = in_order.anonymize(crowd(), **job, requirements=[MANY[name]], order_seed=1)
    columns = MANY[name].columns or ("ill", "pay")
    assert [p.requirement for p in release.audit.proofs] == [
        MANY[name].describe(c) for c in columns
    ]
    release.settings.save(tmp_path / "release.toml")
    assert Settings.load(tmp_path / "release.toml") == release.settings
    again = in_order.anonymize(crowd(), settings=tmp_path / "release.toml", order_seed=1)
    assert again.data.equals(release.data)
    release.save(tmp_path / "release.parquet")
    proved = shoal.audit(tmp_path / "release.parquet", settings=tmp_path / "release.toml")
    assert proved == release.audit


# Settings files and flags


def test_requirements_come_back_from_a_settings_file(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "ill.csv").write_text("flu,cold,*\nrhinitis,cold,*\ngout,gout,*\n")
    tree = Hierarchy.from_csv(tmp_path / "trees" / "ill.csv")
    asked = [
        *MANY.values(),
        PSensitive(2, tree, ["cold", "gout"], columns=["ill"]),
        TCloseness(0.5, "hierarchical", tree, columns=["ill"]),
        AlphaK(0.25, [1, 2.5, "x", True, date(2020, 1, 1)], columns=["pay"]),
        LDiversity(1.5, columns=["ill", "pay"]),
    ]
    job = make_settings(
        Settings(quasi_identifiers={"age": None}, sensitive=("ill", "pay"), k=2),
        requirements=asked,
    )
    job.save(tmp_path / "job.toml")
    assert Settings.load(tmp_path / "job.toml") == job
    assert set(job.requirements) >= set(asked[:3])
    text = (tmp_path / "job.toml").read_text()
    assert '[[requirement.diversity]]\nl = 2\nkind = "recursive"\nc = 2.0\n' in text
    assert 'hierarchy = "trees/ill.csv"' in text


def test_requirements_of_a_kind_stand_together_whatever_their_order() -> None:
    asked = [TCloseness(0.5), LDiversity(2), AlphaK(0.9), LDiversity(1)]
    kept = make_settings(Settings({"age": None}, sensitive=("ill",), k=2), requirements=asked)
    assert kept.requirements == (LDiversity(2), LDiversity(1), AlphaK(0.9), TCloseness(0.5))


def test_a_second_label_of_a_set_can_be_protected(tmp_path: Path) -> None:
    rows = [["a", "A", "*"], ["b", "B", "*"], ["c", "B", "*"]]
    requirement = PSensitive(2, Hierarchy.from_rows(rows), ["A", "B"], columns=["s"])
    assert requirement.protected == ("a", "B")
    job = make_settings(Settings({"g": None}, sensitive=("s",), k=1), requirements=[requirement])
    job.save(tmp_path / "job.toml")
    assert Settings.load(tmp_path / "job.toml") == job


FLAGS: dict[str, Requirement] = {
    "diversity:l=3": LDiversity(3),
    "diversity:l=2.5:kind=entropy:columns=ill": LDiversity(2.5, "entropy", columns=["ill"]),
    "diversity:l=2:kind=recursive:c=3:columns=ill,pay": LDiversity(
        2, "recursive", 3, columns=["ill", "pay"]
    ),
    "sensitivity:p=2": PSensitive(2),
    "sensitivity:p=2:hierarchy=ill.csv:protected=cold,gout:columns=ill": PSensitive(
        2,
        Hierarchy.from_rows(
            [["flu", "cold", "*"], ["rhinitis", "cold", "*"], ["gout", "gout", "*"]]
        ),
        ["cold", "gout"],
        columns=["ill"],
    ),
    "alpha:alpha=0.4": AlphaK(0.4),
    "alpha:alpha=0.4:values=flu,a\\,b,c\\:d": AlphaK(0.4, ["flu", "a,b", "c:d"]),
    "closeness:t=0.2": TCloseness(0.2),
    "closeness:t=0.2:ground=ordered:columns=a\\:b,c=d": TCloseness(
        0.2, "ordered", columns=["a:b", "c=d"]
    ),
    "closeness:t=0:ground=hierarchical:hierarchy=ill.csv:columns=ill": TCloseness(
        0,
        "hierarchical",
        Hierarchy.from_rows(
            [["flu", "cold", "*"], ["rhinitis", "cold", "*"], ["gout", "gout", "*"]]
        ),
        columns=["ill"],
    ),
}


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_say_what_python_says(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ill.csv").write_text("flu,cold,*\nrhinitis,cold,*\ngout,gout,*\n")
    problems: list[str] = []
    assert options.parse_requirements([flag], problems) == [FLAGS[flag]]
    assert problems == []


def test_every_requirement_is_listed() -> None:
    assert set(shoal.list_requirements()) == set(REQUIREMENTS)
    assert {kind.__name__ for kind in REQUIREMENTS.values()} <= set(dir(shoal))
