"""Skew and similarity (Li et al. 2007): what diversity leaves open, and that closeness and hierarchies close it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from allowed import allowing

import shoal

CANCERS = ("lung cancer", "colon cancer", "skin cancer")
OTHERS = ("flu", "measles", "gastritis", "ulcer")
TREE = shoal.Hierarchy.from_dict(
    {
        "*": {
            "cancer": list(CANCERS),
            "infection": ["flu", "measles"],
            "stomach": ["gastritis", "ulcer"],
        }
    }
)
BRANCHES = ["cancer", "infection", "stomach"]


def patients(n: int = 1000) -> pd.DataFrame:
    """Few have HIV, all of them old; cancers, too, come with age."""
    rng = np.random.default_rng(11)
    age = rng.integers(20, 80, n)
    is_old = rng.random(n) < np.clip((age - 40) / 30, 0.02, 0.98)
    return pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(list("fm"), n),
            "hiv": np.where((age > 70) & (rng.random(n) < 0.2), "yes", "no"),
            "ill": np.where(is_old, rng.choice(CANCERS, n), rng.choice(OTHERS, n)),
        }
    )


def released(column: str, *requirements: Any) -> shoal.Release:
    return shoal.anonymize(
        patients()[["age", "sex", column]],
        quasi_identifiers=["age", "sex"],
        sensitive=[column],
        k=5,
        requirements=list(requirements),
        allow=allowing(column),
    )


def largest_gain(release: shoal.Release) -> float:
    """By how much a group raises the belief in HIV above its share in the table."""
    has = release.data["hiv"] == "yes"
    shares = has.groupby([release.data["age"], release.data["sex"]]).mean()
    return float(shares.max() - has.mean())


def test_a_diverse_group_may_be_skewed_and_closeness_forbids_it() -> None:
    diverse = released("hiv", shoal.LDiversity(2, kind="distinct"))
    assert (
        largest_gain(diverse) > 0.2
    )  # one in thirty has HIV, but more than one in five of some group
    close = released("hiv", shoal.TCloseness(0.1))
    assert largest_gain(close) <= 0.1 + 1e-9


def share_in_one_branch(release: shoal.Release) -> float:
    """The share of records in groups that have different illnesses, all of them cancers."""
    groups = release.data.groupby(["age", "sex"])["ill"]
    alike = groups.transform(lambda ill: set(ill) <= set(CANCERS))
    return float(alike.mean())


def test_a_diverse_group_may_be_similar_and_a_hierarchy_forbids_it() -> None:
    diverse = released("ill", shoal.LDiversity(2, kind="distinct"))
    assert min(len(set(ill)) for _, ill in diverse.data.groupby(["age", "sex"])["ill"]) >= 2
    assert share_in_one_branch(diverse) > 0.1
    spread = released("ill", shoal.PSensitive(2, TREE, BRANCHES, columns=["ill"]))
    assert share_in_one_branch(spread) == 0.0
    close = released(
        "ill", shoal.TCloseness(0.3, ground="hierarchical", hierarchy=TREE, columns=["ill"])
    )
    assert share_in_one_branch(close) == 0.0
