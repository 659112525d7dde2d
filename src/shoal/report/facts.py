"""What a report says of a release, as numbers and short texts: aggregates and released values only."""

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
    """How a release was made, which is known of our own only."""

    notes: Sequence[str]
    seconds: Mapping[str, float]
    certificate: Certificate | None
    no_certificate: str  # why there is none
    loosen: float = 0.0  # share of the general values that are more general than needed
    loosening_cost: float = 0.0  # about how much of the loss by `lm` comes of it


@dataclass(frozen=True)
class Promise:
    """A requirement, what the least safe group reaches, and how it is missed, empty where it is proved."""

    name: str
    meaning: str
    required: str
    reached: str
    miss: str


@dataclass(frozen=True)
class ColumnRoles:
    """What became of the table's columns."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    removed: tuple[str, ...]
    replaced: tuple[str, ...]
    kept: tuple[str, ...]  # released as they are, though not sensitive
    unnamed: tuple[str, ...]  # of them those that nobody gave a role
    allowed: Mapping[str, Sequence[str]]  # reasons in spite of which a column is released
    coarsened: Mapping[str, str] = field(default_factory=dict)  # column: to what, in words


@dataclass(frozen=True)
class MeasuredLoss:
    """A measure of information loss on the whole release."""

    name: str
    meaning: str
    value: float
    digits: int = 3  # two where it knows which sensitive value was whose


@dataclass(frozen=True)
class ColumnLoss:
    """What a quasi-identifier lost: in a sentence, by the objective, and as shares of its cells."""

    name: str
    sentence: str
    model: str
    weight: float
    loss: float | None  # None where it is not known what was lost
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
        """The sizes, in words."""
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
    """A few released records: texts of some columns, None for a missing one."""

    columns: Sequence[str]
    records: Sequence[Sequence[str | None]]
    more: int  # columns that are not shown


@dataclass(frozen=True)
class Facts:
    """Everything that a report shows."""

    title: str
    version: str
    written: datetime
    audit: Audit  # its `persons` are identifiers that repeat: k counts records there, not persons
    left_out: int
    k: int
    reads_the_same: bool  # whether the records of a group do
    promises: tuple[Promise, ...]
    verdict: Verdict
    roles: ColumnRoles
    kept: tuple[KeptColumns, ...]
    method: str  # and how it was refined, empty where it is not known
    refined: str
    making: RunFacts | None
    objective: MeasuredLoss | None  # None where records were left out and it is not known which
    measures: tuple[MeasuredLoss, ...]
    columns: tuple[ColumnLoss, ...]
    sizes: Sizes
    risks: Risks
    tells_before: bool  # whether figures of the originals are about just the released records
    histograms: tuple[Histogram, ...]
    sample: Sample | None  # None where nothing hides records: not proved, or k is 1
    settings: str
    remarks: tuple[str, ...]

    @property
    def leaves_persons(self) -> bool:
        """Whether persons have several records, or were to be counted, and nothing is proved for them."""
        audit = self.audit
        return bool(audit.persons) or (bool(audit.person) and audit.by_person is None)
