"""A report is one whole file that anyone can open, and it tells no more than the release does."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import in_order
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from allowed import allowing
from examples import several
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pages import SECTIONS, Page, section

import shoal
from shoal import InputError
from shoal.audits.verdict import Persons, Unprotected
from shoal.encoding.frames import open_frame
from shoal.encoding.models import Model
from shoal.errors import counted
from shoal.pipeline.prove import with_verdict
from shoal.report.formats import make_templates, percent, rounded, shorten, whole_percent
from shoal.report.gather import reported_settings, size_edges
from shoal.report.page import Chart, Row, fill_template, of_originals, round_up
from shoal.report.words import CellShares, sentence_of

HOSTILE = '<script>alert("x")</script> & \'"` </svg></style>'
CAP = 500_000
TEMPLATES = Path(shoal.__file__).parent / "report" / "templates"
K = 5


def report_of(release: shoal.Release, folder: Path) -> str:
    release.save_report(folder / "report.html", overwrite=True)
    return (folder / "report.html").read_text(encoding="utf-8")


def without_times(text: str) -> str:
    return re.sub(r"<time[^>]*>[^<]*</time>", "", text)


def people(records: int = 120) -> pa.Table:
    """People of whom each has a name, a number and a street of their own."""
    numbers = range(records)
    return pa.table(
        {
            "name": [f"Person-{i:06}" for i in numbers],
            "pay": [1_000_003 + 7919 * (i * i % 997) for i in numbers],
            "born": [date(1950 + i % 50, 1 + i % 12, 1 + i % 28) for i in numbers],
            "street": [f"Street-{i * 7:06}" for i in numbers],
            "job": [f"Job-{i % 40:06}" for i in numbers],
            "town": [f"Town-{i % 23:06}" for i in numbers],
            "sex": ["f" if i % 3 else None for i in numbers],
            "ill": ["abcd"[i * 37 % 101 % 4] for i in numbers],
            "ward": [i * 29 % 103 % 2 for i in numbers],
        }
    )


def models() -> dict[str, Model | None]:
    towns = [f"Town-{i:06}" for i in range(40)]
    return {
        "pay": shoal.Interval(),
        "born": shoal.Interval(),
        "street": shoal.Suppression(),
        "job": shoal.Subset(domain=[f"Job-{i:06}" for i in range(50)]),
        "town": shoal.Hierarchy.from_dict({"*": {"East": towns[:20], "West": towns[20:]}}),
        "sex": None,
    }


def anonymize(**given: Any) -> shoal.Release:
    options: dict[str, Any] = {
        "table": people(),
        "quasi_identifiers": models(),
        "sensitive": ["ill"],
        "identifiers": ["name"],
        "k": K,
        "refine": False,
    }
    options |= given
    roles = ("quasi_identifiers", "sensitive", "identifiers")
    named = {name for role in roles for name in options[role]}
    table = options.pop("table")
    rest = tuple(name for name in open_frame(table).columns if name not in named)
    options.setdefault("allow", allowing(*rest))
    return in_order.anonymize(table, **options, keep=rest)


@pytest.fixture(scope="module")
def release() -> shoal.Release:
    return anonymize(requirements=[shoal.LDiversity(2)])


@pytest.fixture
def text(release: shoal.Release, tmp_path: Path) -> str:
    return report_of(release, tmp_path)


def test_a_report_loads_nothing_and_runs_nothing(text: str) -> None:
    page = Page(text)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not re.search(r"https?:|//\w|@import|url\(|src=|srcset=|\son\w+=", text)
    assert all(link["href"].startswith("#") for link in page.all("a"))
    policies = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_all_sections_are_there_in_order(text: str) -> None:
    assert [section["id"] for section in Page(text).all("section")] == [*SECTIONS]


def test_links_lead_to_something_and_names_are_unique(text: str) -> None:
    page = Page(text)
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    assert {link["href"][1:] for link in page.all("a")} <= set(names)
    assert {link["href"][1:] for link in page.all("a")} >= {*SECTIONS, "about-risk"}


def test_every_chart_can_be_read_without_seeing_it(text: str) -> None:
    page = Page(text)
    charts = [svg for svg in page.all("svg") if "aria-hidden" not in svg]
    names = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert len(charts) == 3 + 7  # loss, risk, groups; six quasi-identifiers, one sensitive column
    for chart in charts:
        assert chart["role"] == "img"
        assert len(set(chart["aria-labelledby"].split()) & names) == 2
    sequence = [tag for tag, given in page.elements if tag == "table" or given.get("role") == "img"]
    assert "svg" in sequence
    for tag, after in zip(sequence, [*sequence[1:], "end"], strict=True):
        assert tag == "table" or after == "table"  # with the same numbers


def test_charts_are_small(text: str) -> None:
    charts = re.findall(r"<svg role.*?</svg>", text, re.DOTALL)
    assert charts
    assert max(map(len, charts)) < 10_000


def test_the_verdict_names_every_requirement_and_what_was_reached(
    release: shoal.Release, text: str
) -> None:
    said = section(text, "verdict")
    assert f"k = {K}" in said.text
    assert said.words.count("✓ proved") == 2
    assert release.audit.proofs
    for proof in release.audit.proofs:
        assert proof.requirement in said.words
        assert f"{proof.reached:.4g}" in said.words


def test_columns_that_nothing_protects_are_named(text: str) -> None:
    assert "Released without protection: ward." in text
    assert "Only k is required" not in text


def test_that_only_k_is_required_is_said(tmp_path: Path) -> None:
    assert "Only k is required" in report_of(anonymize(), tmp_path)


def test_a_report_names_no_identifier_and_no_rare_value_that_the_release_hides(
    release: shoal.Release, text: str
) -> None:
    released = "\n".join(str(row) for row in release.data.to_pylist())
    told = Page(text).text
    table = people()
    assert not [name for name in table["name"].to_pylist() if name in text]
    hidden = 0
    for name in release.settings.quasi_identifiers:
        for value, count in Counter(table[name].to_pylist()).items():
            if value is not None and count < K and str(value) not in released:
                hidden += 1
                assert str(value) not in told
    assert hidden > 100
    unseen = ["Town-000033", "Job-000045"]  # in hierarchy and domain, in no record
    assert not [value for value in unseen if value in told]


def test_a_report_names_no_value_of_records_that_were_left_out(tmp_path: Path) -> None:
    usual = people(80).select(["name", "job", "ill"])
    lone = pa.table({"name": ["x"], "job": ["Hermit-000001"], "ill": ["Rare-000001"]})
    release = anonymize(
        table=pa.concat_tables([usual, lone]),
        quasi_identifiers=["job"],
        suppression_limit=0.5,
        k=2,
    )
    text = report_of(release, tmp_path)
    assert release.suppressed > 0
    assert "Rare-000001" not in str(release.data.to_pylist())
    assert "000001</" not in text.replace("Job-000001", "")
    assert "Hermit" not in text
    assert "records were left out" in text


@pytest.mark.parametrize("other", [pd.DataFrame, pl.DataFrame])
def test_hostile_names_and_values_stay_text(other: Any, tmp_path: Path) -> None:
    hostile = {
        HOSTILE: [HOSTILE, "b"] * 10,
        "n\n\u202e\x1b[31m": list(range(20)),
        "&amp;": ["<b>1</b>"] * 20,
        "other": [HOSTILE] * 20,
    }
    names = list(hostile)
    release = anonymize(
        table=other(hostile), quasi_identifiers=names[:2], sensitive=names[2:3], identifiers=[]
    )
    text = report_of(release, tmp_path)
    page = Page(text)
    known = {tag for tag, _ in Page(report_of(anonymize(), tmp_path)).elements}
    assert {tag for tag, _ in page.elements} <= known
    assert HOSTILE[:35] in page.text
    assert "&amp;lt;" not in text
    assert not re.search("[\u202e\x1b]", text)


def test_a_wide_table_of_long_names_and_many_values_stays_small(tmp_path: Path) -> None:
    records = 4000
    wide: dict[str, Any] = {
        f"{j:03} {HOSTILE} {'name ' * 300}": [
            f"{i * (j + 1) % (records if j < 3 else 19)} {HOSTILE * 20}" for i in range(records)
        ]
        for j in range(70)
    }
    names = list(wide)
    release = anonymize(
        table=pa.table(wide),
        quasi_identifiers={name: shoal.Suppression() for name in names[:62]},
        sensitive=names[62:66],
        identifiers=[],
        allow=allowing(*names[62:]),
        method="mondrian",
    )
    text = report_of(release, tmp_path)
    assert len(text.encode()) < CAP
    assert "and 2 more columns" in text
    assert "more lines" in text
    Page(text)


def test_two_runs_differ_in_their_times_only(tmp_path: Path) -> None:
    first, second = (report_of(anonymize(), tmp_path) for _ in range(2))
    assert without_times(first) == without_times(second)
    assert len(re.findall("<time", first)) > 5


KINDS: dict[str, dict[str, Any]] = {
    "k of 1": {"k": 1},
    "one group": {"k": 120},
    "bounds": {"render": "bounds"},
    "no sensitive column": {"sensitive": []},
    "weights": {"weights": {"pay": 3.0}},
    "another objective": {"objective": "wmi"},
    "a sum": {"objective": "ncp"},
    "not homogeneous": {"method": "non_homogeneous"},
    "refined": {"refine": shoal.Refine(steps=1)},
    "one record": {"table": people(1), "quasi_identifiers": ["pay"], "k": 1},
    "pandas": {"table": people().to_pandas()},
    "polars": {"table": pl.from_arrow(people())},
    "nested values": {
        "table": people().append_column("list", pa.array([[i] for i in range(120)])),
        "allow": allowing("list", "ward"),
    },
    "keep order": {"keep_order": True},
    "loosened": {"loosen": 0.3},
}


@pytest.mark.parametrize("given", KINDS.values(), ids=KINDS)
def test_every_kind_of_release_has_a_report(given: dict[str, Any], tmp_path: Path) -> None:
    release = anonymize(**given)
    page = Page(report_of(release, tmp_path))
    assert [section["id"] for section in page.all("section")] == [*SECTIONS]
    assert counted(release.audit.records, "record") in page.text
    assert f"{release.settings.objective}" in page.text


def test_a_report_says_that_values_were_loosened_and_what_it_cost(tmp_path: Path) -> None:
    release = anonymize(loosen=0.3, order_seed=1)
    text = Page(report_of(release, tmp_path)).text
    assert "Loosened at random" in text
    assert "about 30.0 % of the values that are not exact" in text
    assert f"about {100 * release.loosening_cost:.1f} percentage points" in text
    assert release.loosening_cost > 0
    assert "again from the same table, except for the values loosened at random" in text
    plain = Page(report_of(anonymize(), tmp_path)).text
    assert "Loosened" not in plain


def test_group_sizes_add_up(release: shoal.Release, text: str) -> None:
    words = section(text, "experts").words
    cells = words[words.index("Records in total") + 1 : words.index("Risk by kind of attacker")]
    sizes = [
        (int(groups.replace(",", "")), int(records.replace(",", "")))
        for groups, records in zip(cells[1::3], cells[2::3], strict=True)
    ]
    assert sum(groups for groups, _ in sizes) == release.audit.groups
    assert sum(records for _, records in sizes) == release.audit.records


@pytest.mark.parametrize(
    ("smallest", "largest", "k"), [(1, 1, 1), (2, 9, 2), (3, 3, 3), (10, 5000, 10), (1, 300, 7)]
)
def test_classes_of_sizes_cover_all_and_never_mix_below_k_with_above(
    smallest: int, largest: int, k: int
) -> None:
    edges = size_edges(smallest, largest, k)
    assert edges == sorted(set(edges))
    assert edges[0] <= smallest
    assert edges[-1] > largest
    assert k in edges


def test_bars_are_as_long_as_they_say() -> None:
    templates = make_templates(TEMPLATES)
    chart = Chart("a", "t", "d", [Row("x", ["1"], [{"exact": 25, "hidden": 75}])], "4")
    drawing = templates.get_template("macros.html").module.bars(chart)  # type: ignore[attr-defined]
    assert re.findall(r'class="(\w+)" x="([\d.]+)%" y="\d+" width="([\d.]+)%"', drawing) == [
        ("exact", "0", "25"),
        ("hidden", "25", "75"),
        ("axis", "0", "100"),
    ]


@pytest.mark.parametrize("number", [1e-9, 0.1, 0.29, 1, 1.01, 7.6, 99.9, 533, 1e9])
def test_an_axis_ends_at_or_above_the_longest_bar(number: float) -> None:
    assert number <= round_up(number) < 2.01 * number


def test_shares_read_as_none_or_all_only_if_they_are() -> None:
    assert [percent(share) for share in (0, 1e-9, 0.5, 1 - 1e-9, 1)] == [
        "0.0 %",
        "< 0.1 %",
        "50.0 %",
        "> 99.9 %",
        "100.0 %",
    ]


def test_templates_escape_all_that_they_print() -> None:
    shown = fill_template("lines.html", title=HOSTILE, lines=[(HOSTILE, "<&>")])
    assert {tag for tag, _ in Page(shown).elements} == {
        "table",
        "caption",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert "&lt;&amp;&gt;" in shown
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|<script|https?:| on\w+=", text)
        assert not re.search(r"=\{\{|='\{\{", text)  # attributes are quoted


def test_texts_are_cut_and_what_does_not_print_is_replaced() -> None:
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("a\nb", 4) == "a�b"


WRONG_NUMBER = (
    r"(?<![\w.,])(?:1 (?:more )?(?:record|group|column|requirement|quasi-identifier)s|1 people"
)
WRONG_NUMBER += r"|[02] (?:more )?(?:record|group|column|requirement|quasi-identifier|person))\b"


@pytest.mark.parametrize("left_out", [0, 1])
def test_a_report_counts_in_singular_and_plural(left_out: int, tmp_path: Path) -> None:
    usual = [(20 + i % 10, "xyz"[i % 3], i % 2) for i in range(120)]
    age, ill, ward = zip(*usual, *[(1000, "x", 0)] * left_out, strict=True)
    names = [str(i) for i in range(len(age))]
    table = pa.table({"name": names, "age": age, "ill": ill, "ward": ward})
    release = anonymize(table=table, quasi_identifiers=["age"], suppression_limit=0.2, k=3)
    assert release.suppressed == left_out
    text = report_of(release, tmp_path)
    assert not re.findall(WRONG_NUMBER, Page(text).text)
    assert ("1 record of the table was left out" in text) == (left_out == 1)


@pytest.mark.parametrize(
    ("number", "people", "left_out"),
    [
        (0, "0 people", None),
        (1, "1 person", "1 record of the table was left out"),
        (2, "2 people", "2 records of the table were left out"),
    ],
)
def test_what_to_watch_out_for_counts_in_singular_and_plural(
    number: int, people: str, left_out: str | None
) -> None:
    lists = ("quasi_identifiers", "unnamed", "kept", "replaced", "sensitive")
    facts = SimpleNamespace(
        roles=SimpleNamespace(**dict.fromkeys(lists, ()), allowed={}, coarsened={}),
        audit=SimpleNamespace(by_person=Persons("patient", number, number, 0.22)),
        left_out=number,
        promises=(),
        risks=SimpleNamespace(after=SimpleNamespace(attributes=())),
    )
    said = fill_template("care.html", facts=facts, reasons={}, most_columns=9)
    assert f"{people} in all, and at least {number} in every group" in said
    assert "a single person has 22 % of the records" in said
    assert ("left out" in said) == (left_out is not None)
    assert (left_out or "") in said


def test_losses_have_three_digits() -> None:
    told = [rounded(value) for value in (0, -1e-17, 0.00012345, 0.5, 12.345, 999.9, 1234567.0)]
    assert told == ["0", "0", "0.000123", "0.5", "12.3", "1,000", "1,230,000"]
    assert rounded(0.12345, 2) == "0.12"


@pytest.mark.parametrize("objective", ["lm", "ncp"])
def test_no_loss_in_a_report_has_more_than_three_digits(objective: str, tmp_path: Path) -> None:
    release = anonymize(objective=objective)
    words = section(report_of(release, tmp_path), "experts").words
    at = words.index("Loss of the whole release")
    shown = words[words.index(objective, at) + 3]
    assert shown == rounded(release.loss())
    assert float(shown.replace(",", "")) == float(f"{release.loss():.3g}")
    for name, loss in release.column_losses().items():
        assert words[words.index(name, words.index("Loss by measures")) + 2] == rounded(loss)
    assert str(release.loss())[:6] not in "".join(words)


@pytest.mark.parametrize(
    "requirement",
    [
        *(shoal.LDiversity(2, kind=kind) for kind in ("frequency", "distinct", "entropy")),
        shoal.LDiversity(2, kind="recursive", c=3.0),
        shoal.PSensitive(2),
        shoal.PSensitive(2, hierarchy=shoal.Hierarchy.from_dict({"*": ["a"]}), protected=["a"]),
        shoal.AlphaK(0.5),
        shoal.AlphaK(0.5, values=["a"]),
        shoal.TCloseness(0.2),
    ],
    ids=lambda requirement: requirement.describe("x"),
)
def test_every_requirement_is_explained_in_a_sentence(requirement: Any) -> None:
    sentence = requirement.promise()
    assert re.fullmatch(r"(In|Every|No) .*[a-z0-9]\.", sentence)
    assert sentence != type(requirement)(0.25).promise()  # its own numbers are in it


def test_settings_list_no_values_and_name_files_outside_without_their_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "deep").mkdir()
    for folder in (tmp_path, tmp_path / "deep"):
        (folder / "town.csv").write_text("Town-1,*\nTown-2,*\n")
    settings = shoal.Settings(
        quasi_identifiers={
            "a": shoal.Hierarchy.from_csv(tmp_path / "town.csv"),
            "b": shoal.Hierarchy.from_csv(tmp_path / "deep" / "town.csv"),
            "c": shoal.Hierarchy.from_dict({"*": ["Town-1", "Town-2"]}),
            "d": shoal.Subset(domain=["Town-1"]),
        },
        requirements=(shoal.AlphaK(0.5, values=["Town-1"]),),
        sensitive=("e",),
        k=2,
    )
    text, remarks = reported_settings(settings, tmp_path / "deep")
    assert "Town-" not in text
    assert ".." not in text
    assert str(tmp_path) not in text
    assert text.count('hierarchy = "town.csv"') == 2
    assert "# rows left out of this report: 2 values" in text
    assert "# domain left out of this report: 1 value\n" in text
    assert 'values = "left out of this report: 1 value"' in text
    assert len(remarks) == 2


def test_settings_of_a_report_make_the_same_release_again(tmp_path: Path) -> None:
    plain = {"pay": shoal.Interval(), "sex": None, "town": None}
    table = people().select(["name", *plain, "ill", "ward"])
    release = anonymize(table=table, quasi_identifiers=plain, order_seed=1)
    text, remarks = reported_settings(release.settings, tmp_path)
    assert remarks == []
    (tmp_path / "again.toml").write_text(text, encoding="utf-8")
    again = in_order.anonymize(table, settings=tmp_path / "again.toml", order_seed=1)
    assert again.data.equals(release.data)


def test_the_certificate_is_in_the_report_once_it_was_asked_for(tmp_path: Path) -> None:
    few = people().select(["name", "sex", "town", "ill", "ward"])
    release = anonymize(table=few, quasi_identifiers=["sex", "town"])
    assert "No certificate: it was not computed" in report_of(release, tmp_path)
    assert str(release.certificate)[1:] in report_of(release, tmp_path)
    release = anonymize(method="non_homogeneous")
    assert release.certificate_reason in Page(report_of(release, tmp_path)).text


def test_an_existing_file_is_replaced_only_when_told(
    release: shoal.Release, tmp_path: Path
) -> None:
    target = tmp_path / "report.html"
    target.write_text("mine")
    with pytest.raises(InputError, match=r"exists. Choose another name") as raised:
        release.save_report(target)
    assert len(raised.value.problems) == 1
    assert target.read_text() == "mine"
    release.save_report(target, overwrite=True)
    assert "Release report" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["nowhere/report.html", "."])
def test_a_place_that_cannot_be_written_gets_one_sentence(
    place: str, release: shoal.Release, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as raised:
        release.save_report(tmp_path / place)
    assert len(raised.value.problems) == 1
    assert re.search(r"(does not exist|is a folder)\. ", str(raised.value))


def test_a_report_appears_whole_or_not_at_all(
    release: shoal.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match=r"No space left on device\. Choose another place"):
        release.save_report(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_title_is_the_heading(tmp_path: Path) -> None:
    text = report_of(anonymize(title=f"Patients {HOSTILE} {'of a hospital ' * 20}"), tmp_path)
    page = Page(text)
    assert any(words.startswith("Patients <script>") for words in page.words)
    assert text.count("<h1>Patients &lt;script&gt;") == 1
    [heading] = re.findall("<h1>(.*?)</h1>", text)
    assert heading.endswith("…")
    assert "<title>Patients" in text
    assert "<h1>Release report</h1>" in report_of(anonymize(), tmp_path)


def test_every_kept_column_is_named_with_the_records_it_singles_out(tmp_path: Path) -> None:
    more = {f"column {j:02}": [i % (j + 1) for i in range(120)] for j in range(30)}
    table = people().select(["name", "pay", "ill", "ward"])
    for name, cells in more.items():
        table = table.append_column(name, pa.array(cells))
    table = table.append_column("own", pa.array([f"x{i}" for i in range(120)]))
    release = anonymize(
        table=table, quasi_identifiers=["pay"], allow=allowing("own", "ward", *more)
    )
    text = report_of(release, tmp_path)
    words = section(text, "done").words
    for name in more:
        assert name in words
    assert words[words.index("own") + 1 : words.index("own") + 3] == [
        "the settings allow it",
        "120",
    ]
    assert words[words.index("ward") + 2] == "0"
    assert words[words.index("all of them together") + 1] == "120"
    assert "'own', although its values identify people" in section(text, "care").text
    assert "can identify 120 of 120 people" in section(text, "verdict").text


def test_where_persons_repeat_nothing_is_said_to_be_proved_for_them(
    release: shoal.Release, tmp_path: Path
) -> None:
    persons = (Persons("patient", 21, 1),)
    audit = with_verdict(release.examination, release.settings, Unprotected(), (), persons).audit
    said = section(report_of(replace(release, audit=audit), tmp_path), "verdict")
    assert said.words.count("✓ proved for records") == 2
    assert said.words.count("✗ not for people") == 2
    assert (
        "'patient' occurs in several records. If it identifies people, one group contains only 1"
        in said.text
    )
    assert "! Proved for some columns only." in said.words
    assert "✓ proved" not in said.words
    risk = section(report_of(replace(release, audit=audit), tmp_path), "risk").text
    assert "no limit is proved for the chance" in risk
    assert "at most 1 in" not in risk


def folded(text: str) -> tuple[str, str]:
    """What is seen of a report at once, and what is folded."""
    inside = "".join(re.findall("<details>.*?</details>", text, re.DOTALL))
    return Page(re.sub("<details>.*?</details>", "", text, flags=re.DOTALL)).text, inside


def test_what_takes_expertise_is_folded(tmp_path: Path) -> None:
    release = anonymize(method="cover", objective="lm")
    release.certify(passes=1)
    seen, inside = folded(report_of(release, tmp_path))
    jargon = r"\b(lm|gcp|mi|c_avg|dm|cover|lattice|prosecutor|marketer|seconds)\b"
    before_words = seen[: seen.index("What the figures mean", seen.index("For experts") + 40)]
    assert not re.search(jargon, before_words, re.IGNORECASE)
    for word in ("gcp", "cover", "Prosecutor", "Marketer", "Seconds", "certificate", "[method]"):
        assert word.lower() in inside.lower()


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (CellShares(1, 0, 0, 0, ""), "every value is released exactly."),
        (CellShares(0, 0, 1, float("inf"), ""), "every value is hidden."),
        (
            CellShares(0, 1, 0, 4.0, ""),
            "half of the values are released within a range of at most 4.",
        ),
        (
            CellShares(0.25, 0.5, 0.25, 31.0, "D"),
            "half of the values are released within 31 days; 25.0 % are exact, 25.0 % hidden.",
        ),
        (CellShares(0, 1, 0, 3.6e9, "us"), "half of the values are released within 1 hour."),
        (CellShares(0, 1, 0, 4383, "D"), "half of the values are released within 12 years."),
        (
            CellShares(0.5, 0.5, 0, 0, "D"),
            "at least half of the values are released exactly; 50.0 % are exact.",
        ),
        (
            CellShares(0.4, 0, 0.6, float("inf"), ""),
            "half of the values or more cannot be narrowed down; 40.0 % are exact, 60.0 % hidden.",
        ),
        (CellShares(0.4, 0.6, 0, None, ""), "40.0 % are exact, 60.0 % less precise."),
    ],
)
def test_what_a_column_lost_is_said_in_a_sentence(cells: CellShares, sentence: str) -> None:
    assert sentence_of(cells) == sentence


def test_half_of_the_values_are_within_the_width_that_is_said(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2, 3, 10, 14, 18], "t": [*"aaabbb"]})
    release = shoal.anonymize(table, quasi_identifiers=["n", "t"], k=3)
    told = section(report_of(release, tmp_path), "loss").text
    assert ": half of the values are released within a range of at most 2." in told
    assert ": every value is released exactly." in told


def test_shares_of_originals_never_stand_for_fewer_than_k() -> None:
    told = [of_originals(number / 200, 200, 5) for number in (0, 1, 4, 6, 100, 194, 196, 199, 200)]
    assert told == [
        ("0 %", 0.0),
        ("fewer than 5 records", 0.0),
        ("fewer than 5 records", 0.0),
        ("3 %", 0.03),
        ("50 %", 0.5),
        ("97 %", 0.97),
        ("all but fewer than 5 records", 1.0),
        ("all but fewer than 5 records", 1.0),
        ("100 %", 1.0),
    ]
    assert [whole_percent(share) for share in (1e-9, 1 - 1e-9)] == ["< 1 %", "> 99 %"]


def test_few_people_at_risk_in_the_table_are_not_counted_in_the_report(tmp_path: Path) -> None:
    table = pa.table({"a": ["x"] * 97 + ["u", "v", "w"], "s": [*"abcd"] * 25})
    release = shoal.anonymize(table, quasi_identifiers=["a"], sensitive=["s"], k=5)
    assert release.risk.before.sizes.unique == 3
    words = section(report_of(release, tmp_path), "risk").words
    assert "fewer than 5 records → 0.0 %" in words
    assert not [word for word in words if word.startswith(("3.0 %", "3 %"))]


def people_of(seed: int, records: int = 60) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 90, records),
            "town": rng.choice([*"abcdefg"], records),
            "ill": rng.choice([*"uvwxyz"], records),
            "pay": rng.integers(0, 3000, records),
        }
    )


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.sampled_from(["lm", "ncp", "mi"]))
def test_which_sensitive_value_was_whose_does_not_change_the_report(
    seed: int, objective: str
) -> None:
    table = people_of(seed)
    job: dict[str, Any] = {
        "quasi_identifiers": ["age", "town"],
        "sensitive": ["ill", "pay"],
        "k": 4,
        "method": "mondrian",
        "refine": False,
        "objective": objective,
        "allow": allowing("pay"),
    }
    release = shoal.anonymize(table, **job)
    rng = np.random.default_rng(seed + 1)
    order = np.arange(table.num_rows)
    for group in np.unique(release.groups):
        members = np.flatnonzero(release.groups == group)
        order[members] = rng.permutation(members)
    swapped = table.set_column(2, "ill", table["ill"].take(order))
    swapped = swapped.set_column(3, "pay", table["pay"].take(order))
    assert not swapped.equals(table)
    other = shoal.anonymize(swapped, **job)
    rows = [sorted(map(str, one.data.to_pylist())) for one in (release, other)]
    assert rows[0] == rows[1]
    with tempfile.TemporaryDirectory() as folder:
        texts = [without_times(report_of(one, Path(folder))) for one in (release, other)]
    assert texts[0] == texts[1]


LONE = {"age": [997, 5], "town": ["z", "q"], "ill": ["rare", "u"], "pay": [9, 7]}


@pytest.mark.parametrize("seed", range(4))
def test_who_was_left_out_does_not_change_the_report(seed: int, tmp_path: Path) -> None:
    usual = people_of(seed).to_pandas()
    usual[["age", "town"]] = usual[["age", "town"]].iloc[np.arange(60) // 6 * 6].to_numpy()
    usual = usual.astype({"age": int})
    texts, rows = [], []
    for i in range(2):  # everything about the lone record differs
        lone = {name: [cells[i]] for name, cells in LONE.items()}
        table = pd.concat([usual, pd.DataFrame(lone)], ignore_index=True)
        release = shoal.anonymize(
            table,
            quasi_identifiers=["age", "town"],
            sensitive=["ill", "pay"],
            allow=allowing("pay"),
            k=4,
            suppression_limit=0.02,
            objective="ncp",
            method="mondrian",
            refine=False,
        )
        assert release.groups[-1] < 0
        rows.append(sorted(map(str, release.data.to_dict("records"))))
        texts.append(without_times(report_of(release, tmp_path)))
    assert rows[0] == rows[1]
    for part in SECTIONS:
        assert section(texts[0], part).words == section(texts[1], part).words
    assert "997" not in Page(texts[0]).text


def test_measures_that_link_sensitive_values_and_originals_have_two_digits(tmp_path: Path) -> None:
    release = anonymize(objective="wmi")
    text = report_of(release, tmp_path)
    words = section(text, "experts").words
    at = words.index("Loss of the whole release")
    shown = words[words.index("wmi", at) + 3]
    assert float(shown) == float(f"{release.loss():.2g}")
    assert len(re.sub(r"^0\.0*|\.", "", shown)) <= 2
    assert "because more digits would reveal which value belongs to whom" in text
    for name, loss in release.column_losses().items():
        assert words[words.index(name, words.index("Loss by measures")) + 2] == f"{loss:.2g}"


def test_the_order_of_a_release_does_not_change_the_sample(
    release: shoal.Release, tmp_path: Path
) -> None:
    order = np.random.default_rng(1).permutation(release.data.num_rows)
    shuffled = replace(release, released=replace(release.released, data=release.data.take(order)))
    texts = [section(report_of(one, tmp_path), "sample").words for one in (release, shuffled)]
    assert texts[0] == texts[1]


SECRETS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "float": (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    "int": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "unsigned": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "code": (pa.int8(), st.integers(-3, 3)),
    "text": (pa.string(), st.text(max_size=6)),
    "flag": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates()),
    "moment": (pa.timestamp("us"), st.datetimes()),
    "zoned": (pa.timestamp("ns", "UTC"), st.integers(-(2**62), 2**62)),
    "decimal": (pa.decimal128(30, 4), st.decimals(-(10**20), 10**20, places=4)),
}
KEPT: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    **SECRETS,
    "far day": (pa.date32(), st.integers(-(2**31), 2**31 - 1)),
    "far moment": (pa.timestamp("s"), st.integers(-(2**62), 2**62)),
    "null": (pa.null(), st.none()),
    "list": (pa.list_(pa.int8()), st.lists(st.integers(0, 3), max_size=2)),
    "struct": (pa.struct({"a": pa.int8()}), st.fixed_dictionaries({"a": st.integers(0, 3)})),
    "bytes": (pa.binary(), st.binary(max_size=3)),
    "time": (pa.time64("us"), st.times()),
    "duration": (pa.duration("s"), st.integers(-(2**40), 2**40)),
}
NEAR = ("float", "int", "code", "text", "flag", "day", "moment", "decimal")


def column_of(data: st.DataObject, kinds: Any, names: Any, records: int) -> pa.Array:
    kind, cells = kinds[data.draw(st.sampled_from(list(names)))]
    values = data.draw(st.lists(st.none() | cells, min_size=records, max_size=records))
    if pa.types.is_temporal(kind) and any(isinstance(value, int) for value in values):
        width = pa.int32() if kind == pa.date32() else pa.int64()
        return pa.array(values, width).cast(kind)
    return pa.array(values, kind)


@settings(max_examples=several(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_columns_have_a_report(data: st.DataObject) -> None:
    records = data.draw(st.integers(4, 30))
    table = pa.table(
        {
            "quasi": column_of(data, SECRETS, NEAR, records),
            "secret": column_of(data, SECRETS, SECRETS, records),
            "kept": column_of(data, KEPT, KEPT, records),
        }
    )
    try:
        release = anonymize(
            table=table,
            quasi_identifiers=["quasi"],
            sensitive=["secret"],
            identifiers=[],
            allow=allowing("secret", "kept"),
            k=2,
            method="mondrian",
        )
    except shoal.ShoalError:
        assume(False)
    with tempfile.TemporaryDirectory() as folder:
        page = Page(report_of(release, Path(folder)))
    assert [part["id"] for part in page.all("section")] == [*SECTIONS]
    release.evaluate(queries=5)
