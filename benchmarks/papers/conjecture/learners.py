"""Learners, and what they see of released cells: five learners, three ways to read `*`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
FOLDS = 3


class Learner(Protocol):
    """What scikit-learn calls a classifier."""

    def fit(self, x: Any, y: Any) -> Any: ...
    def predict(self, x: Any) -> Any: ...


def _logistic(seed: int) -> Learner:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=300, random_state=seed)


def _boosting(seed: int) -> Learner:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=seed)


def _forest(seed: int) -> Learner:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=50, random_state=seed)


def _tree(seed: int) -> Learner:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=5, random_state=seed)


class NaiveBayes:
    """Naive Bayes over codes that knows kept cells only: a code of −1 is `*` and counts nowhere."""

    def __init__(self, values: Iterable[int]) -> None:
        self.values = list(values)

    def fit(self, x: Ints, y: Ints) -> NaiveBayes:
        """Count values by class, each once more than it occurs."""
        self.classes = np.unique(y)
        self.prior = np.log([np.mean(y == one) for one in self.classes])
        self.likely = []
        for j, size in enumerate(self.values):
            kept = x[:, j] >= 0
            counts = np.ones((self.classes.size, size))
            np.add.at(counts, (np.searchsorted(self.classes, y[kept]), x[kept, j]), 1.0)
            likely = np.log(counts / counts.sum(axis=1, keepdims=True))
            self.likely.append(np.hstack([likely, np.zeros((self.classes.size, 1))]))
        return self

    def predict(self, x: Ints) -> Ints:
        score = self.prior + sum(likely[:, x[:, j]].T for j, likely in enumerate(self.likely))
        return self.classes[np.argmax(score, axis=1)]


MAKERS: Mapping[str, Callable[[int], Learner]] = {
    "logistic": _logistic,
    "boosting": _boosting,
    "forest": _forest,
    "tree": _tree,
}
LEARNERS = ("logistic", "bayes", "boosting", "forest", "tree")


def as_shares(codes: Ints, kept: Bools, values: Iterable[int]) -> Floats:
    """One number per value: 1 for a kept one; in a suppressed cell each value has an equal share, as in shoal."""
    return _spread(codes, kept, values, lambda size: np.full(size, 1 / size))


def as_value(codes: Ints, kept: Bools, values: Iterable[int]) -> Floats:
    """One number per value, and one more for `*`, a value of its own."""
    shown = np.where(kept, codes, np.array(list(values)))
    larger = [size + 1 for size in values]
    return _spread(shown, np.ones_like(kept), larger, np.zeros)


def as_drawn(codes: Ints, kept: Bools, values: Iterable[int], seed: int) -> Floats:
    """Every `*` drawn from the kept cells of its column, so that which cells were suppressed cannot be seen."""
    rng = np.random.default_rng(seed)
    filled = codes.copy()
    for j, size in enumerate(values):
        known = codes[kept[:, j], j]
        missing = ~kept[:, j]
        pool = known if known.size else np.arange(size)
        filled[missing, j] = rng.choice(pool, np.count_nonzero(missing))
    return as_shares(filled, np.ones_like(kept), values)


def _spread(
    codes: Ints, kept: Bools, values: Iterable[int], otherwise: Callable[[int], Floats]
) -> Floats:
    parts = []
    for j, size in enumerate(values):
        rows = np.vstack([np.eye(size), otherwise(size)])
        parts.append(rows[np.where(kept[:, j], codes[:, j], size)])
    return np.hstack(parts)


def accuracy(learner: Learner, x: Any, y: Ints, test: Any, truth: Ints) -> float:
    """Share of test records that are predicted rightly; the one value, where there is just one to learn."""
    from threadpoolctl import threadpool_limits

    if np.unique(y).size == 1:
        return float(np.mean(truth == y[0]))
    with threadpool_limits(limits=1):
        return float(np.mean(learner.fit(x, y).predict(test) == truth))


def cross_validated(make: Callable[[], Learner], x: Any, y: Ints, groups: Ints) -> float:
    """Accuracy on records of a release of whose groups none was learned from."""
    fold = folds(groups)
    right = 0.0
    for one in range(FOLDS):
        held = fold == one
        if held.any() and not held.all():
            right += accuracy(make(), x[~held], y[~held], x[held], y[held]) * held.sum()
        else:
            right += np.mean(y == np.bincount(y).argmax()) * held.sum()
    return right / y.size


def folds(groups: Ints) -> Ints:
    """A fold for each record, the same for all of a group, groups dealt out at random."""
    order = np.random.default_rng(0).permutation(int(groups.max()) + 1)
    return (order % FOLDS)[groups]
