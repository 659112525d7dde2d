"""HE12 Figures 6 to 9: two_means (CB) beside non_homogeneous (NH), on a census that stands in for SAL and INCOME."""

from __future__ import annotations

from functools import cache
from itertools import islice

from benchmarks.papers.figure import Claim, Figure, Line, Panel, Scale, below, draw, rises
from benchmarks.tables import Table
from benchmarks.timing import Run, measure

# The columns of HE12 Table 3 in its order, as the KDD census has them.
TABLES = {
    "SAL": (
        "age",
        "sex",
        "education",
        "marital_status",
        "race",
        "class_of_worker",
        "country_of_birth_self",
    ),
    "INCOME": (
        "age",
        "occupation_code",
        "country_of_birth_self",
        "sex",
        "education",
        "race",
        "class_of_worker",
    ),
}
METHODS = ("two_means", "non_homogeneous")
SIZES = (50, 100, 150, 200, 250)
READING = (
    "By HE12 Definition 1 every column is a range over a global order of its values: education by level, "
    "others by name. SAL and INCOME (IPUMS) cannot be had; the KDD census has nearly their columns, but a "
    "quarter of its records are children, and fewer countries and occupations."
)


def figure_6(scale: Scale) -> Figure:
    """Loss by k for 3 to 6 quasi-identifiers."""
    panels, few, many, growth, times = [], {}, {}, [], []
    first, last = _sizes(scale)[0], _sizes(scale)[-1]
    for name in TABLES:
        for count in scale.pick((3, 4, 5, 6), (3, 4, 6)):
            lines = [
                Line(method, {k: _run(scale, name, count, k, method).loss for k in _sizes(scale)})
                for method in METHODS
            ]
            panels.append(Panel(f"{name}-{count}", "k", "gcp", lines))
            kept = few if count == 3 else many
            kept |= {
                (name, count, k): tuple(line.points[k] for line in lines) for k in _sizes(scale)
            }
            growth.append(rises("", lines[0].points))
            times += [line.points[last] / line.points[first] for line in lines]
    wide = {
        at: tuple(other / own for other, own in zip(many["INCOME", *at], losses, strict=True))
        for (name, *at), losses in many.items()
        if name == "SAL"
        for at in [tuple(at)]
    }
    lower = sum(cb < nh for cb, nh in many.values())
    sal = [nh < cb for (name, _, _), (cb, nh) in few.items() if name == "SAL"]
    missed = [
        f"{n}-{d} k = {k} ({cb / nh:.2f})" for (n, d, k), (cb, nh) in many.items() if cb >= nh
    ]
    return Figure(
        "HE12 Figure 6: loss by k",
        panels,
        [
            Claim("two_means loses less for 4 to 6 columns", lower, len(many)),
            Claim("non_homogeneous loses less on SAL-3", sum(sal), len(sal)),
            Claim(
                "the loss of two_means grows with k",
                sum(one.held for one in growth),
                sum(one.cases for one in growth),
            ),
            Claim(
                f"… linearly: {last // first} times k costs {last // first - 1} to {last // first + 1} times as much",
                sum(abs(cost - last / first) <= 1 for cost in times),
                len(times),
            ),
            Claim(
                "two_means depends less on the size of domains: INCOME over SAL is nearer to 1",
                sum(abs(cb - 1) < abs(nh - 1) for cb, nh in wide.values()),
                len(wide),
            ),
        ],
        _setting(scale),
        [
            READING,
            f"{last // first} times k costs {min(times):.2f} to {max(times):.2f} times as much.",
            f"Where two_means does not lose less (ratio): {', '.join(missed) or 'nowhere'}.",
        ],
    )


def figure_7(scale: Scale) -> Figure:
    """Loss by number of quasi-identifiers, k = 100."""
    panels, claims = [], []
    for name in TABLES:
        lines = [
            Line(
                method,
                {
                    d: _run(scale, name, d, 100, method).loss
                    for d in scale.pick((3, 4, 5, 6), (3, 4, 6))
                },
            )
            for method in METHODS
        ]
        panels.append(Panel(f"{name}, k = 100", "quasi-identifiers", "gcp", lines))
        cb, nh = ({d: loss for d, loss in line.points.items() if d > 3} for line in lines)
        claims += [
            below(f"two_means loses less for 4 to 6 columns ({name})", cb, nh),
            rises(f"the loss grows with the columns ({name})", lines[0].points),
        ]
    return Figure("HE12 Figure 7: loss by columns", panels, claims, _setting(scale), [READING])


def figure_8(scale: Scale) -> Figure:
    """Loss by number of records, seven quasi-identifiers."""
    panels, claims = [], []
    for name in TABLES:
        lines = _by_records(scale, name, "loss")
        panels.append(Panel(f"{name}-7, k = 100", "records", "gcp", lines))
        claims += [
            below(f"two_means loses less ({name})", lines[0].points, lines[1].points),
            rises(f"two_means loses less the more records ({name})", lines[0].points, falls=True),
        ]
    return Figure("HE12 Figure 8: loss by records", panels, claims, "k = 100.", [READING])


def figure_9(scale: Scale) -> Figure:
    """CPU seconds of the same runs."""
    panels, claims = [], []
    for name in TABLES:
        lines = _by_records(scale, name, "cpu")
        panels.append(Panel(f"{name}-7, k = 100", "records", "CPU seconds", lines))
        cb, nh = (line.points for line in lines)
        longest = max(cb)
        claims += [
            below(f"non_homogeneous is faster ({name})", nh, cb),
            rises(f"two_means takes longer the more records ({name})", cb),
            Claim(f"two_means ends within 500 seconds ({name})", cb[longest] < 500),
        ]
    return Figure("HE12 Figure 9: CPU seconds by records", panels, claims, "k = 100.", [READING])


def _by_records(scale: Scale, name: str, what: str) -> list[Line]:
    numbers = scale.pick((25_000, 50_000, 100_000, 200_000), (2_500, 5_000, 10_000))
    return [
        Line(
            method,
            {n: getattr(_run(scale, name, 7, 100, method, n), what) for n in numbers},
        )
        for method in METHODS
    ]


@cache
def _run(scale: Scale, name: str, count: int, k: int, method: str, records: int = 0) -> Run:
    whole = _census(scale)
    columns = list(islice(TABLES[name], count))
    models = {column: whole.models[column] for column in columns}
    table = Table(f"{name}-{count}", whole.data.select(columns), models)
    table = draw(table, records or _records(scale))
    return measure(table, method=method, k=k, objective="gcp", repeats=1)


@cache
def _census(scale: Scale) -> Table:
    return scale.tables.census_ordered()


def _records(scale: Scale) -> int:
    return scale.pick(50_000, 10_000)


def _sizes(scale: Scale) -> tuple[int, ...]:
    return scale.pick(SIZES, (50, 150, 250))


def _setting(scale: Scale) -> str:
    return f"Random {_records(scale):,} records of the KDD census."


RESULTS = {"figure-6": figure_6, "figure-7": figure_7, "figure-8": figure_8, "figure-9": figure_9}
