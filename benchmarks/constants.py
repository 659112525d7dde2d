"""Choose the constants of refinement: `python -m benchmarks.constants` tries values of each in turn.

A value is better where the loss, with a price for CPU time, is lower on average. Values are chosen on every other job
and checked on the rest, on which nothing was chosen. `python -m benchmarks constants --save` keeps the rows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.beside import OURS, run_apart
from benchmarks.jobs import LARGE, NARROW

PRICE = 0.01  # a table that takes e times as long must lose so much less
CANDIDATES: dict[str, tuple[float, ...]] = {
    "budget.QUICK": (5_000, 10_000),
    "budget.LEAST": (3e9, 5e9),
    "state.HOPE": (0.05, 0.2),
    "state.LATELY": (0.01, 0.05),
    "schedule.LITTLE": (0.005, 0.015),
    "schedule.SLOPE": (0.01, 0.04),
    "relax.FEWEST": (1, 3),
    "relax.RISE": (0.015, 0.05),
    "relax.CHEAP": (0.0, 0.3),
    "relax.CHEAP_DIVERSE": (0.3, 0.7),
    "relax.FAR": (1.35, 2.0),
    "relax.WALK": (0.2, 0.4),
    "relax.SHARE": (0.7, 1.0),
    "relax.FINISHING": (2, 8),
    "repack.CERTAIN": (0.2, 0.5),
    "repack.LITTLE": (3e-4, 3e-3),
    "program.FEW": (500, 2_000),
    "program.RECORDS": (600, 2_400),
    "program.LONG": (0.08, 0.3),
}
Row = Mapping[str, float]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="constants with this in their name")
    parser.add_argument("--jobs", default="", help="jobs with this in their name")
    options = parser.parse_args()
    for row in choose(options.only, options.jobs):
        print(" | ".join(map(str, row.values())), flush=True)


def choose(only: str = "", jobs: str = "") -> Iterator[dict[str, object]]:
    """A row for each value tried, and one for those that were chosen."""
    every = [job.name for job in (*LARGE, *NARROW)]
    names = [name for name in every if any(part in name for part in jobs.split("|"))]
    choosing, checking = names[::2], names[1::2]
    chosen: dict[str, float] = {}
    first = measured(choosing, chosen)
    best = 0.0
    for constant, values in CANDIDATES.items():
        if not any(part in constant for part in only.split("|")):
            continue
        for value in values:
            tried = chosen | {constant: value}
            rows = measured(choosing, tried)
            score = compared(rows, first)
            yield {"constant": constant, "value": value} | told(rows, first, score)
            if score < best:
                best, chosen = score, tried
    if chosen:
        rows, others = measured(checking, chosen), measured(checking, {})
        what = " ".join(f"{name}={value:g}" for name, value in chosen.items())
        found = told(rows, others, compared(rows, others))
        yield {
            "constant": f"all that were chosen, on the other jobs: {what}",
            "value": None,
        } | found


def measured(names: Sequence[str], settings: Mapping[str, float]) -> list[Row]:
    """The loss and CPU seconds of jobs under settings, two jobs at a time."""
    given = [f"{name}={value!r}" for name, value in settings.items()]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda name: run_apart(OURS, name, settings=given), names))


def compared(rows: Sequence[Row], others: Sequence[Row]) -> float:
    """How much worse rows are than others, by loss and CPU seconds; below 0 where they are better."""
    return mean_ratio(rows, others, "loss") + PRICE * mean_ratio(rows, others, "cpu_s")


def mean_ratio(rows: Sequence[Row], others: Sequence[Row], what: str) -> float:
    """The mean logarithm of a ratio."""
    ratios = [math.log(row[what] / other[what]) for row, other in zip(rows, others, strict=True)]
    return sum(ratios) / len(ratios)


def told(rows: Sequence[Row], others: Sequence[Row], score: float) -> dict[str, object]:
    """The mean ratios, as shares more, and the largest."""
    loss, cpu = (math.exp(mean_ratio(rows, others, what)) for what in ("loss", "cpu_s"))
    most = max(row["loss"] / other["loss"] for row, other in zip(rows, others, strict=True))
    return {
        "loss": round(loss - 1, 5),
        "most": round(most - 1, 4),
        "cpu": round(cpu, 3),
        "score": round(score, 5),
    }


if __name__ == "__main__":
    main()
