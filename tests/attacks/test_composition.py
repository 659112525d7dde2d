"""Two releases that overlap: an attacker intersects what each says of the same person (Ganta et al. 2008)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal

L = 3


def town(seed: int, people: int = 900, illnesses: int = 20) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, people),
            "sex": rng.choice(list("fm"), people),
            "zip": rng.integers(0, 40, people),
            "ill": rng.choice([f"illness {i}" for i in range(illnesses)], people),
        }
    )


def candidates(people: pd.DataFrame, k: int, **options: Any) -> list[set[str]]:
    """For every person the sensitive values that a release leaves possible."""
    release = shoal.anonymize(
        people.reset_index(drop=True),
        quasi_identifiers=["age", "sex", "zip"],
        sensitive=["ill"],
        k=k,
        requirements=[shoal.LDiversity(L, kind="distinct")],
        **options,
    )
    values = people["ill"].to_numpy()
    return [set(values[release.groups == group]) for group in release.groups]


def left_of_both(k: int) -> np.ndarray:
    """How many values two hospitals with 300 common patients of 600 each leave possible for these."""
    found = []
    for seed in range(3):
        people = town(seed)
        first, second = candidates(people[:600], k), candidates(people[300:], k)
        for one, other in zip(first[300:], second[:300], strict=True):
            assert len(one) >= L
            assert len(other) >= L
            found.append(len(one & other))
    return np.array(found)


@pytest.mark.parametrize(
    ("k", "below", "certain"),
    [
        (5, (0.35, 0.6), (0.05, 0.2)),
        (10, (0.002, 0.05), (0.0, 0.01)),
        (20, (0.0, 0.005), (0.0, 0.001)),
    ],
)
def test_two_diverse_releases_together_are_not_diverse(
    k: int, below: tuple[float, float], certain: tuple[float, float]
) -> None:
    """Each alone keeps it for everybody; with k = 5 about half of those in both fall below, with k = 20 nobody did."""
    left = left_of_both(k)
    assert left.min() >= 1
    assert below[0] <= np.mean(left < L) <= below[1]
    assert certain[0] <= np.mean(left == 1) <= certain[1]


def test_a_release_beside_an_older_one_of_the_same_groups_adds_nothing() -> None:
    """What the docs advise: whoever releases once, or again with the same groups, gives nothing to intersect."""
    people = town(0)
    first, again = candidates(people, 5), candidates(people, 5)
    assert first == again
