"""Advice for releases that are too coarse: what it promises is what a run gains, and it shows no value of the table."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.advice.changes import (
    LEAVE_OUT,
    MODEL,
    OTHER_K,
    REQUIREMENT,
    SUPPRESSION,
    WEIGHT,
    Change,
)
from shoal.advice.trials import Trials
from shoal.data.open import open_table
from shoal.settings.settings import Settings
from shoal.settings.toml import content_of

Shell = Callable[..., tuple[int, str, str]]
RARE = "QX99"  # a ward of one person


def people(records: int = 160, born: str = "%d/%m/%Y") -> pa.Table:
    """People with dates of birth as texts, postcodes, a ward and an illness."""
    draw = random.Random(1)
    days = [date(1935, 1, 1) + timedelta(draw.randrange(28_000)) for _ in range(records)]
    areas = [f"{draw.choice(('LS', 'BD', 'WF'))}{draw.randint(1, 3)}" for _ in range(records)]
    wards = [draw.choice(("North", "South", "East", "West", "Old", "New")) for _ in range(records)]
    wards[0] = RARE
    return pa.table(
        {
            "born": [day.strftime(born) for day in days],
            "postcode": [f"{area} {draw.randint(1, 9)}{draw.choice('ABD')}Q" for area in areas],
            "ward": wards,
            "sex": [draw.choice("fm") for _ in range(records)],
            "illness": [draw.choice(("flu", "asthma", "none")) for _ in range(records)],
        }
    )


def settings_of(**models: Any) -> Settings:
    """Settings for some columns of `people`; all others are left out, and groups are not refined, to save time."""
    return Settings(quasi_identifiers=models, others="drop", k=5, refine=False)


COARSE = {
    "dates as text": (
        "born",
        {"born": shoal.Suppression(), "sex": shoal.Suppression()},
        "read as day/month/year, ",
    ),
    "calendar": (
        "born",
        {"born": shoal.Calendar(), "sex": shoal.Suppression(), "ward": shoal.Suppression()},
        "ranges ",
    ),
    "postcodes": (
        "postcode",
        {"postcode": shoal.Suppression(), "sex": shoal.Suppression()},
        "",
    ),
}


@pytest.mark.parametrize("case", COARSE)
def test_the_best_change_of_a_coarse_column_gains_what_was_promised(case: str) -> None:
    column, models, begins = COARSE[case]
    table, settings = people(), settings_of(**models)
    if case == "dates as text":
        settings = replace(settings, refine="quick")
    if case == "calendar":
        settings = replace(settings, reading=shoal.Input(date_format="%d/%m/%Y"))
    advice = shoal.advise(table, settings=settings)
    best = next(own for own in advice.suggestions if own.column == column and own.kind == MODEL)
    assert best.what.startswith(begins)
    before = shoal.anonymize(table, settings=settings)
    after = shoal.anonymize(table, settings=advice.apply(best.number))
    lost, left = before.column_losses("lm")[column], after.column_losses("lm")[column]
    assert left < 2 / 3 * lost
    assert best.column_loss is not None
    promised = best.column_loss[0] - best.column_loss[1]
    assert promised == pytest.approx(lost - left, rel=0.25)
    whole = best.release_loss[0] - best.release_loss[1]
    assert whole == pytest.approx(before.loss("lm") - after.loss("lm"), rel=0.25, abs=0.01)


def test_dates_in_several_possible_formats_are_not_guessed() -> None:
    table = pa.table(
        {
            "born": [f"0{1 + i % 9}/0{1 + i % 7}/19{50 + i % 40}" for i in range(90)],
            "a": list("xyz") * 30,
        }
    )
    advice = shoal.advise(table, settings=settings_of(born=shoal.Suppression(), a=None))
    assert not [own for own in advice.suggestions if own.change.date_format]


def test_ways_to_write_missing_dates_are_declared_with_the_format() -> None:
    texts = people()["born"].to_pylist()
    texts[:12] = ["00.00.0000"] * 12
    table = people().set_column(0, "born", pa.array(texts))
    settings = settings_of(born=shoal.Suppression(), sex=None)
    advice = shoal.advise(table, settings=settings)
    best = next(own for own in advice.suggestions if own.column == "born" and own.kind == MODEL)
    assert 'missing = { born = ["00.00.0000"] }' in best.lines
    assert shoal.anonymize(table, settings=best.settings).column_losses("lm")["born"] < 0.5


def test_advice_shows_no_value_of_the_table() -> None:
    table = people()
    settings = settings_of(born=shoal.Suppression(), ward=None, postcode=shoal.Prefix(), sex=None)
    required = (shoal.AlphaK(0.6, values=["asthma"]),)
    advice = shoal.advise(
        table, settings=replace(settings, sensitive=("illness",), requirements=required)
    )
    shown = f"{advice} {advice!r} {json.dumps(advice.to_dict())}"
    assert advice.suggestions
    for name in ("born", "postcode", "ward", "illness"):
        assert not [value for value in table[name].unique().to_pylist() if value in shown]


def test_no_hierarchy_or_order_names_values_of_fewer_than_ten_records() -> None:
    advice = shoal.advise(people(), settings=settings_of(ward=None, born=None, postcode=None))
    models = [own.change.model for own in advice.suggestions if own.column == "ward"]
    assert not [model for model in models if isinstance(model, shoal.Hierarchy | shoal.Order)]
    assert RARE not in str([own.settings.to_dict() for own in advice.suggestions])


def test_advice_is_the_same_every_time() -> None:
    settings = settings_of(born=shoal.Suppression(), ward=None, sex=None)
    first, second = (shoal.advise(people(), settings=settings).to_dict() for _ in range(2))
    assert first == second


def test_suggestions_are_ranked_by_what_they_gain_and_say_what_protects_less() -> None:
    required = (shoal.LDiversity(2),)
    settings = replace(
        settings_of(born=shoal.Suppression(), postcode=None, sex=None),
        sensitive=("illness",),
        requirements=required,
    )
    advice = shoal.advise(people(), settings=settings)
    assert [own.number for own in advice.suggestions] == [
        1 + place for place in range(len(advice.suggestions))
    ]
    others = [own for own in advice.suggestions if own.kind not in (MODEL, WEIGHT)]
    assert others == sorted(others, key=lambda own: -own.gain)
    assert all(
        own.protects_less == (own.kind in (OTHER_K, REQUIREMENT)) for own in advice.suggestions
    )


def test_wider_bins_gain_only_what_is_left_after_rounding() -> None:
    table = pa.table({"age": [20 + i for i in range(60)], "sex": list("fm") * 30})
    trials = Trials.of(open_table(table), settings_of(age=shoal.Interval(), sex=None))
    exact = trials.measure(settings_of(age=shoal.Interval(), sex=None))
    rounded = trials.measure(settings_of(age=shoal.Interval(step=20), sex=None))
    assert exact is not None
    assert rounded is not None
    assert rounded.columns["age"] < exact.columns["age"]
    assert rounded.of("age") > exact.of("age")


def test_a_sample_promises_nearly_the_gain_of_the_whole_table() -> None:
    table = people(2000)
    settings = replace(
        settings_of(born=shoal.Calendar(), ward=shoal.Suppression(), sex=shoal.Suppression()),
        k=20,
        reading=shoal.Input(date_format="%d/%m/%Y"),
    )
    better = Change(MODEL, "", "born", model=shoal.Interval(step="year")).applied(settings)
    sample = Trials.of(open_table(table), settings, most=800)
    assert sample.sampled == 800
    said = [sample.measure(own) for own in (settings, better)]
    real = [shoal.anonymize(table, settings=own).column_losses("lm") for own in (settings, better)]
    gains = [one.columns["born"] for one in said if one is not None]
    assert gains[0] - gains[1] == pytest.approx(real[0]["born"] - real[1]["born"], rel=0.25)


def test_a_sample_of_people_contains_all_their_records() -> None:
    table = people(2000).append_column("person", [[f"p{i // 4}" for i in range(2000)]])
    settings = replace(settings_of(born=None, sex=None), person="person", k=10)
    found = Trials.of(open_table(table), settings, most=800)
    counts = found.source.data.to_native()["person"].value_counts()
    assert 600 < found.sampled < 1000
    assert set(counts.field("counts").to_pylist()) == {4}


CHANGES = [
    Change(MODEL, "", "ward", model=shoal.Subset()),
    Change(MODEL, "", "postcode", model=shoal.Prefix(finest=3)),
    Change(
        MODEL, "", "born", model=shoal.Interval(step="year"), date_format="%d/%m/%Y", missing=("?",)
    ),
    Change(WEIGHT, "", "ward", weight=3.0),
    Change(LEAVE_OUT, "", "ward"),
    Change(SUPPRESSION, "", suppression_limit=0.01),
    Change(OTHER_K, "", k=3),
    Change(REQUIREMENT, "", requirements=(shoal.LDiversity(2, kind="distinct"),)),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.kind} {change.column}")
def test_lines_and_python_say_what_the_changed_settings_say(change: Change) -> None:
    settings = replace(
        settings_of(born=shoal.Suppression(), ward=None, postcode=None),
        sensitive=("illness",),
        others="refuse",
    )
    after = change.applied(settings)
    content = content_of(after)
    written = tomllib.loads("\n".join(change.lines(settings)))
    for section, entries in written.items():
        for key, value in entries.items():
            found = content[section][key]
            if isinstance(value, dict):
                assert value.items() <= {**found, **value}.items()
                assert all(found[own] == value[own] for own in value)
            else:
                assert found == value
    if change.kind == LEAVE_OUT:
        assert "ward" in after.identifiers
    known = {"shoal": shoal, "settings": settings}
    keywords = eval(f"dict({change.in_python(settings)})", known)
    for name, value in keywords.items():
        if name == "reading":
            assert after.reading.format_of("born") == value["date_format"]["born"]
        elif name == "requirements":
            assert after.requirements == tuple(value)
        else:
            assert getattr(after, name) == value


def test_a_release_gives_advice_about_its_own_settings() -> None:
    table = people()
    release = shoal.anonymize(
        table,
        quasi_identifiers={"born": shoal.Suppression(), "sex": None},
        k=5,
        others="drop",
        refine=False,
    )
    advice = release.advice()
    better = shoal.anonymize(table, settings=advice.apply(advice.suggestions[0].number))
    assert better.loss("lm") < release.loss("lm")
    assert advice.records == advice.sampled == 160


def test_suggestions_for_one_setting_exclude_each_other() -> None:
    advice = shoal.advise(people(), settings=settings_of(ward=None, postcode=None, born=None))
    number = len(advice.suggestions) + 1
    with pytest.raises(shoal.InputError, match=f"There is no suggestion {number}"):
        advice.apply(number)
    several = [
        own.number for own in advice.suggestions if own.column == "ward" and own.kind == MODEL
    ]
    left_out = [
        own.number for own in advice.suggestions if own.column == "ward" and own.kind == LEAVE_OUT
    ]
    if several and left_out:
        with pytest.raises(shoal.InputError, match="change the same setting"):
            advice.apply(several[0], left_out[0])


def test_explored_settings_lose_more_with_a_larger_k_and_keep_its_promise() -> None:
    settings = settings_of(born=None, ward=None, sex=None)
    advice = shoal.advise(people(), settings=settings)
    rows = advice.explore()
    by_k = [row for row in rows if row.left_out is None]
    assert [row.k for row in by_k] == [2, 3, 5, 10, 20, 50, 100]
    losses = [row.loss for row in by_k]
    assert losses[0] == min(losses) < max(losses) == losses[-1]
    assert all(row.highest_risk <= 1 / row.k for row in rows)
    assert [row.left_out for row in rows if row.left_out] == ["born", "ward", "sex"]


def test_settings_without_a_release_are_refused_like_a_run() -> None:
    with pytest.raises(shoal.Infeasible):
        shoal.advise(people(4), settings=settings_of(born=None))


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    import pyarrow.csv

    pyarrow.csv.write_csv(people(), "people.csv")
    settings_of(born=shoal.Suppression(), postcode=None, sex=None).save("people.toml")
    return tmp_path


def test_the_command_writes_settings_with_a_suggestion(room: Path, shell: Shell) -> None:
    code, out, _ = shell("advise", "people.csv", "--settings", "people.toml", "--quiet", "--json")
    found = json.loads(out)
    number = next(own["number"] for own in found["suggestions"] if own["column"] == "born")
    base = ["advise", "people.csv", "--settings", "people.toml"]
    code, out, _ = shell(*base, "--apply", number, "-o", "new.toml")
    assert (code, out.splitlines()[-1]) == (
        0,
        "  shoal anonymize people.csv --settings new.toml --output release.csv",
    )
    before = shoal.anonymize("people.csv", settings="people.toml").loss("lm")
    assert shoal.anonymize("people.csv", settings="new.toml").loss("lm") < before


def test_the_command_prints_lines_for_the_settings_file(room: Path, shell: Shell) -> None:
    code, out, _ = shell("advise", "people.csv", "--settings", "people.toml")
    assert code == 0
    assert '[quasi_identifiers."born"]' in out
    assert "--apply NUMBER" in out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--apply", "1"], "--apply and --output belong together"),
        (["--output", "new.toml"], "--apply and --output belong together"),
        (["--explore", "--apply", "1", "--output", "new.toml"], "--explore makes no suggestions"),
        (["--apply", "1", "--output", "people.csv"], "is read by this command"),
    ],
)
def test_options_that_do_not_fit_are_refused_at_once(
    options: list[str], problem: str, room: Path, shell: Shell
) -> None:
    code, _, err = shell("advise", "people.csv", "--settings", "people.toml", *options)
    assert code == 2
    assert problem in err


def test_exploring_prints_a_row_for_each_setting(room: Path, shell: Shell) -> None:
    code, out, _ = shell("advise", "people.csv", "--settings", "people.toml", "--explore", "--json")
    rows = json.loads(out)
    assert code == 0
    assert {row["left_out"] for row in rows} == {None, "born", "postcode", "sex"}


def test_explored_requirements_say_how_well_sensitive_values_are_guessed() -> None:
    table = people()
    settings = replace(settings_of(born=None, sex=None), sensitive=("illness",))
    rows = shoal.advise(table, settings=settings).explore()
    required = {row.requirement: row for row in rows if row.requirement}
    assert len(required) >= 4, "frequency with l = 3 may be out of reach"
    strict = required["frequency diversity with l = 2"]
    usual = next(row for row in rows if row.k == settings.k and not row.left_out)
    assert usual.guessed is not None
    assert strict.guessed is not None
    illnesses = table["illness"].to_pylist()
    most = max(map(illnesses.count, set(illnesses))) / len(illnesses)
    assert most <= strict.guessed <= 0.5, "no value is more than half of a group"
    assert most <= usual.guessed <= 1
    assert strict.settings is not None
    assert [own.name for own in strict.settings.requirements] == ["diversity"]


def test_of_many_columns_those_that_lose_most_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoal.advice.explore.MOST_COLUMNS", 2)
    settings = settings_of(sex=None, born=shoal.Suppression(), postcode=None, ward=None)
    rows = shoal.advise(people(), settings=settings).explore()
    left_out = [row.left_out for row in rows if row.left_out]
    assert len(left_out) == 2
    assert "born" in left_out
    assert "sex" not in left_out


def test_what_would_be_affordable_comes_with_its_settings() -> None:
    settings = settings_of(born=shoal.Suppression(), sex=shoal.Suppression())
    advice = shoal.advise(people(), settings=settings)
    assert advice.affordable
    assert len(advice.affordable) == len(advice.affordable_settings)
    assert f"k = {advice.affordable_settings[0].k}" in advice.affordable[0]
