"""Classifiers learn from releases through the same numbers as from originals, and are tested outside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from allowed import allowing

import shoal
from shoal.assess.classification import compare_classifiers, features
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.settings.settings import make_settings

pytest.importorskip("sklearn", reason="pip install 'shoal[evaluation]'")

TREE = shoal.Hierarchy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})


def people(n: int, seed: int = 0) -> pd.DataFrame:
    """Income follows age, and the letter says nothing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    noise = rng.random(n) < 0.1
    return pd.DataFrame(
        {"age": age, "letter": rng.choice(list("abcd"), n), "rich": (age > 50) ^ noise}
    )


ROLES: dict[str, Any] = {
    "quasi_identifiers": {"age": shoal.Interval(), "letter": TREE},
    "sensitive": ["rich"],
    "k": 5,
    "method": shoal.Mondrian(),
    "refine": False,
}


def closures(column: Any, *texts: str | None) -> Any:
    return np.array([column.form.parse(text) for text in texts], dtype=np.int32).T


def test_an_interval_is_its_middle_and_width_and_a_value_has_none() -> None:
    frame = pa.table({"n": [0, 2, 10, None]})
    [column] = encode(open_frame(frame), {"n": shoal.Interval()}).columns
    numbers = features(column, closures(column, "2", "[2, 10]", "*", None))
    assert numbers.tolist() == [
        [0.2, 0.0, 0.0],
        [0.6, 0.8, 0.0],
        [0.5, 1.0, 0.25],
        [0.5, 0.0, 1.0],
    ]


def test_a_node_is_spread_over_its_values() -> None:
    frame = pa.table({"n": ["a", "b", "b", "c", "c", "c", "d", "d", "d", "d"]})
    [column] = encode(open_frame(frame), {"n": TREE}).columns
    numbers = features(column, closures(column, "a", "ab", "*"))
    assert numbers.tolist() == [[0, 0, 0, 1], [0, 0, 0.5, 0.5], [0.25] * 4]  # frequent first


def test_values_beyond_the_most_frequent_share_a_number() -> None:
    frame = pa.table({"n": [f"v{i:03}" for i in range(100)]})
    [column] = encode(open_frame(frame), {"n": shoal.Subset()}).columns
    numbers = features(column, column.form.alone)
    assert numbers.shape == (100, 65)
    assert numbers[:, -1].sum() == 36
    assert (numbers.sum(axis=1) == 1).all()


def test_a_release_teaches_what_its_closures_still_tell() -> None:
    found = shoal.classify(people(900), "rich", settings=shoal.Settings(**ROLES), seed=1)
    assert (found.trained, found.tested) == (630, 270)
    assert found.original > 0.8
    assert found.release > 0.8
    assert found.majority < 0.65
    assert found.kept is not None
    assert found.kept > 0.7
    assert found == shoal.classify(people(900), "rich", settings=shoal.Settings(**ROLES), seed=1)


def test_a_release_of_nothing_but_stars_teaches_the_majority_only() -> None:
    table, tested = people(400), people(200, seed=1)
    release = table.assign(age="*", letter="*")
    settings = make_settings(None, **ROLES)
    frames = (open_frame(frame) for frame in (table, release, tested))
    found = compare_classifiers(*frames, settings, "rich")
    assert found.release == found.majority < found.original
    assert found.kept == 0.0


def test_the_order_of_released_records_does_not_matter() -> None:
    from sklearn.tree import DecisionTreeClassifier

    table, tested = people(300), people(100, seed=1)
    settings = make_settings(None, **ROLES)
    release = shoal.anonymize(table, settings=settings).data
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    accuracies = {
        compare_classifiers(
            open_frame(table),
            open_frame(frame),
            open_frame(tested),
            settings,
            "rich",
            model=tree,
        ).release
        for frame in (release, release.sample(frac=1, random_state=2))
    }
    assert len(accuracies) == 1


def test_values_that_only_the_hold_out_has_can_be_tested() -> None:
    table, tested = people(300), people(50, seed=1)
    tested.loc[0, "age"] = 99
    release = shoal.anonymize(table, **ROLES).data
    settings = shoal.Settings(**ROLES)
    found = shoal.evaluate(
        table, release, settings=settings, target="rich", holdout=tested, queries=0
    ).classification
    assert found is not None
    assert found.tested == 50


def test_records_without_an_answer_are_left_out() -> None:
    table = people(400).astype({"rich": "object"})
    table.loc[:39, "rich"] = None
    table["rich"] = table["rich"].map({True: "yes", False: "no"})
    found = shoal.classify(table, "rich", settings=shoal.Settings(**ROLES))
    assert found.trained + found.tested == 360


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("ritch", "'ritch' is not in the table; did you mean 'rich'"),
        ("age", "quasi-identifier, which is not released exactly"),
        ("name", "identifier, which is not released"),
        ("many", "300 different values, but at most 50"),
        ("same", "fewer than two values to train on"),
    ],
)
def test_a_target_that_cannot_be_predicted_is_refused(target: str, message: str) -> None:
    table = people(300).assign(name="x", many=np.arange(300), same="s")
    settings = shoal.Settings(
        **ROLES, identifiers=("name",), keep=("many", "same"), allow=allowing("many", "same")
    )
    with pytest.raises(shoal.InputError, match=message) as caught:
        shoal.classify(table, target, settings=settings, holdout=0.1)
    assert len(caught.value.problems) == 1


def test_shares_and_types_that_cannot_be_are_refused() -> None:
    settings = shoal.Settings(**ROLES)
    with pytest.raises(shoal.InputError, match="'holdout' parameter"):
        shoal.classify(people(20), "rich", settings=settings, holdout=1.0)
    table = people(40)
    wrong = people(10).assign(age="old")
    release = shoal.anonymize(table, settings=settings).data
    with pytest.raises(shoal.InputError, match="different types in the table and in the hold-out"):
        shoal.evaluate(table, release, settings=settings, target="rich", holdout=wrong)
