"""An attacker who knows all quasi-identifiers and that shoal generalizes no more than it must (Wong et al. 2007).

They try every way in which the sensitive values of a release may belong to the people, run shoal on each, and keep
those that give just this release. What share of them gives a person a value is the attacker's belief in it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from allowed import allowing

import shoal

People = Mapping[str, Sequence[Any]]
Secrets = tuple[str, ...]
Rows = tuple[tuple[str, ...], ...]

AT_MOST_HALF = [shoal.AlphaK(0.5, ["HIV"])]


def released(people: People, secrets: Secrets, **options: Any) -> Rows:
    """What the attacker reads: records in no order."""
    table = pd.DataFrame({**people, "ill": list(secrets)})
    names = list(people)
    release = shoal.anonymize(
        table, quasi_identifiers=names, sensitive=["ill"], allow=allowing("ill"), k=2, **options
    )
    return tuple(sorted(map(tuple, release.data.astype(str).to_numpy())))


def by_release(people: People, secrets: Secrets, **options: Any) -> dict[Rows, list[Secrets]]:
    """All ways to give these sensitive values to the people, by the release that each leads to."""
    found = defaultdict(list)
    for way in sorted(set(permutations(secrets))):
        found[released(people, way, **options)].append(way)
    return dict(found)


def belief(ways: Sequence[Secrets]) -> float:
    """The attacker's strongest belief that some person has HIV."""
    return max(
        sum(person == "HIV" for person in people) for people in zip(*ways, strict=True)
    ) / len(ways)


def shown(release: Rows) -> float:
    """The same for somebody who reads the release only: the largest share of HIV in a group."""
    groups: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for *read, secret in release:
        groups[tuple(read)][secret] += 1
    return max(found["HIV"] / found.total() for found in groups.values())


WONG: People = {"zip": ["q1", "q1", "q2", "q2", "q2", "q2"]}
BOTH = ("HIV", "HIV", "none", "none", "none", "none")


@pytest.mark.parametrize("method", ["exact", "auto", "cover", "mondrian", "incognito"])
def test_the_example_of_the_paper_succeeds_against_every_method(method: str) -> None:
    """The two of q1 are generalized only where both have HIV: the release says one half, the attacker knows."""
    ways = by_release(WONG, BOTH, requirements=AT_MOST_HALF, method=method)
    release = released(WONG, BOTH, requirements=AT_MOST_HALF, method=method)
    assert shown(release) <= 0.5
    assert belief(ways[release]) == 1.0
    others = [found for rows, found in ways.items() if rows != release]
    assert others
    assert all(belief(found) <= 0.5 for found in others)


@cache
def small_town(seed: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {"age": rng.integers(0, 6, 7).tolist(), "sex": rng.choice(list("fm"), 7).tolist()}


def beliefs(**options: Any) -> list[tuple[float, float]]:
    """For every way to spread two cases of HIV over each of ten small towns: what is read, what is believed."""
    secrets = ("HIV", "HIV", *["none"] * 5)
    found = []
    for seed in range(10):
        for release, ways in by_release(small_town(seed), secrets, **options).items():
            found += [(shown(release), belief(ways))] * len(ways)
    return found


def test_where_a_requirement_forced_the_groups_beliefs_may_exceed_it() -> None:
    """In about a sixth of all cases somebody is believed to have HIV with more than 1/2, in a ninth for certain."""
    found = beliefs(requirements=AT_MOST_HALF, method="exact")
    assert all(read <= 0.5 for read, _ in found)
    above = np.mean([belief > 0.5 for _, belief in found])
    certain = np.mean([belief == 1 for _, belief in found])
    assert 0.10 < above < 0.25
    assert 0.05 < certain < 0.20


def test_groups_made_by_k_alone_tell_no_more_than_they_read() -> None:
    """Without a requirement beyond k no method looks at sensitive values: the attack finds nothing."""
    assert all(read == belief for read, belief in beliefs(method="exact"))


@pytest.mark.parametrize(
    "method", [name for name in shoal.list_methods() if name != "non_homogeneous"]
)
def test_with_k_alone_no_method_looks_at_sensitive_values(method: str) -> None:
    """Whatever the people suffer from, their quasi-identifiers are released in the same way."""
    rng = np.random.default_rng(2)
    n = 12 if method == "exact" else 80
    people = {"age": rng.integers(20, 60, n), "sex": rng.choice(list("fm"), n)}
    releases = [
        shoal.anonymize(
            pd.DataFrame({**people, "ill": ill}),
            quasi_identifiers=["age", "sex"],
            sensitive=["ill"],
            allow=allowing("ill"),
            k=3,
            method=method,
            keep_order=True,
        ).data[["age", "sex"]]
        for ill in (rng.choice(list("ab"), n), np.sort(rng.choice(list("abc"), n)))
    ]
    pd.testing.assert_frame_equal(*releases)
