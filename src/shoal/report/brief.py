"""A release in a few lines: for the terminal, for notebooks and, as plain values, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

from shoal.bounds import Certificate
from shoal.evaluation.singled import Kept
from shoal.measures import MeasureName
from shoal.privacy import Audit, Proof
from shoal.report.figures import NAME
from shoal.report.markup import Markup, cut, element
from shoal.report.words import coarseness
from shoal.settings import Settings

_CELL = 400  # characters
_LEFT = "text-align: left"


class Summarized(Protocol):
    """What must be known of a release."""

    @property
    def settings(self) -> Settings: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def suppressed(self) -> int: ...
    @property
    def removed(self) -> Sequence[str]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def seconds(self) -> dict[str, float]: ...
    @property
    def singled_out(self) -> list[Kept]: ...
    @property
    def loosening_cost(self) -> float: ...
    def loss(self, measure: MeasureName | None = None) -> float: ...
    def column_losses(self, measure: MeasureName | None = None) -> dict[str, float]: ...


def brief_lines(release: Summarized) -> list[tuple[str, str]]:
    """What was released, what is proved and what was lost, a name and a text each."""
    audit = release.audit
    left_out = f", {release.suppressed:,} left out" if release.suppressed else ""
    return [
        ("records", f"{audit.records:,} released{left_out}"),
        ("groups", f"{audit.groups:,} of records that read the same, the smallest of {audit.k:,}"),
        ("proved", _proved(release)),
        *(("proved", f"{proof.requirement}: {levels(proof)}") for proof in audit.proofs),
        *(("NOT PROVED", text) for text in _persons(audit)),
        *_pseudonyms(release),
        *(("coarsened", line) for line in coarsened_lines(release.settings)),
        *_kept(release),
        ("detail lost", f"{100 * release.loss('lm'):.1f} % (0 % is exact, 100 % is hidden)"),
        *((f"  {name}", f"{100 * v:.1f} %") for name, v in release.column_losses("lm").items()),
        *_loosened(release),
    ]


def brief_html(release: Summarized) -> Markup:
    """The same lines as a table, as notebooks show it: no style sheet, no script, everything escaped."""
    title = cut(release.settings.title.strip(), NAME) or "Release"
    return lines_html(title, brief_lines(release))


def lines_html(title: str, lines: Sequence[tuple[str, str]]) -> Markup:
    """Names and texts as a table: no style sheet, no script, everything escaped."""
    rows = [
        element(
            "tr",
            element("th", cut(_dashed(name), NAME), scope="row", style=_LEFT),
            element("td", cut(text, _CELL), style=_LEFT),
        )
        for name, text in lines
    ]
    caption = element("caption", title, style=_LEFT)
    return element("table", caption, element("tbody", *rows))


def _dashed(name: str) -> str:
    """A name that is indented, with a dash: HTML drops spaces."""
    return f"– {name[2:]}" if name.startswith("  ") else name


def brief_facts(
    release: Summarized, certificate: Certificate | None = None, reason: str = ""
) -> dict[str, Any]:
    """The same for programs, ready for JSON; with a certificate, or the reason why there is none, if given."""
    audit = release.audit.to_dict()
    return {
        "records": audit["records"],
        "suppressed": release.suppressed,
        "groups": audit["groups"],
        "k": audit["k"],
        "proofs": audit["proofs"],
        "persons": audit["persons"],
        "person": audit["person"] or None,
        "by_person": audit["by_person"],
        "pseudonyms": list(release.settings.pseudonyms),
        **_coarsening(release),
        "kept": [kept.to_dict() for kept in release.singled_out],
        "removed": list(release.removed),
        "measure": release.settings.objective,
        "loss": release.loss(),
        "column_losses": release.column_losses(),
        **_loosening(release),
        **_certificate(certificate, reason),
        "method": release.settings.method.name,
        "notes": list(release.notes),
        "seconds": round(sum(release.seconds.values()), 3),
    }


def _certificate(certificate: Certificate | None, reason: str) -> dict[str, Any]:
    if certificate is None:
        return {"certificate": None, "certificate_reason": reason} if reason else {}
    ratio = certificate.ratio if certificate.bound else None  # JSON knows no infinity
    return {"certificate": {**asdict(certificate), "ratio": ratio}}


def levels(proof: Proof) -> str:
    """What a requirement beyond k asks for and what the least safe group reaches."""
    return f"{proof.reached:.4g} reached, {proof.required:.4g} required"


def _proved(release: Summarized) -> str:
    reached, k = release.audit.smallest, release.settings.k
    if not release.settings.method.homogeneous:
        return f"every released record may be any of at least {reached:,} ({k:,} required)"
    others = reached - 1
    if not others:
        return "nothing: with k = 1 a record may be alone"
    if release.audit.by_person is not None:
        return f"every record reads like records of at least {reached:,} persons (k = {reached:,}, {k:,} required)"
    what = "1 other" if others == 1 else f"{others:,} others"
    return f"every record reads like at least {what} (k = {reached:,}, {k:,} required)"


def _persons(audit: Audit) -> list[str]:
    return [
        f"for persons: '{found.identifier}' repeats, and one group holds only {found.smallest:,} of its values; "
        "k counts records here, and persons if it is named with person (--person)"
        for found in audit.persons
    ]


def _pseudonyms(release: Summarized) -> list[tuple[str, str]]:
    """Columns that were replaced, and what that leaves possible."""
    names = release.settings.pseudonyms
    linked = "whoever has another release with the same key can join the two by it"
    return [("pseudonyms", f"{name}: {linked}") for name in names]


def coarsened_lines(settings: Settings) -> list[str]:
    """Every column that is made coarser in all records, and how."""
    return [f"{name} to {coarseness(model)}" for name, model in settings.coarsen.items()]


def _coarsening(release: Summarized) -> dict[str, Any]:
    found = {name: coarseness(model) for name, model in release.settings.coarsen.items()}
    return {"coarsened": found} if found else {}


def _kept(release: Summarized) -> list[tuple[str, str]]:
    """Every column that is released as it is, and how many records it singles out."""
    found = release.singled_out
    alone = [item for item in found if len(item.columns) == 1]
    lines = [
        (
            "kept" if item.columns[0] in release.settings.coarsen else "kept as it is",
            f"{item.columns[0]}, singles out {item.alone:,} records",
        )
        for item in alone
    ]
    return lines + [
        ("kept together", f"single out {item.alone:,} records") for item in found[len(alone) :]
    ]


def _loosened(release: Summarized) -> list[tuple[str, str]]:
    """That values were made more general than needed, and what it cost."""
    share = release.settings.loosen
    if not share:
        return []
    cost = f"about {100 * release.loosening_cost:.1f} points of the detail lost"
    return [("loosened", f"about {100 * share:.4g} % of the values that are not exact, at {cost}")]


def _loosening(release: Summarized) -> dict[str, Any]:
    share = release.settings.loosen
    return {"loosen": share, "loosening_cost": release.loosening_cost} if share else {}
