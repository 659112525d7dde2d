"""Unprotected columns of a large table made coarser: the values of each come into memory, the records stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.data.engines.base import RESERVED, Engine, Lazy, inner
from shoal.encoding.closed import Closed
from shoal.encoding.frames import Frame, arrow_values, plain_column
from shoal.encoding.other_columns import coarse_texts
from shoal.errors import InputError, raise_problems
from shoal.pipeline.carriers.columns import COUNT, RAW
from shoal.settings.settings import Settings

TEXT, ORIGIN = f"{RESERVED}text", f"{RESERVED}origin"


@dataclass(frozen=True)
class Coarsened:
    """A frame whose unprotected columns are coarsened, and what is known of the values that they had."""

    frame: Lazy
    records: dict[str, int] = field(default_factory=dict)  # that have a value, by column
    values: dict[str, Frame] = field(default_factory=dict)  # the distinct ones
    texts: dict[str, pa.Array] = field(default_factory=dict)  # what became of each

    @property
    def origins(self) -> list[str]:
        """Columns with the number of the value that each record had, where the frame has them."""
        names = self.frame.collect_schema().names()
        return [own for own in map(_origin, range(len(self.values))) if own in names]


def coarsen(engine: Engine, frame: Lazy, settings: Settings) -> Coarsened:
    """Replace every value of the columns to coarsen by what its model makes of it; missing values stay missing.

    Raises
    ------
    InputError
        With every problem found: columns that hold no numbers or dates, values outside their hierarchy, …
    """
    names, problems = frame.collect_schema().names(), list[str]()  # inside the engine
    found = Coarsened(frame)
    for name in (name for name in settings.coarsen if inner(name) in names):
        together = engine.collect(frame.group_by(inner(name)).agg(nw.len().alias(COUNT)))
        counts = together.get_column(COUNT).to_numpy().astype(np.int64)
        values, model = together.select(name), settings.coarsen[name]
        try:
            texts = coarse_texts(values, name, model, settings.input, counts)
        except InputError as error:
            problems.extend(error.problems)
            continue
        found.values[name], found.texts[name] = values, texts
        found.records[name] = int(counts[np.asarray(texts.is_valid())].sum())
    raise_problems(problems)
    for number, (name, texts) in enumerate(found.texts.items()):
        raw = plain_column(arrow_values(found.values[name], name))
        mapping = {TEXT: texts}
        if settings.suppression_limit:  # records may be left out, and then texts be spelled anew
            mapping[_origin(number)] = pa.array(np.arange(len(texts)))
            names.append(_origin(number))
        frame = _replaced(engine, frame, inner(name), raw, mapping)
    return replace(found, frame=frame.select(names)) if found.texts else found


def spelled_anew(
    engine: Engine,
    frame: Lazy,
    closed: Closed,
    coarse: Coarsened,
    settings: Settings,
) -> tuple[Lazy, Closed]:
    """Released records with the texts that their values alone would have got: nothing tells of those left out.

    Whether bins end in whole numbers, and how far codes are filled, follows from all values of a column.
    """
    secrets = dict(closed.table.sensitive)
    for number, (name, values) in enumerate(coarse.values.items()):
        found = engine.collect(frame.group_by(_origin(number)).agg(nw.len().alias(COUNT)))
        found = found.filter(~nw.col(_origin(number)).is_null())
        places = found.get_column(_origin(number)).to_numpy().astype(np.int64)
        counts = found.get_column(COUNT).to_numpy().astype(np.int64)
        model = settings.coarsen[name]
        own = values[places.tolist()]
        new = coarse_texts(own, name, model, settings.input, counts)
        old = coarse.texts[name].take(pa.array(places))
        if new.equals(old):
            continue
        known = dict(zip(old.to_pylist(), new.to_pylist(), strict=True))
        known.pop(None, None)
        texts = [pa.array(list(part), pa.large_string()) for part in (known, known.values())]
        frame = _replaced(engine, frame, inner(name), texts[0], {TEXT: texts[1]})
        if name in secrets:
            labels = tuple(known[label] for label in secrets[name].labels)
            anew = pa.array(labels, pa.large_string())
            secrets[name] = replace(secrets[name], labels=labels, values=anew)
    return frame, replace(closed, table=replace(closed.table, sensitive=secrets))


def _origin(number: int) -> str:
    return f"{ORIGIN}{number}"


def _replaced(
    engine: Engine, frame: Lazy, name: str, raw: pa.Array, found: Mapping[str, pa.Array]
) -> Lazy:
    """A frame with what was found for each value in place of a column."""
    known = pa.table({f"{RAW}2": raw, **found}).filter(raw.is_valid())
    own = nw.col(name)
    is_category = frame.collect_schema()[name] in (nw.Categorical, nw.Enum)
    frame = frame.with_columns((own.cast(nw.String) if is_category else own).alias(RAW))
    frame = frame.join(engine.table(known), left_on=RAW, right_on=f"{RAW}2", how="left")
    return frame.drop([RAW, name]).rename({TEXT: name})
