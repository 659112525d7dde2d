"""Whether a classifier learns from a release what it learns from the table.

It is trained on released quasi-identifiers and tested on original records that are not in the release. Generalized
and original cells are encoded alike: an interval as its middle and width (0 for a single value), a set or node as the
share of each of its values (1 for a single value).
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
MOST_VALUES = 64  # of a column, the most frequent, that get a feature of their own


@dataclass(frozen=True)
class Classification(Result):
    """Accuracy on original hold-out records.

    Attributes
    ----------
    target
        The column that is predicted from the quasi-identifiers.
    trained, tested
        Records of the release used for training, and original records outside it used for testing.
    release, original, majority
        Share of hold-out records predicted correctly: when trained on the release, when trained on the original
        records, and when always predicting the most frequent value.
    """

    target: str
    trained: int
    tested: int
    release: float
    original: float
    majority: float

    @property
    def kept(self) -> float | None:
        """The gain over the majority when trained on the release, as a share of the gain when trained on originals."""
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
    """Train on a release of a table and on the table itself, and test both on hold-out records.

    Records of table and release may be in any order. The hold-out must not contain records of the table, because
    testing on training records proves nothing. `target` is a column that is released unchanged; records without a
    value in it are ignored. `model` is a scikit-learn classifier, by default gradient boosting of decision trees, with
    `seed` as its random state.
    """
    raise_problems(_problems(table, holdout, settings, target))
    known = read_comparison(
        _joined(table, holdout, [*settings.quasi_identifiers, target]),
        release,
        replace(settings, sensitive=(target,), requirements=()),
    )
    answers = known.table.sensitive[target]
    has_answer = answers.codes < len(answers.values)  # null has the last code
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
            found.append(f"The {what} has no records. Give at least one.")
    return found


def prediction_problems(settings: Settings, target: str) -> list[str]:
    """Sentences that say why a column cannot be predicted."""
    found = []
    if find_spec("sklearn") is None:
        found.append("Classification needs scikit-learn. Run: pip install 'shoal[evaluation]'.")
    if target in settings.quasi_identifiers:
        found.append(
            f"Target '{target}' is a quasi-identifier, which is not released exactly. "
            "Choose a column that is released unchanged."
        )
    elif target in (*settings.removed, *settings.pseudonyms):
        found.append(
            f"Target '{target}' is an identifier, which is not released. Choose another column."
        )
    return found


def _class_problems(target: str, values: int, y: Ints, y_released: Ints, truth: Ints) -> list[str]:
    if values > MOST_CLASSES:
        return [
            f"Target '{target}' has {values:,} different values, but at most {MOST_CLASSES} can be "
            "predicted. Choose a column with fewer values."
        ]
    if min(np.unique(y).size, np.unique(y_released).size) < 2 or not truth.size:
        return [
            f"Target '{target}' has fewer than two values to train on, or none to test. Choose another column."
        ]
    return []


def _joined(table: Frame, holdout: Frame, names: Sequence[str]) -> Frame:
    """The records of table and hold-out in one frame, so that both are encoded in the same way."""
    parts = [
        pa.table({name: arrow_column(frame, name) for name in names}) for frame in (table, holdout)
    ]
    try:
        return open_frame(pa.concat_tables(parts, promote_options="permissive"))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            "A column has different types in the table and in the hold-out. Convert it to the same type in both."
        ) from None


def seed_problems(seed: int) -> list[str]:
    """A sentence if scikit-learn does not accept a seed."""
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
    # On busy cores, boosting with several threads took up to 50 times as long as with one.
    with threadpool_limits(limits=1, user_api="openmp"):
        return float(np.mean(learner.fit(x, y).predict(test) == truth))


def features(column: Column, closures: Ints) -> Floats:
    """Features of the closures of a column, one row each."""
    form, part = column.form, np.full(column.form.size, MOST_VALUES)
    if not isinstance(form, RangeForm):
        part[np.argsort(-column.counts, kind="stable")[:MOST_VALUES]] = np.arange(
            min(MOST_VALUES, form.size)
        )
        belongs = np.eye(min(form.size, MOST_VALUES + 1))[part]
        return form.sums(closures, belongs) / form.sizes(closures)[:, None]
    places = form.positions - form.positions[0]
    places = np.append(places / (places[-1] or 1.0), 0.0)  # null is last
    last = len(form.labels) - 1
    low, high = places[closures[0]], places[np.minimum(closures[1], last)]
    is_null = closures[0] == form.null
    middle = np.where(is_null, 0.5, (low + high) / 2)
    width = np.where(is_null, 0.0, high - low)
    if not form.has_null:
        return np.column_stack([middle, width])
    missing = form.sums(closures, np.eye(form.size)[:, form.null]) / form.sizes(closures)
    return np.column_stack([middle, width, missing])
