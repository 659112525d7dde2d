"""What each part gains: `python -m benchmarks.ablation` runs every job with each part switched off in turn.

Prints a row a part: how much more is lost without it, how much CPU time is saved, and for parts of the certificate, how
much less is proved. `python -m benchmarks ablation --save` keeps the rows of all parts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

from benchmarks.beside import OURS
from benchmarks.jobs import JOBS as EVERY
from benchmarks.tables import Tables

SEARCH = "shoal.solve.local_search"
BOUNDS = "shoal.solve.bounds"
JOBS = (
    "sample, k = 100",
    "adult_9",
    "adult_9, distinct",
    "adult_9, entropy",
    "adult_14",
    "fars, k = 5",
    "wide_10",
    "few_wide",
    "deep",
    "floats_3",
    "categories",
    "adult 400 × 5, k = 3",
    "adult 3,000 × 4, k = 5",
    "default 1,000 × 4, k = 5, distinct",
)


def _nothing(*_: Any) -> int:
    return 0


def _without(kind: str) -> Mapping[str, Any]:
    """Refinement without a neighbourhood, whose steps leave a partition as it is."""
    module = kind.lower()
    return {f"{SEARCH}.{module}.{kind}.step": _unchanged}


def _unchanged(kind: Any, now: Any) -> Any:
    kind.tired_at = now.cost
    return now


def _same(problem: Any, closures: Any) -> Any:
    return problem


def _learn_nothing(kind: Any, cells: Any) -> None:
    kind._rung = 2


def _no_bound(cells: Any) -> None:
    return None


def _as_it_is(groups: Any) -> Callable[..., Any]:
    return lambda *_, **__: groups


# Names are those of the documentation; what is patched is what stands for the part.
PARTS: dict[str, Mapping[str, Any]] = {
    "lending": {
        f"shoal.solve.methods.borrowing_cover.{name}": ((0.0, 0.0),)
        for name in ("TERMS", "SCARCE_TERMS", "DISTINCT_TERMS")
    },
    "several visits to uneven cells": {"shoal.solve.methods.borrowing_cover.REACHES": (1.7,)},
    "moves": _without("Moves"),
    "swaps": {f"{SEARCH}.moves.swap_all": _nothing},
    "carving": _without("Carve"),
    "relaxing": _without("Relax"),
    "a second pass of relaxing": {f"{SEARCH}.relax.FEWEST": 1},
    "further passes where cheap": {
        f"{SEARCH}.relax.CHEAP": 0.0,
        f"{SEARCH}.relax.CHEAP_DIVERSE": 0.0,
    },
    "moves before rounding": {f"{SEARCH}.relax.FINISHING": 0},
    "bins of ranges": {f"{SEARCH}.relax.coarsened": _same},
    "choosing cells": _without("Repack"),
    "kicks in choosing cells": {
        f"{SEARCH}.{module}.LADDER": None  # the first two rungs, see `switch_off`
        for module in ("repack", "regroup")
    },
    "cells of the relaxed problem": {f"{SEARCH}.repack.Repack.learn": _learn_nothing},
    "regrouping": _without("Regroup"),
    "integer programs": _without("Program"),
    "trying what gained most lately": {f"{SEARCH}.state.LATELY": 1e9},
}
PROOFS: dict[str, Mapping[str, Any]] = {
    "a walk without slack": {f"{BOUNDS}.ascent.FREE": 0.0},
    "passes of the first certificate": {f"{BOUNDS}.certificate.MOST_FIRST": 0},
    "nearest records": {f"{BOUNDS}.certificate.nearest_bound": _no_bound},
    "duals of refinement": {f"{SEARCH}.relax.Relax.duals": None},
}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", default="", help="parts with this in their name")
    parser.add_argument("--jobs", default="", help="jobs with this in their name")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--without", default="", help=argparse.SUPPRESS)
    parser.add_argument("--certify", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        switch_off(options.without)
        certify = options.without in PROOFS or options.certify
        print(json.dumps(EVERY[options.run].run(Tables(), certify=float(certify))))
        return
    for row in compare(options.parts, options.jobs):
        print(" | ".join(map(str, row.values())), flush=True)


def compare(parts: str = "", jobs: str = "") -> Iterator[dict[str, object]]:
    """A row for each part with one of some words in its name."""
    names = [name for name in JOBS if any(word in name for word in jobs.split("|"))]
    for every in (PARTS, PROOFS):
        chosen = [part for part in every if any(word in part for word in parts.split("|"))]
        whole = measured(names, "", every is PROOFS) if chosen else {}
        for part in chosen:
            yield _row(part, measured(names, part), whole)


def switch_off(part: str) -> None:
    """Switch off a part, for good."""
    for target, value in (PARTS | PROOFS).get(part, {}).items():
        if target.endswith("LADDER"):
            from shoal.solve.local_search.repack import LADDER

            value = (*LADDER[:2], *LADDER[1:2] * 2)
        patch(target, value).start()


def measured(
    names: Sequence[str], part: str, certified: bool = False
) -> dict[str, Mapping[str, Any]]:
    """What jobs lose and prove, and how long they take, without a part; two jobs at a time."""

    def run(name: str) -> Mapping[str, Any]:
        command = [sys.executable, "-m", "benchmarks.ablation", "--run", name, "--without", part]
        command += ["--certify"] * certified
        environment = {**os.environ, "PYTHONPATH": str(OURS)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{name} without {part}: {done.stderr[-2000:]}")
        row: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return row

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(run, names), strict=True))


def _row(part: str, rows: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, object]:
    """A row of the table: the means are geometric."""

    def ratios(what: str) -> dict[str, float]:
        return {
            name: max(row[what], 1e-9) / max(whole[name][what], 1e-9) for name, row in rows.items()
        }

    def mean(values: Mapping[str, float]) -> float:
        return math.exp(sum(map(math.log, values.values())) / len(values))

    loss, cpu = ratios("loss"), ratios("cpu_s")
    worst = max(loss, key=lambda name: loss[name])
    row = {
        "without": part,
        "loss": round(mean(loss) - 1, 5),
        "most": round(loss[worst] - 1, 4),
        "on": worst,
        "cpu": round(mean(cpu), 3),
    }
    if part in PROOFS:
        proved = {name: value for name, value in ratios("ratio").items() if math.isfinite(value)}
        row["proved"] = round(mean(proved) - 1, 4)
    return row


if __name__ == "__main__":
    main()
