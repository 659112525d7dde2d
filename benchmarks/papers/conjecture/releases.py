"""Certified releases of the training records of many tables, and what became of every cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.labelled import LOADERS, TARGET
from benchmarks.papers.conjecture.learners import Bools, Floats, Ints
from benchmarks.papers.figure import Scale, draw
from benchmarks.tables import Table
from shoal.assess.association_rules import AssociationRules, compare_rules
from shoal.solve.bounds.certificate import Certificate

HOLDOUT = 0.3
OBJECTIVES = ("lm", "mi", "pmi")
STARTS = (0.5, 0.1)  # α of GT10's method: the paper's, and a smaller one
PASSES = 5  # over the table, to tighten a bound
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of mi in wmi: pmi at 0, mi at 1


@dataclass(frozen=True)
class Case:
    """One release: of a table, for an objective, with groups of k, diverse or not, of one split."""

    table: str
    objective: str
    k: int
    diverse: bool = False
    split: int = 0
    w: float = 0.5  # of wmi

    @property
    def measure(self) -> str | shoal.WMI:
        """The objective with its share of mi, where it has one."""
        return shoal.WMI(self.w) if self.objective == "wmi" else self.objective


@dataclass(frozen=True)
class Split:
    """A table in two parts, as codes that both share."""

    trained: pa.Table
    codes: Ints  # of the quasi-identifiers of training records
    y: Ints
    test: Ints
    truth: Ints
    values: tuple[int, ...]  # of each quasi-identifier

    @property
    def majority(self) -> float:
        """Accuracy of always saying the most frequent value."""
        return float(np.mean(self.truth == np.bincount(self.y).argmax()))


@dataclass(frozen=True)
class Released:
    """What a release kept; its certificate and rules are found when first asked for."""

    release: shoal.Release
    kept: Bools  # cells: training records × quasi-identifiers
    groups: Ints
    nothing: float  # the objective where every cell is suppressed

    @cached_property
    def loss(self) -> float:
        return self.release.loss()

    @cached_property
    def certificate(self) -> Certificate:
        """A bound that no release can go below, tightened a little."""
        found = self.release.certify(passes=PASSES)
        assert found is not None, self.release.certificate_reason
        return found

    @property
    def gap(self) -> float:
        """The loss above its bound, as a share of what suppressing every cell loses above it."""
        room = self.nothing - self.certificate.bound
        return (self.loss - self.certificate.bound) / room if room > 0 else 0.0

    @cached_property
    def rules(self) -> AssociationRules:
        """Agreement of release and table on association rules."""
        return compare_rules(self.release.comparison)


def sizes(scale: Scale) -> tuple[int, ...]:
    """The k that are tried."""
    return scale.pick((5, 10, 50), (10,))


def splits(scale: Scale) -> range:
    """Numbers of the splits into training and test records."""
    return range(scale.pick(2, 1))


def swept(table: str, k: int, w: float, split: int) -> Case:
    """The case of one share of mi."""
    named = {0.0: "pmi", 1.0: "mi"}
    return Case(table, named.get(w, "wmi"), k, split=split, w=0.5 if w in named else w)


@cache
def table_of(scale: Scale, name: str) -> Table:
    return draw(LOADERS[name](scale.tables), scale.pick(2_000, 300))


@cache
def split_of(scale: Scale, name: str, split: int) -> Split:
    table = table_of(scale, name)
    records = table.data.num_rows
    order = np.random.default_rng(split).permutation(records)
    aside = round(HOLDOUT * records)
    test, trained = np.sort(order[:aside]), np.sort(order[aside:])
    encoded = [_codes(table.data[column]) for column in table.models]
    codes, y = np.column_stack(encoded), _codes(table.data[TARGET])
    values = tuple(int(column.max()) + 1 for column in encoded)
    return Split(table.data.take(trained), codes[trained], y[trained], codes[test], y[test], values)


@cache
def release_of(scale: Scale, case: Case) -> Released:
    """Anonymize by the default method and refinement."""
    split = split_of(scale, case.table, case.split)
    release = _anonymize(scale, case, split)
    closed, groups = release.closed, release.groups
    kept = np.column_stack(
        [
            column.form.sizes(closed.of_column(j))[groups] == 1
            for j, column in enumerate(closed.table.columns)
        ]
    )
    nothing = _suppressed(scale, case.table, case.split).loss(case.measure)
    return Released(release, kept, groups.astype(np.int64), nothing)


def sequential_loss(scale: Scale, case: Case) -> float:
    """The objective of the better of two releases by GT10's method, from starts with its α and a smaller one.

    With α = 0.5 all first groups are suppressed where no column is skewed, and then no move gains anything.
    """
    split = split_of(scale, case.table, case.split)
    methods = (shoal.Sequential(alpha=alpha) for alpha in STARTS)
    return min(_anonymize(scale, case, split, method, refine=False).loss() for method in methods)


def entropy(scale: Scale, case: Case) -> float:
    """Mean entropy in bits of the target in groups: what GT10's Table 3 calls diversity."""
    y, groups = split_of(scale, case.table, case.split).y, release_of(scale, case).groups
    counts = np.zeros((int(groups.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (groups, y), 1.0)
    share = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return float(-(share * logs).sum(axis=1).mean())


def speaks_for(split: Split) -> Floats:
    """Of every training cell: log of how much more often its record's target has this value than records have."""
    found = np.empty(split.codes.shape)
    shares = np.bincount(split.y) / split.y.size
    for j, size in enumerate(split.values):
        joint = np.zeros((size, shares.size))
        np.add.at(joint, (split.codes[:, j], split.y), 1.0)
        own = joint[split.codes[:, j], split.y] / joint.sum(axis=1)[split.codes[:, j]]
        found[:, j] = np.log2(own / shares[split.y])
    return found


def diversity(y: Ints) -> shoal.LDiversity:
    """No value may have more of a group than the middle of its largest share in the table and of 1."""
    return shoal.LDiversity(2 / (1 + np.bincount(y).max() / y.size))


def _anonymize(
    scale: Scale,
    case: Case,
    split: Split,
    method: str | shoal.Sequential = "auto",
    refine: str | bool = "quick",
) -> shoal.Release:
    table = table_of(scale, case.table)
    return shoal.anonymize(
        split.trained,
        quasi_identifiers=table.models,
        sensitive=table.sensitive,
        allow=table.sensitive,
        k=case.k,
        requirements=[diversity(split.y)] if case.diverse else None,
        objective=case.measure,
        method=method,
        refine=refine,
        seed=case.split,
    )


@cache
def _suppressed(scale: Scale, name: str, split: int) -> shoal.Release:
    """The release that is a single group."""
    parts = split_of(scale, name, split)
    return _anonymize(scale, Case(name, "lm", parts.y.size, split=split), parts)


def _codes(column: pa.ChunkedArray) -> Ints:
    return np.unique(np.asarray(column), return_inverse=True)[1].astype(np.int64)
