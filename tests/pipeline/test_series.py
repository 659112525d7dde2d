"""Releases over time: what is kept, left out, remembered and proved, and bad input."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import in_order
import numpy as np
import pandas as pd
import pytest

import shoal
from shoal import AuditFailed, History, Infeasible, InputError, LDiversity
from shoal.encoding.frames import open_frame
from shoal.pipeline.prove import audit_release

JOB: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex"],
    "sensitive": ["ill"],
    "person": "id",
    "k": 4,
    "requirements": [LDiversity(2)],
    "suppression_limit": 0.5,
}


def people(seed: int, records: int = 80, first: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(first, first + records)],
            "age": rng.integers(18, 90, records),
            "sex": rng.choice(list("fm"), records),
            "ill": rng.choice(list("vwxyz"), records),
        }
    )


def made(table: Any, previous: Any = (), **options: Any) -> shoal.Release[Any]:
    given = {**JOB, **options}
    return in_order.anonymize(
        table, previous=list(previous) if previous == () else previous, **given
    )


def signatures(release: shoal.Release[Any], table: pd.DataFrame) -> dict[str, Any]:
    history = release.history
    known = {who: history.persons.get(history.key(who)) for who in table["id"]}
    return {who: history.signatures[own] for who, own in known.items() if own is not None}


def test_groups_have_as_many_of_each_value_of_their_signatures() -> None:
    table = people(0)
    release = made(table)
    own = signatures(release, table)
    table = table.assign(group=release.groups, own=[own.get(who) for who in table["id"]])
    for _, part in table[table["group"] >= 0].groupby(["group", "own"]):
        counts = part["ill"].value_counts()
        assert counts.nunique() == 1
        assert set(counts.index) == set(part["own"].iloc[0])
        assert len(counts) >= 2


def test_who_stays_keeps_the_signature_also_after_a_gap() -> None:
    first = people(0)
    one = made(first)
    two = made(first[:40], [one])
    back = pd.concat([first, people(1, 40, 80)], ignore_index=True)
    three = made(back, [one, two])
    before, after = signatures(one, first), signatures(three, back)
    assert all(after[who] == own for who, own in before.items())
    assert len(three.history.nights) == 3


def test_the_same_table_seed_and_history_make_the_same_groups() -> None:
    one = made(people(0), order_seed=0)
    assert (one.groups == made(people(0), order_seed=0).groups).all()
    fewer = people(0)[9:]
    assert (made(fewer, [one]).groups == made(fewer, [one]).groups).all()


def test_nobody_can_repeat_the_draws_without_the_history() -> None:
    """Two runs with the same seed leave out other people: each begins a history with a salt of its own."""
    table = people(0, 81).assign(ill=["v"] * 30 + ["w"] * 26 + ["x"] * 25)
    runs = {tuple(made(table).is_released) for _ in range(6)}
    assert len(runs) > 1


def test_somebody_whose_value_has_left_the_signature_is_left_out() -> None:
    table = people(0)
    one = made(table)
    own = signatures(one, table)
    who = next(iter(own))
    other = next(value for value in "vwxyz" if value not in own[who])
    changed = table.assign(ill=table["ill"].where(table["id"] != who, other))
    two = made(changed, [one])
    assert not two.is_released[list(table["id"]).index(who)]


def test_the_audit_proves_the_series_and_finds_what_is_not_kept() -> None:
    table = people(0)
    one = made(table)
    two = made(table, [one])
    assert two.audit.proofs[-1].requirement == "2-invariance of 'ill' over 2 releases"
    witness = two.released.known.series
    frame = open_frame(two.data)
    moved = replace(witness, before=np.full_like(witness.before, 10_000))
    mixed = replace(witness, signature=np.roll(witness.signature, 1))
    short = replace(witness, m=99)
    for wrong in (moved, mixed, short):
        verdict = audit_release(frame, replace(two.released.known, series=wrong), two.settings)
        assert not verdict.is_proved
    swapped = two.data.assign(ill=np.roll(two.data["ill"], 1))
    assert not audit_release(open_frame(swapped), two.released.known, two.settings).is_proved


def test_a_history_is_read_back_and_names_nobody(tmp_path: Path) -> None:
    table = people(0)
    release = made(table)
    path = tmp_path / "history.shoal"
    release.history.save(path)
    assert History.load(path) == release.history
    text = path.read_text(encoding="utf-8")
    assert not [who for who in table["id"] if f'"{who}"' in text]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = made(table, path)
    assert len(again.history.nights) == 2
    with pytest.raises(InputError, match="exists"):
        release.history.save(path)


def test_a_file_is_proved_by_its_history_alone(tmp_path: Path) -> None:
    one = made(people(0))
    two = made(people(0), [one])
    two.save(tmp_path / "night.csv")
    found = shoal.audit(tmp_path / "night.csv", settings=two.settings, previous=two.history)
    assert found.proofs[-1].reached >= 2
    data = pd.read_csv(tmp_path / "night.csv")
    data.assign(ill=np.roll(data["ill"], 1)).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(AuditFailed, match="none of the releases"):
        shoal.audit(
            tmp_path / "other.csv",
            settings=replace(two.settings, k=1, requirements=(LDiversity(1),)),
            previous=two.history,
        )


def test_settings_of_a_series_refuse_to_run_alone(tmp_path: Path) -> None:
    release = made(people(0))
    release.settings.save(tmp_path / "s.toml")
    assert shoal.Settings.load(tmp_path / "s.toml").series
    with pytest.raises(InputError, match="Give the earlier releases"):
        shoal.anonymize(people(0), settings=tmp_path / "s.toml")
    shoal.anonymize(people(0), settings=tmp_path / "s.toml", previous=[release])


BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"person": None},
        "belong to the same person in all releases. Name the column that identifies people",
    ),
    ({"sensitive": ["ill", "sex"], "quasi_identifiers": ["age"]}, "exactly one sensitive column"),
    ({"requirements": []}, "each person. Require diversity by frequency, distinct or entropy"),
    (
        {"requirements": [LDiversity(2, "recursive", 2)]},
        "each person. Require diversity by frequency",
    ),
    ({"requirements": [LDiversity(2), shoal.TCloseness(0.5)]}, "nothing else beyond k"),
    ({"method": "mondrian"}, "A series has its own method"),
    ({"loosen": 0.2}, "A series cannot be loosened"),
    ({"previous": 7}, "The 'previous' parameter must be a list of releases"),
    ({"previous": ["none.shoal"]}, "History 'none.shoal' cannot be read"),
    ({"requirements": [LDiversity(3)]}, "A series cannot promise more than its first release"),
]


@pytest.mark.parametrize(("options", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_options_get_a_sentence(options: dict[str, Any], says: str) -> None:
    previous = options.get("previous", [made(people(0))])
    with pytest.raises(InputError, match=says):
        made(people(0), previous, **{k: v for k, v in options.items() if k != "previous"})


def test_releases_of_no_or_another_series_are_refused() -> None:
    plain = shoal.anonymize(people(0), **{**JOB, "suppression_limit": 0.0})
    with pytest.raises(InputError, match="Begin a series with previous="):
        made(people(0), [plain])
    with pytest.raises(InputError, match="different series"):
        made(people(0), [made(people(0)), made(people(1))])
    renamed = people(0).rename(columns={"ill": "sick"})
    with pytest.raises(InputError, match="Use the same columns in all releases"):
        made(renamed, [made(people(0))], sensitive=["sick"])


def test_nights_that_did_not_know_of_each_other_are_refused() -> None:
    one = made(people(0), order_seed=0)
    more = pd.concat([people(0), people(1, 40, 80)], ignore_index=True)
    two, other = made(more, [one], order_seed=0), made(more, [one], order_seed=1)
    with pytest.raises(InputError, match="independently of each other"):
        made(more, [two, other])


def test_several_records_of_a_person_are_refused() -> None:
    with pytest.raises(InputError, match="one record per person"):
        made(pd.concat([people(0), people(1, 1)], ignore_index=True))


def test_more_people_left_out_than_allowed_is_infeasible_and_says_what_would_do() -> None:
    table = people(0, 81).assign(ill=["v"] * 30 + ["w"] * 26 + ["x"] * 25)
    with pytest.raises(Infeasible, match="of 81 records must be left out") as caught:
        made(table, suppression_limit=0.0)
    limit = float(str(caught.value).rpartition("suppression_limit = ")[2].rstrip("."))
    assert 0 < made(table, suppression_limit=limit).suppressed <= limit * 81


def test_damaged_histories_get_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "h.shoal"
    made(people(0)).history.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    cases = {
        "": "is not a history",
        "{}": "is not a history",
        "[" * 100_000: "is not a history",
        json.dumps({**content, "version": 0}): "another version",
        json.dumps({**content, "salt": 7}): "is damaged",
        json.dumps({**content, "persons": {"a": 999}}): "is damaged",
        json.dumps({**content, "signatures": [["x"]]}): "is damaged",
        json.dumps({**content, "nights": [{"name": "n", "groups": {"g": {"0": 0}}}]}): "is damaged",
        json.dumps({**content, "nights": 3}): "is damaged",
        json.dumps({**content, "m": True}): "is damaged",
        json.dumps({**content, "salt": "\ud800"}): "is not a history",
        **{
            json.dumps({**content, "nights": [{"name": "n", "groups": {"g": own}}]}): "is damaged"
            for own in ({"9" * 5_000: 1}, {"00": 1}, {"²": 1}, {"0": 10**30}, {"0": True})
        },
    }
    for text, says in cases.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=says):
            History.load(path)


def test_the_commands_do_the_same(shell: Any, tmp_path: Path) -> None:
    people(0).to_csv(tmp_path / "one.csv", index=False)
    pd.concat([people(0)[5:], people(1, 5, 80)]).to_csv(tmp_path / "two.csv", index=False)
    flags = ("-q", "age", "-q", "sex", "-s", "ill", "--person", "id", "-k", 4)
    flags = (*flags, "--require", "diversity:l=2", "--suppression-limit", 0.5, "--quiet")
    history, settings = tmp_path / "h.shoal", tmp_path / "s.toml"
    first = ("-o", tmp_path / "r1.csv", "--save-history", history, "--save-settings", settings)
    assert shell("anonymize", tmp_path / "one.csv", *flags, *first)[0] == 0
    again = ("anonymize", tmp_path / "two.csv", *flags, "-o", tmp_path / "r2.csv")
    code, _, error = shell(*again, "--previous", history)
    assert (code, "--save-history" in error) == (2, True)
    code, _, error = shell("anonymize", tmp_path / "two.csv", "--settings", settings, "-o", "x.csv")
    assert (code, "--previous" in error) == (2, True)
    more = ("--previous", history, "--save-history", history, "--overwrite")
    assert shell(*again, *more)[0] == 0
    for night in ("r1.csv", "r2.csv"):
        code, out, _ = shell(
            "audit", tmp_path / night, "--settings", settings, "--previous", history
        )
        assert code == 0
        assert "2-invariance of 'ill' over 2 releases" in out
    code, _, error = shell(
        "audit", tmp_path / "one.csv", "-q", "age", "-k", 1, "-s", "ill", "--previous", history
    )
    assert code == 2
