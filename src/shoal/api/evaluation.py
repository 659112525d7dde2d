"""The result of an evaluation: everything known about a release and its table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from shoal.api.summary import evaluation_lines, lines_html
from shoal.assess import Result
from shoal.assess.association_rules import AssociationRules, compare_rules
from shoal.assess.classification import Classification, is_integer, seed_problems
from shoal.assess.comparison import Comparison, pair_records
from shoal.assess.distributions import Distributions, compare_distributions
from shoal.assess.population import PopulationRisks
from shoal.assess.queries import Queries, compare_answers
from shoal.assess.risk import THRESHOLD, Risks, compare_risks
from shoal.assess.singling_out import KeptColumns, singled_out
from shoal.audits.verdict import Audit, Examination, Verdict
from shoal.encoding.closed import Closed
from shoal.encoding.frames import Frame, open_frame
from shoal.errors import raise_problems, shown
from shoal.report.gather import ReportSource
from shoal.report.page import write_report
from shoal.settings.settings import Settings

MOST_QUERIES = 1_000_000


@dataclass(frozen=True)
class Evaluation(Result):
    """Whether requirements are met, the risk before and after, and how useful the release still is.

    `to_dict()` gives all numbers as dicts and lists, for JSON.

    Attributes
    ----------
    verdict
        Whether the release is safe as a whole; `verdict.failures` says which requirements are not met.
    audit
        What was counted in the release.
    risk
        The risk of re-identification and of disclosed sensitive values, before and after.
    distributions
        How much single columns and pairs of columns have changed.
    rules
        Association rules that are still found, and new ones.
    queries
        Errors of random queries; None if there were none.
    classification
        Accuracy of classifiers; None unless a target was named.
    population
        The risk for the population that the table was sampled from; None unless it was given.
    """

    verdict: Verdict
    audit: Audit
    risk: Risks
    distributions: Distributions
    rules: AssociationRules
    queries: Queries | None
    release: ReportSource = field(repr=False, compare=False)
    classification: Classification | None = None
    population: PopulationRisks | None = None

    def save_report(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a report for people, one HTML file, whole or not at all.

        It says whether the audit proved the requirements, what was lost and what risk is left. It contains only
        aggregates and released values; if the requirements are not proved, no released record.
        """
        write_report(self.release, self.risk, self.distributions, path, overwrite)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        return lines_html("Evaluation", evaluation_lines(self))

    def to_dict(self) -> dict[str, Any]:
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "release"}
        return {name: None if part is None else part.to_dict() for name, part in found.items()}


@dataclass(frozen=True)
class ExternalRelease:
    """A release of which only the texts and the original table are known, with records in any order."""

    data: Any
    settings: Settings  # models written out in full
    examination: Examination
    comparison: Comparison
    removed: Sequence[str]

    @property
    def verdict(self) -> Verdict:
        """Whether the release is safe as a whole."""
        assert self.examination.audit.verdict is not None
        return self.examination.audit.verdict

    @property
    def shown(self) -> Frame:
        """The released records that a report shows, not all."""
        return open_frame(self.data)

    def alone_in(self, columns: Sequence[str]) -> list[KeptColumns]:
        """How many released records are the only ones with their value in each of some columns, and in all together."""
        return singled_out(self.shown, columns)

    @property
    def making(self) -> None:
        """It is not known how the release was made."""

    @cached_property
    def closed(self) -> Closed:
        return pair_records(self.comparison)


def evaluate_release(
    release: ReportSource,
    *,
    queries: int = 1000,
    sum_column: str | None = None,
    threshold: float = THRESHOLD,
    seed: int = 0,
) -> Evaluation:
    """Evaluate everything except classifiers, which need records that are not in the release."""
    problems = seed_problems(seed)
    if not (is_integer(queries) and 0 <= queries <= MOST_QUERIES):
        problems.append(
            f"The 'queries' parameter must be a whole number from 0 to {MOST_QUERIES}. Got {shown(queries)} instead."
        )
    raise_problems(problems)
    comparison = release.comparison
    return Evaluation(
        verdict=release.verdict,
        audit=release.examination.audit,
        risk=compare_risks(comparison, threshold),
        distributions=compare_distributions(comparison),
        rules=compare_rules(comparison),
        queries=compare_answers(comparison, queries, seed=seed, sum_column=sum_column)
        if queries
        else None,
        release=release,
    )
