"""`shoal.anonymize` and its parameters; `pipeline/run.py` does the work."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypedDict, Unpack, overload

import pyarrow as pa

from shoal.api.release import Release, make_release
from shoal.data.databases.address import DatabaseTable, reading_of
from shoal.data.open import Engine, EngineName
from shoal.encoding.frames import FrameT
from shoal.pipeline.series.history import History
from shoal.progress import Progress, progress_or_bar
from shoal.settings.settings import SETTINGS, Settings, SettingsOptions, make_settings

# An earlier release or history, the path of one, or a list of these.
Previous = (
    Release[Any]
    | History
    | str
    | os.PathLike[str]
    | Sequence[Release[Any] | History | str | os.PathLike[str]]
    | None
)


class RunOptions(TypedDict, total=False):
    """What `anonymize` takes besides single settings."""

    settings: Settings | str | os.PathLike[str] | None
    engine: EngineName | Engine | None
    previous: Previous
    progress: Progress | None


class AnonymizeOptions(RunOptions, SettingsOptions, total=False):
    """The keywords of `anonymize`, for editors and type checkers."""


_RUN = tuple(RunOptions.__annotations__)
_KEYWORDS = (*_RUN[:1], *(name for name, own in SETTINGS.items() if own.is_keyword), *_RUN[1:])


@overload
def anonymize(
    data: str | os.PathLike[str] | DatabaseTable, /, **options: Unpack[AnonymizeOptions]
) -> Release[pa.Table]: ...
@overload
def anonymize(data: FrameT, /, **options: Unpack[AnonymizeOptions]) -> Release[FrameT]: ...
def anonymize(data: Any, /, **options: Any) -> Release[Any]:
    """Anonymize a table: in the release, every record looks like at least k − 1 others.

    Similar records are grouped, and their quasi-identifiers are replaced by the most specific values that cover
    the group. The result is returned only after an independent audit has proved the requirement on it.
    Several threads may call it at once.

    Parameters
    ----------
    data
        A pandas, polars or Arrow frame, or the path of a CSV, Parquet, JSON Lines or Excel file. A DuckDB relation,
        a Polars LazyFrame or a Spark DataFrame stays where it is, and so does a file that does not fit into memory, a
        folder or a pattern of files. A table of a database is a `shoal.DatabaseTable`, or the address of a database
        whose table the settings name.
    settings
        A `Settings` object or the path of a TOML file; the other parameters override it.
    {settings}
    engine
        "memory", "duckdb", "polars" or "spark": where to work on a file; by default in memory, or on DuckDB if the
        file does not fit into memory. A frame decides for itself. `shoal.Engine("duckdb", memory="8GB")` also says how
        much memory may be used; by default, most of what is free.
    previous
        Earlier releases about people who are still in the table: a list of releases, or of histories or their paths;
        `[]` for the first. The new release is then safe together with all of them: `person` names the column that
        identifies people, with one record each, and everyone keeps the set of sensitive values of their group. Whatever
        would link a person's records of two releases is refused: pseudonyms, kept columns, `keep_order`. See the page
        on running it nightly.
    progress
        A function called with (stage, done, total); raise `shoal.Cancelled` in it to stop. A notebook shows a bar
        if none is given.

    Returns
    -------
    Release
        The released table with its losses, groups and settings; `data` is a frame of the kind that was given, or an
        Arrow table for a file.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "sex": ["f", "f", "m", "m"], "ill": list("abca")})
    >>> release = shoal.anonymize(people, quasi_identifiers=["age", "sex"], sensitive=["ill"], k=2)
    >>> sorted(set(release.data["age"]))
    ['31–33', '52–58']
    """
    for name in options:
        if name not in _KEYWORDS:
            close = get_close_matches(name, _KEYWORDS, n=1)
            meant = f". Did you mean '{close[0]}'?" if close else ""
            raise TypeError(f"anonymize() got an unexpected keyword argument '{name}'{meant}")
    base, engine, previous, progress = (options.pop(name, None) for name in _RUN)
    series = None if previous is None else True
    settings = make_settings(base, reading_of(data), **options, series=series)
    on = engine if isinstance(engine, Engine) else Engine(engine)
    with progress_or_bar(progress) as report:
        return make_release(
            data, settings, report, engine=on.name, memory=on.memory, previous=previous
        )


def _signature() -> inspect.Signature:
    """All keywords by name, which the function itself takes as one."""
    types = {**RunOptions.__annotations__, **SettingsOptions.__annotations__}
    return inspect.Signature(
        [
            inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY),
            *(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=None,
                    annotation=getattr(types.get(name), "__forward_arg__", Any),
                )
                for name in _KEYWORDS
            ),
        ],
        return_annotation=Release,
    )


anonymize.__signature__ = _signature()  # type: ignore[attr-defined]
anonymize.__doc__ = (anonymize.__doc__ or "").replace(
    "    {settings}\n",
    "".join(f"{SETTINGS[name].explained}\n" for name in _KEYWORDS if name in SETTINGS),
)
