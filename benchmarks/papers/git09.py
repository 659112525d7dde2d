"""GiT09 §4.2.2: how rarely a subset of the values has more entropy than the whole, and what monotone trees cost."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.figure import Claim, Figure, Line, Panel, Scale
from shoal.encoding.models import Hierarchy

SIZES = ((2, 50), (2, 2), (3, 3), (5, 5), (10, 10))  # least and largest |B1|


def experiment(scale: Scale) -> Figure:
    """Share of random distributions on which entropy falls from a set B1 to a set B2 around it."""
    tests = scale.pick(240_000, 6_000)
    rng = np.random.default_rng(9)
    drawn = {
        "uniform numbers, scaled": lambda n: rng.random(n),
        "uniform on the simplex": lambda n: rng.standard_exponential(n),
    }
    lines = []
    for name, draw in drawn.items():
        found = {}
        for least, most in SIZES:
            falls = 0
            for _ in range(tests):
                small = int(rng.integers(least, most + 1))
                weights = draw(int(rng.integers(2 * small, 10 * small + 1)))
                falls += _bits(weights[:small]) > _bits(weights) + 1e-12
            found[f"{least} to {most}" if least < most else str(least)] = falls / tests
        lines.append(Line(name, found))
    below = [line.points["2 to 50"] < 1e-5 for line in lines]
    return Figure(
        "GiT09 §4.2.2: how often entropy falls as a set grows",
        [Panel(f"{tests:,} tests each, |B2| of 2 to 10 times |B1|", "|B1|", "share", lines)],
        [Claim("fewer than one in 100,000, sizes 2 to 50", sum(below), len(below))],
        "Sizes of B1 and B2 uniform in their ranges. The paper gives neither its sizes nor how it draws "
        "probabilities uniformly, so both usual ways are here.",
    )


def monotone_trees(scale: Scale) -> Figure:
    """How many inner nodes the trees of Adult lose when they are made monotone."""
    table = scale.tables.adult_8_trees()
    before, after = {}, {}
    for name, model in table.models.items():
        if isinstance(model, Hierarchy):
            before[name] = float(len(model.inner))
            after[name] = float(len(model.monotone(table.data[name].to_pylist()).inner))
    return Figure(
        "GiT09 §4.2.2: Adult's trees, made monotone",
        [
            Panel(
                "inner nodes of the hierarchies",
                "column",
                "nodes",
                [Line("as given", before), Line("monotone", after)],
            )
        ],
        [],
        f"Adult, {table.data.num_rows:,} records.",
    )


def _bits(weights: np.ndarray) -> float:
    p = weights / weights.sum()
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


RESULTS = {"experiment": experiment, "monotone-trees": monotone_trees}
