"""Why: how near releases are to the least loss of their objective, and what the pattern of `*` tells of the target."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.labelled import LOADERS
from benchmarks.papers.conjecture.classifiers import OTHERS, said
from benchmarks.papers.conjecture.learners import FOLDS, LEARNERS, MAKERS
from benchmarks.papers.conjecture.measured import (
    ENCODINGS,
    MIDDLE,
    Value,
    at,
    from_mask,
    on_holdout,
    over_learners,
    within,
)
from benchmarks.papers.conjecture.releases import (
    OBJECTIVES,
    SHARES,
    Case,
    entropy,
    release_of,
    sequential_loss,
    sizes,
    speaks_for,
    split_of,
    splits,
    swept,
)
from benchmarks.papers.conjecture.statistics import Floats, paired
from benchmarks.papers.figure import Claim, Figure, Line, Panel, Scale

NEAR = 1.25  # times the bound
CELLS = ("all cells", "for the target", "against it")


def certificates(scale: Scale) -> Figure:
    """How many times its lower bound a release's loss is, and how it compares with GT10's method."""
    panels, claims, notes = [], [], []
    for diverse, name in ((False, "k alone"), (True, "k and diversity")):
        read = {
            "loss / bound": lambda case: release_of(scale, case).certificate.ratio,
            "gap, share": lambda case: release_of(scale, case).gap,
        }
        for y, value in read.items():
            lines = [
                Line(o, {k: float(at(scale, value, o, k, diverse).mean()) for k in sizes(scale)})
                for o in OBJECTIVES
            ]
            panels.append(Panel(f"{name}: {y}", "k", y, lines, log_x=True, from_zero=y[0] == "g"))
        for objective in OBJECTIVES:
            found = [
                release_of(scale, Case(table, objective, k, diverse, split)).certificate.ratio
                for table in LOADERS
                for k in sizes(scale)
                for split in splits(scale)
            ]
            text = f"{name}: {objective} loses at most {NEAR} times its bound; cases: releases"
            claims.append(Claim(text, sum(one <= NEAR for one in found), len(found)))
            notes.append(
                f"{name}, {objective}: loss / bound {np.mean(found):.3f} in the mean, "
                f"{np.median(found):.3f} in the median, {max(found):.3f} at most."
            )
    for objective in OBJECTIVES:
        cases = [Case(table, objective, MIDDLE) for table in LOADERS]
        ours = [release_of(scale, case).loss for case in cases]
        theirs = [sequential_loss(scale, case) for case in cases]
        pairs = list(zip(ours, theirs, strict=True))
        held = sum(own <= other * (1 + 1e-9) for own, other in pairs)
        text = f"{objective}: loses no more than sequential, k = {MIDDLE}; cases: tables"
        claims.append(Claim(text, held, len(cases)))
        notes.append(
            f"{objective}: loses {np.mean([own / other for own, other in pairs]):.3f} times what sequential does."
        )
    wmi = [
        release_of(scale, swept(table, MIDDLE, w, split)).certificate.ratio
        for table in LOADERS
        for w in SHARES[1:-1]
        for split in splits(scale)
    ]
    notes.append(
        f"wmi, k = {MIDDLE}: loss / bound {np.mean(wmi):.3f} in the mean, {max(wmi):.3f} at most."
    )
    setting = (
        "Means over tables and splits. The gap is the loss above the bound as a share of what suppressing every cell "
        "loses above it. The bound is one for k alone: with diversity the least possible loss may be far above it."
    )
    return Figure(
        "GT10 §9, conjecture: certificates of the releases", panels, claims, setting, notes
    )


def mask(scale: Scale) -> Figure:
    """What learners predict from the pattern of `*` alone, and how much they lose where there is none."""
    panels, claims, notes = [], [], []
    masks = {
        (o, diverse): {
            learner: _first(partial(_from_mask, scale, learner), o, diverse) for learner in LEARNERS
        }
        for o in OBJECTIVES
        for diverse in (False, True)
    }
    falls = {
        o: {learner: _first(partial(_fall, scale, learner), o) for learner in LEARNERS}
        for o in OBJECTIVES
    }
    kept = {
        o: np.array([_kept(scale, Case(table, o, MIDDLE)) for table in LOADERS]) for o in OBJECTIVES
    }
    for diverse, name in ((False, "k alone"), (True, "k and diversity")):
        lines = [_line(o, masks[o, diverse]) for o in OBJECTIVES]
        panels.append(Panel(f"mask only, {name}", "learner", "accuracy − majority", lines))
    lines = [_line(o, falls[o]) for o in OBJECTIVES]
    panels.append(Panel("fall from release to hold-out", "learner", "accuracy", lines))
    lines = [
        Line(o, dict(zip(CELLS, kept[o].mean(axis=0).tolist(), strict=True))) for o in OBJECTIVES
    ]
    panels.append(Panel("cells kept, k alone", "value speaks", "share", lines))
    what = {
        "k alone: the mask tells more of the target": {
            o: _mean(masks[o, False]) for o in OBJECTIVES
        },
        "k and diversity: the mask tells more": {o: _mean(masks[o, True]) for o in OBJECTIVES},
        "accuracy falls more from release to hold-out": {o: _mean(falls[o]) for o in OBJECTIVES},
        "shares of cells kept for and against the target differ more": {
            o: kept[o][:, 1] - kept[o][:, 2] for o in OBJECTIVES
        },
    }
    keys = [(text, other) for text in what for other in OTHERS]
    tests = paired([(what[text]["pmi"] - what[text][other]).tolist() for text, other in keys])
    for (text, other), test in zip(keys, tests, strict=True):
        claims.append(Claim(f"{text} with pmi than with {other}", test.better, test.tables))
        notes.append(f"{text}: {said(test, 'pmi', other)}")
    for text, values in what.items():
        means = ", ".join(f"{o} {row.mean():.4f}" for o, row in values.items())
        notes.append(f"{text}, means: {means}.")
    for o in OBJECTIVES:
        inside = over_learners(partial(within, scale))
        outside = over_learners(partial(on_holdout, scale))
        notes.append(
            f"{o}, k alone: accuracy {_first(inside, o).mean():.4f} within the release, "
            f"{_first(outside, o).mean():.4f} on hold-out; cells kept {kept[o][:, 0].mean():.3f}, of those for the "
            f"target {kept[o][:, 1].mean():.3f}, against it {kept[o][:, 2].mean():.3f}; "
            f"entropy in groups {_first(partial(entropy, scale), o).mean():.3f} bits."
        )
    setting = (
        f"k = {MIDDLE}, first split, {FOLDS}-fold cross-validation over whole groups; means over tables; cases: "
        f"tables, each with its mean over learners. Tests as for classifiers, Holm's correction over {len(keys)}."
    )
    return Figure(
        "GT10 §9, conjecture: what the pattern of * tells", panels, claims, setting, notes
    )


def encodings(scale: Scale) -> Figure:
    """Accuracy by the way in which learners see `*`."""
    panels, claims, notes = [], [], []
    found: dict[tuple[str, str, str], Floats] = {}
    for encoding in ENCODINGS:
        for o in OBJECTIVES:
            for learner in MAKERS:
                value = partial(_encoded, scale, learner, encoding)
                found[encoding, o, learner] = at(scale, value, o, MIDDLE)
        lines = [
            _line(o, {learner: found[encoding, o, learner] for learner in MAKERS})
            for o in OBJECTIVES
        ]
        panels.append(Panel(f"* as {encoding}", "learner", "accuracy", lines))
        keys = [(learner, other) for learner in MAKERS for other in OTHERS]
        tests = paired(
            [(found[encoding, "pmi", one] - found[encoding, o, one]).tolist() for one, o in keys]
        )
        for (learner, other), test in zip(keys, tests, strict=True):
            claims.append(
                Claim(f"{encoding}, {learner}: pmi is above {other}", test.better, test.tables)
            )
            notes.append(f"{encoding}, {learner}: {said(test, 'pmi', other)}")
    for learner in MAKERS:
        gains = {o: found["drawn", o, learner] - found["shares", o, learner] for o in OBJECTIVES}
        notes.append(
            f"{learner}: drawn − shares "
            + ", ".join(f"{o} {gain.mean():+.4f}" for o, gain in gains.items())
            + "."
        )
    setting = (
        f"k = {MIDDLE}, k alone, means over tables and splits; cases: tables. Tests as for classifiers, Holm's "
        f"correction over {len(MAKERS) * len(OTHERS)} in each encoding. shares: an equal share of each value, as in "
        "shoal.classify; a value: one of its own; drawn: from the kept cells of the column, so that no "
        "learner sees the pattern."
    )
    return Figure("GT10 §9, conjecture: how learners see *", panels, claims, setting, notes)


def _from_mask(scale: Scale, learner: str, case: Case) -> float:
    return from_mask(scale, case, learner)


def _fall(scale: Scale, learner: str, case: Case) -> float:
    return within(scale, case, learner) - on_holdout(scale, case, learner)


def _encoded(scale: Scale, learner: str, encoding: str, case: Case) -> float:
    return on_holdout(scale, case, learner, encoding)


def _kept(scale: Scale, case: Case) -> tuple[float, float, float]:
    """Shares of cells kept: of all, of those whose value speaks for the record's target, of those against."""
    kept = release_of(scale, case).kept
    speaks = speaks_for(split_of(scale, case.table, case.split))
    return float(kept.mean()), float(kept[speaks > 0].mean()), float(kept[speaks < 0].mean())


def _first(value: Value, objective: str, diverse: bool = False) -> Floats:
    """For each table, at the middle k in the first split."""
    return np.array([value(Case(table, objective, MIDDLE, diverse)) for table in LOADERS])


def _mean(of_learners: dict[str, Floats]) -> Floats:
    return np.mean(list(of_learners.values()), axis=0)


def _line(name: str, of_learners: dict[str, Floats]) -> Line:
    return Line(name, {learner: float(row.mean()) for learner, row in of_learners.items()})
