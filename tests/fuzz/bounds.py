"""Compare bounds and losses with all releases of tiny tables: `python -m tests.fuzz.bounds --tables 1000`."""

from __future__ import annotations

import argparse
import sys
from itertools import product
from math import isinf
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.releases import COSTS, least_loss, random_table, release_of

from tests.fuzz.__main__ import say


def main() -> int:
    """Try so many tables with every objective; 1 if a bound is above the optimum or a loss below it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.bounds", description=__doc__)
    parser.add_argument("--tables", type=int, default=200, help="tables for each objective")
    parser.add_argument("--start", type=int, default=0, help="the first table")
    given = parser.parse_args()
    failures = optima = tried = 0
    for seed in range(given.start, given.start + given.tables):
        table, k = random_table(seed)
        for (objective, cost), distinct in product(COSTS.items(), (1, 2)):
            least = least_loss(table, k, cost, distinct)
            if isinf(least):
                continue
            release = release_of(table, k, objective, distinct)
            bounds = [release.certificate.bound if release.certificate else 0.0]
            bounds += bounds_in_a_hurry(table, k, objective, distinct, seed)
            tried, optima = tried + 1, optima + (release.loss() <= least + 1e-9)
            if max(bounds) > least + 1e-9 or release.loss() < least - 1e-9:
                failures += 1
                say(
                    f"table {seed}, {objective}, {distinct}: bounds {bounds}, least {least}, loss {release.loss()}"
                )
    say(f"{tried:,} releases, {optima:,} optimal, {failures} failures")
    return 1 if failures else 0


def bounds_in_a_hurry(
    table: pd.DataFrame, k: int, objective: str, distinct: int, seed: int
) -> list[float]:
    """The bounds of a release that was not refined, after few looks and some passes."""
    rng = np.random.default_rng(seed)
    release = release_of(table, k, objective, distinct, refine=False)
    with (
        patch("shoal.solve.bounds.certificate.first_looks", lambda _: int(rng.integers(400))),
        patch("shoal.solve.bounds.ascent.CHUNK", int(rng.integers(1, 30))),
    ):
        quick = release.certificate
        later = release.certify(passes=int(rng.integers(1, 5)))
    return [found.bound for found in (quick, later) if found]


if __name__ == "__main__":
    sys.exit(main())
