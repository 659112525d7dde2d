"""Batches under one recoding: an attacker takes what was released before from what is released now."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import shoal

QI = ["age", "sex", "zip"]


def town(seed: int, people: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, people),
            "sex": rng.choice(list("fm"), people),
            "zip": rng.integers(0, 12, people),
            "ill": rng.choice([f"illness {i}" for i in range(6)], people),
        }
    )


def read(data: pd.DataFrame) -> Counter[tuple[Any, ...]]:
    return Counter(map(tuple, data[[*QI, "ill"]].astype(str).to_numpy()))


def series(
    seed: int, batches: int, size: int, k: int, l: int
) -> list[tuple[Counter[tuple[Any, ...]], int]]:
    """All that is public after each batch, as a multiset of records, and how many records are held back then."""
    release = shoal.anonymize(
        town(seed, 200),
        quasi_identifiers=QI,
        sensitive=["ill"],
        k=k,
        requirements=[shoal.LDiversity(l)],
        method="mondrian",
    )
    public = read(release.data)
    found = [(public, 0)]
    recoding, held = release.recoding, None
    for number in range(batches):
        batch = recoding.apply(town(1000 * seed + number + 1, size), held=held)
        recoding, held = batch.recoding, batch.held
        public = public + (read(batch.data) if batch.data is not None else Counter())
        found.append((public, batch.held_back))
    return found


def smallest_difference(before: Counter[Any], after: Counter[Any]) -> tuple[float, float]:
    """What the difference of two releases tells at best: one person among how many, a value with what share."""
    assert not before - after, "nothing that was released is ever taken back"
    groups: dict[Any, Counter[Any]] = {}
    for (*place, ill), count in (after - before).items():
        groups.setdefault(tuple(place), Counter())[ill] += count
    if not groups:
        return np.inf, 0.0
    sizes = [own.total() for own in groups.values()]
    shares = [max(own.values()) / own.total() for own in groups.values()]
    return min(sizes), max(shares)


@given(
    seed=st.integers(0, 30),
    size=st.integers(1, 60),
    k=st.integers(2, 6),
    l=st.integers(1, 3),
)
def test_no_difference_of_two_releases_singles_out_anybody(
    seed: int, size: int, k: int, l: int
) -> None:
    found = [public for public, _ in series(seed, 4, size, k, l)]
    for first in range(len(found)):
        for last in range(first + 1, len(found)):
            people, share = smallest_difference(found[first], found[last])
            assert people >= k
            assert share <= 1 / l + 1e-9


def test_ten_batches_in_a_row_single_out_nobody() -> None:
    found = series(7, 10, 40, 5, 2)
    for (before, _), (after, _) in pairwise(found):
        people, share = smallest_difference(before, after)
        assert people >= 5
        assert share <= 1 / 2


def test_nobody_is_lost_on_the_way() -> None:
    found = series(3, 5, 17, 5, 2)
    for number, (public, held) in enumerate(found):
        assert public.total() + held == 200 + 17 * number


def test_closures_without_batch_k_would_single_people_out() -> None:
    """The attack finds what it looks for where the least general closure is taken whatever the others take."""
    release = shoal.anonymize(
        town(0, 300), quasi_identifiers=QI, sensitive=["ill"], k=5, method="mondrian"
    )
    closures = release.data[QI].drop_duplicates().astype(str)
    one = closures.iloc[0]
    before = read(release.data)
    after = before + Counter({(*one, "illness 0"): 1})
    people, share = smallest_difference(before, after)
    assert (people, share) == (1, 1.0)


def test_somebody_in_two_batches_is_not_protected_by_them() -> None:
    """The assumption that the docs name: each person is in one batch. Here all come again, and values intersect."""
    people = town(1, 200)
    release = shoal.anonymize(
        people,
        quasi_identifiers=QI,
        sensitive=["ill"],
        k=3,
        requirements=[shoal.LDiversity(2)],
        method="mondrian",
        keep_order=True,
    )
    batch = release.recoding.apply(people.sample(60, random_state=0), regroup=True)
    sets: dict[Any, set[str]] = {}
    for *place, ill in release.data[[*QI, "ill"]].astype(str).to_numpy():
        sets.setdefault(tuple(place), set()).add(ill)
    again: dict[Any, set[str]] = {}
    for *place, ill in batch.data[[*QI, "ill"]].astype(str).to_numpy():
        again.setdefault(tuple(place), set()).add(ill)
    first = [sets[tuple(row)] for row in release.data[QI].astype(str).to_numpy()]
    kept = people.sample(60, random_state=0)[batch.is_released]
    second = [again[tuple(row)] for row in batch.data[QI].astype(str).to_numpy()]
    left = [len(first[i] & own) for i, own in zip(kept.index, second, strict=True)]
    assert min(left) < 2
