"""Do pmi releases keep more association rules? Those that predict the target, and all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from benchmarks.labelled import LOADERS
from benchmarks.papers.conjecture.classifiers import OTHERS, said
from benchmarks.papers.conjecture.releases import (
    OBJECTIVES,
    Case,
    Released,
    release_of,
    sizes,
    splits,
)
from benchmarks.papers.conjecture.statistics import LEVEL, Floats, paired
from benchmarks.papers.figure import Claim, Figure, Line, Panel, Scale
from shoal.assess.association_rules import CONFIDENCE, SUPPORT, Agreement

ENOUGH = 10  # rules in the originals of a split, below which nothing is compared

Read = Callable[[Released], Agreement]
KINDS: dict[str, Read] = {
    "rules that predict the target": lambda one: one.rules.sensitive,
    "all rules": lambda one: one.rules.all,
}


def rules(scale: Scale) -> Figure:
    """Jaccard similarity of the rules in release and table."""
    panels, claims, notes = [], [], []
    for diverse, condition in ((False, "k alone"), (True, "k and diversity")):
        tests, keys = [], []
        for kind, read in KINDS.items():
            tables = _with_rules(scale, read)
            lines = [
                Line(
                    o, {k: float(_mean(scale, read, o, diverse, (k,)).mean()) for k in sizes(scale)}
                )
                for o in OBJECTIVES
            ]
            panels.append(Panel(f"{condition}: {kind}", "k", "Jaccard", lines, log_x=True))
            whole = {o: _mean(scale, read, o, diverse, sizes(scale)) for o in OBJECTIVES}
            for other in OTHERS:
                tests.append((whole["pmi"] - whole[other]).tolist())
                keys.append((f"{condition}, {kind}", other))
            if not diverse:
                notes.append(
                    f"{kind}: {len(tables)} tables with at least {ENOUGH}: {', '.join(tables)}."
                )
            notes.append(
                f"{condition}, {kind}: mean Jaccard "
                + ", ".join(f"{o} {values.mean():.4f}" for o, values in whole.items())
                + "."
            )
        for (what, other), test in zip(keys, paired(tests), strict=True):
            claims.append(Claim(f"{what}: pmi is above {other}", test.better, test.tables))
            notes.append(f"{what}: {said(test, 'pmi', other)}")
    setting = (
        f"Support {SUPPORT}, confidence {CONFIDENCE}; cases: tables, each with its mean over k and splits. Wilcoxon's "
        f"test as for classifiers, Holm's correction over {2 * len(KINDS)} tests, level {LEVEL}."
    )
    return Figure("GT10 §9, conjecture: association rules", panels, claims, setting, notes)


def _with_rules(scale: Scale, read: Read) -> list[str]:
    """Tables with enough rules in the training records of every split."""
    least = {
        table: min(
            read(release_of(scale, Case(table, "lm", sizes(scale)[0], split=split))).in_table
            for split in splits(scale)
        )
        for table in LOADERS
    }
    return [table for table, found in least.items() if found >= ENOUGH]


@cache
def _mean(scale: Scale, read: Read, objective: str, diverse: bool, ks: tuple[int, ...]) -> Floats:
    """Jaccard similarity for each table with enough rules."""
    return np.array(
        [
            np.mean(
                [
                    read(release_of(scale, Case(table, objective, k, diverse, split))).jaccard
                    or 0.0
                    for k in ks
                    for split in splits(scale)
                ]
            )
            for table in _with_rules(scale, read)
        ]
    )
