"""Drawn tables, one of each kind that real ones come in: wide, deep, of floats, of many categories, very long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.tables import Table
from shoal.encoding.models import Model

SIZES = (
    2,
    5,
    40,
    3,
    9,
    16,
    7,
    2,
    12,
    4,
    25,
    6,
)  # values of each column of a wide table, again and again
BINNED = 15  # values of a column from which on they have a hierarchy, of bins of four
FIRST_DAY = date(1930, 1, 1)


def wide(columns: int, records: int = 20_000, seed: int = 1) -> Table:
    """So many columns of 2 to 40 values, large ones in bins of four, all others suppressed.

    Every record is of one of 60 sorts, which decide what its columns are likely to be.
    """
    rng = np.random.default_rng([seed, columns])
    sorts = 60
    sort = rng.choice(sorts, records, p=rng.dirichlet(np.full(sorts, 0.7)))
    drawn: dict[str, pa.Array] = {}
    models: dict[str, Model | None] = {}
    for j in range(columns):
        size = SIZES[j % len(SIZES)]
        usual = rng.integers(0, size, sorts)[sort]
        chance = np.minimum(rng.zipf(1.7, records) - 1, size - 1)
        values = np.where(rng.random(records) < rng.uniform(0.5, 0.95), usual, chance)
        drawn[f"c{j}"] = pa.array(np.char.add("v", values.astype(str)))
        if size >= BINNED:
            bins = [[f"v{v}", f"bin {v // 4}", "*"] for v in range(size)]
            models[f"c{j}"] = shoal.Hierarchy.from_rows(bins)
        else:
            models[f"c{j}"] = shoal.Suppression()
    return Table(f"wide_{columns}_{records}", pa.table(drawn), models)


def deep(records: int = 50_000) -> Table:
    """Days of birth on a calendar, postcodes by prefix, sex and one of 60 jobs in two levels."""
    rng = np.random.default_rng(3)
    days = np.clip(rng.normal(14_000, 7_000, records), 0, 32_000).astype(int)
    town = rng.zipf(1.3, records) % 400
    postcode = np.char.zfill((town * 211 % 90_000 + rng.integers(0, 30, records)).astype(str), 5)
    jobs = rng.zipf(1.5, records) % 60
    data = pa.table(
        {
            "born": pa.array([FIRST_DAY + timedelta(days=int(day)) for day in days]),
            "postcode": pa.array(postcode),
            "sex": pa.array(np.where(rng.random(records) < 0.5, "f", "m")),
            "job": pa.array(np.char.add("job ", jobs.astype(str))),
        }
    )
    rows = [[f"job {v}", f"field {v // 6}", "*"] for v in range(60)]
    models: dict[str, Model | None] = {
        "born": shoal.Calendar(),
        "postcode": shoal.Prefix(),
        "sex": shoal.Suppression(),
        "job": shoal.Hierarchy.from_rows(rows),
    }
    return Table(f"deep_{records}", data, models)


def floats(records: int = 10_000) -> Table:
    """Two numbers of which hardly any two are equal, as ranges."""
    rng = np.random.default_rng(5)
    mean = [0.0, 0.0]
    x, y = rng.multivariate_normal(mean, [[1.0, 0.5], [0.5, 1.0]], records).T
    data = pa.table({"height": 170 + 9 * x, "income": np.exp(10 + 0.6 * y)})
    models: dict[str, Model | None] = {"height": shoal.Interval(), "income": shoal.Interval()}
    return Table(f"floats_{records}", data, models)


def categories(records: int = 20_000, number: int = 5_000) -> Table:
    """One column with subsets of thousands of categories, beside age and region."""
    rng = np.random.default_rng(7)
    code = rng.zipf(1.25, records) % number
    data = pa.table(
        {
            "code": pa.array(np.char.add("d", code.astype(str))),
            "age": rng.integers(18, 90, records),
            "region": pa.array(np.char.add("r", rng.integers(0, 9, records).astype(str))),
        }
    )
    models: dict[str, Model | None] = {
        "code": shoal.Subset(),
        "age": shoal.Interval(),
        "region": shoal.Suppression(),
    }
    return Table(f"categories_{number}", data, models)


DRAWN: dict[str, Callable[[], Table]] = {
    "wide_5": lambda: wide(5),
    "wide_10": lambda: wide(10),
    "wide_20": lambda: wide(20),
    "wide_40": lambda: wide(40),
    "few_wide": lambda: wide(25, 1_500),
    "deep": deep,
    "floats_3": lambda: floats(3_000),
    "floats": floats,
    "floats_50": lambda: floats(50_000),
    "categories": categories,
    "tenth_million": lambda: wide(12, 100_000),
    "million": lambda: wide(12, 1_000_000),
}
