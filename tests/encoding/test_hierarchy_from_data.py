"""Hierarchies made from data join the categories whose records are most alike, as a slow twin does."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from examples import several
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Hierarchy, InputError
from shoal.encoding.models.makers import _merges, join_categories


def spread(records: list[tuple[str, ...]]) -> float:
    """Σ n·H of the columns after the first among some records, in nats."""
    total = 0.0
    for j in range(1, len(records[0])):
        counts = Counter(record[j] for record in records)
        total += sum(-c * log(c / len(records)) for c in counts.values())
    return total


def twin(records: list[tuple[str, ...]]) -> list[frozenset[str]]:
    """The sets that arise when the two whose union gains least spread are joined again and again."""
    clusters = [frozenset({c}) for c in sorted({record[0] for record in records})]
    found = []
    while len(clusters) > 1:

        def cost(pair: tuple[frozenset[str], frozenset[str]]) -> float:
            of = [[r for r in records if r[0] in one] for one in (pair[0] | pair[1], *pair)]
            return round(spread(of[0]) - spread(of[1]) - spread(of[2]), 9)

        a, b = min(combinations(clusters, 2), key=cost)
        place = clusters.index(a)
        clusters = [one for one in clusters if one not in (a, b)]
        clusters.insert(place, a | b)
        found.append(a | b)
    return found


@settings(max_examples=several(40))
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefg"), st.sampled_from("xyz"), st.sampled_from("uvw")),
        min_size=6,
        max_size=40,
    ).filter(lambda records: len({record[0] for record in records}) > 1)
)
def test_the_same_categories_are_joined_as_by_the_twin(records) -> None:
    labels = sorted({record[0] for record in records})
    blocks = []
    for j in (1, 2):
        values = sorted({record[j] for record in records})
        count = Counter((record[0], record[j]) for record in records)
        blocks.append([[float(count[c, v]) for v in values] for c in labels])
    counts = np.concatenate([np.array(block) for block in blocks], axis=1)
    frequency = np.array([float(Counter(r[0] for r in records)[c]) for c in labels])
    sets = [frozenset({label}) for label in labels]
    for a, b in _merges(counts, 2, frequency):
        sets.append(sets[a] | sets[b])
    assert sets[len(labels) :] == twin(records)


def people(records: int = 400) -> pa.Table:
    rng = np.random.default_rng(3)
    towns = np.array(["Lyon", "Nice", "Köln", "Bonn", "Ulm", None], dtype=object)
    town = rng.choice(towns, records, p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
    french = np.isin(town.astype(str), ["Lyon", "Nice"])
    return pa.table(
        {
            "town": pa.array(town.tolist()),
            "tongue": np.where(french, "fr", "de").tolist(),
            "pay": np.where(french, 900.0, 100.0) + rng.integers(0, 50, records),
            "born": pa.array(rng.integers(0, 9000, records), pa.int32()).cast(pa.date32()),
        }
    )


def test_towns_of_one_country_come_together_whatever_the_frame_and_the_order() -> None:
    table = people()
    made = Hierarchy.from_data(table, "town", levels=2)
    assert set(made.inner) == {"Lyon, Nice", "Köln, Bonn, Ulm", "*"}
    shuffled = table.take(np.random.default_rng(1).permutation(table.num_rows))
    for frame in (shuffled, table.to_pandas(), pl.from_arrow(table)):
        again = Hierarchy.from_data(frame, "town", levels=2)
        assert (again.leaves, again.inner, again.parent) == (made.leaves, made.inner, made.parent)
    assert Hierarchy.from_data(table, "town", by=["tongue"], levels=2).inner == made.inner


def test_there_are_no_more_levels_than_asked_for() -> None:
    table = people()
    for levels in (1, 2, 3, 5):
        rows = Hierarchy.from_data(table, "town", levels=levels).rows()
        assert max(len(row) for row in rows) <= levels + 1
    assert Hierarchy.from_data(table, "town", levels=1).inner == ("*",)


def test_long_labels_name_the_most_frequent_and_are_never_the_same() -> None:
    names = [f"category number {i:02}" for i in range(40)]
    frame = pd.DataFrame({"c": names * 3 + names[:5] * 4, "y": [0, 1] * 70})
    made = Hierarchy.from_data(frame, "c", levels=5)
    labels = made.leaves + made.inner
    assert len(set(labels)) == len(labels)
    assert any(label.endswith(" more") for label in made.inner)
    assert all(len(label) < 80 for label in made.inner)


def test_a_category_that_reads_like_a_label_does_not_clash() -> None:
    frame = pd.DataFrame({"c": ["a", "b", "a, b", "z"] * 5, "y": [1, 1, 2, 3] * 5})
    made = Hierarchy.from_data(frame, "c", levels=3)
    assert len(set(made.leaves + made.inner)) == len(made.leaves + made.inner)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"column": "twon"}, "Column 'twon' is not in the table; did you mean 'town'"),
        ({"column": "town", "by": ["town"]}, "cannot be compared with itself"),
        ({"column": "town", "by": []}, "Give at least one"),
        ({"column": "town", "levels": 0}, "from 1 to 20"),
    ],
)
def test_what_cannot_be_made_is_said(given, said) -> None:
    with pytest.raises(InputError, match=said):
        Hierarchy.from_data(people(), **given)


def test_a_column_of_one_category_or_of_thousands_is_refused() -> None:
    others = {"y": pa.chunked_array([[1] * 3000])}
    for values in (["a"] * 3000, [str(i) for i in range(3000)]):
        with pytest.raises(InputError, match="needs 2 to 2,000"):
            join_categories("c", pa.chunked_array([values]), others, 3)
