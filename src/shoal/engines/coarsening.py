"""Unprotected columns of a large table made coarser: the values of each come into memory, the records stay."""

from __future__ import annotations

from dataclasses import dataclass, field

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.engines.base import RESERVED, Engine, Lazy
from shoal.engines.columns import COUNT, RAW
from shoal.errors import InputError, raise_problems
from shoal.settings import Settings
from shoal.table.coarsening import coarse_texts
from shoal.table.frames import arrow_values
from shoal.table.plain import plain_column

TEXT = f"{RESERVED}text"


@dataclass(frozen=True)
class Coarsened:
    """A frame whose unprotected columns are coarsened, and how many records have a value in each of them."""

    frame: Lazy
    records: dict[str, int] = field(default_factory=dict)


def coarsen(engine: Engine, frame: Lazy, settings: Settings, is_text: bool) -> Coarsened:
    """Replace every value of the columns to coarsen by what its model makes of it; missing values stay missing.

    Raises
    ------
    InputError
        With every problem found: columns that hold no numbers or dates, values outside their hierarchy, …
    """
    names, problems = frame.collect_schema().names(), list[str]()
    found: dict[str, pa.Table] = {}
    records: dict[str, int] = {}
    for name in (name for name in settings.coarsen if name in names):
        together = engine.collect(frame.group_by(name).agg(nw.len().alias(COUNT)))
        counts = together.get_column(COUNT).to_numpy().astype(np.int64)
        values, model = together.select(name), settings.coarsen[name]
        try:
            texts = coarse_texts(values, name, model, settings.input, is_text, counts)
        except InputError as error:
            problems.extend(error.problems)
            continue
        raw = plain_column(arrow_values(values, name))
        found[name] = pa.table({f"{RAW}2": raw, TEXT: texts}).filter(raw.is_valid())
        records[name] = int(counts[np.asarray(texts.is_valid())].sum())
    raise_problems(problems)
    for name, mapping in found.items():
        frame = _replaced(engine, frame, name, mapping)
    return Coarsened(frame.select(names) if found else frame, records)


def _replaced(engine: Engine, frame: Lazy, name: str, mapping: pa.Table) -> Lazy:
    """A frame with the text of each value in place of a column."""
    own = nw.col(name)
    is_category = frame.collect_schema()[name] in (nw.Categorical, nw.Enum)
    frame = frame.with_columns((own.cast(nw.String) if is_category else own).alias(RAW))
    frame = frame.join(engine.table(mapping), left_on=RAW, right_on=f"{RAW}2", how="left")
    return frame.drop([RAW, name]).rename({TEXT: name})
