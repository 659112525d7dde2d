"""Kept and sensitive columns that are coarsened: in all records alike, everywhere, and proved."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from allowed import allowing
from engines import as_arrow, put_on
from hypothesis import given
from hypothesis import strategies as st
from reference import coarsening as twin

import shoal
from shoal import (
    AuditFailed,
    Calendar,
    Hierarchy,
    InputError,
    Interval,
    Order,
    Prefix,
    Settings,
    Suppression,
)
from shoal.audits.coarsened import prove_coarsened
from shoal.audits.texts import Reader
from shoal.encoding.frames import open_frame
from shoal.encoding.other_columns import coarsened
from shoal.encoding.source import Input, Source
from tests.parity import rounded

SCHOOLS = ("none", "primary", "secondary", "degree")
TREE = {"*": {"East": ["02139", "02140"], "West": {"Coast": ["90210", "90211"]}}}
RECORDS = 60


def people(records: int = RECORDS) -> pa.Table:
    rng = np.random.default_rng(3)
    salary = [None if i == 5 else int(n) for i, n in enumerate(rng.integers(900, 9000, records))]
    return pa.table(
        {
            "age": rng.integers(20, 60, records),
            "salary": salary,
            "admitted": [date(2020 + i % 3, 1 + i % 12, 1 + i % 28) for i in range(records)],
            "zip": [f"{n:05}" for n in rng.integers(0, 99_999, records)],
            "school": [SCHOOLS[i % 4] for i in range(records)],
        }
    )


COARSEN = {
    "salary": Interval(step=1000, low=1999, high=8000),
    "admitted": Calendar(finest="quarter"),
    "zip": Prefix(finest=1),
    "school": Order(SCHOOLS, low="primary"),
}
ASKED: dict[str, Any] = {
    "quasi_identifiers": ["age"],
    "sensitive": ["salary"],
    "keep": ["admitted", "zip", "school"],
    "coarsen": COARSEN,
    "allow": allowing("admitted", "zip", "school"),
    "k": 3,
    "refine": False,
}


def coarse(table: pa.Table) -> pa.Table:
    """The table as its coarsened columns are expected to read."""
    salaries = table["salary"].to_pylist()
    return table.set_column(
        1,
        "salary",
        pa.array([None if s is None else twin.rounded(s, 1000, True, 1999, 8000) for s in salaries]),
    ).set_column(
        2, "admitted", pa.array([twin.in_quarter(day) for day in table["admitted"].to_pylist()])
    ).set_column(
        3, "zip", pa.array([twin.begun(code, 1, 5) for code in table["zip"].to_pylist()])
    ).set_column(
        4,
        "school",
        pa.array(
            [
                "primary or lower" if school in SCHOOLS[:2] else school
                for school in table["school"].to_pylist()
            ]
        ),
    )  # fmt: skip


def rows(table: pa.Table, names: Any = tuple(COARSEN)) -> list[tuple[str, ...]]:
    """The unprotected columns of a table, its records in an order of their own."""
    return sorted(zip(*(map(str, table[name].to_pylist()) for name in names), strict=True))


KINDS = {"pandas": lambda t: t.to_pandas(), "polars": pl.from_arrow, "arrow": lambda t: t}


@pytest.mark.parametrize("kind", KINDS)
def test_every_record_reads_as_its_models_write_it(kind: str) -> None:
    release = shoal.anonymize(KINDS[kind](people()), **ASKED, keep_order=True)
    found = pa.table(release.data)
    expected = coarse(people())
    for name in COARSEN:
        cells = [None if cell != cell else cell for cell in found[name].to_pylist()]  # NaN
        assert cells == expected[name].to_pylist()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_files_are_coarsened_alike_in_memory_and_on_engines(
    carrier: Any, suffix: str, tmp_path: Path
) -> None:
    table = tmp_path / "people.parquet"
    pl.DataFrame(pl.from_arrow(people())).write_parquet(table)
    if suffix != "parquet":
        table = tmp_path / "people.csv"
        pl.DataFrame(pl.from_arrow(people())).write_csv(table)
    release = shoal.anonymize(table, engine=carrier, **ASKED)
    output = tmp_path / f"release.{suffix}"
    release.save(output)
    found = pl.read_csv(output, infer_schema=False) if suffix == "csv" else None
    if suffix == "jsonl":
        found = pl.DataFrame([json.loads(line) for line in output.read_text().splitlines()])
    read = (pl.read_parquet(output) if found is None else found).to_arrow()
    assert rows(read) == rows(coarse(people()))


def test_a_frame_is_coarsened_where_it_is(carrier: str) -> None:
    release = shoal.anonymize(put_on(carrier, people()), **ASKED)
    assert rows(as_arrow(release.data)) == rows(coarse(people()))


NUMBERS = st.lists(
    st.one_of(st.none(), st.integers(-50, 50), st.integers(-500, 500).map(lambda n: n / 10)),
    min_size=6,
    max_size=30,
)


@given(
    numbers=NUMBERS,
    step=st.sampled_from([1, 5, 7, 0.5, 2.5]),
    ends=st.sampled_from([(None, None), (-10, None), (None, 20), (-10, 20)]),
)
def test_random_numbers_are_rounded_as_by_hand(
    numbers: list[float | None], step: float, ends: tuple[int | None, int | None]
) -> None:
    low, high = ends
    table = pa.table({"x": pa.array([None if n is None else float(n) for n in numbers])})
    models = {"x": Interval(step=step, low=low, high=high)}
    found = coarsened(Source(open_frame(table)), models, Input()).data
    are_whole = all(n is None or n == int(n) for n in numbers)
    expected = [
        None
        if n is None
        else twin.rounded(n if n != int(n) else int(n), step, are_whole, low, high)
        for n in numbers
    ]
    assert found.to_native()["x"].to_pylist() == expected
    prove_coarsened(found, models)
    raw = pa.table({"x": pa.array([None if n is None else str(n) for n in numbers])})
    known = {text for text in expected if text}
    if any(text not in known for text in raw["x"].drop_null().to_pylist() if step > 1):
        with pytest.raises(AuditFailed):
            prove_coarsened(open_frame(raw), models)


@given(
    moments=st.lists(st.datetimes(datetime(1901, 1, 1), datetime(2099, 1, 1)), min_size=1),
    codes=st.lists(st.text("0123", min_size=1, max_size=6), min_size=1),
    signs=st.integers(1, 4),
)
def test_random_dates_and_codes_are_cut_as_by_hand(
    moments: list[datetime], codes: list[str], signs: int
) -> None:
    times = open_frame(pa.table({"x": pa.array(moments, pa.timestamp("us"))}))
    by_month = {"x": Calendar(finest="month")}
    found = coarsened(Source(times), by_month, Input()).data
    assert found.to_native()["x"].to_pylist() == [twin.in_month(moment) for moment in moments]
    prove_coarsened(found, by_month)
    bins = coarsened(Source(times), {"x": Interval(step="month")}, Input()).data
    assert bins.to_native()["x"].equals(found.to_native()["x"])
    texts = open_frame(pa.table({"x": codes}))
    found = coarsened(Source(texts), {"x": Prefix(finest=signs)}, Input()).data
    longest = max(map(len, codes))
    assert found.to_native()["x"].to_pylist() == [twin.begun(c, signs, longest) for c in codes]
    prove_coarsened(found, {"x": Prefix(finest=signs)})


@given(data=st.data())
def test_random_tables_are_coarsened_alike_in_memory_and_on_engines(
    carrier: str, data: st.DataObject
) -> None:
    records = data.draw(st.integers(8, 20))
    column: Callable[..., Any] = lambda own: data.draw(  # noqa: E731
        st.lists(own, min_size=records, max_size=records)
    )
    table = pa.table(
        {
            "age": pa.array(column(st.integers(20, 25))),
            "pay": pa.array(column(st.none() | st.integers(0, 5000)), pa.int64()),
            "rate": pa.array(column(st.none() | st.integers(0, 90).map(lambda n: n / 8))),
            "day": pa.array(column(st.none() | st.dates(date(2019, 1, 1), date(2021, 1, 1)))),
            "code": pa.array(column(st.none() | st.text("ab", min_size=1, max_size=4))),
        },
        schema=pa.schema(
            {
                "age": pa.int64(),
                "pay": pa.int64(),
                "rate": pa.float64(),
                "day": pa.date32(),
                "code": pa.string(),
            }
        ),
    )
    asked: dict[str, Any] = {
        "quasi_identifiers": {"age": Suppression()},
        "sensitive": ["pay"],
        "keep": ["rate", "day", "code"],
        "coarsen": {
            "pay": Interval(step=500, high=4000),
            "rate": Interval(step=2.5),
            "day": Interval(step="quarter"),
            "code": Prefix(finest=2),
        },
        "allow": allowing("pay", "rate", "day", "code"),
        "k": 2,
        "refine": False,
    }
    names = list(asked["coarsen"])
    expected = rows(
        coarsened(Source(open_frame(table)), asked["coarsen"], Input()).data.to_native(), names
    )
    release = shoal.anonymize(put_on(carrier, table), **asked)
    assert rows(as_arrow(release.data), names) == expected


def test_requirements_count_coarsened_values() -> None:
    """All salaries differ, and all are of one bin: no group can be diverse."""
    table = people().set_column(1, "salary", pa.array(range(3000, 3000 + RECORDS)))
    exact = {**ASKED, "coarsen": {}, "keep": [], "others": "drop", "allow": ["salary"]}
    wanted = [shoal.LDiversity(2)]
    assert shoal.anonymize(table, **exact, requirements=wanted).audit.proofs[0].reached >= 2
    with pytest.raises(shoal.Infeasible, match="frequency 2-diversity of 'salary'"):
        shoal.anonymize(
            table, **{**exact, "coarsen": {"salary": Interval(step=1000)}}, requirements=wanted
        )


@pytest.mark.parametrize("is_file", [False, True])
def test_ordered_closeness_takes_bins_in_their_order(
    carrier: Any, is_file: bool, tmp_path: Path
) -> None:
    """As texts, 10000–10999 would come before 2000–2999."""
    salary = [n * 1000 + 7 for n in range(1, 13) for _ in range(5)]
    table = people().set_column(1, "salary", pa.array(salary))
    given_as, how = put_on(carrier, table), {}
    if is_file:
        given_as, how = tmp_path / "people.csv", {"engine": carrier}
        table.to_pandas().to_csv(given_as, index=False)
    asked = {**ASKED, "coarsen": COARSEN | {"salary": Interval(step=1000)}}
    wanted = [shoal.TCloseness(0.4, ground="ordered")]
    found = shoal.anonymize(given_as, **asked, requirements=wanted, **how)
    numbers = {**ASKED, "keep": [], "others": "drop", "coarsen": {}, "allow": ["salary"]}
    plain = shoal.anonymize(table.to_pandas(), **numbers, requirements=wanted)
    assert found.audit.proofs[0].reached == pytest.approx(plain.audit.proofs[0].reached)


def test_a_nearly_unique_column_may_be_kept_once_it_is_coarsened() -> None:
    table = people().set_column(3, "zip", pa.array([f"{i:05}" for i in range(RECORDS)]))
    with pytest.raises(InputError, match="'zip' identifies 60 of 60 people"):
        shoal.anonymize(
            table,
            **{
                **ASKED,
                "keep": ["zip"],
                "others": "drop",
                "coarsen": {},
                "allow": {"salary": "unique"},
            },
        )
    release = shoal.anonymize(table, **ASKED)
    assert set(release.data["zip"].to_pylist()) == {"0****"}


def test_the_texts_of_missing_values_become_missing(tmp_path: Path) -> None:
    csv = tmp_path / "people.csv"
    csv.write_text("age,pay\n1,5\n1,?\n2,6\n2,11\n", encoding="utf-8")
    found = shoal.anonymize(
        csv,
        quasi_identifiers=["age"],
        sensitive=["pay"],
        coarsen={"pay": Interval(step=10)},
        reading={"missing": ["?"], "types": {"pay": "number"}},
        k=2,
        keep_order=True,
    ).data
    assert found["pay"].to_pylist() == ["0–9", None, "0–9", "10–19"]


def test_a_column_without_values_stays_one() -> None:
    table = pa.table({"age": [1, 1, 1], "pay": pa.array([None, None, None], pa.int64())})
    found = shoal.anonymize(
        table,
        quasi_identifiers=["age"],
        sensitive=["pay"],
        coarsen={"pay": Interval(step=10)},
        k=2,
    )
    assert found.data["pay"].null_count == 3


def test_other_columns_are_kept_and_coarsened_without_being_named() -> None:
    asked = {**ASKED, "keep": [], "others": "keep"}
    release = shoal.anonymize(people(), **asked)
    assert rows(release.data) == rows(coarse(people()))
    assert release.settings.keep == ("admitted", "zip", "school")
    assert rows(shoal.anonymize(people(), settings=release.settings).data) == rows(release.data)


def test_settings_with_coarsened_columns_come_back_from_their_file(tmp_path: Path) -> None:
    rates = Hierarchy.from_dict(TREE, finest=1)
    chosen = Settings(
        quasi_identifiers={"age": None},
        sensitive=("salary",),
        keep=("admitted", "zip", "school", "born"),
        coarsen={
            **COARSEN,
            "zip": rates,
            "born": Calendar(finest="year", high=date(2000, 1, 1)),
        },
        k=3,
    )
    chosen.save(tmp_path / "s.toml")
    assert Settings.load(tmp_path / "s.toml") == chosen
    assert Settings.from_dict(chosen.to_dict()).coarsen["zip"] == rates
    assert '[columns.coarsen.salary]\nmodel = "interval"\nstep = 1000\n' in (
        tmp_path / "s.toml"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("coarsen = 3", "'coarsen' in [columns] must be a table for each column"),
        ("coarsen.pay = 3", "'pay' in [columns.coarsen] must be a table with a 'model'"),
        ("[columns.coarsen.pay]\nstep = 5", "'pay' in [columns.coarsen] must be a table with a"),
        ('[columns.coarsen.pay]\nmodel = "bins"', "Unknown model 'bins' for column 'pay'"),
        (
            '[columns.coarsen.pay]\nmodel = "interval"\nstep = 5\nweight = 2',
            "Unknown key 'weight' in [columns.coarsen.pay]",
        ),
        (
            '[columns.coarsen.pay]\nmodel = "interval"\nstep = -5',
            "[columns.coarsen.pay]: Interval: 'step' must be a number above 0",
        ),
    ],
)
def test_a_settings_file_that_coarsens_wrongly_is_refused(
    toml: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(f"[columns]\n{toml}\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        Settings.load(tmp_path / "s.toml")
    assert says in str(raised.value)


def test_suggestions_may_coarsen_columns_and_write_it_to_a_file(tmp_path: Path) -> None:
    found = shoal.suggest(people(400))
    model = {"model": "interval", "options": {"step": 500}, "model_reason": "nearly unique"}
    columns = [
        replace(own, role="sensitive", **model) if own.name == "salary" else own
        for own in found.columns
    ]
    models = {**found.models, "salary": Interval(step=500)}
    suggested = replace(found, columns=tuple(columns), models=models)
    (tmp_path / "s.toml").write_text(suggested.to_toml(), encoding="utf-8")
    assert suggested.settings().coarsen == {"salary": Interval(step=500)}
    assert Settings.load(tmp_path / "s.toml").coarsen == suggested.settings().coarsen


def test_columns_that_are_no_longer_released_are_no_longer_coarsened() -> None:
    base = Settings(
        quasi_identifiers={"age": None}, sensitive=("pay",), coarsen={"pay": Interval(step=9)}, k=2
    )
    table = pa.table({"age": [1, 1], "ill": ["a", "b"]})
    assert shoal.anonymize(table, settings=base, sensitive=["ill"]).settings.coarsen == {}
    others = replace(base, others="keep")
    table = table.append_column("pay", pa.array([11, 12]))
    found = shoal.anonymize(table, settings=others, sensitive=["ill"])
    assert found.data["pay"].to_pylist() == ["9–17", "9–17"], "it is kept, and still coarsened"


@pytest.mark.parametrize(
    ("coarsen", "says"),
    [
        (
            {"pay": Interval()},
            "coarsens nothing with these options. Give it 'step', 'low' or 'high'.",
        ),
        (
            {"pay": Calendar()},
            "coarsens nothing with these options. Give it 'finest', 'low' or 'high'.",
        ),
        ({"pay": Prefix()}, "coarsens nothing with these options. Give it 'finest'."),
        ({"pay": Hierarchy.from_dict(TREE)}, "Give it 'finest', 'low' or 'high'."),
        ({"pay": Order(SCHOOLS)}, "coarsens nothing with these options. Give it 'low' or 'high'."),
        ({"pay": Order(low="a")}, "must be given. List its 'values', lowest first."),
        ({"pay": Suppression(high=9)}, "'suppression' of column 'pay' has no finest level."),
        (
            {"pay": shoal.Subset},
            "'subset' of column 'pay' has no finest level. Coarsen the column by",
        ),
        ({"age": Interval(step=5)}, "is a quasi-identifier. Give its own model a finest level"),
        ({"name": Prefix(finest=1)}, "Column 'name' cannot be coarsened, because it is removed."),
        (
            {"pseudonym": Prefix(finest=1)},
            "'pseudonym' cannot be coarsened, because it is replaced",
        ),
        (
            {"other": Prefix(finest=1)},
            "it is neither sensitive (-s) nor kept (-x). Name it as one of these.",
        ),
        ({"pay": 1000}, "The model that coarsens 'pay' must be shoal.Interval(step=…)"),
        (["pay"], "The 'coarsen' parameter must be a dict from columns to models"),
    ],
)
def test_what_cannot_be_coarsened_is_refused_with_its_remedy(coarsen: Any, says: str) -> None:
    chosen = Settings(
        quasi_identifiers={"age": None},
        sensitive=("pay",),
        identifiers=("name",),
        pseudonyms=("pseudonym",),
        k=2,
    )
    with pytest.raises(InputError) as raised:
        shoal.anonymize(pa.table({"age": [1]}), settings=chosen, coarsen=coarsen)
    assert says in str(raised.value)


def test_all_columns_that_do_not_fit_are_said_together_and_no_cell_is_shown(carrier: str) -> None:
    wrong = {
        "salary": Calendar(finest="month"),
        "zip": Interval(step=3),
        "school": Prefix(finest=1),
    }
    with pytest.raises(InputError) as raised:
        shoal.anonymize(put_on(carrier, people()), **{**ASKED, "coarsen": wrong})
    said = str(raised.value)
    assert [line[:14] for line in said.splitlines()] == ["Column 'salary", "Column 'zip' c"]
    assert not [cell for cell in people()["zip"].to_pylist() if cell in said]


@pytest.mark.parametrize(
    ("model", "coarse_texts", "finer"),
    [
        (Interval(step=5), ["20–24", "[20, 24]", "-5 – -1"], ["21", "20–25", "21–25", "20–29", "x"]),
        (Interval(step=2.5), ["20–<22.5", "[20, 22.5)"], ["20", "20–22.5", "21–<22.5", "20–<25"]),
        (Interval(step=5, start=2), ["22–26"], ["20–24"]),
        (Interval(step=1), ["7"], ["7–8", "7.5"]),
        (
            Interval(step=10, low=12, high=27),
            ["≤ 12", "<= 12", "13–19", "20–26", "≥ 27"],
            ["10–19", "20–29", "≤ 13", "≥ 30", "12", "27", "30–39"],
        ),
        (Interval(step=2.5, low=11), [">11–<12.5", "12.5–<15"], ["10–<12.5", "11–<12.5"]),
        (Interval(high=90), ["≥ 90", "89.5", "-3"], ["90", "91", "≥ 91", "80–89", "x"]),
        (Interval(low=10), ["≤ 10", "11"], ["10", "9", "≥ 10"]),
        (
            Interval(high=date(2010, 1, 1)),
            ["≥ 2010-01-01", "2009-12-31", "2009-12-31 23:59:59"],
            ["2010-01-01", "2011-05-02", "≥ 2011-01-01"],
        ),
        (Interval(step="quarter"), ["2020-Q1"], ["2020-01", "2020", "2020-01-01"]),
        (Interval(step="week"), ["2020-W11"], ["2020-03"]),
        (Interval(step="decade", high="2010"), ["1990–1999", "≥ 2010"], ["2010–2019", "1990–1998"]),
        (Calendar(finest="month"), ["2020-03"], ["2020-03-14", "2020-Q1", "2020", "2020-13"]),
        (Calendar(["week", "year"], finest="year", low="1985"), ["1990", "≤ 1985"], ["1985", "1990-W01"]),
        (Calendar(finest="day"), ["2020-03-14"], ["2020-03-14 10:00:00"]),
        (Prefix(finest=3), ["021**", "021", "02"], ["0213*", "02139", "*", "0*1"]),
        (Prefix(finest=1, separator="."), ["A01.*", "A01"], ["A01.1", "A01.1.*"]),
        (Order(SCHOOLS, low="primary"), ["primary or lower", "degree"], ["none", "primary", "odd"]),
        (Order("names", high="m"), ["m or higher", "a"], ["m", "z"]),
        (Hierarchy.from_dict(TREE, finest=1), ["East", "Coast"], ["02139", "90210", "*"]),
        (
            Hierarchy.from_rows([[str(n), "*"] for n in range(5)], high=3),
            ["2", "≥ 3", ">= 3"],
            ["3", "4", "≥ 4"],
        ),
    ],
)  # fmt: skip
def test_the_audit_refuses_what_is_finer_than_declared(
    model: Any, coarse_texts: list[str], finer: list[str]
) -> None:
    prove_coarsened(open_frame(pa.table({"x": [*coarse_texts, None, ""]})), {"x": model})
    for text in finer:
        with pytest.raises(
            AuditFailed, match=r"1 of the \d+ values of column 'x' is not"
        ) as raised:
            prove_coarsened(open_frame(pa.table({"x": [*coarse_texts, text]})), {"x": model})
        assert "Do not release this table" in str(raised.value)


def test_the_audit_reads_numbers_and_dates_as_the_table_writes_them() -> None:
    reader = Reader(("?",), ",", "%d.%m.%Y")
    prove_coarsened(
        open_frame(pa.table({"x": ["8,5", "≥ 90", "?"]})), {"x": Interval(high=90)}, reader
    )
    born = {"x": Interval(high=date(2010, 1, 1))}
    prove_coarsened(open_frame(pa.table({"x": ["31.12.2009", "≥ 2010-01-01"]})), born, reader)
    with pytest.raises(AuditFailed):
        prove_coarsened(open_frame(pa.table({"x": ["01.01.2010"]})), born, reader)


def test_a_release_with_an_uncoarsened_value_is_not_proved(
    tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    release = shoal.anonymize(people(), **ASKED)
    assert shoal.audit(release.data, settings=release.settings).k >= 3
    cells = ["3456", *release.data["salary"].to_pylist()[1:]]
    spoilt = release.data.set_column(1, "salary", pa.array(cells))
    with pytest.raises(AuditFailed, match="values of column 'salary' is not coarsened"):
        shoal.audit(spoilt, settings=release.settings)
    with pytest.raises(shoal.ShoalError, match="'salary', 1 released value is not in the table"):
        shoal.evaluate(people(), spoilt, settings=release.settings)
    release.settings.save(tmp_path / "s.toml")
    spoilt.to_pandas().to_csv(tmp_path / "release.csv", index=False)
    code, _, said = shell("audit", tmp_path / "release.csv", "--settings", tmp_path / "s.toml")
    assert code == 3, said
    assert "not coarsened by its model 'interval'" in said


def test_evaluation_and_loss_compare_coarsened_tables() -> None:
    wanted = {**ASKED, "keep_order": True, "requirements": [shoal.LDiversity(2)]}
    release = shoal.anonymize(people(), **wanted)
    found = shoal.evaluate(people(), release.data, settings=release.settings, queries=20)
    assert found.verdict.is_proved
    assert rounded(found.to_dict()["risk"]) == rounded(release.risk.to_dict())
    measured = shoal.loss(people(), release.data, "pmi", settings=release.settings)
    assert measured == pytest.approx(release.loss("pmi"))


def test_a_classifier_for_a_coarsened_column_learns_its_bins() -> None:
    release = shoal.anonymize(people(), **ASKED)
    found = shoal.evaluate(
        people(), release.data, settings=release.settings, queries=0, target="salary"
    )
    assert found.classification is not None


def test_new_records_are_coarsened_like_those_of_the_release() -> None:
    release = shoal.anonymize(people(), **ASKED)
    batch = release.recoding.apply(people())
    assert batch.held_back == 0
    assert rows(batch.data) == rows(coarse(people()))
    assert batch.held.schema.field("salary").type == pa.int64(), "held records are as they came"


def test_a_record_that_is_left_out_is_not_seen_in_how_others_are_spelled(carrier: str) -> None:
    """Bins of whole numbers and the length of codes would tell of its half and its long code."""
    table = pa.table(
        {
            "age": [20] * 20 + [50] * 19 + [99],
            "pay": [float(100 * i) for i in range(39)] + [77.5],
            "code": ["02139"] * 39 + ["123456789"],
            "rate": [float(i % 5) for i in range(39)] + [0.25],
        }
    )
    release = shoal.anonymize(
        put_on(carrier, table),
        quasi_identifiers={"age": Suppression()},
        sensitive=["rate"],
        keep=["pay", "code"],
        allow=allowing("pay", "code"),
        coarsen={
            "pay": Interval(step=1000),
            "code": Prefix(finest=3),
            "rate": Interval(step=2),
        },
        k=5,
        refine=False,
        suppression_limit=0.1,
    )
    assert release.suppressed == 1
    found = as_arrow(release.data)
    assert set(found["pay"].to_pylist()) == {"0–999", "1000–1999", "2000–2999", "3000–3999"}
    assert set(found["code"].to_pylist()) == {"021**"}
    assert set(found["rate"].to_pylist()) == {"0–1", "2–3", "4–5"}
    assert release.closed.table.sensitive["rate"].labels == ("0–1", "2–3", "4–5")


def test_a_series_is_coarsened_in_every_release() -> None:
    table = people().append_column("who", pa.array([f"p{i}" for i in range(RECORDS)]))
    asked = {
        **ASKED,
        "keep": [],
        "others": "drop",
        "coarsen": {"salary": COARSEN["salary"]},
        "person": "who",
        "requirements": [shoal.LDiversity(2)],
    }
    first = shoal.anonymize(table, **asked, previous=[])
    second = shoal.anonymize(table, **asked, previous=[first])
    expected = rows(coarse(people()), ["salary"])
    assert rows(first.data, ["salary"]) == rows(second.data, ["salary"]) == expected


def test_coarsened_columns_are_read_back_like_quasi_identifiers(tmp_path: Path) -> None:
    release = shoal.anonymize(people(), **ASKED, keep_order=True)
    release.save(tmp_path / "release.csv")
    found = shoal.read_release(tmp_path / "release.csv", release.settings)
    for column, low, high in zip(
        people()["salary"].to_pylist(),
        found.data["salary_min"].to_pylist(),
        found.data["salary_max"].to_pylist(),
        strict=True,
    ):
        assert column is None or (low or 0) <= column <= (high or 10**6)
    assert found.kinds["admitted"] == "calendar"
    assert found.data["zip"].to_pylist() == release.data["zip"].to_pylist()


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_every_encoding_of_a_file_holds_coarsened_columns(
    carrier: Any, encoding: str, tmp_path: Path
) -> None:
    people().to_pandas().to_csv(tmp_path / "people.csv", index=False)
    release = shoal.anonymize(tmp_path / "people.csv", engine=carrier, **ASKED)
    release.save(tmp_path / "release.csv", encoding=encoding)
    text = (tmp_path / "release.csv").read_text(encoding=encoding)
    assert (">= 8000" if encoding != "utf-8" else "≥ 8000") in text


def test_a_database_takes_coarsened_columns_as_texts(carrier: Any, tmp_path: Path) -> None:
    import sqlite3

    source = tmp_path / "people.sqlite"
    with sqlite3.connect(source) as connection:
        people().to_pandas().to_sql("people", connection, index=False)
    asked = {**ASKED, "keep": ["zip", "school"], "others": "drop"}
    asked["coarsen"] = {name: model for name, model in COARSEN.items() if name != "admitted"}
    release = shoal.anonymize(shoal.DatabaseTable(source, "people"), engine=carrier, **asked)
    release.save(f"sqlite:///{tmp_path / 'release.sqlite'}", table="released")
    with sqlite3.connect(tmp_path / "release.sqlite") as connection:
        found = connection.execute("SELECT salary, zip, school FROM released").fetchall()
    expected = rows(coarse(people()), ["salary", "zip", "school"])
    assert sorted(tuple(map(str, row)) for row in found) == expected


def test_the_command_line_coarsens_and_says_so(
    tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    people().to_pandas().to_csv(tmp_path / "people.csv", index=False)
    flags = ["-q", "age", "-s", "salary", "-x", "admitted", "-x", "zip", "-x", "school", "-k", 3]
    for name in ("admitted", "zip", "school"):
        flags += ["--allow", f"{name}:unique"]
    flags += ["--coarsen", "salary:interval:step=1000:low=1999:high=8000"]
    flags += ["--coarsen", "admitted:calendar:finest=quarter", "--coarsen", "zip:prefix:finest=1"]
    (tmp_path / "order.txt").write_text("\n".join(SCHOOLS), encoding="utf-8")
    flags += ["--coarsen", f"school:order:{tmp_path / 'order.txt'}:low=primary"]
    output, report = tmp_path / "release.csv", tmp_path / "report.html"
    code, said, errors = shell(
        "anonymize", tmp_path / "people.csv", *flags, "-o", output, "--report", report,
        "--save-settings", tmp_path / "s.toml",
    )  # fmt: skip
    assert code == 0, errors
    assert "salary to bins of 1000, all up to 1999 as one, all from 8000 on as one" in said
    assert "admitted to quarters" in said
    read = pl.read_csv(output, infer_schema=False).to_arrow()
    assert rows(read) == rows(coarse(people()))
    assert "Less precise in every record" in report.read_text(encoding="utf-8")
    assert Settings.load(tmp_path / "s.toml").coarsen == COARSEN
    code, said, _ = shell("anonymize", tmp_path / "people.csv", *flags, "--dry-run", "--json")
    assert json.loads(said)["coarsened"] == list(COARSEN)


def test_an_untold_model_on_the_command_line_is_refused(
    tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    people().to_pandas().to_csv(tmp_path / "people.csv", index=False)
    flags = ["-q", "age", "-s", "salary", "--others", "drop", "-k", 3, "-o", tmp_path / "r.csv"]
    for given_as, says in {
        "salary": "Write --coarsen salary:MODEL:KEY=VALUE",
        "salary:intervall": "Unknown model 'intervall' for column 'salary'; did you mean",
        "salary:interval": "coarsens nothing with these options. Give it 'step', 'low' or 'high'.",
        "salary:interval:step=0": "--coarsen salary:interval: Interval: 'step' must be a number",
    }.items():
        code, _, said = shell("anonymize", tmp_path / "people.csv", *flags, "--coarsen", given_as)
        assert code == 2, said
        assert says in said
    assert not (tmp_path / "r.csv").exists()
