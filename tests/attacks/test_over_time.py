"""A release every night: an attacker who has all of them, and knows who is in which group, guesses sensitive values."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, product
from typing import Any

import in_order
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import shoal

QI = ["age", "sex", "zip"]


def newcomers(rng: np.random.Generator, first: int, people: int, values: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": np.arange(first, first + people),
            "age": rng.integers(18, 90, people),
            "sex": rng.choice(list("fm"), people),
            "zip": rng.integers(0, 10, people),
            "ill": [f"illness {i}" for i in rng.integers(0, values, people)],
        }
    )


def nights(seed: int, number: int, people: int, values: int, share: float = 0.05) -> list[Any]:
    """Tables of which each keeps all but a share of the people before, with as many newcomers."""
    rng = np.random.default_rng(seed)
    table = newcomers(rng, 0, people, values)
    found, last = [table], people
    for _ in range(number - 1):
        leaving = rng.random(len(table)) < share
        new = newcomers(rng, last, int(leaving.sum()), values)
        last += len(new)
        table = pd.concat([table[~leaving], new], ignore_index=True)
        found.append(table)
    return found


def released(
    tables: list[pd.DataFrame], k: int, l: float, safe: bool = True, **options: Any
) -> list[shoal.Release[Any]]:
    """A release of every night, safe beside those before or fresh."""
    given: dict[str, Any] = {
        "quasi_identifiers": QI,
        "sensitive": ["ill"],
        "person": "id",
        "k": k,
        "requirements": [shoal.LDiversity(l)],
    }
    found: list[shoal.Release[Any]] = []
    for table in tables:
        more = {"previous": found[-1:], "suppression_limit": 0.9} if safe else {}
        found.append(shoal.anonymize(table, **given, **more, **options))
    return found


def groups_of(table: pd.DataFrame, release: shoal.Release[Any]) -> dict[int, Counter[str]]:
    """For every released person the sensitive values of all who read the same."""
    values: dict[int, Counter[str]] = {}
    for group, ill in zip(release.groups, table["ill"], strict=True):
        values.setdefault(int(group), Counter())[ill] += 1
    return {
        who: values[int(group)]
        for who, group in zip(table["id"], release.groups, strict=True)
        if group >= 0
    }


def values_left(
    tables: list[pd.DataFrame], releases: list[shoal.Release[Any]]
) -> dict[int, set[str]]:
    """For everybody the values that all releases together leave possible."""
    found: dict[int, set[str]] = {}
    for table, release in zip(tables, releases, strict=True):
        for who, own in groups_of(table, release).items():
            found[who] = found.get(who, set(own)) & set(own)
    return found


def test_ten_nights_leave_everybody_as_many_values_as_promised() -> None:
    tables = nights(1, 10, 600, 12)
    left = values_left(tables, released(tables, 6, 3))
    assert min(map(len, left.values())) >= 3


def surest_guesses(tables: list[pd.DataFrame], releases: list[shoal.Release[Any]]) -> list[float]:
    """The surest guess about everybody who takes every night for news: shares of values multiplied over all nights."""
    found: dict[int, dict[str, float]] = {}
    for table, release in zip(tables, releases, strict=True):
        for who, own in groups_of(table, release).items():
            before = found.get(who, dict.fromkeys(own, 1.0))
            found[who] = {v: before.get(v, 0.0) * own[v] / own.total() for v in own}
    return [max(own.values()) / sum(own.values()) for own in found.values()]


def test_nobody_can_be_guessed_with_more_than_the_promised_chance() -> None:
    tables = nights(2, 10, 600, 12)
    assert max(surest_guesses(tables, released(tables, 6, 3))) <= 1 / 3 + 1e-9
    fresh = surest_guesses(tables[:3], released(tables[:3], 6, 3, safe=False, method="mondrian"))
    assert np.mean([guess > 1 / 3 + 1e-9 for guess in fresh]) > 0.5


def test_fresh_releases_do_not() -> None:
    """What the attack finds where every night is released on its own: the attack works."""
    tables = nights(1, 4, 600, 12)
    left = values_left(tables, released(tables, 6, 3, safe=False, method="mondrian"))
    assert np.mean([len(own) < 3 for own in left.values()]) > 0.05


@given(
    seed=st.integers(0, 100),
    people=st.integers(8, 60),
    values=st.integers(3, 8),
    k=st.integers(2, 5),
    l=st.sampled_from([2, 2.5, 3]),
    share=st.sampled_from([0.0, 0.1, 0.4]),
)
def test_everybody_keeps_their_values(
    seed: int, people: int, values: int, k: int, l: float, share: float
) -> None:
    tables = nights(seed, 4, people, values, share)
    try:
        releases = released(tables, k, l)
    except shoal.Infeasible:
        reject()
    left = values_left(tables, releases)
    assert min(map(len, left.values()), default=l) >= l
    for release in releases:
        assert release.k >= k


def worlds(
    tables: list[pd.DataFrame], releases: list[shoal.Release[Any]], history: shoal.History
) -> list[dict[int, str]]:
    """All ways to give everybody a value of their signature such that all nights are released as they were."""
    signature = {
        who: history.signatures[history.persons[history.key(str(who))]]
        for table, release in zip(tables, releases, strict=True)
        for who in table["id"][release.is_released]
    }
    people = sorted(signature)
    seen = [
        (list(table["id"]), release.groups, _counts(release.groups, table["ill"]))
        for table, release in zip(tables, releases, strict=True)
    ]
    found = []
    for choice in product(*(signature[who] for who in people)):
        world = dict(zip(people, choice, strict=True))
        if all(
            _counts(groups, [world.get(w, "") for w in ids]) == now for ids, groups, now in seen
        ):
            found.append(world)
    return found


def _counts(groups: Any, values: Any) -> Counter[Any]:
    return Counter((int(g), v) for g, v in zip(groups, values, strict=True) if g >= 0)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_every_value_of_a_signature_is_equally_likely(seed: int) -> None:
    """Counted over all worlds that agree with what was released, even for whoever knows all signatures."""
    tables = nights(seed, 3, 8, 3, 0.2)
    releases = released(tables, 2, 2)
    history = releases[-1].history
    assert history is not None
    possible = worlds(tables, releases, history)
    assert possible
    for who in possible[0]:
        share = Counter(world[who] for world in possible)
        assert max(share.values()) / len(possible) <= 1 / 2 + 1e-9


SEVEN = pd.DataFrame({"id": [f"p{i}" for i in range(7)], "age": [20, 24, 40, 44, 60, 64, 22]})


def seen(release: shoal.Release[Any]) -> tuple[Any, ...]:
    return tuple(sorted(map(tuple, release.data.astype(str).to_numpy())))


def two_nights(world: tuple[str, ...], draws: int) -> tuple[Any, Any]:
    """What is released of six people, the first of whom leaves before the second night; a seventh comes then."""
    given: dict[str, Any] = {
        "quasi_identifiers": ["age"],
        "sensitive": ["ill"],
        "person": "id",
        "k": 2,
        "requirements": [shoal.LDiversity(2, kind="distinct")],
        "suppression_limit": 0.6,
        "order_seed": draws,
    }
    table = SEVEN[: len(world)].assign(ill=world)
    one = in_order.anonymize(table[:6], **given, previous=[])
    two = in_order.anonymize(table[1:], **given, previous=[one])
    return seen(one), seen(two)


def surest_belief(runs: dict[tuple[str, ...], list[Any]], flu: float = 0.5) -> float:
    """The surest that anybody can be of the first six values who runs shoal on all worlds and sees one outcome.

    `runs` are the outcomes of each world, one for each draw; `flu` is how likely it is that the seventh has it.
    """
    sums: dict[Any, list[Any]] = defaultdict(list)
    for world, outcomes in runs.items():
        weight = 1.0 if len(world) == 6 else flu if world[6] == "flu" else 1 - flu
        for outcome in outcomes:
            sums[outcome].append([weight, *(weight * (v == "flu") for v in world[:6])])
    found = []
    for own in sums.values():
        total, *having = np.sum(own, axis=0)
        found += [max(share, 1 - share) for share in np.array(having) / total]
    return float(max(found))


WORLDS = [
    tuple("flu" if i in ill else "asthma" for i in range(6)) for ill in combinations(range(6), 3)
]


def test_running_shoal_on_all_worlds_tells_nobodys_value() -> None:
    """Somebody must be left out of the second night, since somebody has left; who it is must tell nothing."""
    runs = {world: [two_nights(world, draws) for draws in range(3)] for world in WORLDS}
    assert surest_belief(runs) == pytest.approx(1 / 2)


def test_whether_a_newcomer_is_left_out_tells_something_if_values_are_not_equally_likely() -> None:
    """A limit that the docs name: the newcomer fits if their value is that of the person who left."""
    runs = {
        (*world, value): [two_nights((*world, value), 0)]
        for world in WORLDS
        for value in ("flu", "asthma")
    }
    assert surest_belief(runs) == pytest.approx(1 / 2)
    assert surest_belief(runs, 0.8) == pytest.approx(0.8)


@given(
    seed=st.integers(0, 1_000),
    people=st.integers(12, 80),
    values=st.integers(2, 5),
    k=st.integers(2, 5),
    share=st.sampled_from([0.1, 0.3, 0.6]),
)
def test_exchanging_two_values_of_a_signature_changes_no_release(
    seed: int, people: int, values: int, k: int, share: float
) -> None:
    """The heart of the theorem, draws included: both worlds make the same release out of the same history."""
    rng = np.random.default_rng(seed)
    [first] = nights(seed, 1, people, values)
    try:
        [one] = released([first], k, 2)
    except shoal.Infeasible:
        reject()
    history = one.history
    assert history is not None
    stays = rng.random(people) >= share
    stays[np.argmax(one.is_released)] = True
    table = first[one.is_released & stays]
    own = np.array([history.persons[history.key(str(who))] for who in table["id"]], dtype=int)
    number = int(rng.integers(len(history.signatures)))
    a, b = rng.permutation(history.signatures[number])[:2]
    swapped = table.assign(
        ill=np.where(own == number, table["ill"].replace({a: b, b: a}), table["ill"])
    )
    assert next_night(table, one, k) == next_night(swapped, one, k)


def next_night(table: pd.DataFrame, before: shoal.Release[Any], k: int) -> Any:
    """What is released of a table and how it is grouped, or why it cannot be released."""
    try:
        release = shoal.anonymize(
            table,
            quasi_identifiers=QI,
            sensitive=["ill"],
            person="id",
            k=k,
            requirements=[shoal.LDiversity(2)],
            suppression_limit=0.9,
            previous=[before],
        )
    except shoal.Infeasible as error:
        return str(error)
    return seen(release), release.groups.tolist()
