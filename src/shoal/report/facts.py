"""What a report says about a release, as numbers and short texts: aggregates and released values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from shoal.assess.histograms import Histogram
from shoal.assess.risk import Risks
from shoal.assess.singling_out import KeptColumns
from shoal.audits.verdict import Audit, Verdict
from shoal.solve.bounds.certificate import Certificate


@dataclass(frozen=True)
class RunFacts:
    """How a release was made; known only if shoal made it."""

    notes: Sequence[str]
    seconds: Mapping[str, float]
    certificate: Certificate | None
    no_certificate: str  # why there is none
    loosen: float = 0.0  # share of the generalized values that are more general than needed
    loosening_cost: float = 0.0  # roughly how much of the `lm` loss it causes


@dataclass(frozen=True)
class Promise:
    """A requirement, what the least safe group reaches, and how it is missed (empty if it is proved)."""

    name: str
    meaning: str
    required: str
    reached: str
    miss: str


@dataclass(frozen=True)
class ColumnRoles:
    """What happened to the table's columns."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    removed: tuple[str, ...]
    replaced: tuple[str, ...]
    kept: tuple[str, ...]  # released without protection, and not sensitive
    unnamed: tuple[str, ...]  # those of `kept` that nobody gave a role
    allowed: Mapping[str, Sequence[str]]  # by column, the reasons despite which it is released
    coarsened: Mapping[str, str] = field(default_factory=dict)  # by column, to what, in words


@dataclass(frozen=True)
class MeasuredLoss:
    """A measure of information loss on the whole release."""

    name: str
    meaning: str
    value: float
    digits: int = 3  # 2 if it depends on which sensitive value belongs to whom


@dataclass(frozen=True)
class ColumnLoss:
    """What a quasi-identifier lost: in a sentence, by the objective and as shares of its cells."""

    name: str
    sentence: str
    model: str
    weight: float
    loss: float | None  # None if it is not known what was lost
    exact: float
    general: float
    hidden: float


@dataclass(frozen=True)
class SizeClass:
    """Groups of `least` to `most` records."""

    least: int
    most: int
    groups: int
    records: int

    @property
    def span(self) -> str:
        """The range of sizes, as text."""
        return f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


@dataclass(frozen=True)
class Sizes:
    """How large groups are."""

    smallest: int
    median: int
    largest: int
    classes: tuple[SizeClass, ...]


@dataclass(frozen=True)
class Sample:
    """A few released records: the texts of some columns, None for a missing value."""

    columns: Sequence[str]
    records: Sequence[Sequence[str | None]]
    more: int  # number of columns that are not shown


@dataclass(frozen=True)
class Facts:
    """Everything that a report shows."""

    title: str
    version: str
    written: datetime
    audit: Audit  # its `persons` are identifiers that repeat, where k counts records, not people
    left_out: int
    k: int
    reads_the_same: bool  # whether the records of a group look the same
    promises: tuple[Promise, ...]
    verdict: Verdict
    roles: ColumnRoles
    kept: tuple[KeptColumns, ...]
    method: str  # and how it was refined; empty if not known
    refined: str
    making: RunFacts | None
    objective: MeasuredLoss | None  # None if it is not known which records were left out
    measures: tuple[MeasuredLoss, ...]
    columns: tuple[ColumnLoss, ...]
    sizes: Sizes
    risks: Risks
    tells_before: bool  # whether figures of the original table cover exactly the released records
    histograms: tuple[Histogram, ...]
    sample: Sample | None  # None if nothing protects records: not proved, or k is 1
    settings: str
    remarks: tuple[str, ...]

    @property
    def detail_lost(self) -> float | None:
        """The share of all detail in quasi-identifiers that is lost, as `lm` measures it; None if it is not known."""
        known = [self.objective, *self.measures] if self.objective else self.measures
        return next((item.value for item in known if item and item.name == "lm"), None)

    @property
    def leaves_persons(self) -> bool:
        """Whether nothing is proved for people, although they have several records or were to be counted."""
        audit = self.audit
        return bool(audit.persons) or (bool(audit.person) and audit.by_person is None)


@dataclass(frozen=True)
class CheckFacts:
    """Everything that a report on a finished table shows if its original is not known."""

    title: str
    version: str
    written: datetime
    audit: Audit
    k: int
    promises: tuple[Promise, ...]
    verdict: Verdict
    sizes: Sizes
    failing: tuple[int, int]  # groups with fewer than k records, and the records in them
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[KeptColumns, ...]  # released columns that nothing protects
    settings: str
    remarks: tuple[str, ...]
    making: None = None  # it is not known how the table was made

    @property
    def leaves_persons(self) -> bool:
        """Whether nothing is proved for people, although they were to be counted."""
        return bool(self.audit.person) and self.audit.by_person is None
