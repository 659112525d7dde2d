"""A scikit-learn transformer that generalizes features so that at least k training records look the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.api.anonymize import anonymize
from shoal.encoding.encode import Column
from shoal.encoding.forms import Floats, RangeForm, Records
from shoal.encoding.frames import arrow_column, open_frame
from shoal.encoding.models import Model
from shoal.encoding.models.base import labels_of
from shoal.errors import InputError
from shoal.reuse.coverage import Coverage, assign_closures, packed

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise InputError(
        "shoal.sklearn needs scikit-learn. Run: pip install 'shoal[evaluation]'."
    ) from None

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:  # noqa: N803
        """Call the estimator's own method, as older versions of scikit-learn do."""
        if options.pop("skip_check_array", False):
            estimator._check_feature_names(X, reset=options["reset"])
            estimator._check_n_features(X, reset=options["reset"])
            return X
        return estimator._validate_data(X, **options)


# The starts of errors of scikit-learn and NumPy that contain values of the table, and what to say instead.
_WITHOUT_VALUES = {
    "Expected 2D array": "Expected 2D array, got another shape instead. Reshape your data to one row for each record.",
    "Complex data not supported": "Complex data not supported. Use real numbers.",
    "could not convert": "Some values are not numbers. Pass texts in a data frame, or encode them as numbers.",
}


class Anonymizer(TransformerMixin, BaseEstimator):
    """Generalize features, and return them as numbers for models.

    `fit` anonymizes the training records. Each record then gets the most precise closure (its generalized values) that
    covers it, among those that at least k training records get. So each transformed training record looks the same as
    at least `k_` of them, itself included. Other records are transformed with the same closures, but they are not a
    release and nothing is promised for them; use `shoal.Recoding` for that. Values that no closure covers are hidden.

    A number becomes the middle of its closure. A category becomes one column for each value, which contains the share
    of that value if the closure is spread evenly over its values. Labels `y` are neither changed nor protected.

    Parameters
    ----------
    k
        The smallest number of training records that look the same. A larger k is safer and loses more detail.
    models
        Generalization models by column name, if the features are a data frame. By default, numbers and dates get
        intervals and everything else suppression.
    method, refine, seed
        As in `shoal.anonymize`.

    Attributes
    ----------
    k_
        The smallest number of training records that look the same, counted after the fit.
    release_
        The release of the training records from which the closures are taken.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.sklearn import Anonymizer
    >>> ages = np.array([[31.0], [33.0], [52.0], [58.0]])
    >>> Anonymizer(k=2).fit_transform(ages).ravel().tolist()
    [32.0, 32.0, 55.0, 55.0]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        models: Mapping[str, Model | None] | None = None,
        method: Any = "auto",
        refine: Any = "quick",
        seed: int = 0,
    ) -> None:
        self.k = k
        self.models = models
        self.method = method
        self.refine = refine
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Anonymizer:  # noqa: N803
        """Find closures for the training records; `y` is not used."""
        table = self._table(X, reset=True)
        if isinstance(self.k, int) and table.num_rows < self.k:
            raise ValueError(
                f"n_samples={table.num_rows} is fewer than k = {self.k}. Use more records or a smaller k."
            )
        given = dict(self.models or {})
        unknown = [name for name in given if name not in table.column_names]
        if unknown:
            raise InputError(
                f"The 'models' parameter names features that do not exist: {', '.join(unknown)}. Remove or rename them."
            )
        self.release_ = anonymize(
            table,
            quasi_identifiers={name: given.get(name) for name in table.column_names},
            k=self.k,
            method=self.method,
            refine=self.refine,
            seed=self.seed,
        )
        closed = self.release_.closed
        self._features = [
            _Feature(column, closed.of_column(j)) for j, column in enumerate(closed.table.columns)
        ]
        self._order = np.lexsort([np.round(sum(own.generality for own in self._features), 9)])
        self._alive, self.k_ = _usable(self._coverage(table), self.k)
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Return the generalized features of records as numbers."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        coverage = self._coverage(table)
        place = coverage.first(np.arange(table.num_rows), self._alive)
        closure = coverage.order[place]
        return np.concatenate([own.numbers[closure] for own in self._features], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the columns that `transform` returns."""
        check_is_fitted(self)
        names = list(getattr(self, "feature_names_in_", self._names()))
        if input_features is not None:
            given = list(input_features)
            if hasattr(self, "feature_names_in_") and given != names:
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(given) != len(names):
                raise ValueError("input_features should have length equal to number of features")
            names = given
        found = [
            f"{name}{ending}"
            for name, own in zip(names, self._features, strict=True)
            for ending in own.endings
        ]
        return np.array(found, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_alive")

    def _names(self) -> list[str]:
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _table(self, X: Any, reset: bool) -> pa.Table:  # noqa: N803
        """Features as an Arrow table: a data frame as it is, anything else as numbers."""
        if hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, pa.Table):
            if len(set(X.columns)) < len(X.columns):
                raise InputError("Several columns have the same name. Rename them.")
            validate_data(self, X, reset=reset, skip_check_array=True)
            frame = open_frame(X)
            table = pa.table({name: arrow_column(frame, name) for name in frame.columns})
            if not table.num_rows:
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
            return table
        numbers = self._checked(X, reset)
        return pa.table({name: numbers[:, j] for j, name in enumerate(self._names())})

    def _checked(self, X: Any, reset: bool) -> Floats:  # noqa: N803
        """Features as numbers; errors of scikit-learn are replaced if they would show values."""
        try:
            numbers: Floats = validate_data(self, X, reset=reset, dtype=np.float64)
        except ValueError as error:
            said = str(error)
            for begins, instead in _WITHOUT_VALUES.items():
                if said.startswith(begins):
                    raise ValueError(instead) from None
            raise
        return numbers

    def _coverage(self, table: pa.Table) -> Coverage:
        value, covering = [], []
        for own, column in zip(self._features, table.columns, strict=True):
            distinct = column.combine_chunks().dictionary_encode()
            place = distinct.indices.fill_null(len(distinct.dictionary))
            value.append(np.asarray(place).astype(np.int64))
            covering.append(packed(own.covers(distinct.dictionary)[:, self._order]))
        return Coverage(self._order, tuple(value), tuple(covering))


class _Feature:
    """The closures of one feature, with the one that hides it last: the values they cover, and their numbers."""

    def __init__(self, column: Column, closures: npt.NDArray[np.int32]) -> None:
        self.form = column.form
        holds = self.form.holds(closures).astype(np.bool_)  # values × closures
        self.holds = np.concatenate([holds, np.ones((holds.shape[0], 1), np.bool_)], axis=1)
        self.has_scale = (
            isinstance(self.form, RangeForm) and self.form.has_scale and _is_number(column)
        )
        if self.has_scale:
            assert isinstance(self.form, RangeForm)
            positions = np.array(_numbers(self.form.values), dtype=np.float64)
            self.low, self.high = self._ends(closures, positions)
            is_plain = np.isfinite(self.low) & np.isfinite(self.high)
            low, high = (np.where(is_plain, end, 0.0) for end in (self.low, self.high))
            middle = np.where(is_plain, low / 2 + high / 2, positions.mean())
            self.numbers = middle[:, None]
            span = max(float(np.ptp(positions)), 1e-300)
            self.generality = np.where(is_plain, np.minimum((high - low) / span, 1.0), 2.0)
            self.endings: tuple[str, ...] = ("",)
        else:
            shares = self.holds / self.holds.sum(axis=0)
            self.numbers = shares.T.astype(np.float64)
            self.generality = (self.holds.sum(axis=0) - 1) / max(1, self.form.size - 1)
            self.generality[-1] = 2.0
            missing = ("_missing",) if self.form.has_null else ()
            self.endings = (*(f"_{label}" for label in self.form.labels), *missing)

    def _ends(self, closures: npt.NDArray[np.int32], positions: Floats) -> tuple[Floats, Floats]:
        """The lowest and the highest number of each closure, infinite if it also contains missing values."""
        low, high = (positions[np.minimum(end, positions.size - 1)] for end in closures)
        if self.form.has_null:
            is_hidden = closures[1] == self.form.null
            is_missing = closures[0] == self.form.null  # and nothing else, so it covers no number
            low = np.where(is_missing, np.inf, np.where(is_hidden, -np.inf, low))
            high = np.where(is_missing, -np.inf, np.where(is_hidden, np.inf, high))
        return np.append(low, -np.inf), np.append(high, np.inf)

    def covers(self, values: pa.Array) -> npt.NDArray[np.bool_]:
        """Whether each closure covers each of some values and, in the last row, a missing one: values × closures."""
        null = np.zeros(self.holds.shape[1], dtype=np.bool_)
        null[-1] = True
        if self.form.has_null:
            null = self.holds[self.form.null]
        if self.has_scale:
            numbers = np.asarray(_numbers(values), dtype=np.float64)[:, None]
            inside = (self.low <= numbers) & (numbers <= self.high)
        else:
            codes = [self.form.codes.get(label, -1) for label in labels_of(values)]
            unknown = np.zeros((1, self.holds.shape[1]), dtype=np.bool_)
            unknown[0, -1] = True
            inside = np.concatenate([self.holds, unknown])[np.array(codes, dtype=np.int64)]
        return np.concatenate([inside.reshape(-1, null.size), null[None, :]])


def _is_number(column: Column) -> bool:
    values = column.form.values if isinstance(column.form, RangeForm) else pa.nulls(0)
    return pa.types.is_integer(values.type) or pa.types.is_floating(values.type)


def _numbers(values: pa.Array) -> list[float]:
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if is_text and len(values):
        raise ValueError("A feature that had numbers in fit has texts now. Use numbers.")
    return [float(value) for value in values.to_pylist()]


def _usable(coverage: Coverage, k: int) -> tuple[npt.NDArray[np.bool_], int]:
    """The closures that may be used, so that each one, even the last, gets no training record or at least k."""
    chosen = assign_closures(coverage, lambda records: bool(records.size >= k))
    place = np.empty(coverage.order.size, dtype=np.int64)
    place[coverage.order] = np.arange(coverage.order.size)
    alive = np.zeros(coverage.order.size, dtype=np.bool_)
    alive[place[np.unique(chosen[chosen >= 0])]] = True
    hidden = place[coverage.order.max()]
    alive[hidden] = True
    every: Records = np.arange(coverage.records)
    while True:
        counts = np.bincount(coverage.first(every, alive), minlength=alive.size)
        used = np.flatnonzero(counts)
        if counts[used].min() >= k:
            return alive, int(counts[used].min())
        few = used[used != hidden]
        alive[few[np.argmin(counts[few])]] = False
