"""An attacker who knows that closures are tight concludes more than is read (Cohen 2022); `loosen` hinders it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import in_order
import numpy as np
import pandas as pd
import pytest
import reference
import tables
from hypothesis import assume, given, reject
from reference import downcoding as twin

import shoal
from shoal.assess.downcoding import measure_downcoding
from shoal.encoding.closed import Closed, loosened


def closed_of(sample: tables.Sample, groups: list[int]) -> Closed:
    return sample.problem("lm").close(np.array(groups, np.int32))


@given(tables.partitioned_samples(min_records=4, max_records=7, max_columns=2))
def test_the_attack_is_measured_as_its_twin_measures_it(drawn):
    sample, groups = drawn
    closed = loosened(closed_of(sample, groups), 0.4, seed=1)
    columns, members = sample.twins, tables.members(closed.groups.tolist())
    closures = [
        [reference.read(column, text) for text in encoded.form.text(closed.of_column(j))]
        for j, (column, encoded) in enumerate(zip(columns, closed.table.columns, strict=True))
    ]
    stated = list(twin.statements(columns, closures))
    found = measure_downcoding(closed)
    assert found.statements == len(stated)
    if not stated:
        assert (found.right, found.chance, found.cells, found.groups) == (0, 0, 0, 0)
        reject()
    right = [twin.is_true(columns, members, item) for item in stated]
    chances = [twin.chance(columns, members, closures, item) for item in stated]
    assert found.right == pytest.approx(np.mean(right))
    assert found.chance == pytest.approx(np.mean(chances))
    general = sum(len(members[g]) for own in closures for g, c in enumerate(own) if len(c) > 1)
    assert found.cells == pytest.approx(len(stated) / general)
    by_group = [[item for item in stated if item[1] == g] for g in range(len(members))]
    at_once = [twin.all_at_once(columns, members, some) for some in by_group if some]
    assert found.groups == pytest.approx(np.mean(at_once))


@given(tables.partitioned_samples(min_records=8, max_records=20, max_columns=1))
def test_of_tight_ranges_and_sets_every_statement_is_right(drawn):
    """Ends of ranges and members of sets are certain; so are children where a node has two that occur."""
    sample, groups = drawn
    found = measure_downcoding(closed_of(sample, groups))
    branching = [column for column in sample.twins if column.model in ("suppression", "hierarchy")]
    assume(found.statements and not branching)
    assert found.right == 1.0


def test_two_records_are_told_in_full() -> None:
    """With k = 2 the ends of a range are all its records: the column is known as before."""
    people = pd.DataFrame({"age": [31, 33, 52, 58]})
    release = shoal.anonymize(people, quasi_identifiers=["age"], k=2)
    assert set(release.data["age"]) == {"31–33", "52–58"}
    assert release.downcoding is not None
    assert release.downcoding.statements == 4
    assert release.downcoding.right == release.downcoding.cells == release.downcoding.groups == 1.0


@cache
def adult(k: int, loosen: float = 0.0) -> shoal.Release:
    table = shoal.samples.adult().slice(0, 6000)
    return in_order.anonymize(
        table,
        settings=shoal.samples.adult_settings(),
        k=k,
        refine=False,
        loosen=loosen,
        order_seed=1,
    )


def test_tight_releases_are_downcoded() -> None:
    """Without the option nearly every statement is right, far more than by chance."""
    found = adult(5).downcoding
    assert found is not None
    assert found.right > 0.97
    assert found.right > found.chance + 0.15
    assert found.groups > 0.75
    assert found.cells > 0.3


@pytest.mark.parametrize(("share", "right", "groups"), [(0.2, 0.88, 0.55), (0.4, 0.75, 0.25)])
def test_loosened_releases_are_downcoded_less(share: float, right: float, groups: float) -> None:
    """With it, an attacker who goes on as before is wrong about that often, and costs stay within bounds."""
    tight, loose = adult(5), adult(5, share)
    assert loose.downcoding is not None
    assert loose.downcoding.right < right
    assert loose.downcoding.groups < groups
    assert 1.0 < loose.loss() / tight.loss() < 1.05 / (1 - share)


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_the_group_size_or_the_width_does_not_tell_which_ends_are_tight(share: float) -> None:
    """Ends of age are wrong about as often in small and large groups, and in all ranges but the narrowest."""
    wrong, width, size = (np.concatenate(found) for found in zip(*_lower_ends(share), strict=True))
    wider = width > 1
    assert wrong[wider].mean() == pytest.approx(share, abs=0.05)
    for measured in (width, size):
        small = measured <= np.median(measured[wider])
        assert abs(wrong[wider & small].mean() - wrong[wider & ~small].mean()) < 0.05
    assert 0.3 * share < wrong[~wider].mean() < 0.8 * share


def _lower_ends(share: float) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of ranges of age: whether nobody has the lower end, their width, and the size of their group, for ten draws."""
    found = []
    for seed in range(10):
        closed = loosened(adult(5).closed, share, seed)
        low, high = closed.of_column(0)
        least = np.full(low.size, 10**6)
        np.minimum.at(least, closed.groups, closed.table.codes[:, 0])
        ranges = low < high
        found.append(((least != low)[ranges], (high - low)[ranges], closed.sizes[ranges]))
    return found


def test_several_loosened_releases_undo_the_option() -> None:
    """What the docs warn of: the same groups released twelve times are tight again where all releases agree."""
    tight = adult(5).closed
    table, groups = tight.table, tight.groups
    lows, highs = [], []
    for seed in range(12):
        loose = loosened(tight, 0.4, seed)
        low, high = loose.of_column(0)[:, loose.groups]
        lows.append(low)
        highs.append(high)
    seen = np.array([np.max(lows, axis=0), np.min(highs, axis=0)])
    plain = tight.of_column(0)[1] != table.columns[0].form.null
    same = (seen == tight.of_column(0)[:, groups]).all(axis=0)[plain[groups]]
    assert same.mean() > 0.99


def test_what_is_said_of_the_cost_depends_on_the_release_alone() -> None:
    """Another table with the same release has the same cost: it does not tell which values are tight."""
    release = adult(5, 0.4)
    codes = release.closed.table.codes.copy()
    low = release.closed.of_column(0)[0]
    codes[:, 0] = low[release.closed.groups]  # everybody has the lowest age of their range
    assert (codes != release.closed.table.codes).any()
    other = replace(release.closed, table=replace(release.closed.table, codes=codes))
    assert replace(release, closed=other).loosening_cost == release.loosening_cost


def test_the_cost_that_is_said_is_about_the_real_one() -> None:
    tight, loose = adult(5), adult(5, 0.3)
    real = loose.loss("lm") - tight.loss("lm")
    assert loose.loosening_cost == pytest.approx(real, rel=0.3)
    assert tight.loosening_cost == 0.0
