"""What a run returns is an ordinary object: it can be compared, pickled, shown in a notebook, turned into JSON."""

from __future__ import annotations

import json
import pickle
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any

import in_order
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from allowed import allowing

import shoal

PEOPLE = pa.table(
    {
        "age": [20 + i % 17 for i in range(40)],
        "town": [("Ulm", "Bonn", "Köln")[i % 3] for i in range(40)],
        "born": pa.array([date(1990, 1, 1 + i % 20) for i in range(40)]),
        "ill": [("flu", "cold", "none", "ache")[i // 7 % 4] for i in range(40)],
        "<b>row": list(range(40)),
    }
)
TOWNS = shoal.Hierarchy.from_dict({"*": {"west": ["Bonn", "Köln"], "south": ["Ulm"]}})
SETTINGS = shoal.Settings(
    quasi_identifiers={"age": None, "town": TOWNS, "born": shoal.Interval()},
    sensitive=("ill",),
    keep=("<b>row",),
    allow=allowing("<b>row"),
    k=4,
    requirements=(shoal.LDiversity(2),),
    weights={"age": 2.0},
    title="<i>People</i>",
)
KINDS = {"pandas": pa.Table.to_pandas, "polars": pl.from_arrow, "arrow": lambda table: table}


@pytest.fixture(scope="module", params=KINDS)
def release(request: pytest.FixtureRequest) -> shoal.Release:
    return in_order.anonymize(KINDS[request.param](PEOPLE), settings=SETTINGS, order_seed=1)


def test_releases_can_be_compared_and_put_into_sets(release: shoal.Release) -> None:
    other = shoal.anonymize(PEOPLE, settings=SETTINGS)
    assert release == release
    assert release != other
    assert len({release, release, other}) == 2


def test_a_release_comes_back_from_a_pickle(release: shoal.Release) -> None:
    release.certify(passes=1)
    again = pickle.loads(pickle.dumps(release))
    assert type(again.data) is type(release.data)
    same = again.data == release.data if isinstance(again.data, pa.Table) else None
    assert same if same is not None else again.data.equals(release.data)
    assert again.settings == release.settings
    assert again.groups.tolist() == release.groups.tolist()
    assert again.to_dict() == release.to_dict()
    assert again.certificate == release.certificate
    assert again.evaluate(queries=10) == release.evaluate(queries=10)
    assert repr(again) == repr(release)


@pytest.mark.parametrize(
    "method",
    [kind() for kind in shoal.solve.methods.METHODS.values()],
    ids=lambda method: method.name,
)
def test_settings_come_back_from_a_pickle(method: Any) -> None:
    settings = shoal.Settings(**{**vars(SETTINGS), "method": method, "requirements": ()})
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_errors_come_back_from_a_pickle() -> None:
    for error in (
        shoal.InputError(["One problem.", "Another."]),
        shoal.Infeasible("No."),
        shoal.AuditFailed("No."),
        shoal.Cancelled(),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert vars(again) == vars(error)
        assert str(again) == str(error)


def test_a_release_as_a_dict_holds_what_the_command_line_prints(release: shoal.Release) -> None:
    facts = release.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)).keys() == facts.keys()
    assert (facts["records"], facts["k"]) == (40, release.k)
    assert facts["loss"] == release.loss()
    assert facts["column_losses"] == release.column_losses()
    [proof] = facts["proofs"]
    assert proof["reached"] >= proof["required"]


def test_a_certificate_is_in_the_dict_once_it_has_been_asked_for() -> None:
    release = shoal.anonymize(PEOPLE, settings=SETTINGS)
    assert "certificate" not in release.to_dict()
    certificate = release.certify(passes=1)
    assert certificate is not None
    assert release.to_dict()["certificate"]["bound"] == certificate.bound


class Reader(HTMLParser):
    """The texts of a page and the names of its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)


def test_a_notebook_shows_what_is_proved_and_what_was_lost(release: shoal.Release) -> None:
    shown = Reader(release._repr_html_())
    assert shown.tags == {"table", "caption", "tbody", "tr", "th", "td"}
    assert "<i>People</i>" in shown.texts  # escaped: a text, not an element
    assert "<b>row (alone, it identifies 40 records)" in shown.texts
    assert any("can identify 40 of 40 people" in text for text in shown.texts)
    assert any("2-diversity" in text for text in shown.texts)
    assert {"– age", "– town", "– born"} <= set(shown.texts)
    assert f"{100 * release.column_losses('lm')['age']:.1f} %" in shown.texts


def test_a_notebook_is_told_where_nothing_is_proved_for_persons() -> None:
    person = [i // 4 for i in range(40)]
    visits = pa.table({"age": [20 + 5 * own for own in person], "ill": PEOPLE["ill"]})
    visits = visits.append_column("who", pa.array([f"p{own}" for own in person]))
    release = shoal.anonymize(
        visits,
        quasi_identifiers=["age"],
        sensitive=["ill"],
        identifiers=["who"],
        k=3,
        allow={"who": "person"},
    )
    texts = Reader(release._repr_html_()).texts
    assert any("'who' occurs in several records" in text for text in texts)


def test_long_results_have_short_names(release: shoal.Release) -> None:
    assert repr(TOWNS) == "Hierarchy(3 values, 3 levels)"
    assert repr(release.risk).startswith("Risks(highest 1 → 0.")
    assert len(repr(release.risk)) < 100


def test_settings_as_a_dict_are_ready_for_json_and_need_no_file(release: shoal.Release) -> None:
    content = json.loads(json.dumps(SETTINGS.to_dict()))
    again = shoal.Settings.from_dict(content)
    assert again == SETTINGS
    assert content["quasi_identifiers"]["town"]["rows"][0] == ["Bonn", "west", "*"]


def test_domains_of_dates_and_decimals_survive_json() -> None:
    table = pa.table(
        {
            "born": [date(1990, 1, 1), date(1990, 1, 2)] * 3,
            "paid": pa.array([Decimal("1.50"), Decimal("2.50")] * 3),
        }
    )
    days = tuple(date(1990, 1, day) for day in (1, 2, 9))
    sums = (Decimal("1.50"), Decimal("2.50"), Decimal("9.00"))
    models = {"born": shoal.Interval(domain=days), "paid": shoal.Interval(domain=sums)}
    settings = shoal.Settings(quasi_identifiers=models, k=6)
    again = shoal.Settings.from_dict(json.loads(json.dumps(settings.to_dict())))
    before, after = (
        in_order.anonymize(table, settings=each, order_seed=1) for each in (settings, again)
    )
    assert before.data == after.data
    assert before.loss() == after.loss() == pytest.approx((1 / 2 + 1 / 2) / 2)


def test_wrong_content_is_refused_with_all_problems() -> None:
    with pytest.raises(shoal.InputError) as caught:
        shoal.Settings.from_dict({"requirment": {"k": 3}, "method": {"name": "mondrain"}})
    first, second = caught.value.problems
    assert "did you mean 'requirement'" in first
    assert "did you mean 'mondrian'" in second


def test_the_index_of_the_original_can_be_given_back_by_its_owner() -> None:
    """It is never released on its own: it may hold names. See `keep_order` in `shoal.anonymize`."""
    people = PEOPLE.to_pandas().set_index(pd.Index([f"p{i}" for i in range(40)]))
    release = shoal.anonymize(people, settings=SETTINGS, keep_order=True)
    assert release.data.index.equals(pd.RangeIndex(40))
    mine = release.data.set_axis(people.index[release.is_released])
    assert mine.loc["p7", "<b>row"] == 7
