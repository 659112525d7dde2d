"""What a carrier does in a run: one method for each step in which memory and engines differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.audits.verdict import Audit, Examination, Persons
from shoal.encoding.closed import Closed
from shoal.encoding.encode import Table
from shoal.encoding.forms import Floats, Records
from shoal.encoding.other_columns import Roles
from shoal.encoding.source import Dialect
from shoal.pipeline.carriers.released import ReleasedData
from shoal.progress import Watch
from shoal.risk.leaks import Leaks
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.pipeline.plan import Plan
    from shoal.pipeline.series.history import History


class Carrier(ABC):
    """Where the records of a run are: in a frame in memory, or on an engine.

    A carrier is used for one run. Its steps are called in the order of this class, and it remembers what later steps
    need.
    """

    # Known once records are closed, where single records have numbers.
    is_released: npt.NDArray[np.bool_] | None = None  # of every input record
    persons: Records | None = None  # a number for the person of each released record
    duals: Floats | None = None  # for the certificate, per record
    bound: float | None = None  # for the certificate: the least that any release costs
    history: History | None = None  # of a series

    @abstractmethod
    def at_work(self) -> AbstractContextManager[None]:
        """Run the steps inside this context: if one fails, everything that was staged is removed."""

    def discard(self) -> None:  # noqa: B027, in memory there is nothing
        """Remove everything that was staged."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The names of the table's columns."""

    @property
    @abstractmethod
    def dialect(self) -> Dialect | None:
        """How the CSV file is written that the table comes from."""

    @abstractmethod
    def encode(self, settings: Settings, roles: Roles, problems: list[str], watch: Watch) -> Table:
        """Encode the table as integers; raise all `problems` together, or add those that can wait for leaks."""

    @abstractmethod
    def leaks(self, table: Table, roles: Roles, settings: Settings) -> Sequence[Leaks]:
        """What released columns reveal."""

    @abstractmethod
    def check_feasible(self, table: Table, settings: Settings) -> None:
        """Raise `Infeasible` if no release can meet the requirements."""

    @abstractmethod
    def solve(self, plan: Plan[Any], watch: Watch) -> Sequence[str]:
        """Group the records, and leave some out if that is allowed; return notes for the user."""

    @abstractmethod
    def close(self, plan: Plan[Any]) -> Closed:
        """What the groups become, without any trace of records that are left out."""

    @abstractmethod
    def render(self, plan: Plan[Any], closed: Closed) -> None:
        """Write the closures as texts, in a random order of records."""

    @abstractmethod
    def examine(self, plan: Plan[Any], closed: Closed) -> Examination:
        """Audit the rendered records by their texts."""

    @abstractmethod
    def count_persons(self, plan: Plan[Any], closed: Closed) -> Sequence[Persons]:
        """The column that most likely identifies people, if some group has fewer than k of its values."""

    @property
    @abstractmethod
    def released_columns(self) -> list[str]:
        """The names of the columns that are released."""

    @abstractmethod
    def people(self, audit: Audit) -> int:
        """How many people are released."""

    @abstractmethod
    def identified(self, columns: Sequence[str]) -> int:
        """How many people are the only ones with their values in some released columns."""

    @abstractmethod
    def released(self, plan: Plan[Any], audit: Audit, closed: Closed) -> ReleasedData[Any]:
        """The released table where it is."""
