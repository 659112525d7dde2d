"""An evaluation in lines, a name and a text each: for the terminal and for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from shoal.auditing.verdict import Verdict
from shoal.evaluation.distributions import Distributions
from shoal.evaluation.queries import Errors
from shoal.evaluation.risk import AttributeDisclosure, Risk, Risks
from shoal.evaluation.rules import Agreement, Rules
from shoal.report.brief import levels


class Evaluated(Protocol):
    """What must be known of an evaluation."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def risk(self) -> Risks: ...
    @property
    def distributions(self) -> Distributions: ...
    @property
    def rules(self) -> Rules: ...
    @property
    def queries(self) -> Any: ...
    @property
    def release(self) -> Any: ...
    @property
    def classification(self) -> Any: ...
    @property
    def population(self) -> Any: ...


def evaluation_lines(found: Evaluated) -> list[tuple[str, str]]:
    """Whether a release is safe and what is left of its use; names that belong to the one above begin with spaces."""
    return [*_verdict(found), *_risk(found), *_population(found), *_use(found)]


def _verdict(found: Evaluated) -> Iterator[tuple[str, str]]:
    """Lines about whether the release is safe, and what is required."""
    examination = found.release.examination
    yield "verdict", str(found.verdict)
    for reason in found.verdict.reasons:
        yield "", reason
    reached = {
        "k": f"{examination.audit.k} reached, {found.release.settings.k} required",
        **{proof.requirement: levels(proof) for proof in examination.audit.proofs},
    }
    for (name, text), miss in zip(reached.items(), examination.misses, strict=True):
        yield f"  {name}", f"{text}, MISSED" if miss else text


def _risk(found: Evaluated) -> Iterator[tuple[str, str]]:
    """Lines about the risk, before and after."""
    both = found.risk.before, found.risk.after
    yield "risk", "before → after"
    yield "  records", _arrow(*(f"{risk.sizes.records:,}" for risk in both))
    yield "  groups", _arrow(*(f"{risk.sizes.groups:,}" for risk in both))
    yield "  smallest group", _arrow(*(f"{risk.sizes.smallest:,}" for risk in both))
    yield "  unique records", _arrow(*(f"{risk.sizes.unique_share:.1%}" for risk in both))
    yield "  highest risk", _arrow(*(f"{r.reidentification.prosecutor_highest:.4g}" for r in both))
    yield "  average risk", _arrow(*(f"{r.reidentification.prosecutor_average:.4g}" for r in both))
    limit = both[0].reidentification.threshold
    yield f"  records above {limit:g}", _arrow(*(f"{r.reidentification.at_risk:.1%}" for r in both))
    for name in [attribute.column for attribute in both[1].attributes]:
        yield (
            f"  {name} guessed",
            _arrow(*(f"{_attribute(r, name).average_share:.1%}" for r in both)),
        )
        yield f"  {name} certain", _arrow(*(f"{_attribute(r, name).disclosed:.1%}" for r in both))


def _population(found: Evaluated) -> Iterator[tuple[str, str]]:
    """Lines about the risk among the people that the table was drawn from."""
    if found.population is None:
        return
    both = found.population.before, found.population.after
    yield "among all", f"{both[0].people:,} people, before → after"
    if both[0].smallest is not None:
        yield "  fewest alike", _arrow(*(f"{risk.smallest:,}" for risk in both))
    yield "  highest risk", _arrow(*(f"{risk.highest:.4g}" for risk in both))
    yield "  average risk", _arrow(*(f"{risk.average:.4g}" for risk in both))
    unique = [risk.uniqueness for risk in both if risk.uniqueness is not None]
    if unique:
        yield "  unique people", _arrow(*(f"about {one.share:.1%}" for one in unique))


def _attribute(risk: Risk, name: str) -> AttributeDisclosure:
    return next(attribute for attribute in risk.attributes if attribute.column == name)


def _use(found: Evaluated) -> Iterator[tuple[str, str]]:
    """Lines about what is left of the use."""
    yield "distributions", "total variation from the table's, 0 to 1"
    for column in found.distributions.columns:
        moved = column.earth_movers
        extra = "" if moved is None else f", earth mover's {moved:.4g}"
        yield f"  {column.column}", f"{column.total_variation:.4g}{extra}"
    yield "  pairs of columns", f"{found.distributions.mean_pair_variation:.4g} on average"
    yield (
        "association rules",
        f"support {found.rules.support:g}, confidence {found.rules.confidence:g}",
    )
    yield "  all", _rules(found.rules.all)
    yield "  on sensitive", _rules(found.rules.sensitive)
    if found.queries:
        answered = [found.queries.count, *([found.queries.sum] if found.queries.sum else [])]
        yield "query errors", "median, mean of relative errors"
        for errors in answered:
            what = f"{errors.function.upper()} of {found.queries.sum_column}"
            name = "COUNT" if errors.function == "count" else what
            yield f"  {name}", f"{_errors(errors)} ({errors.queries:,} queries)"
        for errors in found.queries.by_column:
            yield f"  COUNT on {errors.columns[0]}", _errors(errors)
    if found.classification:
        fit = found.classification
        yield f"predicting {fit.target}", f"right on {fit.tested:,} records outside the release"
        yield "  from the release", f"{fit.release:.1%}"
        yield "  from originals", f"{fit.original:.1%}"
        yield "  majority", f"{fit.majority:.1%}"


def _arrow(before: str, after: str) -> str:
    return f"{before} → {after}"


def _rules(agreement: Agreement) -> str:
    found = f"{agreement.in_both:,} of {agreement.in_table:,} found again"
    return f"{found}, {agreement.in_release - agreement.in_both:,} new"


def _errors(errors: Errors) -> str:
    if errors.mean is None:
        return "no query selects a record"
    return f"{errors.median:.1%}, {errors.mean:.1%}"
