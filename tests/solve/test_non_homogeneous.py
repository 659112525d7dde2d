"""Ring generalization: every record is one of k for every released closure, and the audit proves just that."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.audits.compatibility import audit_compatibility, read_originals
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels import assess as compatibility
from shoal.kernels.splitting.hilbert import draw_matching
from shoal.progress import silent
from shoal.solve.methods import NonHomogeneous
from shoal.solve.methods.papers.non_homogeneous import WITHIN
from shoal.solve.problem import Problem

PEOPLE = pa.table({"age": [20, 22, 25, 31, 34, 36, 50, 52], "sex": list("mmffmfmf")})
MODELS = {"age": shoal.Interval(), "sex": shoal.Suppression()}


@pytest.mark.parametrize(("size", "k"), [(1, 1), (5, 5), (7, 3), (40, 4), (200, 10)])
def test_a_drawn_matching_gives_every_place_one_window_that_covers_it(size: int, k: int) -> None:
    window = draw_matching(size, k, np.random.default_rng(1))
    assert sorted(window) == list(range(size))
    assert ((np.arange(size) - window) % size < k).all()


def test_a_drawn_matching_is_no_mere_shift_and_repeats_with_its_seed() -> None:
    window = draw_matching(200, 10, np.random.default_rng(1))
    assert len(set((np.arange(200) - window) % 200)) > 3
    assert (window == draw_matching(200, 10, np.random.default_rng(1))).all()
    assert (window != draw_matching(200, 10, np.random.default_rng(2))).any()


@settings(max_examples=several(60))
@given(tables.samples(max_records=16), st.sampled_from(list(WITHIN)), st.data())
def test_every_record_suits_k_closures_and_every_closure_k_records(sample, within, data) -> None:
    k = data.draw(st.integers(1, sample.records))
    release = shoal.anonymize(
        sample.frame,
        quasi_identifiers=sample.models,
        k=k,
        method=NonHomogeneous(within),
        keep_order=True,
    )
    released = [
        [reference.read(column, text) for text in release.data[name].to_pylist()]
        for name, column in sample.columns.items()
    ]
    suits = np.array(
        [
            [
                all(
                    column.values[i] in closures[g]
                    for column, closures in zip(sample.twins, released, strict=True)
                )
                for g in range(sample.records)
            ]
            for i in range(sample.records)
        ]
    )
    assert suits.diagonal().all()
    assert suits.sum(axis=0).min() >= k
    assert suits.sum(axis=1).min() >= k
    assert release.k == min(suits.sum(axis=0).min(), suits.sum(axis=1).min())


@given(tables.partitioned_samples())
def test_all_closures_and_points_are_weighed_also_across_words_and_blocks(drawn) -> None:
    sample, partition = drawn
    problem = sample.problem("suppressed")
    closed = problem.close(np.array(partition, np.int32))
    record = np.arange(5 * compatibility.WORD) % sample.records
    weights, sizes = np.arange(record.size) + 1, closed.sizes.astype(np.int64)
    released = [reference.close(sample.twins, group) for group in tables.members(closed.groups)]
    inside = np.array(
        [
            [
                all(column.values[i] in b for column, b in zip(sample.twins, closure, strict=True))
                for closure in released
            ]
            for i in record
        ]
    )
    with patch.object(compatibility, "BLOCK", 2 * compatibility.WORD):
        of_closure, of_point = compatibility.weigh_compatible(
            problem.arrays, closed.closures, sizes, problem.codes[record], weights
        )
    assert of_closure.tolist() == (weights @ inside).tolist()
    assert of_point.tolist() == (inside @ sizes).tolist()


def test_the_audit_refuses_a_closure_that_suits_too_few_records() -> None:
    originals = read_originals(open_frame(PEOPLE), MODELS)
    ages = ["[20, 52]"] * 7 + ["52"]
    frame = open_frame(pa.table({"age": ages, "sex": ["*"] * 8}))
    with pytest.raises(shoal.AuditFailed, match="only 1 possible counterparts"):
        audit_compatibility(originals, frame, 2).prove()


def test_the_audit_refuses_a_record_that_suits_too_few_closures() -> None:
    originals = read_originals(open_frame(PEOPLE), MODELS)
    ages = ["[20, 52]"] + ["[22, 52]"] * 7  # only the first closure holds the youngest
    frame = open_frame(pa.table({"age": ages, "sex": ["*"] * 8}))
    with pytest.raises(shoal.AuditFailed, match="only 1 possible counterparts"):
        audit_compatibility(originals, frame, 2).prove()


def test_an_identifier_in_the_release_is_refused() -> None:
    originals = read_originals(open_frame(PEOPLE), {"age": shoal.Interval()})
    frame = open_frame(pa.table({"age": ["[20, 52]"] * 8, "name": list("abcdefgh")}))
    with pytest.raises(shoal.AuditFailed, match="name"):
        audit_compatibility(originals, frame, 2, ["name"])


def test_windows_hold_k_records_the_own_one_among_them() -> None:
    encoded = encode(open_frame(PEOPLE), {"age": shoal.Interval()})
    problem = Problem.of(encoded, "lm", 3)
    windows = NonHomogeneous().partition(problem, 0, silent).windows
    assert windows is not None
    assert windows.shape == (8, 3)
    assert all(i in row and len(set(row)) == 3 for i, row in enumerate(windows.tolist()))


@pytest.mark.parametrize("within", WITHIN)
def test_rings_never_lose_more_than_the_groups_they_lie_in(within: str) -> None:
    table = shoal.samples.adult().slice(0, 600).select(["age", "education", "sex"])
    options = {"quasi_identifiers": ["age", "education", "sex"], "k": 5, "refine": False}
    groups = shoal.anonymize(table, method=within, **options)
    rings = shoal.anonymize(table, method=NonHomogeneous(within), **options)
    assert rings.loss("gcp") < groups.loss("gcp")
    assert rings.loss("lm") < groups.loss("lm")


def test_another_method_than_those_known_is_refused() -> None:
    with pytest.raises(shoal.InputError, match="'within' parameter must be one of top_down"):
        shoal.anonymize(
            PEOPLE, quasi_identifiers=["age", "sex"], k=2, method=NonHomogeneous("auto")
        )
