"""What a report says of a release, as numbers and short texts: aggregates and released values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shoal.bounds import Certificate
from shoal.evaluation.distributions import Distributions
from shoal.evaluation.risk import Risks


@dataclass(frozen=True)
class Making:
    """How a release was made, which is known of our own only."""

    notes: Sequence[str]
    seconds: Mapping[str, float]
    certificate: Certificate | None
    no_certificate: str  # why there is none


@dataclass(frozen=True)
class Promise:
    """A requirement, what the least safe group reaches, and how it is missed, empty where it is proved."""

    name: str
    meaning: str
    required: str
    reached: str
    miss: str


@dataclass(frozen=True)
class Roles:
    """What became of the table's columns."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    removed: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """A measure of information loss on the whole release."""

    name: str
    meaning: str
    value: float


@dataclass(frozen=True)
class ColumnLoss:
    """What a quasi-identifier lost: by the objective, and as shares of its cells."""

    name: str
    model: str
    weight: float
    loss: float
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


@dataclass(frozen=True)
class Sizes:
    """How large groups are."""

    smallest: int
    median: int
    largest: int
    classes: tuple[SizeClass, ...]


@dataclass(frozen=True)
class Sample:
    """A few released records, by column."""

    columns: dict[str, list[str | None]]
    more: int  # columns that are not shown


@dataclass(frozen=True)
class Facts:
    """Everything that a report shows."""

    version: str
    written: datetime
    records: int
    left_out: int
    groups: int
    k: int
    reads_the_same: bool  # whether the records of a group do
    promises: tuple[Promise, ...]
    roles: Roles
    method: str  # and how it was refined, empty where it is not known
    refined: str
    making: Making | None
    objective: Measured
    measures: tuple[Measured, ...]
    columns: tuple[ColumnLoss, ...]
    sizes: Sizes
    risks: Risks
    distributions: Distributions
    sample: Sample | None  # None where nothing hides records: not proved, or k is 1
    settings: str
    remarks: tuple[str, ...]

    @property
    def is_proved(self) -> bool:
        return not any(promise.miss for promise in self.promises)
