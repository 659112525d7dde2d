"""The audit reads odd columns by itself, and comes to what the encoder and the kernels come to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from allowed import allowing
from hypothesis import given
from tables import partitioned_samples

import shoal
from shoal.audits import compatibility
from shoal.audits.compatibility import audit_compatibility, count_counterparts, read_originals
from shoal.audits.readings import covered_values, line_of
from shoal.audits.texts import Reader, column_texts, released_text
from shoal.encoding.closed import Closed
from shoal.encoding.encode import distinct_rows, encode
from shoal.encoding.frames import open_frame
from shoal.encoding.models import Model
from shoal.encoding.models.base import label_of
from shoal.encoding.render import read_closures, render
from shoal.kernels.assess import weigh_compatible
from shoal.solve.measures import compile_measure

NOON = datetime(2020, 2, 29, 12, tzinfo=UTC)
HOURS = [NOON + timedelta(hours=step) for step in (0, 1, 1, 5, 5, 7, 9, 30)]
TICKS = pa.array([1, 1_000, 1_000, 1_001, 1_002, 1_003, 2_000, 10**9], pa.int64())
WORDS = ["a", "b", "b", "c, d", "*e", 'f"', "[g, h]", None]
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([3, 6, 8], pa.int32()), ["a", None, "b"])

ODD: dict[str, Any] = {
    "dictionary": pa.array(WORDS).dictionary_encode(),
    "dictionary of numbers": pa.array([3, 1, 1, 20, 20, 7, 8, None]).dictionary_encode(),
    "run ends": RUNS,
    "large string": pa.array(WORDS, pa.large_string()),
    "string view": pa.array(WORDS).cast(pa.string_view()),
    "decimal": pa.array([Decimal(n) / 8 for n in (1, 2, 2, 3, 16, 17, 80, 81)]),
    "long decimal": pa.array([Decimal(10) ** 25 + n for n in (1, 2, 2, 3, 4, 5, 6, 7)]),
    "seconds in a zone": pa.array(HOURS, pa.timestamp("s", "Europe/Berlin")),
    "nanoseconds": TICKS.view(pa.timestamp("ns")),
    "nanoseconds in a zone": TICKS.view(pa.timestamp("ns", "+05:30")),
    "date64": pa.array([moment.date() for moment in HOURS], pa.date64()),
    "negative zero": pa.array([0.0, -0.0, 0.0, -0.0, 1.5, -1.5, 2.0, None]),
    "float32": pa.array([0.1, 0.1, 0.2, 0.3, 1e-7, 1e20, 3.0, None], pa.float32()),
    "small and large floats": pa.array([1e-5, 1e-5, 1e15, 1e16, 1e17, 5e-324, 0.1, 1e300]),
    "uint64": pa.array([2**64 - 1, 2**64 - 2, 2**63, 1, 2, 2, 3, None], pa.uint64()),
    "truth values": pa.array([True, False, True, None, False, True, True, False]),
    "nothing but null once": pa.array([1, 1, 1, 1, 2, 2, 2, None]),
}
FRAMES: dict[str, Any] = {
    **{kind: pa.table({"x": values}) for kind, values in ODD.items()},
    "NaN of pandas": pd.DataFrame({"x": [1.0, 1.0, np.nan, 2.5, -0.0, 0.0, 3.0, np.nan]}),
    "category": pd.DataFrame({"x": pd.Categorical(["a", "b", "b", None, "a", "c", "c", "a"])}),
}


FOLDING: tuple[Model, ...] = (
    shoal.Interval(step=2),
    shoal.Interval(step=0.15, high=3),
    shoal.Interval(low=1, high=3),
    shoal.Interval(step=7, start=3, low=-2),
    shoal.Interval(step="day"),
    shoal.Interval(step="week", high=date(2020, 3, 2)),
    shoal.Interval(high="2020-03-01"),
    shoal.Interval(low=datetime(2020, 2, 29, 13)),
    shoal.Calendar(),
    shoal.Calendar(("day", "week", "year")),
    shoal.Calendar(finest="month", high="2020-03"),
    shoal.Prefix(fill="~"),
    shoal.Prefix(fill="~", finest=1),
    shoal.Suppression(high=3),
    shoal.Subset(low=1),
)


def models_for(frame: Any) -> list[Model]:
    """Every model that takes the column."""
    labels = set(column_texts(open_frame(frame), "x").texts) - {None}
    tree = shoal.Hierarchy.from_sets([sorted(labels)[:2], sorted(labels)])
    found = []
    for model in (shoal.Suppression(), shoal.Subset(), shoal.Interval(), tree, *FOLDING):
        try:
            encode(open_frame(frame), {"x": model})
        except shoal.InputError:
            continue
        found.append(model)
    assert len(found) >= 3
    return found


@pytest.mark.parametrize("kind", FRAMES)
def test_every_record_reads_as_the_encoder_reads_it(kind: str) -> None:
    frame = open_frame(FRAMES[kind])
    table = encode(frame, {"x": shoal.Suppression()})
    form = table.columns[0].form
    labels = [*form.labels, None] if form.has_null else list(form.labels)
    cells = column_texts(frame, "x")
    read = [cells.texts[place] for place in cells.places]
    assert read == [labels[code] for code in table.codes[:, 0]]


@pytest.mark.parametrize("style", ["text", "bounds"])
@pytest.mark.parametrize("kind", FRAMES)
def test_odd_columns_get_the_verdict_of_the_encoder_and_the_kernel(kind: str, style: str) -> None:
    frame = open_frame(FRAMES[kind])
    for model in models_for(FRAMES[kind]):
        table = encode(frame, {"x": model})
        arrays = compile_measure("suppressed", table.columns).arrays
        for groups in (
            [0, 0, 0, 0, 1, 1, 1, 1],
            [0, 1, 2, 3, 0, 1, 2, 3],
            [0, 0, 1, 2, 3, 4, 5, 5],
        ):
            closed = _closed(table, np.array(groups, np.int32))
            released = render(frame, closed, np.arange(8), style=style)
            group, closures = read_closures(table.columns, released)
            found = distinct_rows(table.codes)
            sizes = np.bincount(group).astype(np.int64)
            expected = weigh_compatible(
                arrays, closures, sizes, table.codes[found.first], found.counts
            )
            verdict = audit_compatibility(read_originals(frame, {"x": model}), released, 1)
            assert verdict.audit.k == min(own.min() for own in expected)
            assert sorted(verdict.sizes) == sorted(sizes)


def _closed(table: Any, groups: Any) -> Closed:
    from shoal.solve.problem import Problem

    return Problem.of(table, "suppressed", 1).close(groups)


@given(partitioned_samples(max_records=14))
def test_counterparts_are_those_of_the_kernel(drawn: Any) -> None:
    sample, partition = drawn
    problem = sample.problem("suppressed")
    closed = problem.close(np.array(partition, np.int32))
    frame = open_frame(sample.frame)
    released = render(frame, closed, np.arange(sample.records))
    originals = read_originals(frame, sample.models)
    covers = [
        covered_values(
            line_of(cells, originals.models[name], Reader()), cells, column_texts(released, name)
        )
        for name, cells in originals.cells.items()
    ]
    found = distinct_rows(problem.codes)
    expected = weigh_compatible(
        problem.arrays,
        closed.closures,
        closed.sizes.astype(np.int64),
        problem.codes[found.first],
        found.counts,
    )
    counted = count_counterparts(covers)
    assert sorted(zip(counted[0], counted[2], strict=True)) == sorted(
        zip(expected[0], closed.sizes, strict=True)
    )
    assert set(counted[1]) == set(expected[1])  # different originals may be folded into one code


def test_counterparts_are_counted_across_words_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = shoal.samples.adult().slice(0, 900).select(["age", "education", "race", "sex"])
    models = dict.fromkeys(table.column_names) | {"education": shoal.Subset()}
    made = shoal.anonymize(
        table, quasi_identifiers=models, k=4, method=shoal.NonHomogeneous("mondrian")
    )
    encoded, released = made.closed.table, open_frame(made.data)
    group, closures = read_closures(encoded.columns, released)
    sizes, found = np.bincount(group).astype(np.int64), distinct_rows(encoded.codes)
    assert found.first.size > 5 * compatibility.WORD
    arrays = compile_measure("suppressed", encoded.columns).arrays
    expected = weigh_compatible(arrays, closures, sizes, encoded.codes[found.first], found.counts)
    for name, value in (("BLOCK", 2 * compatibility.WORD), ("TEXTS", 3), ("PAIRS", 7)):
        monkeypatch.setattr(compatibility, name, value)
    assert made.released.known.originals is not None
    covers = [
        compatibility._cover(made.released.known.originals, name, released) for name in models
    ]
    counted = count_counterparts(covers)
    assert sorted(zip(counted[0], counted[2], strict=True)) == sorted(
        zip(expected[0], sizes, strict=True)
    )
    assert sorted(counted[1]) == sorted(expected[1])


VALUES = [
    "a", True, False, 3, -(2**40), 2.0, -0.0, 0.1, 1e16, 1e-7, np.float64(2.5), Decimal("1.50"),
    date(2020, 2, 29), datetime(2020, 2, 29, 1, 2, 3), datetime(2020, 2, 29, 1, 2, 3, 4000),
    NOON, datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=-5))), pd.Timestamp("2020-01-01"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_that_settings_name_are_written_alike(value: Any) -> None:
    assert released_text(value) == label_of(value)


@pytest.mark.parametrize("kind", ODD)
def test_a_named_odd_value_is_limited_and_audited_alike(kind: str) -> None:
    named = next(value for value in ODD[kind].to_pylist() if value is not None)
    table = pa.table({"age": [30, 30, 40, 40] * 2, "x": ODD[kind]})
    options = {"quasi_identifiers": ["age"], "sensitive": ["x"], "allow": allowing("x"), "k": 2}
    asked = [shoal.AlphaK(0.9, [named])]
    release = shoal.anonymize(table, **options, requirements=asked, method="mondrian", refine=False)
    assert 0 < release.audit.proofs[0].reached <= 0.9
    with pytest.raises(shoal.AuditFailed):
        shoal.audit(
            pa.table({"age": ["1"] * 2, "x": pa.concat_arrays([ODD[kind].slice(0, 1)] * 2)}),
            quasi_identifiers=["age"],
            sensitive=["x"],
            k=2,
            requirements=asked,
        )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx"])
@pytest.mark.parametrize("style", ["text", "bounds"])
def test_saved_rings_pass_their_audit(suffix: str, style: str, tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "age": [30, None, 60, 61] * 3,
            "born": pd.to_datetime(
                ["2020-01-01", "2020-01-02 01:30", "2021-01-01", None] * 3, format="mixed"
            ),
            "share": [0.1, 0.25, 1e-9, -0.0] * 3,
            "town": ["a, b", 'c"', None, "*d"] * 3,
            "fit": [True, False, None, True] * 3,
        }
    )
    release = shoal.anonymize(
        table,
        quasi_identifiers={**dict.fromkeys(table.columns), "town": shoal.Subset()},
        k=2,
        method=shoal.NonHomogeneous("mondrian"),
        render=style,
    )
    release.save(tmp_path / f"release{suffix}")
    assert release.k >= 2


@pytest.mark.parametrize(
    ("decimal", "date_format", "texts"),
    [
        (",", None, ["1,5", "2,25", "10", "10,5"]),
        (".", None, ["1.5", "1.50", "2", "2.0"]),
        (".", "%d.%m.%Y", ["31.12.1999", "01.01.2000", "02.02.2001", "01.01.1970"]),
        (".", "%d%m%Y", ["31121999", "01012000", "02022001", "01011970"]),
        (".", None, ["2020-01-01T01:00+01:00", "2020-01-01T00:30Z", "2019-12-31T19:00-05:00"]),
    ],
)
def test_texts_of_files_are_read_as_the_settings_say(
    decimal: str, date_format: str | None, texts: list[str], tmp_path: Path
) -> None:
    lines = [f'"{text}"\n' for text in texts for _ in range(2)]
    (tmp_path / "t.csv").write_text("x\n" + "".join(lines))
    release = shoal.anonymize(
        tmp_path / "t.csv",
        quasi_identifiers={"x": shoal.Interval()},
        k=3,
        method=shoal.NonHomogeneous("mondrian"),
        reading=shoal.Input(decimal=decimal, date_format=date_format),
    )
    release.save(tmp_path / "release.csv")
    assert release.k >= 3


def test_a_text_that_stands_for_nothing_has_no_counterparts() -> None:
    table = open_frame(pa.table({"x": [1, 2, 3, 4]}))
    for model, text in (
        (shoal.Interval(), "[5, 9]"),
        (shoal.Interval(), "[a, b]"),
        (shoal.Interval(), "[3, 2]"),
        (shoal.Suppression(), "[1, 4]"),
        (shoal.Subset(), "{5, 6}"),
        (shoal.Subset(), '{"1, 2}'),
    ):
        released = open_frame(pa.table({"x": ["*", "*", "*", text]}))
        verdict = audit_compatibility(read_originals(table, {"x": model}), released, 1)
        assert verdict.audit.k == 0, text
        assert not verdict.is_proved


def test_a_release_of_other_records_is_refused() -> None:
    originals = read_originals(open_frame(pa.table({"x": [1, 2]})), {"x": shoal.Interval()})
    with pytest.raises(shoal.InputError, match="The release has 1 record but the table has 2"):
        audit_compatibility(originals, open_frame(pa.table({"x": ["*"]})), 1)
    with pytest.raises(shoal.InputError, match="Quasi-identifier 'x' is not in the release"):
        audit_compatibility(originals, open_frame(pa.table({"y": ["*"] * 2})), 1)
