"""Compare bounds and losses with all releases of tiny tables: `python -m tests.fuzz.bounds --tables 1000`."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.releases import COSTS, least_loss, random_table, release_of

import shoal
from shoal.solve.bounds import ascent, certificate, cheapest
from tests.fuzz.__main__ import say

# What is set so that a table is bounded in another way: by the cheapest cells alone, or in a hurry.
WAYS: tuple[dict[tuple[object, str], object], ...] = (
    {},
    *({(certificate, "FAR"): 0.0, (cheapest, "SHARES"): (share,)} for share in (1.0, 0.7, 0.4)),
    *(
        {(certificate, "LEAST_LOOKS"): n, (certificate, "MOST_LOOKS"): n, (ascent, "CHUNK"): 5}
        for n in (20, 200)
    ),
)


def bounds_of(release: shoal.Release) -> list[float]:
    """The bounds of a certificate that is found in each of the ways."""
    found = []
    for way in WAYS:
        with ExitStack() as stack:
            for (module, name), value in way.items():
                stack.enter_context(patch.object(module, name, value))
            proved = replace(release).certificate
        found.append(proved.bound if proved else 0.0)
    return found


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
            bound = max(bounds_of(release))
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
