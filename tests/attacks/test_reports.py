"""An attacker reads reports: one, or the difference of two."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import in_order
import pandas as pd

OPTIONS: dict[str, Any] = {
    "quasi_identifiers": ["age", "zip"],
    "sensitive": ["ill"],
    "k": 5,
    "suppression_limit": 0.02,
    "objective": "ncp",
    "method": "mondrian",
    "refine": False,
    "order_seed": 1,
}


def people(age: int, zip_: str, ill: str) -> pd.DataFrame:
    """Sixty people and one who stands apart."""
    return pd.DataFrame(
        {
            "age": [30] * 20 + [40] * 20 + [50] * 20 + [age],
            "zip": ["A"] * 60 + [zip_],
            "ill": ["flu", "cold", "hiv", "flu"] * 15 + [ill],
        }
    )


def report(table: pd.DataFrame, folder: Path, **options: Any) -> str:
    """A report without what differs between any two runs."""
    release = in_order.anonymize(table, **{**OPTIONS, **options})
    release.save_report(folder / "report.html", overwrite=True)
    page = (folder / "report.html").read_text(encoding="utf-8")
    page = re.sub(r"<time[^>]*>.*?</time>", "", page)
    sample = r'(?s)<section id="sample">.*?</section>'  # records, in a random order
    return re.sub(sample, "", page)


def test_reports_do_not_differ_by_what_a_left_out_record_holds(tmp_path: Path) -> None:
    pages = [
        report(people(age, zip_, ill), tmp_path)
        for age, zip_, ill in [(99, "Z", "hiv"), (98, "Z", "flu"), (107, "Y", "ebola")]
    ]
    assert pages[0] == pages[1] == pages[2]


def test_reports_do_not_differ_by_who_has_which_illness_in_a_group(tmp_path: Path) -> None:
    """Two tables that give the same release give the same report."""
    table = people(99, "Z", "hiv")
    table["age"] = [*range(20, 40), *range(40, 60), *range(60, 80), 107]
    first = in_order.anonymize(table, **OPTIONS)
    other = table.copy()
    for group in set(first.groups[first.groups >= 0]):
        members = (first.groups == group).nonzero()[0]
        other.loc[members, "ill"] = table.loc[members[::-1], "ill"].to_numpy()
    assert not other.equals(table)
    assert report(table, tmp_path) == report(other, tmp_path)


def test_a_report_names_no_extreme_that_is_not_released(tmp_path: Path) -> None:
    kids = [0] * 20 + [1] * 20 + [2] * 20 + [3] * 10 + [11]
    table = pd.DataFrame({"kids": kids, "zip": ["A"] * 70 + ["Z"], "ill": ["flu"] * 71})
    page = report(table, tmp_path, quasi_identifiers=["kids", "zip"])
    labels = re.findall(r'<th scope="row">([^<]*)</th>', page)
    assert labels
    assert not [label for label in labels if re.search(r"\b11\b", label)]
