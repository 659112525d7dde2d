"""With persons counted, every method keeps every requirement, as plain code counts it from the released records."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import reference.requirements
import tables
from examples import several
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reference import persons as twin
from tables import Sample

import shoal
from shoal.audits.requirements.base import Requirement
from shoal.solve.methods import METHODS

GROUPING = [name for name, method in METHODS.items() if method.homogeneous]
HONEST = [name for name in GROUPING if METHODS[name]().honours_requirements()]


@st.composite
def crowds(
    draw: st.DrawFn, kind: str | None = None, most: int = 16
) -> tuple[Sample, list[int], int, list[Requirement]]:
    """A table, the person behind each record, k, and requirements that all records as one group keep."""
    sample = draw(tables.samples(min_records=3, max_records=most, sensitive=2))
    numbers = st.lists(st.integers(0, 4), min_size=sample.records, max_size=sample.records)
    sample = sample.with_columns(sensitive2=pa.array(draw(numbers)))
    fewest = (
        1 + sample.records // 2 if kind else 1
    )  # who has many values has the most frequent one, too
    number = draw(st.integers(fewest, sample.records))
    each = st.lists(st.integers(0, number - 1), min_size=sample.records, max_size=sample.records)
    persons = draw(each)
    k = draw(st.integers(1, min(4, len(set(persons)))))
    chosen = draw(reference.requirements.requirements(kind)) if kind else []
    named = {value for one in chosen for value in getattr(one, "values", None) or ()}
    assume(named <= set(sample.secrets[0]))
    assume(twin.meets(sample, persons, k, chosen)(range(sample.records)))
    return sample, persons, k, chosen


def released(case: tuple[Any, ...], **more: Any) -> shoal.Release[pa.Table]:
    sample, persons, k, required = case
    return shoal.anonymize(
        sample.frame.append_column("person", pa.array(persons)),
        quasi_identifiers=sample.models,
        sensitive=sample.sensitive,
        k=k,
        requirements=required,
        person="person",
        **more,
    )


def as_read(release: shoal.Release[pa.Table], sample: Sample) -> list[list[int]]:
    """The records that look the same, of a release in the order of its table."""
    rows = zip(*(release.data[name].to_pylist() for name in sample.models), strict=True)
    found: dict[Any, list[int]] = {}
    for i, row in enumerate(rows):
        found.setdefault(row, []).append(i)
    return list(found.values())


def assert_kept(case: tuple[Any, ...], release: shoal.Release[pa.Table]) -> None:
    sample, persons, k, required = case
    meets = twin.meets(sample, persons, k, required)
    groups = as_read(release, sample)
    assert all(meets(group) for group in groups)
    assert "person" not in release.data.column_names
    counted = release.audit.by_person
    assert counted is not None
    assert counted.smallest == min(len({persons[i] for i in group}) for group in groups)
    assert counted.persons == len(set(persons))


@pytest.mark.parametrize("method", GROUPING)
@settings(max_examples=several(60))
@given(data=st.data())
def test_every_group_has_k_persons(method: str, data: st.DataObject) -> None:
    case = data.draw(crowds())
    assert_kept(case, released(case, method=method, keep_order=True))


@pytest.mark.parametrize("kind", reference.requirements.ALL_KINDS)
@settings(max_examples=several(50), suppress_health_check=[HealthCheck.filter_too_much])
@given(method=st.sampled_from(HONEST), data=st.data())
def test_persons_of_every_group_keep_the_requirement(
    kind: str, method: str, data: st.DataObject
) -> None:
    case = data.draw(crowds(kind))
    assert_kept(case, released(case, method=method, keep_order=True))


@given(data=st.data())
def test_the_optimum_of_a_handful_of_records_is_found(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([None, "distinct", "p-sensitive"]))
    case = sample, persons, k, required = data.draw(crowds(kind, most=7))
    release = released(case, weights=sample.weights, keep_order=True)
    meets = twin.meets(sample, persons, k, required)
    least = reference.requirements.optimum(sample.objective("lm"), sample.records, meets)
    mean = sum(sample.weights.values()) / len(sample.weights)
    cells = sample.records * len(sample.models)
    assert release.loss("lm") == pytest.approx(least / mean / cells, abs=1e-9)


@settings(max_examples=several(25))
@given(share=st.sampled_from([0.1, 0.3, 0.6]), data=st.data())
def test_records_left_out_leave_enough_persons(share: float, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([None, "distinct", "p-sensitive"]))
    case = sample, persons, k, required = data.draw(crowds(kind))
    release = released(case, suppression_limit=share, method="cover")
    meets = twin.meets(sample, persons, k, required)
    groups = release.groups.tolist()
    found = [[i for i, g in enumerate(groups) if g == own] for own in {*groups} - {-1}]
    assert all(meets(group) for group in found)
    assert release.suppressed <= share * sample.records


@settings(max_examples=several(60))
@given(share=st.sampled_from([0.1, 0.5, 0.9]), data=st.data())
def test_loosened_groups_keep_k_persons(share: float, data: st.DataObject) -> None:
    case = data.draw(crowds(data.draw(st.sampled_from([None, "distinct"]))))
    release = released(case, loosen=share, keep_order=True, method="cover")
    assert_kept(case, release)


@settings(max_examples=several(50))
@given(data=st.data())
def test_the_same_seed_gives_the_same_groups(data: st.DataObject) -> None:
    case = data.draw(crowds("frequency"))
    one, other = (released(case, method="cover") for _ in range(2))
    assert one.groups.tolist() == other.groups.tolist()
