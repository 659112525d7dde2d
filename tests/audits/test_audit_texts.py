"""The audit compares what records read in the file, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal.pipeline.carriers import released

READ_DIFFERENTLY = {
    "numbers.csv": "age,d\n34.0,a\n34,b\n34.00,c\n",
    "times.csv": "age,d\n2020-01-01 00:00,a\n2020-01-01T00:00:00,b\n2020-01-01 00:00:00.000,c\n",
    "zones.csv": "age,d\n2020-01-01T01:00+01:00,a\n2020-01-01T00:00Z,b\n2019-12-31T19:00-05:00,c\n",
    "numbers.jsonl": '{"age":34}\n{"age":34.0}\n{"age":3.4e1}\n',
    "spaces.csv": "age,d\n34,a\n34 ,b\n 34,c\n",
}


@pytest.mark.parametrize("name", READ_DIFFERENTLY)
def test_records_that_read_differently_are_no_group(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(READ_DIFFERENTLY[name])
    with pytest.raises(shoal.AuditFailed, match="3 of 3 groups"):
        shoal.audit(path, quasi_identifiers=["age"], k=3)


def test_columns_without_a_role_are_named(tmp_path: Path) -> None:
    table = pd.DataFrame({"age": ["*"] * 2, "ssn": [1, 2], "ill": ["a", "b"]})
    audit = shoal.audit(table, quasi_identifiers=["age"], sensitive=["ill"], k=2)
    assert audit.unnamed == ("ssn",)


def test_a_saved_file_is_audited_before_it_gets_its_name(tmp_path: Path, monkeypatch) -> None:
    """A writer that loses a record must not get its file out."""
    table = pd.DataFrame({"age": [30, 30, 60, 60]})
    release = shoal.anonymize(table, quasi_identifiers=["age"], k=2)
    whole = released.write_file
    monkeypatch.setattr(released, "write_file", lambda data, *rest: whole(data.slice(1), *rest))
    with pytest.raises(shoal.AuditFailed):
        release.save(tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".jsonl", ".xlsx"])
def test_every_format_passes_its_own_audit(suffix: str, tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "age": [30, None, 60, 61] * 2,
            "born": pd.to_datetime(["2020-01-01", "2020-01-02", "2021-01-01", None] * 2),
            "share": [0.1, 0.25, 1e-9, 3.0] * 2,
            "ill": ["", "a,b", 'c"', "d\ne"] * 2,
        }
    )
    release = shoal.anonymize(
        table,
        quasi_identifiers=["age", "born", "share"],
        sensitive=["ill"],
        k=2,
        requirements=[shoal.LDiversity(2, "distinct")],
    )
    path = tmp_path / f"release{suffix}"
    release.save(path)
    release.settings.save(tmp_path / "settings.toml")
    assert shoal.audit(path, settings=tmp_path / "settings.toml").k == release.k


def test_a_named_value_that_was_left_out_does_not_fail_the_audit() -> None:
    table = pd.DataFrame({"age": [30] * 10 + [40] * 10 + [99], "ill": ["flu"] * 20 + ["hiv"]})
    release = shoal.anonymize(
        table,
        quasi_identifiers=["age"],
        sensitive=["ill"],
        k=5,
        requirements=[shoal.AlphaK(0.5, ["hiv"])],
        suppression_limit=0.05,
        objective="ncp",
        method="mondrian",
    )
    assert release.suppressed == 1
