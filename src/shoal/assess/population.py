"""What a sample says about the population it was drawn from: how many people are unique, and how risky groups are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.assess import Result
from shoal.assess.comparison import Comparison
from shoal.encoding.encode import distinct_rows, encode
from shoal.encoding.forms import Floats
from shoal.encoding.frames import Frame, arrow_column, open_frame
from shoal.encoding.render import read_closures
from shoal.encoding.source import Source
from shoal.errors import InputError, near_miss, raise_problems, shown
from shoal.kernels.assess import weigh_compatible
from shoal.settings.settings import Settings
from shoal.solve.measures import compile_measure

Counts = npt.NDArray[np.int64]

FEW_SAMPLED = 0.1  # share of the population up to which Dankar's rule uses Pitman's model
STEPS = 80  # of bisection and golden-section search: enough for double precision


@dataclass(frozen=True)
class Uniqueness(Result):
    """Estimates by three models of how many people are unique in the population by their quasi-identifiers.

    A model is None if its equations have no solution for this table.

    Attributes
    ----------
    pitman
        Pitman's sampling formula, by maximum likelihood (Hoshino 2001).
    zayatz
        Bayes' rule, with the group sizes of the sample as those of the population (Zayatz 1991).
    snb
        Group sizes are one more than a negative binomial variable (Chen & McNulty 1998); the number of groups is
        Shlosser's estimate (Haas & Stokes 1998).
    chosen
        The model that the rule of Dankar et al. (2012) chooses: Pitman's for samples of up to a tenth of the
        population, otherwise the lower of the other two.
    people
        Unique people according to that model.
    """

    population: int
    sampled: float  # share of the population in the table
    pitman: float | None
    zayatz: float
    snb: float | None
    chosen: str
    people: float

    @property
    def share(self) -> float:
        """Unique people as a share of the population."""
        return self.people / self.population


@dataclass(frozen=True)
class PopulationRisk(Result):
    """The risk that records of a table or release are matched to people of the whole population.

    Attributes
    ----------
    people
        People in the population.
    smallest
        The smallest number of people who share a group's quasi-identifiers: the k of k-map. None if only the
        number of people is known.
    highest, average
        The journalist's risk: the chance of finding the person behind a record by their group in the population,
        as the highest over groups and the mean over records. Expected values if people were not counted.
    uniqueness
        How many people are unique in the population; None if people were counted.
    """

    people: int
    smallest: int | None
    highest: float
    average: float
    uniqueness: Uniqueness | None


@dataclass(frozen=True)
class PopulationRisks(Result):
    """The risk of the original table and of the release in the population."""

    before: PopulationRisk
    after: PopulationRisk


def estimated_risk(sizes: Floats, people: int) -> PopulationRisk:
    """The risk of the groups of a sample, given the size of its population."""
    risk = expected_risk(sizes, float(sizes.sum()) / people)
    return PopulationRisk(
        people=people,
        smallest=None,
        highest=float(risk.max()),
        average=float(sizes @ risk / sizes.sum()),
        uniqueness=estimate_uniqueness(sizes.astype(np.int64), people),
    )


def counted_risk(sizes: Floats, among: Floats, people: int) -> PopulationRisk:
    """The risk of groups whose people in the population were counted; these include at least the group itself."""
    found = np.maximum(sizes, among)
    return PopulationRisk(
        people=people,
        smallest=int(found.min()),
        highest=float(1 / found.min()),
        average=float((sizes / found).sum() / sizes.sum()),
        uniqueness=None,
    )


def estimate_uniqueness(sizes: Counts, population: int) -> Uniqueness:
    """Estimate how many people of a population are unique, from the group sizes of a sample of it."""
    size, groups = (part.astype(np.int64) for part in np.unique(sizes, return_counts=True))
    records = int(sizes.sum())
    sampled = records / population
    if size[0] > 1:  # nobody is unique, not even in the sample
        return Uniqueness(population, sampled, 0.0, 0.0, 0.0, "zayatz", 0.0)
    found = {
        "pitman": _pitman(size, groups, population),
        "zayatz": _zayatz(size, groups, population),
        "snb": _snb(size, groups, sampled),
    }
    chosen = _chosen(found, sampled)
    return Uniqueness(
        population=population,
        sampled=sampled,
        pitman=found["pitman"],
        zayatz=found["zayatz"] or 0.0,
        snb=found["snb"],
        chosen=chosen,
        people=found[chosen] or 0.0,
    )


def expected_risk(sizes: Floats, sampled: float) -> Floats:
    """The expected chance 1 / F for each group, where F is its size in the population (Benedetti & Franconi 1998).

    For a group with f records in the sample, F is modelled as f plus a negative binomial number of people who were
    not sampled. With p = `sampled` and q = 1 − p, E[1 / F] is the integral of p·u^(f − 1) / (p + q·u) over u
    from 0 to 1.
    """
    distinct, place = np.unique(sizes, return_inverse=True)
    if sampled >= 1:
        return 1 / sizes
    p, q = sampled, 1 - sampled
    found = np.array([_series(float(f), q) for f in distinct])
    if q >= 0.5:  # the series converges slowly; the recurrence from f = 1 is exact and stable
        few = int(min(distinct.max(), 1000))
        integral = np.empty(few + 1)
        integral[1] = -math.log(p) / q
        for f in range(1, few):
            integral[f + 1] = (1 / f - p * integral[f]) / q
        low = distinct <= few
        found[low] = p * integral[distinct[low].astype(np.int64)]
    return np.asarray(found[place.reshape(sizes.shape)])


def _series(f: float, q: float) -> float:
    """E[1 / F] as (p / f) · Σ q^j · j! / ((f + 1) … (f + j))."""
    term = total = 1.0
    j = 0
    while term > 1e-17 * total and j < 10_000:
        j += 1
        term *= q * j / (f + j)
        total += term
    return (1 - q) / f * total


def _chosen(found: dict[str, float | None], sampled: float) -> str:
    """The model that the rule of Dankar et al. chooses, among those that have a solution."""
    zayatz, snb = found["zayatz"] or 0.0, found["snb"]
    if sampled <= FEW_SAMPLED:
        return "zayatz" if found["pitman"] is None else "pitman"
    return "zayatz" if snb is None or zayatz < snb else "snb"


def _zayatz(size: Counts, groups: Counts, population: int) -> float:
    """s1 / p times the chance that a group with one record in the sample has one in the population."""
    records = int(size @ groups)
    # log P(one record is drawn | i in the population), without the factor draw(N, n), which all share.
    log = [
        math.log(i) + _log_choose(population - i, records - 1)
        if population - i >= records - 1
        else -math.inf
        for i in size.tolist()
    ]
    weight = groups * np.exp(np.array(log) - max(log))
    return float(groups[0] * population / records * weight[0] / weight.sum())


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _pitman(size: Counts, groups: Counts, population: int) -> float | None:
    """Expected number of unique people by Pitman's formula with maximum-likelihood θ and α."""
    records, number = int(size @ groups), int(groups.sum())
    if number in (1, records):  # the likelihood has no maximum inside its domain
        return None

    def of_sizes(alpha: float) -> float:
        own = math.lgamma(1 - alpha)
        logs = [math.lgamma(i - alpha) - own for i in size.tolist()]
        return float(np.dot(groups, logs))

    def likelihood(alpha: float, theta: float) -> float:
        start = theta / alpha
        return (
            (number - 1) * math.log(alpha)
            + math.lgamma(start + number)
            - math.lgamma(start + 1)
            - math.lgamma(theta + records)
            + math.lgamma(theta + 1)
        )

    def best_theta(alpha: float) -> float:
        return math.exp(
            _highest(lambda log: likelihood(alpha, math.exp(log)), math.log(1e-6), math.log(1e9))
        )

    alpha = _highest(lambda a: of_sizes(a) + likelihood(a, best_theta(a)), 1e-6, 1 - 1e-9)
    theta = best_theta(alpha)
    log = (
        math.log(population)
        + math.lgamma(theta + alpha + population - 1)
        - math.lgamma(theta + alpha)
        + math.lgamma(theta + 1)
        - math.lgamma(theta + population)
    )
    return min(math.exp(log), float(population))


def _snb(size: Counts, groups: Counts, sampled: float) -> float | None:
    """Expected number of unique people if group sizes are one more than a negative binomial variable."""
    ones = float(groups[0])
    twos = float(groups[size == 2].sum())
    if not twos or sampled >= 1:
        return ones if sampled >= 1 else None
    total = _shlosser(size.astype(np.float64), groups, sampled)

    def seen(shape: float, b: float) -> tuple[float, float]:
        """The share of groups with one and with two records in the sample."""
        d = (1 - sampled) * (1 - b)
        drawn = (1 - b) * sampled / (1 - d)
        none = (b / (1 - d)) ** shape
        one = sampled * none * (1 + shape * d / (1 - d))
        two = none * shape * drawn * ((1 - sampled) * (shape + 1) / 2 * drawn + sampled)
        return one, two

    def shape_of(b: float) -> float:
        """The shape for which the ratio of ones to twos is that of the sample; a larger shape gives more twos."""

        def surplus(log: float) -> float:
            one, two = seen(math.exp(log), b)
            return (two / one if one > 0 else math.inf) - twos / ones

        return math.exp(_root(surplus, math.log(1e-9), math.log(1e6)))

    def excess(b: float) -> float:
        return total * seen(shape_of(b), b)[0] - ones

    grid = 1 / (1 + np.exp(-np.linspace(-14, 14, 120)))
    values = np.array([excess(b) for b in grid])
    change = np.flatnonzero(np.diff(np.sign(values)) != 0)
    if not change.size:
        return None
    low, high = grid[change[0]], grid[change[0] + 1]
    sign = 1.0 if values[change[0]] < 0 else -1.0
    b = _root(lambda x: sign * excess(x), float(low), float(high))
    return float(total * b ** shape_of(b))


def _shlosser(size: Floats, groups: Counts, p: float) -> float:
    """The number of groups in the population, by the third of Shlosser's estimators in Haas & Stokes (1998)."""
    twice = (size * p**2 * (1 - p**2) ** (size - 1)) @ groups
    apart = ((1 - p**2) ** size - (1 - p) ** size) @ groups
    missed = ((1 - p) ** size) @ groups
    once = (size * p * (1 - p) ** (size - 1)) @ groups
    return float(groups.sum() + groups[0] * (twice / apart) * (missed / once) ** 2)


def _highest(of: Callable[[float], float], low: float, high: float) -> float:
    """The maximum of a function with one peak, by golden-section search."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = of(left), of(right)
    for _ in range(STEPS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = of(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = of(left)
    return (low + high) / 2


def _root(of: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function by bisection; an end of the interval if there is none inside."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        if of(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def risks_among(
    comparison: Comparison,
    original: Source,
    release: Frame,
    population: Source | float,
    settings: Settings,
) -> PopulationRisks:
    """The risk of records in a population: a table of all people, their number, or the share sampled."""
    if not comparison.homogeneous:
        raise InputError(
            "Risk in a population needs a release whose records look the same within groups. "
            "Leave out 'population' for this method."
        )
    if isinstance(population, Source):
        return _counted(comparison, original, release, population, settings)
    records = comparison.table.records
    people = _people(population, records)
    before = comparison.table.count(comparison.points[1]).astype(np.float64)
    return PopulationRisks(estimated_risk(before, people), estimated_risk(comparison.sizes, people))


def _people(given: Any, records: int) -> int:
    """The number of people, given directly or as the share of them that is in the table."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if is_number and 0 < given < 1:
        return round(records / given)
    if is_number and given >= records and given == int(given):
        return int(given)
    raise InputError(
        f"The 'population' parameter must be a share between 0 and 1, a number of people of at least {records:,}, or "
        f"a table of all people. Got {shown(given)} instead."
    )


def _counted(
    comparison: Comparison, original: Source, release: Frame, population: Source, settings: Settings
) -> PopulationRisks:
    """The risk if there is a table of all people, which is encoded together with the original table."""
    columns = comparison.table.columns
    names = [column.name for column in columns]
    raise_problems(
        f"Column '{name}' is not in the population{near_miss(name, population.data.columns) or '.'}"
        for name in names
        if name not in population.data.columns
    )
    both = open_frame(
        pa.table({name: _joined(name, original.data, population.data) for name in names})
    )
    models = {column.name: column.model for column in columns}
    encoded = encode(both, models, input=settings.reading)
    records = comparison.table.records
    people = encoded.records - records
    _, place, _ = distinct_rows(encoded.codes)
    own = np.bincount(place[:records], minlength=place.max() + 1).astype(np.float64)
    all_people = np.bincount(place[records:], minlength=place.max() + 1).astype(np.float64)
    before = counted_risk(own[own > 0], all_people[own > 0], people)
    groups, closures = read_closures(encoded.columns, release)
    sizes = np.bincount(groups, minlength=closures.shape[1]).astype(np.float64)
    first, of_person, _ = distinct_rows(encoded.codes[records:])
    points = encoded.codes[records:][first]
    arrays = compile_measure("suppressed", encoded.columns).arrays
    inside, _ = weigh_compatible(
        arrays, closures, sizes.astype(np.int64), points, np.bincount(of_person)
    )
    return PopulationRisks(before, counted_risk(sizes, np.asarray(inside, np.float64), people))


def _joined(name: str, table: Frame, people: Frame) -> pa.ChunkedArray:
    """A column of the table followed by that of the population, in a common type."""
    parts = [arrow_column(frame, name) for frame in (table, people)]
    if parts[0].type != parts[1].type:
        kinds = [pa.schema([pa.field("c", part.type)]) for part in parts]
        try:
            kind = pa.unify_schemas(kinds, promote_options="permissive").field("c").type
            parts = [part.cast(kind) for part in parts]
        except pa.ArrowException:
            kind = None
        if kind is None:
            raise InputError(
                f"Column '{name}' has another type in the population than in the table. Convert one of them."
            )
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], type=parts[0].type)
