"""Trees made from data beside hand-made ones and suppression: accuracy of classifiers, errors of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import shoal
from benchmarks.tables import Tables
from shoal.assess.classification import compare_classifiers
from shoal.assess.comparison import Comparison
from shoal.assess.queries import OriginalRecords, draw_workload
from shoal.encoding.forms import Floats, Form, TreeForm
from shoal.encoding.frames import open_frame
from shoal.encoding.models import Model

K = 10
SEEDS = (0, 1, 2)
HOLDOUT = 0.3
TARGET = "income"
HAND, SUPPRESSED = "hand-made", "suppression"
MOST_WORSE = 1.10  # times the loss of accuracy, and the error, of hand-made trees
CONDITIONS, WORKLOADS, QUERIES = 3, 40, 25  # columns of a query, choices of columns, queries each

Models = Mapping[str, Model | None]


@dataclass(frozen=True)
class Found:
    """What one release is worth."""

    accuracy: float
    original: float
    sets: float  # mean relative error of queries about sets of the hand-made trees
    sets_median: float
    values: float  # and about single values
    values_median: float
    lm: float


def run(tables: Tables) -> list[dict[str, object]]:
    """A row for each kind of models: means over some choices of the records to release and to test on."""
    table = tables.adult_sample()
    data = shoal.samples.adult().slice(0, tables.records)
    found: dict[str, list[Found]] = {}
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(data.num_rows)
        aside = round(HOLDOUT * data.num_rows)
        tested, trained = (data.take(np.sort(part)) for part in (order[:aside], order[aside:]))
        for name, one in _releases(trained, tested, dict(_kinds(data, table.models)), seed):
            found.setdefault(name, []).append(one)
    means = {
        name: Found(*np.mean([list(vars(one).values()) for one in ones], axis=0).tolist())
        for name, ones in found.items()
    }
    return [_row(name, one, means) for name, one in means.items()]


def _kinds(data: pa.Table, models: Models) -> Iterator[tuple[str, Models]]:
    """Hand-made trees, trees from data without and with the column that classifiers predict, suppression."""
    trees = [name for name, model in models.items() if isinstance(model, shoal.Hierarchy)]
    yield HAND, models
    others = {"from data": list(models), "from data, all columns": data.column_names}
    for kind, columns in others.items():
        made = {
            name: shoal.Hierarchy.from_data(data, name, by=[n for n in columns if n != name])
            for name in trees
        }
        yield kind, {**models, **made}
    yield SUPPRESSED, {**models, **{name: shoal.Suppression() for name in trees}}


def _releases(
    trained: pa.Table, tested: pa.Table, kinds: Mapping[str, Models], seed: int
) -> Iterator[tuple[str, Found]]:
    asked: tuple[Comparison, list[_Asked], list[_Asked]] | None = None
    for name, models in kinds.items():
        settings = shoal.Settings(
            quasi_identifiers=models, sensitive=(TARGET,), others="drop", k=K, seed=seed
        )
        release = shoal.anonymize(trained, settings=settings)
        learned = compare_classifiers(
            open_frame(trained),
            open_frame(release.data),
            open_frame(tested),
            settings,
            TARGET,
            seed=seed,
        )
        comparison = release.comparison
        if asked is None:  # the same queries for all, about sets that the hand-made trees name
            rng = np.random.default_rng(seed)
            asked = (
                comparison,
                _ask(comparison, rng, only_values=False),
                _ask(comparison, rng, only_values=True),
            )
        original, *workloads = asked
        errors = [
            error for workload in workloads for error in _errors(original, comparison, workload)
        ]
        yield name, Found(learned.release, learned.original, *errors, release.loss("lm"))


@dataclass(frozen=True)
class _Asked:
    """Queries with conditions on some columns: which values of each meet them, and the exact answers."""

    columns: tuple[int, ...]
    meets: tuple[Floats, ...]  # values × queries
    exact: Floats


def _ask(comparison: Comparison, rng: np.random.Generator, only_values: bool) -> list[_Asked]:
    """Draw queries whose answer is not 0, by the models of one comparison."""
    found = []
    columns = len(comparison.table.columns)
    for _ in range(WORKLOADS):
        chosen = tuple(np.sort(rng.choice(columns, CONDITIONS, replace=False)).tolist())
        workload = draw_workload(comparison, chosen, 20 * QUERIES, rng)
        if only_values:
            drawn = tuple(
                rng.integers(0, len(form.labels), (1, 20 * QUERIES)).astype(np.int32)
                if isinstance(form, TreeForm)
                else own
                for form, own in zip(_forms(comparison, chosen), workload.conditions, strict=True)
            )
            workload = type(workload)(chosen, drawn)
        records = np.ones(comparison.table.records)
        exact = OriginalRecords(comparison, chosen, records).answer(workload)
        some = np.flatnonzero(exact >= K)[:QUERIES]  # of fewer a release must not tell
        kept = workload.pick(some)
        meets = tuple(
            form.holds(own)
            for form, own in zip(_forms(comparison, chosen), kept.conditions, strict=True)
        )
        found.append(_Asked(chosen, meets, exact[some]))
    return found


def _errors(
    original: Comparison, release: Comparison, workload: Sequence[_Asked]
) -> tuple[float, float]:
    """Mean and median relative error of queries answered from a release, values spread evenly inside its closures."""
    errors = []
    for asked in workload:
        share = np.ones((release.sizes.size, asked.exact.size))
        for j, meets in zip(asked.columns, asked.meets, strict=True):
            form, closures = release.table.columns[j].form, release.of_column(j)
            own = meets[_same_values(original.table.columns[j].form, form)]
            share *= form.sums(closures, own) / form.sizes(closures)[:, None]
        estimate = release.sizes @ share
        errors.append(np.abs(estimate - asked.exact) / asked.exact)
    every = np.concatenate(errors)
    return float(every.mean()), float(np.median(every))


def _same_values(form: Form, other: Form) -> npt.NDArray[np.int64]:
    """For each code of one form the code of the same value in another."""
    return np.array([form.codes[label] for label in (*other.labels, *([None] * other.has_null))])


def _forms(comparison: Comparison, columns: Sequence[int]) -> list[Form]:
    return [comparison.table.columns[j].form for j in columns]


def _row(name: str, one: Found, means: Mapping[str, Found]) -> dict[str, object]:
    row: dict[str, object] = {
        "models": name,
        "accuracy": round(one.accuracy, 4),
        "accuracy_lost": round(one.original - one.accuracy, 4),
        "sets_error": round(one.sets, 3),
        "sets_median": round(one.sets_median, 3),
        "values_error": round(one.values, 3),
        "values_median": round(one.values_median, 3),
        "lm": round(one.lm, 4),
    }
    if name not in (HAND, SUPPRESSED):
        row["within_10_percent"] = _better(one, means[HAND], MOST_WORSE)
        row["below_suppression"] = _better(one, means[SUPPRESSED], 1.0)
    return row


def _better(one: Found, other: Found, times: float) -> str:
    """In what one release loses at most so many times what another does."""
    pairs = {
        "accuracy": (one.original - one.accuracy, other.original - other.accuracy),
        "sets": (one.sets, other.sets),
        "values": (one.values, other.values),
    }
    return ", ".join(what for what, (own, its) in pairs.items() if own <= times * its) or "none"
