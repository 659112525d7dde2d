"""`shoal.advise`: what to change if a release is too coarse, for a frame or a file."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from shoal.advice.advise import Advice
from shoal.advice.advise import advise as search
from shoal.data.databases.address import reading_of
from shoal.data.open import engine_for, open_table, table_in_database
from shoal.errors import InputError
from shoal.progress import Progress, progress_or_bar
from shoal.settings.settings import Settings, make_settings

IN_MEMORY = "Advice needs a table in memory. Take a sample of the table, or read it into memory."


def advise(
    data: Any,
    /,
    *,
    settings: Settings | str | os.PathLike[str],
    progress: Progress | None = None,
) -> Advice:
    """Say what to change if a release is too coarse, and how much detail each change gains.

    For columns that lose much, other models, coarser finest levels, formats of dates, weights and leaving the column
    out are tried, and for the release leaving out a few records, a smaller k and weaker requirements. Every gain is
    measured: the table, or a sample of a large one, is anonymized by the changed settings. The result contains no
    value of the table. It is for the owner of the table only, like `Release.advice`.

    Parameters
    ----------
    data
        A frame in memory, or the path of a file, as for `shoal.anonymize`.
    settings
        The settings that lose too much: a `Settings` object or the path of a TOML file.
    progress
        A function called with (stage, done, total); raise `shoal.Cancelled` in it to stop.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> born = [f"{1 + i % 28:02}/{1 + i % 12:02}/{1940 + 7 * i % 60}" for i in range(90)]
    >>> people = pd.DataFrame({"born": born, "sex": ["f", "m"] * 45})
    >>> coarse = {"born": shoal.Suppression(), "sex": None}
    >>> settings = shoal.Settings(quasi_identifiers=coarse, k=5, refine=False)
    >>> advice = shoal.advise(people, settings=settings)
    >>> advice.suggestions[0].column
    'born'
    >>> better = shoal.anonymize(people, settings=advice.apply(1))
    """
    chosen = make_settings(settings, reading_of(data))
    table = table_in_database(data, chosen.reading)
    if engine_for(table, None) != "memory":
        raise InputError(IN_MEMORY)
    source = open_table(table, chosen.reading)
    with progress_or_bar(progress) as report:
        return search(source, replace(chosen, series=False), report)
