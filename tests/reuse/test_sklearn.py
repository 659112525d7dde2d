"""The transformer for scikit-learn keeps its conventions, and k for the training records."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal
from shoal.sklearn import Anonymizer


def numbers(records: int = 200, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(records, 3))


def frame(records: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, records),
            "sex": rng.choice(list("fm"), records),
            "town": rng.choice(["a", "b", "c"], records),
        }
    )


def listed(checks: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """The same checks as a list: scikit-learn 1.3 hands out a generator, which pytest warns of."""
    names, values = checks.args
    return pytest.mark.parametrize(names, list(values), **checks.kwargs)


@listed(parametrize_with_checks([Anonymizer(k=2, method="mondrian", refine=False)]))
def test_scikit_learn_s_own_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("table", [numbers(), frame()], ids=["array", "frame"])
def test_training_records_read_the_same_k_at_a_time(table: Any, k: int) -> None:
    anonymizer = Anonymizer(k=k)
    found = anonymizer.fit_transform(table)
    counts = Counter(map(tuple, np.asarray(found)))
    assert min(counts.values()) >= k
    assert anonymizer.k_ >= k
    assert len(counts) > 200 / (10 * k)  # not everything is hidden


def test_a_number_is_the_middle_of_a_range_that_covers_it() -> None:
    table = frame()[["age"]]
    found = Anonymizer(k=5).fit(table)
    texts = set(found.release_.data["age"].to_pylist())
    ends = [tuple(map(int, f"{text}–{text}".split("–")[:2])) for text in texts]
    ranges = {((low + high) / 2, low, high) for low, high in ends}
    hidden = found.transform(pd.DataFrame({"age": [500]}))[0, 0]
    pairs = zip(found.transform(table)[:, 0], table["age"], strict=True)
    shown = [(middle, age) for middle, age in pairs if middle != hidden]
    assert len(shown) > 150
    for middle, age in shown:
        assert any(middle == half and low <= age <= high for half, low, high in ranges)


def test_categories_become_shares_that_sum_to_one() -> None:
    found = Anonymizer(k=10).set_output(transform="pandas").fit_transform(frame())
    assert list(found.columns) == ["age", "sex_f", "sex_m", "town_a", "town_b", "town_c"]
    np.testing.assert_allclose(found[["sex_f", "sex_m"]].sum(axis=1), 1)
    np.testing.assert_allclose(found[["town_a", "town_b", "town_c"]].sum(axis=1), 1)


def test_values_that_no_closure_covers_are_hidden() -> None:
    anonymizer = Anonymizer(k=10).fit(frame())
    strange = pd.DataFrame({"age": [500], "sex": ["x"], "town": ["a"]})
    found = anonymizer.transform(strange)
    np.testing.assert_allclose(found[0, 1:], [1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])


def test_missing_values_are_taken_from_frames() -> None:
    table = frame().assign(town=lambda t: t["town"].where(t.index % 7 > 0))
    found = Anonymizer(k=5).set_output(transform="pandas").fit_transform(table)
    assert "town_missing" in found.columns
    assert min(Counter(map(tuple, found.to_numpy())).values()) >= 5


def test_it_works_in_a_pipeline_and_survives_clone_and_pickle() -> None:
    table = frame(400)
    labels = (table["age"] > 50).astype(int)
    pipeline = make_pipeline(Anonymizer(k=5), LogisticRegression(max_iter=1000)).fit(table, labels)
    assert pipeline.score(table, labels) > 0.9
    again = pickle.loads(pickle.dumps(pipeline))
    assert (again.predict(table) == pipeline.predict(table)).all()
    assert clone(Anonymizer(k=7, method="mondrian")).get_params()["k"] == 7


def test_models_of_one_s_own_are_used() -> None:
    tree = shoal.Hierarchy.from_dict({"*": {"ab": ["a", "b"], "c": None}})
    found = Anonymizer(k=40, models={"town": tree}).fit_transform(frame())
    assert {0.5, 0.0} & set(found[:, -3])


BAD: list[tuple[dict[str, Any], str]] = [
    ({"k": 0}, "k is missing or 0"),
    ({"k": 500}, "n_samples=200 is fewer than k = 500"),
    ({"k": "2"}, "The 'k' parameter must be a whole number"),
    ({"method": "best"}, "Unknown method 'best'"),
    ({"models": {"twon": None}}, "features that do not exist: twon"),
]


@pytest.mark.parametrize(("options", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_parameters_get_a_sentence(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Anonymizer(**options).fit(frame())


def test_names_that_do_not_fit_are_refused() -> None:
    anonymizer = Anonymizer().fit(frame())
    with pytest.raises(ValueError, match="not equal"):
        anonymizer.get_feature_names_out(["a", "b", "c"])
    with pytest.raises(ValueError, match="feature names"):
        anonymizer.transform(frame()[["sex", "age", "town"]])


SECRET = "Zyzzyva"
BAD_TABLES: list[tuple[Any, type[Exception], str]] = [
    (np.array([1.5, 987654.25]), ValueError, "Expected 2D array"),
    (np.full((9, 2), 987654.25j), ValueError, "Complex data"),
    (np.array([[1, SECRET]] * 9, dtype=object), ValueError, "not numbers"),
    (pd.concat([frame(), frame()], axis=1), shoal.InputError, "same name"),
    (np.array([[np.inf, 1.0]] * 9), ValueError, "infinity"),
    (np.zeros((3, 3, 3)), ValueError, "dim 3"),
    (frame()[:0], ValueError, "0 sample"),
]


@pytest.mark.parametrize(("table", "error", "says"), BAD_TABLES, ids=[own[2] for own in BAD_TABLES])
def test_bad_tables_get_a_sentence_without_their_values(
    table: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        Anonymizer(k=3, method="mondrian", refine=False).fit(table)
    assert SECRET not in str(caught.value)
    assert "987654" not in str(caught.value)


def test_texts_where_numbers_were_get_a_sentence_without_them() -> None:
    table = pd.DataFrame({"age": range(20), "sex": list("fm") * 10})
    fitted = Anonymizer(k=3, method="mondrian", refine=False).fit(table)
    with pytest.raises(ValueError, match="had numbers in fit") as caught:
        fitted.transform(table.assign(age=SECRET))
    assert SECRET not in str(caught.value)
