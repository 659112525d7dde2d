"""`shoal.anonymize` and its parameters; `pipeline/run.py` does the work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import pyarrow as pa

from shoal.api.release import Release, make_release
from shoal.audits.requirements.base import Requirement
from shoal.data.databases import DatabaseTable, reading_of
from shoal.data.engines.opening import EngineName
from shoal.encoding.frames import FrameT
from shoal.encoding.models import Model
from shoal.encoding.render import Style
from shoal.encoding.source import Input
from shoal.pipeline.series.history import History
from shoal.progress import Progress, following
from shoal.settings.settings import Others, Settings, make_settings
from shoal.solve.local_search.budget import Refine
from shoal.solve.measures import ObjectiveName
from shoal.solve.methods import Method, MethodName

# An earlier release or history, the path of one, or a list of these.
Previous = (
    Release[Any]
    | History
    | str
    | os.PathLike[str]
    | Sequence[Release[Any] | History | str | os.PathLike[str]]
    | None
)


@overload
def anonymize(
    data: str | os.PathLike[str] | DatabaseTable,
    /,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifiers: Sequence[str] | None = None,
    pseudonyms: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    others: Others | None = None,
    allow: Mapping[str, str | Sequence[str]] | Sequence[str] | None = None,
    identified_limit: float | None = None,
    coarsen: Mapping[str, Model] | None = None,
    person: str | None = None,
    key_file: str | os.PathLike[str] | None = None,
    k: int | None = None,
    requirements: Sequence[Requirement] | None = None,
    suppression_limit: float | None = None,
    objective: ObjectiveName | None = None,
    w: float | None = None,
    weights: Mapping[str, float] | None = None,
    method: MethodName | Method | type[Method] | None = None,
    refine: Refine | Literal["quick", False] | float | None = None,
    seed: int | None = None,
    keep_order: bool | None = None,
    loosen: float | None = None,
    render: Style | None = None,
    title: str | None = None,
    input: Input | Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    order_seed: int | None = None,
    engine: EngineName | None = None,
    memory: str | int | None = None,
    previous: Previous = None,
    progress: Progress | None = None,
) -> Release[pa.Table]: ...
@overload
def anonymize(
    data: FrameT,
    /,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifiers: Sequence[str] | None = None,
    pseudonyms: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    others: Others | None = None,
    allow: Mapping[str, str | Sequence[str]] | Sequence[str] | None = None,
    identified_limit: float | None = None,
    coarsen: Mapping[str, Model] | None = None,
    person: str | None = None,
    key_file: str | os.PathLike[str] | None = None,
    k: int | None = None,
    requirements: Sequence[Requirement] | None = None,
    suppression_limit: float | None = None,
    objective: ObjectiveName | None = None,
    w: float | None = None,
    weights: Mapping[str, float] | None = None,
    method: MethodName | Method | type[Method] | None = None,
    refine: Refine | Literal["quick", False] | float | None = None,
    seed: int | None = None,
    keep_order: bool | None = None,
    loosen: float | None = None,
    render: Style | None = None,
    title: str | None = None,
    input: Input | Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    order_seed: int | None = None,
    engine: EngineName | None = None,
    memory: str | int | None = None,
    previous: Previous = None,
    progress: Progress | None = None,
) -> Release[FrameT]: ...
def anonymize(
    data: FrameT | str | os.PathLike[str] | DatabaseTable,
    /,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifiers: Sequence[str] | None = None,
    pseudonyms: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    others: Others | None = None,
    allow: Mapping[str, str | Sequence[str]] | Sequence[str] | None = None,
    identified_limit: float | None = None,
    coarsen: Mapping[str, Model] | None = None,
    person: str | None = None,
    key_file: str | os.PathLike[str] | None = None,
    k: int | None = None,
    requirements: Sequence[Requirement] | None = None,
    suppression_limit: float | None = None,
    objective: ObjectiveName | None = None,
    w: float | None = None,
    weights: Mapping[str, float] | None = None,
    method: MethodName | Method | type[Method] | None = None,
    refine: Refine | Literal["quick", False] | float | None = None,
    seed: int | None = None,
    keep_order: bool | None = None,
    loosen: float | None = None,
    render: Style | None = None,
    title: str | None = None,
    input: Input | Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    order_seed: int | None = None,
    engine: EngineName | None = None,
    memory: str | int | None = None,
    previous: Previous = None,
    progress: Progress | None = None,
) -> Release[Any]:
    """Make a table releasable: every record reads like at least k − 1 others.

    Similar records are grouped and their quasi-identifiers replaced by the least general values that cover
    the group. The result is returned only after an independent audit has proved the requirement on it.
    Several threads may call it at once.

    Parameters
    ----------
    data
        A pandas, polars or Arrow frame, or the path of a CSV, Parquet, JSON-lines or Excel file. A DuckDB relation,
        a Polars LazyFrame or a Spark DataFrame stays where it is, and so does a file that outgrows memory, a folder
        or a pattern of files. The address of a database, like "postgresql://host/db", with `table` or `query`.
    settings
        A `Settings` object or the path of a TOML file; the other parameters replace what it says.
    quasi_identifiers
        The columns an attacker may know, with a generalization model each; or a list, in which case
        numbers and dates get intervals and the rest suppression. A column left out is NOT protected.
    sensitive
        Columns released unchanged, which requirements are about.
    identifiers
        Columns removed.
    pseudonyms
        Identifiers replaced by keyed hashes: equal values get equal pseudonyms in every table and release made
        with the same key. One that stands in several records is refused unless allowed: it links them.
    keep
        Columns released as they are, which nothing protects. Those that reveal a quasi-identifier, contain free text
        or identify people together with the released quasi-identifiers are refused unless allowed.
    others
        What becomes of columns that are not named: "refuse" (default) the table, "drop" or "keep" them.
    allow
        What may be released in spite of a reason against it: reasons by column, like `{"salary": "unique"}`. A refusal
        names the reason. "unique": it identifies people, alone or with other columns (the same as a list of names);
        "reveals": it reveals a quasi-identifier; "identifier": it contains names, addresses or numbers of people;
        "text": it contains free text; "person": a group may belong to a single one of its values; "links": its
        pseudonyms link records; "formula": a spreadsheet would run its texts. The verdict says what was allowed.
    identified_limit
        The share of people that kept columns may identify, together with the released quasi-identifiers, without being
        allowed to (default 0, at most 0.05).
    coarsen
        Models that make kept and sensitive columns coarser in all records alike, before anything else is done: bins,
        a highest value, months or prefixes, like `{"salary": shoal.Interval(step=1000, high=200_000)}`. Requirements,
        checks and measures see the coarsened values only.
    person
        The column that tells persons apart, where they have several records: k and the requirements then count
        persons in place of records. It is removed, or replaced if it is among the pseudonyms.
    key_file
        The path of the file with the key of the pseudonyms, see `shoal key`; by default the key is the environment
        variable SHOAL_KEY.
    k
        The least number of records that must read the same, or of persons who have such records. Larger is safer
        and costs more.
    requirements
        What the sensitive values of every group must look like beside, like `[shoal.LDiversity(2)]`; see
        `shoal.list_requirements()`. Without any, all records of a group may share a sensitive value.
    suppression_limit
        The largest share of records that may be left out of the release where they cost the others more
        than themselves, by the values of the whole table (default 0). They count as fully suppressed in every
        measure, and measures know of the values of released records only.
    objective
        The measure to minimize (default "lm"), see `shoal.list_measures()`.
    w
        The share of `mi` in objective "wmi" (default 0.5).
    weights
        How much each quasi-identifier matters (default 1).
    method
        The name of a method (default "auto") or a method with options, like `shoal.Mondrian(strict=False)`.
    refine
        How long to improve the groups by local search: "quick" (default) for a few seconds, False for not at
        all, a number of seconds, or `shoal.Refine(steps=…)`. With seconds, two runs may differ. Methods other
        than local recoding are left as they are, and so are `enhanced_pk` and the optimum of a handful of records.
    seed
        Makes the groups repeatable (default 0). The order of records is random all the same, and so is what
        `loosen` and `non_homogeneous` draw. In a series, who is left out also depends on a secret in its history.
    keep_order
        Keep the order of records, which can itself identify them. By default they are shuffled. The index of a
        pandas frame is not released either way: it may hold names.
    loosen
        About what share of the more general values of a release shall be more general than their group needs,
        from 0 (default) to below 1, so that nobody can rely on their being tight; see "downcoding" in the threat
        model. They are drawn by fresh chance in every run: publish one of these releases only.
    render
        "text" (default); "bounds": two columns per interval or order; or a single number per interval: "midpoint",
        the middle of its bounds (also of dates), or "mean", the rounded mean of the group's own numbers, which tells
        a little more; see "Means" in the threat model.
    title
        What the release is about, for its report.
    input
        How to read the table's file, like `{"encoding": "cp1252", "missing": ["?"]}`; see `shoal.Input`.
    table
        The table to read from a database, like "health.patients".
    query
        A SELECT to read from a database, in place of a table.
    order_seed
        Makes the order of released records and the draws of `loosen` and of a series repeatable, for tests only:
        anyone who knows it can undo them.
    engine
        "memory", "duckdb", "polars" or "spark": where a file is worked on; by default in memory unless it outgrows
        that, and then on DuckDB. A frame decides for itself.
    memory
        How much memory may be used, like "8GB"; by default most of what is free.
    previous
        Earlier releases of people who are still in the table: a list of releases, or of histories or their paths;
        `[]` for the first. Makes a release that is safe beside all of them: `person` names who stays, with one record
        each, and everybody keeps the set of sensitive values of their group. Whatever would link a person's records of
        two releases is refused: pseudonyms, kept columns, `keep_order`. See the page on running it nightly.
    progress
        A function called with (stage, done, total); raise `shoal.Cancelled` in it to stop. A notebook shows a bar
        if none is given.

    Returns
    -------
    Release
        The released table with its losses, groups and settings; `data` is a frame of the kind that was given, an
        Arrow table for a file.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "sex": ["f", "f", "m", "m"], "ill": list("abca")})
    >>> release = shoal.anonymize(people, quasi_identifiers=["age", "sex"], sensitive=["ill"], k=2)
    >>> sorted(set(release.data["age"]))
    ['31–33', '52–58']
    """
    settings = make_settings(
        settings,
        reading_of(data, table, query),
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        identifiers=identifiers,
        pseudonyms=pseudonyms,
        keep=keep,
        others=others,
        allow=allow,
        identified_limit=identified_limit,
        coarsen=coarsen,
        person=person,
        key_file=key_file,
        k=k,
        requirements=requirements,
        suppression_limit=suppression_limit,
        objective=objective,
        w=w,
        weights=weights,
        method=method,
        refine=refine,
        seed=seed,
        keep_order=keep_order,
        loosen=loosen,
        render=render,
        title=title,
        input=input,
        series=None if previous is None else True,
    )
    with following(progress) as report:
        return make_release(
            data,
            settings,
            report,
            order_seed=order_seed,
            engine=engine,
            memory=memory,
            previous=previous,
        )
