"""GT10 Figures 1 to 6, Tables 2 and 3: sequential clustering on Adult, generalized by suppression."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from benchmarks.papers.early_stop import stopped_early
from benchmarks.papers.figure import Claim, Figure, Line, Panel, Scale, below, near, rises
from benchmarks.tables import Table
from benchmarks.timing import Run, measure
from shoal.assess.risk import risk_of_groups
from shoal.audits.requirements.diversity import LDiversity
from shoal.encoding.encode import Table as Encoded
from shoal.encoding.encode import encode
from shoal.encoding.forms import Ints
from shoal.encoding.frames import open_frame
from shoal.progress import silent
from shoal.risk.limits import check_feasible
from shoal.solve.methods.papers.sequential import Sequential
from shoal.solve.problem import Problem

SIZES = (10, 20, 30, 40, 50, 75, 100)
METHODS = ("sequential", "k_member", "hilbert", "mondrian")
MEANS = {10: 0.302, 20: 0.340, 30: 0.364, 40: 0.380, 50: 0.394, 75: 0.419, 100: 0.439}
LEAST = {10: 0.298, 20: 0.338, 30: 0.361, 40: 0.378, 50: 0.390, 75: 0.416, 100: 0.433}
ENTROPIES = {
    50: {0.0: 0.07, 0.25: 0.14, 0.5: 0.31, 0.75: 0.51, 1.0: 0.54},
    75: {0.0: 0.08, 0.25: 0.14, 0.5: 0.32, 0.75: 0.51, 1.0: 0.56},
    100: {0.0: 0.08, 0.25: 0.15, 0.5: 0.34, 0.75: 0.54, 1.0: 0.58},
}
DIVERSITIES = {
    "income": (1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.32),
    "education": (1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0),
}
FEW = 4_000  # records of a quick run
PRIVATE = "income"
HILBERT, MONDRIAN = 0.645, 0.735  # published for k = 50, in the paragraph on education (§8.3)
LEAST_GAIN = 0.0395  # bits per cell; see docs/explanation/papers.md
MISPRINT = (
    "The table's sixth row is headed k = 60, but §8.1 lists 75, where 0.419 also lies: read as 75."
)


def figure_1(scale: Scale) -> Figure:
    """Loss by k of five methods."""
    runs = _compared(scale)
    lines = [Line(name, {k: runs[name, k].loss for k in _sizes(scale)}) for name in METHODS]
    ours = {line.name: line.points for line in lines}
    agglomerative = {k: runs["agglomerative", k].loss for k in _some(scale)}
    lines += [
        Line("agglomerative", agglomerative),
        Line("sequential, published", _kept(MEANS, scale), published=True),
    ]
    level = {k: abs(agglomerative[k] / ours["sequential"][k] - 1) for k in agglomerative}
    return Figure(
        "GT10 Figure 1: loss by k",
        [Panel("Loss (lm) by k, Adult × 14", "k", "lm", lines)],
        [
            below("sequential loses less than hilbert", ours["sequential"], ours["hilbert"]),
            below("sequential loses less than mondrian", ours["sequential"], ours["mondrian"]),
            below("k_member loses slightly more", ours["sequential"], ours["k_member"]),
            below("… at most 15 % more", ours["k_member"], ours["sequential"], 1.15),
            below("hilbert loses less than mondrian", ours["hilbert"], ours["mondrian"]),
            Claim(
                "agglomerative is almost as sequential (5 %)",
                sum(apart <= 0.05 for apart in level.values()),
                len(level),
            ),
        ],
        _setting(scale),
        ["The paper draws curves; its numbers are those of Table 2.", MISPRINT],
    )


def figure_2(scale: Scale) -> Figure:
    """CPU seconds by k of the same runs."""
    runs = _compared(scale)
    sizes = _sizes(scale)
    lines = [Line(name, {k: runs[name, k].cpu for k in sizes}) for name in METHODS]
    lines.append(Line("agglomerative", {k: runs["agglomerative", k].cpu for k in _some(scale)}))
    ours = {line.name: line.points for line in lines}
    return Figure(
        "GT10 Figure 2: CPU seconds by k",
        [Panel("CPU seconds by k, Adult × 14", "k", "CPU seconds", lines, log_y=True)],
        [
            below("hilbert is faster than sequential", ours["hilbert"], ours["sequential"]),
            below("mondrian is faster than sequential", ours["mondrian"], ours["sequential"]),
            rises("sequential takes less the larger k", ours["sequential"], falls=True),
            below(
                "sequential is faster than agglomerative", ours["sequential"], ours["agglomerative"]
            ),
            below("sequential is faster than k_member", ours["sequential"], ours["k_member"]),
        ],
        _setting(scale),
    )


def figure_3(scale: Scale) -> Figure:
    """CPU seconds by number of records, k = 50."""
    whole = scale.tables.adult_14()
    numbers = scale.pick((5_000, 10_000, 20_000, 30_000, 45_222), (1_000, 2_000, 4_000))
    found = {
        name: {
            table.data.num_rows: measure(table, method=name, k=50, repeats=2).cpu
            for table in (scale.draw(whole, number, number) for number in numbers)
        }
        for name in METHODS
    }
    lines = [Line(name, points) for name, points in found.items()]
    return Figure(
        "GT10 Figure 3: CPU seconds by number of records",
        [
            Panel(
                "CPU seconds by records, k = 50",
                "records",
                "CPU seconds",
                lines,
                log_x=True,
                log_y=True,
            )
        ],
        [
            below("mondrian is faster than sequential", found["mondrian"], found["sequential"]),
            below("hilbert is faster than sequential", found["hilbert"], found["sequential"]),
            below("sequential is faster than k_member", found["sequential"], found["k_member"]),
        ],
        "Random records of Adult × 14.",
    )


def figure_4(scale: Scale) -> Figure:
    """CPU seconds of sequential by number of quasi-identifiers."""
    table = scale.draw(scale.tables.adult_14(), 45_222, FEW)
    found: dict[int, dict[int, float]] = {20: {}, 50: {}}
    for count in (5, 8, 11, 14):
        models = dict(list(table.models.items())[:count])
        part = Table(table.name, table.data.select(list(models)), models)
        for k in found:
            found[k][count] = measure(part, method="sequential", k=k, repeats=2).cpu
    lines = [Line(f"k = {k}", points) for k, points in found.items()]
    slopes = [np.log(p[14] / p[5]) / np.log(14 / 5) for p in found.values()]
    return Figure(
        "GT10 Figure 4: CPU seconds by number of quasi-identifiers",
        [Panel("CPU seconds of sequential", "quasi-identifiers", "CPU seconds", lines)],
        [
            rises("more columns take longer (k = 20)", found[20]),
            rises("more columns take longer (k = 50)", found[50]),
            Claim(
                "roughly linear: the exponent is 0.5 to 1.5",
                sum(0.5 <= slope <= 1.5 for slope in slopes),
                len(slopes),
            ),
        ],
        _setting(scale),
        [f"Exponents: {', '.join(f'{slope:.2f}' for slope in slopes)}."],
    )


def figure_5(scale: Scale) -> Figure:
    """Loss by diversity of income, k = 50."""
    return _diversity(scale, "income", "5")


def figure_6(scale: Scale) -> Figure:
    """Loss by diversity of education, k = 50."""
    return _diversity(scale, "education", "6")


def table_2(scale: Scale) -> Figure:
    """Mean and least loss of repeated runs."""
    table = _adult(scale)
    seeds = range(scale.pick(3, 2))
    losses = {
        k: [measure(table, method="sequential", k=k, seed=s, repeats=1).loss for s in seeds]
        for k in _sizes(scale)
    }
    mean = {k: float(np.mean(found)) for k, found in losses.items()}
    least = {k: min(found) for k, found in losses.items()}
    spread = max(float(np.std(found)) for found in losses.values())
    return Figure(
        "GT10 Table 2: repeated runs of sequential",
        [
            Panel(
                f"Loss (lm) over {len(seeds)} runs",
                "k",
                "lm",
                [
                    Line("mean", mean),
                    Line("mean, published", _kept(MEANS, scale), published=True),
                    Line("least", least),
                    Line("least, published", _kept(LEAST, scale), published=True),
                ],
            )
        ],
        [
            near("the mean is within 3 % of the published one", mean, MEANS, 0.03),
            Claim("repeated runs differ little (below 0.005)", spread < 0.005),
        ],
        f"{_setting(scale)} {len(seeds)} runs; ten in the paper.",
        [
            MISPRINT,
            f"Our largest standard deviation is {spread:.4f}; the 0.03 and 0.04 printed cannot be, "
            "being ten times the distance of mean and minimum.",
        ],
    )


def table_3(scale: Scale) -> Figure:
    """Mean entropy of income in groups, by the share of mi in wmi."""
    table = scale.draw(scale.tables.adult_15(), 45_222, FEW)
    models = {name: model for name, model in table.models.items() if name != PRIVATE}
    encoded = encode(open_frame(table.data), models, [PRIVATE])
    codes = encoded.sensitive[PRIVATE].codes
    panels, claims, early = [], [], []
    for k, published in ENTROPIES.items():
        ours, stopped = {}, {}
        for w in published:
            problem = Problem.of(encoded, "wmi", k, {}, w)
            ours[w] = _entropy(Sequential().partition(problem, 0, silent).groups, codes)
            stopped[w] = _entropy(stopped_early(problem, LEAST_GAIN), codes)
            early.append(abs(stopped[w] / published[w] - 1))
        lines = [
            Line("entropy", ours),
            Line(f"stopped at {LEAST_GAIN} bits", stopped),
            Line("entropy, published", published, published=True),
        ]
        panels.append(Panel(f"k = {k}", "w (0: pmi, 1: mi)", "bits", lines))
        claims.append(rises(f"the more mi, the more entropy (k = {k})", ours))
        claims.append(
            _within(
                f"w = 0 within 20 % of the published entropy (k = {k})", ours, {0.0: published[0.0]}
            )
        )
        above = {w: bits for w, bits in published.items() if w > 0}
        claims.append(
            near(f"w > 0 within 25 % of the published entropy (k = {k})", ours, above, 0.25)
        )
    for share in (0.10, 0.25, 0.30):
        text = (
            f"stopped at a gain of {LEAST_GAIN} bits, within {share:.0%} of the published entropy"
        )
        claims.append(Claim(text, sum(one <= share for one in early), len(early)))
    return Figure(
        "GT10 Table 3: mean entropy of groups",
        panels,
        claims,
        f"{_setting(scale)} Private: income. Groups as made, before equal ones are one, as in the paper.",
        [W_0],
    )


W_0 = "At w = 0 ours is well below the published entropy unless passes stop early; see docs/explanation/papers.md."


def _entropy(groups: Ints, codes: Ints) -> float:
    """Mean entropy of income over groups, in bits."""
    return risk_of_groups(groups, {PRIVATE: (codes, 2)}).attributes[0].entropy_of_groups


def _within(text: str, ours: dict[float, float], published: dict[float, float]) -> Claim:
    """Claim, not as a bar, that a line is within 20 % of the published one."""
    return replace(near(text, ours, published, 0.2), bar=False)


@cache
def _compared(scale: Scale) -> dict[tuple[str, int], Run]:
    table = _adult(scale)
    runs = {
        (name, k): measure(table, method=name, k=k, repeats=2)
        for name in METHODS
        for k in _sizes(scale)
    }
    for k in _some(scale):
        runs["agglomerative", k] = measure(table, method="agglomerative", k=k, repeats=2)
    return runs


@cache
def _adult(scale: Scale) -> Table:
    return scale.draw(scale.tables.adult_14(), 45_222, FEW)


def _sizes(scale: Scale) -> tuple[int, ...]:
    return scale.pick(SIZES, (10, 50, 100))


def _some(scale: Scale) -> tuple[int, ...]:
    """Those for which agglomerative is run, too: it is by far the slowest."""
    return scale.pick((10, 50, 100), (10, 50))


def _kept(published: dict[int, float], scale: Scale) -> dict[int, float]:
    return {k: published[k] for k in _sizes(scale)}


def _setting(scale: Scale) -> str:
    return f"Adult, {_adult(scale).data.num_rows:,} × 14, suppression."


def _diversity(scale: Scale, sensitive: str, number: str) -> Figure:
    table = scale.draw(scale.tables.adult_15(), 45_222, FEW)
    kept = [name for name in table.models if name not in (sensitive, "income")]
    models = {name: table.models[name] for name in kept}
    encoded = encode(open_frame(table.data), models, [sensitive])
    asked = scale.pick(DIVERSITIES[sensitive], DIVERSITIES[sensitive][::3])
    start = time.process_time()
    points, groups = _by_diversity(encoded, sensitive, asked, Sequential())
    printed, printed_groups = _by_diversity(encoded, sensitive, asked, Sequential(printed=True))
    seconds = time.process_time() - start
    public = Table(table.name, table.data.select(kept), models)
    without = {
        name: measure(public, method=name, k=50, repeats=1).loss for name in ("hilbert", "mondrian")
    }
    lines = [Line("sequential", points), Line("sequential, as printed", printed)]
    lines += [
        Line(f"{name} without ℓ", dict.fromkeys((1.0, asked[-1]), loss))
        for name, loss in without.items()
    ]
    if sensitive == "income":
        lines.append(Line("sequential, published (about)", {1.0: 0.4}, published=True))
    else:
        published = {"hilbert": HILBERT, "mondrian": MONDRIAN}
        lines += [
            Line(f"{name} without ℓ, published", dict.fromkeys((1.0, asked[-1]), loss), True)
            for name, loss in published.items()
        ]
    most, most_printed = max(points.values()), max(printed.values())
    return Figure(
        f"GT10 Figure {number}: loss by diversity of {sensitive}",
        [
            Panel(
                f"Loss (lm) by diversity of {sensitive}, k = 50",
                "ℓ of the least diverse group",
                "lm",
                lines,
            )
        ],
        [
            rises("the loss grows with ℓ", dict(sorted(points.items()))),
            rises("the loss grows with ℓ, as printed", dict(sorted(printed.items()))),
            *(
                Claim(f"{what} loses less than our {name} without ℓ", loss < without[name])
                for what, loss in (("the most diverse", most), ("… as printed", most_printed))
                for name in without
            ),
            Claim(
                "more than one group at every ℓ", sum(g > 1 for g in groups), len(groups), bar=True
            ),
            Claim("… as printed", sum(g > 1 for g in printed_groups), len(printed_groups)),
        ],
        f"Adult, {encoded.records:,} × {len(models)}, suppression; {seconds:.0f} CPU seconds.",
        [f"ℓ asked: {', '.join(map(str, asked))}."],
    )


def _by_diversity(
    encoded: Encoded, sensitive: str, asked: Sequence[float], method: Sequential
) -> tuple[dict[float, float], list[int]]:
    """Loss by the ℓ that was reached, and the number of groups."""
    points, groups = {}, []
    secret = encoded.sensitive[sensitive]
    for l in asked:
        requirement = LDiversity(l)
        check_feasible(encoded, 50, [requirement])
        problem = Problem.of(encoded, "lm", 50, requirements=[requirement])
        found = method.partition(problem, 0, silent).groups
        groups.append(int(found.max()) + 1)
        counts = np.zeros((groups[-1], secret.size))
        np.add.at(counts, (found, secret.codes), 1.0)
        reached = float((counts.sum(axis=1) / counts.max(axis=1)).min())
        points[round(reached, 4)] = problem.cost(found) / encoded.records / len(problem.columns)
    return points, groups


RESULTS = {
    "figure-1": figure_1,
    "figure-2": figure_2,
    "figure-3": figure_3,
    "figure-4": figure_4,
    "figure-5": figure_5,
    "figure-6": figure_6,
    "table-2": table_2,
    "table-3": table_3,
}
