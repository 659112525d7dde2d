"""A release or an evaluation in a few lines: for the terminal, for notebooks and, as plain values, for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shoal.assess.association_rules import Agreement
from shoal.assess.queries import Errors
from shoal.assess.risk import AttributeDisclosure, Risk
from shoal.audits.verdict import Audit, Proof
from shoal.errors import counted
from shoal.report.formats import percent, shorten
from shoal.report.page import fill_template
from shoal.settings.settings import Settings
from shoal.solve.bounds.certificate import Certificate

if TYPE_CHECKING:
    from shoal.api.evaluation import Evaluation
    from shoal.api.release import Release

LINKED = "anyone with another release made with the same key can link the two by it"


def brief_lines(release: Release[Any]) -> list[tuple[str, str]]:
    """What was released, what is proved and what was lost, a name and a text each."""
    audit, settings = release.audit, release.settings
    left_out = f", {release.suppressed:,} left out" if release.suppressed else ""
    return [
        ("verdict", str(release.verdict)),
        *(("", reason) for reason in release.verdict.reasons),
        ("records", f"{audit.records:,} released{left_out}"),
        ("groups", f"{audit.groups:,} (smallest: {_size(audit)}, {settings.k:,} required)"),
        *(("proved", f"{proof.requirement}: {levels(proof)}") for proof in audit.proofs),
        *(("pseudonyms", f"{name}: {LINKED}") for name in settings.pseudonyms),
        *(("coarsened", line) for line in coarsened_lines(settings)),
        *_kept(release),
        ("detail lost", f"{100 * release.loss('lm'):.1f} % (0 % is exact, 100 % is hidden)"),
        *((f"  {name}", f"{100 * v:.1f} %") for name, v in release.column_losses("lm").items()),
        *_loosened(release),
    ]


def brief_html(release: Release[Any]) -> str:
    """The same lines as a table, for notebooks."""
    return lines_html(shorten(release.settings.title.strip()) or "Release", brief_lines(release))


def lines_html(title: str, lines: Sequence[tuple[str, str]]) -> str:
    """Names and texts as a table: no style sheet, no script, everything escaped.

    HTML drops spaces: an indented name gets a dash.
    """
    dashed = [(f"– {name[2:]}" if name.startswith("  ") else name, text) for name, text in lines]
    return fill_template("lines.html", title=title, lines=dashed)


def brief_facts(
    release: Release[Any], certificate: Certificate | None = None, reason: str = ""
) -> dict[str, Any]:
    """The same for programs, ready for JSON; with a certificate, or the reason why there is none, if given."""
    audit, settings = release.audit.to_dict(), release.settings
    coarse = {name: model.coarseness() for name, model in settings.coarsen.items()}
    loosening = {"loosen": settings.loosen, "loosening_cost": release.loosening_cost}
    return {
        "verdict": audit["verdict"],
        "records": audit["records"],
        "suppressed": release.suppressed,
        "groups": audit["groups"],
        "k": audit["k"],
        "proofs": audit["proofs"],
        "persons": audit["persons"],
        "person": audit["person"] or None,
        "by_person": audit["by_person"],
        "pseudonyms": list(settings.pseudonyms),
        **({"coarsened": coarse} if coarse else {}),
        "kept": [kept.to_dict() for kept in release.singled_out],
        "removed": list(release.removed),
        "measure": settings.objective,
        "loss": release.loss(),
        "column_losses": release.column_losses(),
        **(loosening if settings.loosen else {}),
        **_certificate(certificate, reason),
        "method": settings.method.name,
        "notes": [*release.reading_notes, *release.notes],
        "seconds": round(sum(release.seconds.values()), 3),
    }


def _certificate(certificate: Certificate | None, reason: str) -> dict[str, Any]:
    if certificate is None:
        return {"certificate": None, "certificate_reason": reason} if reason else {}
    ratio = certificate.ratio if certificate.bound else None  # JSON has no infinity
    return {"certificate": {**asdict(certificate), "ratio": ratio}}


def levels(proof: Proof) -> str:
    """What a requirement beyond k asks for and what the least safe group reaches."""
    return f"{proof.reached:.4g} reached, {proof.required:.4g} required"


def _size(audit: Audit) -> str:
    """The size of the smallest group: records, or people if they are counted."""
    if audit.by_person is not None:
        return counted(audit.smallest, "person", "people")
    return counted(audit.smallest, "record")


def coarsened_lines(settings: Settings) -> list[str]:
    """Every column that is coarsened in all records, and how."""
    return [f"{name} to {model.coarseness()}" for name, model in settings.coarsen.items()]


def _kept(release: Release[Any]) -> list[tuple[str, str]]:
    """Every column that is kept, and how many records it identifies alone."""
    return [
        (
            "kept" if item.columns[0] in release.settings.coarsen else "kept unchanged",
            f"{item.columns[0]} (alone, it identifies "
            f"{(counted(item.alone, 'record') if item.alone else 'nobody')})",
        )
        for item in release.singled_out
        if len(item.columns) == 1
    ]


def _loosened(release: Release[Any]) -> list[tuple[str, str]]:
    """Say how much values were loosened, and what it cost."""
    share = release.settings.loosen
    if not share:
        return []
    cost = f"about {100 * release.loosening_cost:.1f} percentage points of the detail lost"
    return [
        ("loosened", f"about {100 * share:.4g} % of the generalized values, which costs {cost}")
    ]


def evaluation_lines(found: Evaluation) -> list[tuple[str, str]]:
    """Whether a release is safe and how useful it still is; indented names belong to the one above."""
    return [*_verdict(found), *_risk(found), *_population(found), *_use(found)]


def _verdict(found: Evaluation) -> Iterator[tuple[str, str]]:
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
        yield f"  {name}", f"{text}, NOT MET" if miss else text


def _risk(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Lines about the risk, before and after."""
    both = found.risk.before, found.risk.after
    yield "risk", "before → after"
    yield "  records", _arrow(*(f"{risk.sizes.records:,}" for risk in both))
    yield "  groups", _arrow(*(f"{risk.sizes.groups:,}" for risk in both))
    yield "  smallest group", _arrow(*(f"{risk.sizes.smallest:,}" for risk in both))
    yield "  unique records", _arrow(*(percent(risk.sizes.unique_share) for risk in both))
    chances = [risk.reidentification for risk in both]
    yield "  highest risk", _arrow(*(percent(one.prosecutor_highest) for one in chances))
    yield "  average risk", _arrow(*(percent(one.prosecutor_average) for one in chances))
    limit = chances[0].threshold
    yield f"  risk above {100 * limit:g} %", _arrow(*(percent(one.at_risk) for one in chances))
    for name in [attribute.column for attribute in both[1].attributes]:
        own = [_attribute(risk, name) for risk in both]
        yield f"  {name} guessed", _arrow(*(percent(one.average_share) for one in own))
        yield f"  {name} certain", _arrow(*(percent(one.disclosed) for one in own))


def _population(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Lines about the risk for the population that the table was sampled from."""
    if found.population is None:
        return
    both = found.population.before, found.population.after
    yield "population", f"{counted(both[0].people, 'person', 'people')}, before → after"
    if both[0].smallest is not None:
        yield "  smallest group", _arrow(*(f"{risk.smallest:,}" for risk in both))
    yield "  highest risk", _arrow(*(percent(risk.highest) for risk in both))
    yield "  average risk", _arrow(*(percent(risk.average) for risk in both))
    unique = [risk.uniqueness for risk in both if risk.uniqueness is not None]
    if unique:
        yield "  unique people", _arrow(*(f"about {percent(one.share)}" for one in unique))


def _attribute(risk: Risk, name: str) -> AttributeDisclosure:
    return next(attribute for attribute in risk.attributes if attribute.column == name)


def _use(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Lines about how useful the release still is."""
    yield "distributions", "difference from the original table, 0 to 1"
    for column in found.distributions.columns:
        moved = column.earth_movers
        extra = "" if moved is None else f", earth mover's distance {moved:.4g}"
        yield f"  {column.column}", f"{column.total_variation:.4g}{extra}"
    yield "  pairs of columns", f"{found.distributions.mean_pair_variation:.4g} on average"
    rules = found.rules
    yield "association rules", f"support {rules.support:g}, confidence {rules.confidence:g}"
    yield "  all", _rules(rules.all)
    yield "  on sensitive", _rules(rules.sensitive)
    if found.queries:
        answered = [found.queries.count, *([found.queries.sum] if found.queries.sum else [])]
        yield "query errors", "median, mean of relative errors"
        for errors in answered:
            what = f"{errors.function.upper()} of {found.queries.sum_column}"
            name = "COUNT" if errors.function == "count" else what
            yield f"  {name}", f"{_errors(errors)} ({counted(errors.queries, 'query', 'queries')})"
        for errors in found.queries.by_column:
            yield f"  COUNT on {errors.columns[0]}", _errors(errors)
    if found.classification:
        fit = found.classification
        yield (
            f"predicting {fit.target}",
            f"accuracy on {counted(fit.tested, 'record')} outside the release",
        )
        yield "  from the release", percent(fit.release)
        yield "  from originals", percent(fit.original)
        yield "  majority", percent(fit.majority)


def _arrow(before: str, after: str) -> str:
    return f"{before} → {after}"


def _rules(agreement: Agreement) -> str:
    found = f"{agreement.in_both:,} of {counted(agreement.in_table, 'rule')} still found"
    return f"{found}, {agreement.in_release - agreement.in_both:,} new"


def _errors(errors: Errors) -> str:
    if errors.mean is None or errors.median is None:
        return "no query selects a record"
    return f"{percent(errors.median)}, {percent(errors.mean)}"
