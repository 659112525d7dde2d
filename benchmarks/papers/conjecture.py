"""GT10 §9, left open there: do pmi releases train better classifiers and keep more rules than lm and mi ones?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import shoal
from benchmarks.papers.figure import Claim, Figure, Line, Panel, Scale, draw
from benchmarks.tables import Table
from shoal.evaluation.classification import compare_classifiers
from shoal.evaluation.rules import compare_rules
from shoal.examine import open_table

OBJECTIVES = ("lm", "mi", "pmi")
HOLDOUT = 0.3
# GT10 starts with α = 0.5. Where no column is skewed and k is large, such random groups are all suppressed, no
# move gains anything and the release is a single group, whatever the objective. A smaller α avoids this, but
# elsewhere may end in a worse optimum; so both are tried, and the one that its own objective prefers is kept.
STARTS = (0.5, 0.1)


@dataclass(frozen=True)
class Kept:
    """What one release of one split kept: accuracies, and agreement on rules that predict the target and on all."""

    release: float
    original: float
    majority: float
    predicting: float
    rules: float
    groups: int


def classifiers(scale: Scale) -> Figure:
    """Accuracy on hold-out records of classifiers trained on releases."""
    return _figure(
        scale,
        "accuracy of classifiers",
        "accuracy",
        lambda kept: kept.release,
        {"originals": lambda kept: kept.original, "majority": lambda kept: kept.majority},
    )


def rules(scale: Scale) -> Figure:
    """Jaccard similarity of the rules that predict the sensitive value, in release and table."""
    return _figure(
        scale, "rules that predict the sensitive value", "Jaccard", lambda kept: kept.predicting, {}
    )


def all_rules(scale: Scale) -> Figure:
    """Jaccard similarity of all rules, in release and table."""
    return _figure(scale, "all rules", "Jaccard", lambda kept: kept.rules, {})


def _figure(
    scale: Scale,
    what: str,
    y: str,
    value: Callable[[Kept], float],
    beside: dict[str, Callable[[Kept], float]],
) -> Figure:
    panels, claims = [], []
    sizes, splits = _sizes(scale), range(_splits(scale))
    for name in LOADERS:
        found = {
            (o, k): [value(_kept(scale, name, o, k, split)) for split in splits]
            for o in OBJECTIVES
            for k in sizes
        }
        lines = [Line(o, {k: float(np.mean(found[o, k])) for k in sizes}) for o in OBJECTIVES]
        lines += [
            Line(
                label,
                {
                    k: float(np.mean([read(_kept(scale, name, "lm", k, s)) for s in splits]))
                    for k in sizes
                },
                published=True,
            )
            for label, read in beside.items()
        ]
        panels.append(Panel(name, "k", y, lines, log_x=True, from_zero=not beside))
        for other in ("lm", "mi"):
            better = [
                pmi > theirs
                for k in sizes
                for pmi, theirs in zip(found["pmi", k], found[other, k], strict=True)
            ]
            claims.append(Claim(f"pmi is above {other} on {name}", sum(better), len(better)))
    return Figure(
        f"GT10 §9, conjecture: {what}",
        panels,
        claims,
        f"{len(splits)} splits, {HOLDOUT:.0%} held out, sequential, the better of two starts; cases: splits and k.",
        [f"{name}: {_table(scale, name).data.num_rows:,} records." for name in LOADERS]
        + [f"Releases that are a single group, and so compare nothing: {_single(scale)}."],
    )


@cache
def _kept(scale: Scale, name: str, objective: str, k: int, split: int) -> Kept:
    table = _table(scale, name)
    n = table.data.num_rows
    order = np.random.default_rng(split).permutation(n)
    aside = round(HOLDOUT * n)
    tested, trained = (table.data.take(np.sort(part)) for part in (order[:aside], order[aside:]))
    releases = [
        shoal.anonymize(
            trained,
            quasi_identifiers=table.models,
            sensitive=table.sensitive,
            others="drop",
            allow=table.sensitive,
            k=k,
            objective=objective,
            method=shoal.Sequential(alpha=alpha),
            refine=False,
            seed=split,
        )
        for alpha in STARTS
    ]
    release = min(releases, key=lambda one: one.loss())
    frames = (open_table(frame).data for frame in (trained, release.data, tested))
    accuracy = compare_classifiers(*frames, release.settings, *table.sensitive, seed=split)
    found = compare_rules(release.comparison)
    return Kept(
        accuracy.release,
        accuracy.original,
        accuracy.majority,
        found.sensitive.jaccard or 0.0,
        found.all.jaccard or 0.0,
        int(release.comparison.sizes.size),
    )


def _single(scale: Scale) -> int:
    return sum(
        _kept(scale, name, objective, k, split).groups == 1
        for name in LOADERS
        for objective in OBJECTIVES
        for k in _sizes(scale)
        for split in range(_splits(scale))
    )


@cache
def _table(scale: Scale, name: str) -> Table:
    return draw(LOADERS[name](scale), scale.pick(10_000, 2_000))


def _adult(scale: Scale) -> Table:
    """Adult × 12: fnlwgt is no attribute of a person, education-num repeats education."""
    table = scale.tables.adult_15()
    left_out = ("fnlwgt", "education-num", "income")
    models = {name: model for name, model in table.models.items() if name not in left_out}
    return Table("Adult", table.data.select([*models, "income"]), models, ("income",))


def _sizes(scale: Scale) -> tuple[int, ...]:
    return scale.pick((5, 10, 50), (10, 50))


def _splits(scale: Scale) -> int:
    return scale.pick(3, 2)


LOADERS: dict[str, Callable[[Scale], Table]] = {
    "Adult": _adult,
    "credit card": lambda scale: scale.tables.credit_card(),
}

RESULTS = {"classifiers": classifiers, "rules": rules, "all-rules": all_rules}
