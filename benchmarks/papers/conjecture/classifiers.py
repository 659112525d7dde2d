"""Do pmi releases train better classifiers? Accuracy by learner, k and table, with and without diversity."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.labelled import LOADERS
from benchmarks.papers.conjecture.learners import LEARNERS
from benchmarks.papers.conjecture.measured import (
    MIDDLE,
    Value,
    at,
    by_table,
    of_originals,
    on_holdout,
)
from benchmarks.papers.conjecture.releases import (
    HOLDOUT,
    OBJECTIVES,
    SHARES,
    Case,
    entropy,
    release_of,
    sizes,
    split_of,
    splits,
    swept,
    table_of,
)
from benchmarks.papers.conjecture.statistics import LEVEL, Floats, Paired, paired
from benchmarks.papers.figure import Claim, Figure, Line, Panel, Scale

OTHERS = ("lm", "mi")
MOST_NAMES = 6  # of tables below a plot


def plain(scale: Scale) -> Figure:
    """Accuracy of every learner by k."""
    return _by_k(scale, diverse=False)


def diverse(scale: Scale) -> Figure:
    """The same where groups must be diverse."""
    return _by_k(scale, diverse=True)


def tests(scale: Scale) -> Figure:
    """Mean differences over tables, and whether they could be chance."""
    panels, claims, notes = [], [], []
    for is_diverse, name in ((False, "k alone"), (True, "k and diversity")):
        found = compared(scale, is_diverse)
        lines = {
            other: {learner: found[learner, other] for learner in LEARNERS} for other in OTHERS
        }
        panels += [
            Panel(
                f"{name}: mean difference in accuracy",
                "learner",
                "accuracy",
                [
                    Line(f"pmi − {other}", {learner: one.mean for learner, one in row.items()})
                    for other, row in lines.items()
                ],
            ),
            Panel(
                f"{name}: p of no difference, Holm's",
                "learner",
                "p",
                [
                    Line(f"pmi − {other}", {learner: one.corrected for learner, one in row.items()})
                    for other, row in lines.items()
                ],
            ),
        ]
        for other, row in lines.items():
            for verdict in ("higher", "lower"):
                held = sum(one.verdict == verdict for one in row.values())
                text = f"{name}: pmi is significantly {verdict} than {other}; cases: learners"
                claims.append(Claim(text, held, len(row)))
        notes += [
            f"{name}, {learner}: {said(found[learner, other], 'pmi', other)}"
            for learner in LEARNERS
            for other in OTHERS
        ]
    setting = (
        f"{_setting(scale)} Wilcoxon's signed-rank test, exact and two-sided, over {len(LOADERS)} tables, each with "
        f"its mean over k and splits; Holm's correction over {len(LEARNERS) * len(OTHERS)} tests, level {LEVEL}."
    )
    return Figure(
        "GT10 §9, conjecture: classifiers, tested over tables", panels, claims, setting, notes
    )


def tables(scale: Scale) -> Figure:
    """Accuracy above the majority on each table."""
    panels = []
    for is_diverse, name in ((False, "k alone"), (True, "k and diversity")):
        values = {o: np.mean(_above(scale, o, is_diverse), axis=0) for o in OBJECTIVES}
        originals = np.mean([_originals(scale, learner) for learner in LEARNERS], axis=0)
        values["originals"] = originals - _majorities(scale)
        names = list(LOADERS)
        for start in range(0, len(names), MOST_NAMES):
            shown = slice(start, start + MOST_NAMES)
            lines = [
                Line(
                    label,
                    dict(zip(names[shown], row[shown].tolist(), strict=True)),
                    published=label == "originals",
                )
                for label, row in values.items()
            ]
            panels.append(Panel(name, "table", "accuracy − majority", lines))
    notes = [
        f"{name}: {table_of(scale, name).data.num_rows:,} records × {len(table_of(scale, name).models)}, "
        f"majority {share:.3f}."
        for name, share in zip(LOADERS, _majorities(scale), strict=True)
    ]
    return Figure(
        "GT10 §9, conjecture: classifiers by table",
        panels,
        [],
        f"{_setting(scale)} Means over k, splits and {len(LEARNERS)} learners.",
        notes,
    )


def shares_of_mi(scale: Scale) -> Figure:
    """Accuracy, entropy of groups and kept cells by w, from pmi (0) to mi (1)."""
    found = {
        learner: {w: _swept(scale, partial(_accuracy, scale, learner), w) for w in SHARES}
        for learner in LEARNERS
    }
    other = {
        "entropy of the target in groups, bits": partial(entropy, scale),
        "share of cells kept": lambda case: float(release_of(scale, case).kept.mean()),
    }
    panels = [
        Panel(
            "accuracy",
            "w, the share of mi",
            "accuracy",
            [
                Line(learner, {w: float(row.mean()) for w, row in rows.items()})
                for learner, rows in found.items()
            ],
            from_zero=False,
        ),
        Panel(
            "what the releases are like",
            "w, the share of mi",
            "bits, share",
            [
                Line(label, {w: float(_swept(scale, value, w).mean()) for w in SHARES})
                for label, value in other.items()
            ],
        ),
    ]
    claims = []
    for learner, rows in found.items():
        grid = np.array([rows[w] for w in SHARES])
        best = int(np.count_nonzero(grid[0] >= grid.max(axis=0)))
        claims.append(
            Claim(f"{learner}: pmi (w = 0) is the best of {len(SHARES)} w", best, grid.shape[1])
        )
    means = {w: np.mean([found[learner][w] for learner in LEARNERS], axis=0) for w in SHARES}
    tests = paired([(means[w] - means[1.0]).tolist() for w in SHARES[:-1]])
    notes = [f"w = {w}: accuracy {row.mean():.4f} over learners." for w, row in means.items()]
    notes += [
        f"mean of learners: {said(test, f'w = {w}', 'mi')}"
        for w, test in zip(SHARES, tests, strict=False)
    ]
    setting = (
        f"{_setting(scale)} k = {MIDDLE}; means over tables; cases: tables. Tests as for classifiers, Holm's "
        f"correction over {len(tests)}."
    )
    return Figure("GT10 §9, conjecture: classifiers by w", panels, claims, setting, notes)


def compared(scale: Scale, is_diverse: bool) -> dict[tuple[str, str], Paired]:
    """Every learner's tests of pmi against the other objectives, one family."""
    keys = [(learner, other) for learner in LEARNERS for other in OTHERS]
    rows = []
    for learner, other in keys:
        value = partial(_accuracy, scale, learner)
        rows.append(
            by_table(scale, value, "pmi", is_diverse) - by_table(scale, value, other, is_diverse)
        )
    return dict(zip(keys, paired([row.tolist() for row in rows]), strict=True))


def said(test: Paired, one: str, other: str) -> str:
    """A test in words."""
    return (
        f"{one} − {other} {test.mean:+.4f}, above on {test.better} of {test.tables} tables, "
        f"p = {test.p:.4f}, corrected {test.corrected:.4f}: {test.verdict}."
    )


def _by_k(scale: Scale, diverse: bool) -> Figure:
    panels, claims = [], []
    majority = float(_majorities(scale).mean())
    for learner in LEARNERS:
        value: Value = partial(_accuracy, scale, learner)
        lines = [
            Line(o, {k: float(at(scale, value, o, k, diverse).mean()) for k in sizes(scale)})
            for o in OBJECTIVES
        ]
        original = float(_originals(scale, learner).mean())
        for name, level in (("originals", original), ("majority", majority)):
            lines.append(Line(name, dict.fromkeys(sizes(scale), level), published=True))
        panels.append(Panel(learner, "k", "accuracy", lines, log_x=True, from_zero=False))
        for other in OTHERS:
            differences = by_table(scale, value, "pmi", diverse) - by_table(
                scale, value, other, diverse
            )
            better = int(np.count_nonzero(differences > 0))
            claims.append(Claim(f"{learner}: pmi is above {other}", better, differences.size))
    what = ", groups diverse" if diverse else ""
    means = [
        f"{o}: accuracy {np.mean(_above(scale, o, diverse)) + majority:.4f} over learners, tables, k and splits."
        for o in OBJECTIVES
    ]
    return Figure(
        f"GT10 §9, conjecture: accuracy of classifiers{what}",
        panels,
        claims,
        f"{_setting(scale)} Means over {len(LOADERS)} tables; cases: tables, each with its mean over k and splits.",
        means,
    )


def _accuracy(scale: Scale, learner: str, case: Case) -> float:
    return on_holdout(scale, case, learner)


def _above(scale: Scale, objective: str, is_diverse: bool) -> Floats:
    """Accuracy less the majority's: learners × tables."""
    return np.array(
        [
            by_table(scale, partial(_accuracy, scale, learner), objective, is_diverse)
            for learner in LEARNERS
        ]
    ) - _majorities(scale)


def _swept(scale: Scale, value: Value, w: float) -> Floats:
    return np.array(
        [
            np.mean([value(swept(table, MIDDLE, w, split)) for split in splits(scale)])
            for table in LOADERS
        ]
    )


def _originals(scale: Scale, learner: str) -> Floats:
    return np.array(
        [
            np.mean([of_originals(scale, table, learner, split) for split in splits(scale)])
            for table in LOADERS
        ]
    )


def _majorities(scale: Scale) -> Floats:
    return np.array(
        [
            np.mean([split_of(scale, table, split).majority for split in splits(scale)])
            for table in LOADERS
        ]
    )


def _setting(scale: Scale) -> str:
    return (
        f"Suppression, k = {', '.join(map(str, sizes(scale)))}, {len(splits(scale))} splits, {HOLDOUT:.0%} held out, "
        "the default method and refinement."
    )
