"""Check how safe and how useful any release of a table is: `shoal.audit`, `shoal.evaluate` and `shoal.classify`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.api.anonymize import Previous
from shoal.api.evaluation import Evaluation, ExternalRelease, evaluate_release
from shoal.api.release import make_release
from shoal.assess.classification import (
    Classification,
    compare_classifiers,
    prediction_problems,
    seed_problems,
)
from shoal.assess.comparison import read_comparison
from shoal.assess.population import risks_among
from shoal.assess.risk import THRESHOLD
from shoal.audits.requirements.base import Requirement
from shoal.audits.verdict import Audit
from shoal.data.databases.address import reading_of
from shoal.data.open import AnyTable, open_table, table_in_database
from shoal.encoding.encode import column_problems
from shoal.encoding.models import Model
from shoal.encoding.other_columns import coarse_input, coarsened
from shoal.encoding.render import SINGLE, single_problems
from shoal.encoding.source import Input, Source
from shoal.errors import InputError, raise_problems
from shoal.pipeline.plan import with_formats
from shoal.pipeline.prove import audit_unordered, examine_table
from shoal.pipeline.series.next_release import audit_earlier_release
from shoal.report.check import write_check_report
from shoal.settings.settings import Settings, make_settings

HOLDOUT = 0.3  # share of records


def audit(
    data: AnyTable,
    /,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int | None = None,
    requirements: Sequence[Requirement] | None = None,
    reading: Input | Mapping[str, Any] | None = None,
    previous: Previous = None,
    report: str | os.PathLike[str] | None = None,
) -> Audit:
    """Prove that a table meets its requirements, whether or not shoal made it.

    Parameters
    ----------
    data
        A frame, the path of a file or a `shoal.DatabaseTable`.
    settings
        Settings that name the quasi-identifiers and k; the other parameters override them.
    quasi_identifiers
        The columns that must look the same within a group.
    sensitive
        The columns that requirements beyond k are about.
    k
        The least number of records that must look the same.
    requirements
        What sensitive values in every group must satisfy in addition to k.
    reading
        How to read the table's file; see `shoal.Input`.
    previous
        The history of the series that the table belongs to, or its path: then it is also proved that everyone
        keeps their set of sensitive values over all releases.
    report
        The path of a report for people, one HTML file, which needs no original table. It is written even if the table
        fails, and contains aggregates only.

    Raises
    ------
    AuditFailed
        If a group is smaller than k or misses a requirement, or an identifier is still in the table.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> shoal.audit(pd.DataFrame({"age": ["*", "*", "*"]}), quasi_identifiers=["age"], k=3)
    Audit(records=3, groups=1, k=3)
    """
    promised = make_settings(
        settings,
        reading_of(data),
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        k=k,
        requirements=requirements,
        reading=reading,
    )
    frame, examination = examine_table(data, promised, keeps_sheet=reading is not None)
    if previous is not None:
        examination = audit_earlier_release(data, examination, previous, promised)
    if report is not None:
        write_check_report(frame, promised, examination, report)
    return examination.prove()


def evaluate(
    data: AnyTable,
    /,
    release: AnyTable,
    *,
    settings: Settings | str | os.PathLike[str] | None = None,
    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int | None = None,
    requirements: Sequence[Requirement] | None = None,
    reading: Input | Mapping[str, Any] | None = None,
    queries: int = 1000,
    sum_column: str | None = None,
    threshold: float = THRESHOLD,
    target: str | None = None,
    holdout: AnyTable | None = None,
    population: AnyTable | float | None = None,
    seed: int = 0,
) -> Evaluation:
    """Compare a release with its original table: is it safe, and is it still useful?

    The release may be shoal's or not, and its records may be in any order. The result includes a verdict on the
    release, and its `save_report` writes a report for people.

    Parameters
    ----------
    data
        The original table: a frame, the path of a file or a `shoal.DatabaseTable`.
    release
        Its release, in one of the same forms.
    settings
        Settings that name the columns' roles and models, and k; the other parameters override them.
    quasi_identifiers
        As in `shoal.anonymize`.
    sensitive
        The columns that others must not learn about a person.
    k
        The least number of records that must look the same. Histograms show nothing that fewer than k records of the
        table have.
    requirements
        What sensitive values in every group must satisfy in addition to k, for the verdict.
    reading
        How to read the files; see `shoal.Input`.
    queries
        Number of random queries per workload; 0 for none.
    sum_column
        The numbers that SUM queries add up; by default the first suitable column.
    threshold
        Records with a risk of re-identification above this count as at risk.
    target
        A column for classifiers to predict: they are trained on a release and tested on original records that are
        not in it. These are `holdout`; without it, 30 % of the table is set aside, and the rest is anonymized again
        with the settings.
    holdout
        Original records, as a frame or a path, that are not in the release.
    population
        The population that the table was sampled from, to estimate the risk for people who may or may not be in it: a
        table of the whole population, its size, or the share of it that is in the table, below 1.
    seed
        Makes queries, the hold-out and classifiers repeatable.

    Examples
    --------
    >>> import pandas as pd, shoal
    >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "ill": list("abca")})
    >>> release = pd.DataFrame({"age": ["[31, 33]"] * 2 + ["[52, 58]"] * 2, "ill": list("abca")})
    >>> found = shoal.evaluate(people, release, quasi_identifiers=["age"], sensitive=["ill"], k=2)
    >>> found.risk.before.sizes.unique, found.risk.after.sizes.unique
    (4, 0)
    >>> found.verdict.is_proved
    True
    """
    chosen = make_settings(
        settings,
        reading_of(data),
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        k=k,
        requirements=requirements,
        reading=reading,
    )
    raise_problems(single_problems(chosen.render))
    others = [sum_column] if sum_column and sum_column not in chosen.quasi_identifiers else []
    is_table = population is not None and not isinstance(population, int | float)
    original, released, *more = _opened(
        (data, chosen.reading),
        (table_in_database(release, Input()), chosen.reading.of_all_rows()),
        *([(population, chosen.reading)] if is_table else []),
        *([] if holdout is None else [(holdout, chosen.reading)]),
    )
    people: Any = more.pop(0) if is_table else population
    tested = [coarsened(table, chosen.coarsen, chosen.reading) for table in more]
    original = coarsened(original, chosen.coarsen, chosen.reading)
    own = replace(chosen, reading=coarse_input(chosen.reading, chosen.coarsen))
    if target is not None:
        raise_problems(_target_problems(original.data.columns, chosen, target))
    compared = _compared(original, released, own, others)
    found = evaluate_release(
        compared, queries=queries, sum_column=sum_column, threshold=threshold, seed=seed
    )
    if people is not None:
        among = risks_among(compared.comparison, original, released.data, people, chosen)
        found = replace(found, population=among)
    if target is None:
        return found
    if not tested:
        return replace(found, classification=classify(data, target, settings=chosen, seed=seed))
    accuracy = compare_classifiers(
        original.data, released.data, tested[0].data, own, target, seed=seed
    )
    return replace(found, classification=accuracy)


def _opened(*tables: tuple[Any, Input]) -> list[Source]:
    """Open several tables, each with how it is read, or raise one error for all that cannot be opened."""
    found: list[Source] = []
    problems: list[str] = []
    for table, input in tables:
        try:
            found.append(open_table(table, input))
        except InputError as error:
            problems += error.problems
    raise_problems(problems)
    return found


def _compared(
    source: Source, released: Source, settings: Settings, others: Sequence[str]
) -> ExternalRelease:
    """A release together with its table, examined."""
    table, release = source.data, released.data
    comparison = read_comparison(table, release, settings, others)
    columns = comparison.table.columns
    known = {*release.columns, *settings.quasi_identifiers}
    chosen = replace(settings, quasi_identifiers={c.name: c.model for c in columns})
    chosen = with_formats(chosen, columns)
    return ExternalRelease(
        data=release.to_native(),
        settings=chosen,
        examination=audit_unordered(release, table, chosen),
        comparison=comparison,
        removed=tuple(name for name in table.columns if name not in known),
    )


def classify(
    table: AnyTable,
    target: str,
    *,
    settings: Settings | str | os.PathLike[str],
    holdout: float = HOLDOUT,
    model: Any = None,
    seed: int = 0,
) -> Classification:
    """Set records aside, anonymize the others, train classifiers on these, and test them on the records set aside.

    Parameters
    ----------
    table
        A frame or the path of a file.
    target
        The column to predict from the quasi-identifiers; it must be released unchanged.
    settings
        How to anonymize.
    holdout
        The share of records to set aside.
    model
        A scikit-learn classifier; by default gradient boosting of decision trees.
    seed
        Makes the choice of records and the default model repeatable.
    """
    chosen = make_settings(settings)
    if chosen.render in SINGLE:  # the same groups, in a form that can be read back
        chosen = replace(chosen, render="text")
    source = coarsened(open_table(table, chosen.reading), chosen.coarsen, chosen.reading)
    chosen = replace(chosen, coarsen={}, reading=coarse_input(chosen.reading, chosen.coarsen))
    frame = source.data
    problems = [*_target_problems(frame.columns, chosen, target), *seed_problems(seed)]
    if not 0 < holdout < 1:
        problems.append("The 'holdout' parameter must be a share above 0 and below 1.")
    raise_problems(problems)
    order = np.random.default_rng(seed).permutation(frame.shape[0])
    aside = round(holdout * frame.shape[0])
    if not 0 < aside < frame.shape[0]:
        raise InputError("The table has too few records to set some aside. Give more records.")
    tested, trained = frame[np.sort(order[:aside]).tolist()], frame[np.sort(order[aside:]).tolist()]
    made = make_release(replace(source, data=trained), chosen)
    release = open_table(made.data).data
    return compare_classifiers(trained, release, tested, chosen, target, model=model, seed=seed)


def _target_problems(columns: Sequence[str], settings: Settings, target: str) -> list[str]:
    return [*column_problems(columns, [target]), *prediction_problems(settings, target)]
