"""Everything that can be said of a release beside its table, in one result."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.evaluation.classification import Classification
from shoal.evaluation.comparison import Comparison
from shoal.evaluation.distributions import Distributions, compare_distributions
from shoal.evaluation.queries import Queries, compare_answers
from shoal.evaluation.result import Result
from shoal.evaluation.risk import THRESHOLD, Risks, compare_risks
from shoal.evaluation.rules import Rules, compare_rules


@dataclass(frozen=True)
class Evaluation(Result):
    """Risk before and after, and what is left of distributions, query answers, rules and classifiers.

    `as_dict()` gives all numbers as dicts and lists, for JSON.

    Attributes
    ----------
    risk
        Of re-identification and of disclosed sensitive values, before and after.
    distributions
        How far single columns and pairs of columns have moved.
    rules
        Association rules that are found again, and new ones.
    queries
        Errors of random queries; None if there were none.
    classification
        Accuracy of classifiers; None unless a target was named.
    """

    risk: Risks
    distributions: Distributions
    rules: Rules
    queries: Queries | None = None
    classification: Classification | None = None


def evaluate_comparison(
    comparison: Comparison,
    *,
    queries: int = 1000,
    sum_column: str | None = None,
    threshold: float = THRESHOLD,
    seed: int = 0,
) -> Evaluation:
    """Evaluate all but classifiers, which need records that are not in the release."""
    return Evaluation(
        risk=compare_risks(comparison, threshold),
        distributions=compare_distributions(comparison),
        rules=compare_rules(comparison),
        queries=compare_answers(comparison, queries, seed=seed, sum_column=sum_column)
        if queries
        else None,
    )
