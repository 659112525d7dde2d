"""A table and its release compared with the population they come from: its size, or a table of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from shoal.assess.comparison import Comparison
from shoal.assess.population import PopulationRisks, counted_risk, estimated_risk
from shoal.encoding.encode import encode
from shoal.encoding.frames import Frame, arrow_column, open_frame
from shoal.encoding.render import read_closures
from shoal.encoding.rows import distinct_rows
from shoal.encoding.source import Source
from shoal.errors import InputError, near_miss, raise_problems, shown
from shoal.kernels.assess import weigh_compatible
from shoal.settings.settings import Settings
from shoal.solve.measures import compile_measure


def risks_among(
    comparison: Comparison,
    original: Source,
    release: Frame,
    population: Source | float,
    settings: Settings,
) -> PopulationRisks:
    """The risk of records among all people: a table of them, their number, or the share that was drawn."""
    if not comparison.homogeneous:
        raise InputError(
            "Risk in a population is for releases whose records read the same in groups; leave 'population' out."
        )
    if isinstance(population, Source):
        return _counted(comparison, original, release, population, settings)
    records = comparison.table.records
    people = _people(population, records)
    before = comparison.table.count(comparison.points[1]).astype(np.float64)
    return PopulationRisks(estimated_risk(before, people), estimated_risk(comparison.sizes, people))


def _people(given: Any, records: int) -> int:
    """The number of people, from itself or from the share of them that is in the table."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if is_number and 0 < given < 1:
        return round(records / given)
    if is_number and given >= records and given == int(given):
        return int(given)
    raise InputError(
        f"The 'population' parameter must be a share between 0 and 1, a number of people from {records:,} on, or "
        f"a table of them. Got {shown(given)} instead."
    )


def _counted(
    comparison: Comparison, original: Source, release: Frame, population: Source, settings: Settings
) -> PopulationRisks:
    """The same where all people stand in a table: the originals are encoded together with them."""
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
    """One column of the table and then of the population, in a type that holds both."""
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
                f"Column '{name}' of the population is of another type than in the table; convert it."
            )
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], type=parts[0].type)
