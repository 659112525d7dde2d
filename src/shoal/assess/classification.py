"""Whether a classifier learns from a release what it learns from the table.

It is trained on released quasi-identifiers and tested on original records that are not in the release. A
generalized cell becomes numbers as an original one does: an interval its middle and its width (0 for a
value), a set or a node the share of each of its values (1 for a single value).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.assess import Result
from shoal.assess.comparison import read_comparison
from shoal.encoding.encode import Column, column_problems
from shoal.encoding.forms import Floats, Ints, RangeForm
from shoal.encoding.frames import Frame, arrow_column, open_frame
from shoal.errors import InputError, raise_problems, shown
from shoal.settings.settings import Settings

MOST_CLASSES = 50
MOST_VALUES = 64  # of a column that get a number of their own, the most frequent


@dataclass(frozen=True)
class Classification(Result):
    """Accuracy on original hold-out records.

    Attributes
    ----------
    target
        The column that is predicted from the quasi-identifiers.
    trained, tested
        Records of the release that were learned from, and original records outside it.
    release, original, majority
        Share of hold-out records predicted rightly: trained on the release, trained on the same records as
        they were, and always saying the most frequent value.
    """

    target: str
    trained: int
    tested: int
    release: float
    original: float
    majority: float

    @property
    def kept(self) -> float | None:
        """The share of what originals teach beyond the majority that the release teaches too."""
        taught = self.original - self.majority
        return (self.release - self.majority) / taught if taught > 0 else None


def compare_classifiers(
    table: Frame,
    release: Frame,
    holdout: Frame,
    settings: Settings,
    target: str,
    *,
    model: Any = None,
    seed: int = 0,
) -> Classification:
    """Train on a release of a table and on the table itself, test both on hold-out records.

    Records of table and release may be in any order. Those of the hold-out are not in the table: testing on records
    that were learned from proves nothing. `target` is a column that is released unchanged; records without a value in
    it are left out. `model` is a scikit-learn classifier, by default gradient boosting of decision trees, whose chance
    `seed` makes repeatable.
    """
    raise_problems(_problems(table, holdout, settings, target))
    known = read_comparison(
        _joined(table, holdout, [*settings.quasi_identifiers, target]),
        release,
        replace(settings, sensitive=(target,), requirements=()),
    )
    answers = known.table.sensitive[target]
    has_answer = answers.codes < len(answers.values)  # the code of null is the last
    is_table = np.arange(known.table.records) < table.shape[0]
    learned, tested = has_answer & is_table, has_answer & ~is_table
    kept = known.released[target] < len(answers.values)
    y, truth = answers.codes[learned], answers.codes[tested]
    y_released = known.released[target][kept]
    raise_problems(_class_problems(target, len(answers.values), y, y_released, truth))
    columns, codes = list(enumerate(known.table.columns)), known.table.codes
    # An original value has the features of the closure that holds just that value.
    originals = np.hstack([features(c, c.form.alone)[codes[:, j]] for j, c in columns])
    of_groups = np.hstack([features(c, known.of_column(j)) for j, c in columns])
    released = of_groups[known.groups[kept]]
    return Classification(
        target=target,
        trained=int(y_released.size),
        tested=int(truth.size),
        release=_accuracy(model, seed, released, y_released, originals[tested], truth),
        original=_accuracy(model, seed, originals[learned], y, originals[tested], truth),
        majority=float(np.mean(truth == np.bincount(y).argmax())),
    )


def _problems(table: Frame, holdout: Frame, settings: Settings, target: str) -> list[str]:
    found = prediction_problems(settings, target)
    for what, frame in (("table", table), ("hold-out", holdout)):
        found += column_problems(frame.columns, (*settings.quasi_identifiers, target), what)
        if not frame.shape[0]:
            found.append(f"The {what} has no records; give at least one.")
    return found


def prediction_problems(settings: Settings, target: str) -> list[str]:
    """Sentences for what stands in the way of predicting a column."""
    found = []
    if find_spec("sklearn") is None:
        found.append("Classification needs scikit-learn; run: pip install 'shoal[evaluation]'.")
    if target in settings.quasi_identifiers:
        found.append(
            f"Target '{target}' is a quasi-identifier, so the release does not tell it; "
            "choose a column that is released unchanged."
        )
    elif target in (*settings.removed, *settings.pseudonyms):
        found.append(f"Target '{target}' is an identifier, which is not released; choose another.")
    return found


def _class_problems(target: str, values: int, y: Ints, y_released: Ints, truth: Ints) -> list[str]:
    if values > MOST_CLASSES:
        return [
            f"Target '{target}' has {values} distinct values, and at most {MOST_CLASSES} can be "
            "predicted; choose a column with few."
        ]
    if min(np.unique(y).size, np.unique(y_released).size) < 2 or not truth.size:
        return [
            f"Target '{target}' has fewer than two values to learn or none to test; choose another."
        ]
    return []


def _joined(table: Frame, holdout: Frame, names: Sequence[str]) -> Frame:
    """The records of table and hold-out in one frame, so that both are encoded alike."""
    parts = [
        pa.table({name: arrow_column(frame, name) for name in names}) for frame in (table, holdout)
    ]
    try:
        return open_frame(pa.concat_tables(parts, promote_options="permissive"))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            "A column has different types in the table and in the hold-out; convert it to one."
        ) from None


def seed_problems(seed: int) -> list[str]:
    """A sentence if a seed is none that scikit-learn takes."""
    if is_integer(seed) and 0 <= seed < 2**32:
        return []
    return [
        f"The 'seed' parameter must be a whole number from 0 to 2^32 - 1. Got {shown(seed)} instead."
    ]


def is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _accuracy(model: Any, seed: int, x: Floats, y: Ints, test: Floats, truth: Ints) -> float:
    from sklearn.base import clone
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    boosting = HistGradientBoostingClassifier(early_stopping=False, random_state=seed)
    learner = boosting if model is None else clone(model)
    # On busy cores boosting by several threads was seen to take 50 times as long as by one.
    with threadpool_limits(limits=1, user_api="openmp"):
        return float(np.mean(learner.fit(x, y).predict(test) == truth))


def features(column: Column, closures: Ints) -> Floats:
    """Numbers for closures of one column, a row each."""
    form, part = column.form, np.full(column.form.size, MOST_VALUES)
    if not isinstance(form, RangeForm):
        part[np.argsort(-column.counts, kind="stable")[:MOST_VALUES]] = np.arange(
            min(MOST_VALUES, form.size)
        )
        belongs = np.eye(min(form.size, MOST_VALUES + 1))[part]
        return form.sums(closures, belongs) / form.sizes(closures)[:, None]
    places = form.positions - form.positions[0]
    places = np.append(places / (places[-1] or 1.0), 0.0)  # the last is null's
    last = len(form.labels) - 1
    low, high = places[closures[0]], places[np.minimum(closures[1], last)]
    is_null = closures[0] == form.null
    middle = np.where(is_null, 0.5, (low + high) / 2)
    width = np.where(is_null, 0.0, high - low)
    if not form.has_null:
        return np.column_stack([middle, width])
    missing = form.sums(closures, np.eye(form.size)[:, form.null]) / form.sizes(closures)
    return np.column_stack([middle, width, missing])
