"""Settings tried on a table or a sample of it: what each column would lose, at the same effort for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.assess.risk import risk_of_groups
from shoal.encoding.closed import Closed
from shoal.encoding.encode import Column
from shoal.encoding.frames import arrow_column
from shoal.encoding.source import Source
from shoal.errors import REASONS, Infeasible, InputError
from shoal.pipeline.carriers.memory import Memory
from shoal.pipeline.plan import Plan, prepare
from shoal.progress import Watch, silent
from shoal.risk.persons import person_numbers
from shoal.settings.settings import Settings
from shoal.solve.local_search.budget import Glance
from shoal.solve.measures import column_losses
from shoal.suggestions.reading import number_column

# Records up to which all are tried; of more, a sample of so many, with k in proportion.
WHOLE = 20_000
LEAST_K = 3  # in a sample


@dataclass(frozen=True)
class Losses:
    """What a trial lost: the share of detail in each column, as a run would print it.

    `rounded` is the share that a model gives up in a column before any grouping, like the days of dates in years,
    which `columns` does not count.
    """

    columns: Mapping[str, float]
    rounded: Mapping[str, float]
    smallest: int  # people or records of the smallest group
    groups: int
    left_out: int
    guessed: float | None = None  # how often a guess of a sensitive value is right

    def whole(self, weights: Mapping[str, float], names: tuple[str, ...] = ()) -> float:
        """The mean of columns, by their weights; by default of all columns."""
        chosen = names or tuple(self.columns)
        parts = [weights.get(name, 1.0) for name in chosen]
        return float(np.average([self.columns[name] for name in chosen], weights=parts))

    def of(self, name: str) -> float:
        """What a column loses in comparison with its exact values; a column that is left out loses everything."""
        if name not in self.columns:
            return 1.0
        return 1 - (1 - self.columns[name]) * (1 - self.rounded[name])

    def exactly(self, weights: Mapping[str, float], names: tuple[str, ...]) -> float:
        """The mean of some columns in comparison with their exact values."""
        parts = [weights.get(name, 1.0) for name in names]
        return float(np.average([self.of(name) for name in names], weights=parts))


@dataclass(frozen=True)
class Trials:
    """A table, or a sample of it, on which settings are tried."""

    source: Source
    settings: Settings
    records: int  # of the whole table
    has_sensitive: bool = False  # whether to measure how well sensitive values can be guessed

    @classmethod
    def of(cls, source: Source, settings: Settings, most: int = WHOLE) -> Trials:
        """Trials on all records, or on a random sample of them or of the people."""
        records = source.data.shape[0]
        if records <= most:
            return cls(source, settings, records)
        least = min(1.0, LEAST_K / settings.k)  # share of records below which k would be too small
        share = max(most / records, least)
        draw = np.random.default_rng(settings.seed)
        person = _persons(source, settings)
        if person is None:
            places = np.sort(draw.choice(records, round(share * records), replace=False))
        else:
            chosen = draw.random(int(person.max()) + 1) < share
            places = np.flatnonzero(chosen[person])
        return cls(replace(source, data=source.data[places.tolist()]), settings, records)

    @property
    def sampled(self) -> int:
        return int(self.source.data.shape[0])

    @property
    def share(self) -> float:
        return self.sampled / self.records

    def plan(self, settings: Settings, has_effort: bool = True) -> Plan[Memory]:
        """The work of a trial: nothing but quasi-identifiers, and sensitive columns if requirements protect them."""
        needed = settings.sensitive if settings.requirements or self.has_sensitive else ()
        effort = Glance() if has_effort and settings.refine else False
        bare = replace(
            settings,
            identifiers=(),
            pseudonyms=(),
            key_file=None,
            sensitive=needed,
            keep=(),
            coarsen={name: model for name, model in settings.coarsen.items() if name in needed},
            allow={name: tuple(REASONS) for name in needed},  # nothing is released
            others="drop",
            render="text",
            loosen=0.0,
            series=False,
            k=self.scaled(settings.k),
            refine=effort,
        )
        return prepare(Memory(self.source), bare)

    def scaled(self, k: int) -> int:
        """k in proportion to the sample."""
        return k if self.share == 1 else max(2, round(k * self.share))

    def measure(self, settings: Settings, has_effort: bool = True) -> Losses | None:
        """What a release by these settings would lose; None if there can be none.

        Without effort, groups are not refined, which is quick and shows which settings are worth more.
        """
        try:
            plan = self.plan(settings, has_effort)
            plan.carrier.solve(plan, Watch(silent))
        except (InputError, Infeasible):
            return None
        closed = plan.carrier.close(plan)
        table = plan.problem.table
        return Losses(
            columns=column_losses(closed, "lm"),
            rounded={
                own.name: self._rounded(own, table.codes[:, j])
                for j, own in enumerate(table.columns)
            },
            smallest=_smallest(closed, plan.carrier),
            groups=int(np.unique(closed.groups).size),
            left_out=closed.left_out,
            guessed=_guessed(closed) if self.has_sensitive else None,
        )

    @cached_property
    def _exact(self) -> dict[str, npt.NDArray[np.int64]]:
        """Number of each record's exact value, by column."""
        return {}

    def _rounded(self, column: Column, codes: npt.NDArray[np.int32]) -> float:
        """The share of a column's detail that its model gives up in every record."""
        name = column.name
        if name not in self._exact:
            found = number_column(name, arrow_column(self.source.data, name))
            self._exact[name] = found.codes
        exact = self._exact[name]
        known = exact >= 0
        distinct = int(exact.max(initial=0))
        if distinct < 1:
            return 0.0
        pairs = np.unique(np.stack([codes[known], exact[known]]), axis=1)
        inside = np.bincount(pairs[0])
        return float((inside[codes[known]] - 1).mean() / distinct)


def _guessed(closed: Closed) -> float | None:
    """The mean share of the most frequent sensitive value of a group, of the column where it is largest."""
    sensitive = closed.table.sensitive
    codes = {name: (own.codes, own.size) for name, own in sensitive.items()}
    found = risk_of_groups(closed.groups, codes).attributes
    return max((own.average_share for own in found), default=None)


def _smallest(closed: Closed, carrier: Memory) -> int:
    """Records, or people if they are counted, of the smallest group."""
    groups = np.unique(closed.groups, return_inverse=True)[1]
    if carrier.person is None or carrier.persons is None:
        return int(np.bincount(groups).min())
    pairs = np.unique(np.stack([groups, carrier.persons]), axis=1)
    return int(np.bincount(pairs[0]).min())


def _persons(source: Source, settings: Settings) -> npt.NDArray[np.int64] | None:
    if settings.person is None:
        return None
    missing = settings.reading.missing_in(settings.person)
    return np.asarray(person_numbers(source.data, settings.person, missing, []), np.int64)
