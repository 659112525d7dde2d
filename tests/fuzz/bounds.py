"""Compare bounds and losses with all releases of tiny tables: `python -m tests.fuzz.bounds --tables 1000`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.releases import COSTS, least_loss, random_table, release_of

from tests.fuzz.__main__ import say


def main() -> int:
    """Try so many tables with every objective; 1 if a bound is above the optimum or a loss below it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.bounds", description=__doc__)
    parser.add_argument("--tables", type=int, default=200, help="tables for each objective")
    parser.add_argument("--start", type=int, default=0, help="the first table")
    given = parser.parse_args()
    failures = optima = 0
    for seed in range(given.start, given.start + given.tables):
        table, k = random_table(seed)
        for objective, cost in COSTS.items():
            release, least = release_of(table, k, objective), least_loss(table, k, cost)
            bound = release.certificate.bound if release.certificate else 0.0
            optima += release.loss() <= least + 1e-9
            if bound > least + 1e-9 or release.loss() < least - 1e-9:
                failures += 1
                say(
                    f"table {seed}, {objective}: bound {bound}, least {least}, loss {release.loss()}"
                )
    tried = given.tables * len(COSTS)
    say(f"{tried:,} releases, {optima:,} optimal, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
