"""The result of a run: the released table and what is known about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.advice.advise import Advice, advise
from shoal.api.advise import IN_MEMORY
from shoal.api.evaluation import Evaluation, evaluate_release
from shoal.api.mapping import Mapping, mapping_of
from shoal.api.summary import brief_facts, brief_html
from shoal.assess.comparison import Comparison, comparison_of
from shoal.assess.distributions import Distributions, compare_distributions
from shoal.assess.downcoding import Downcoding, measure_downcoding
from shoal.assess.risk import Risks, compare_risks
from shoal.assess.singling_out import KeptColumns
from shoal.audits.verdict import Examination, Verdict
from shoal.data.databases.address import stored_place
from shoal.data.databases.connection import IfExists
from shoal.encoding.closed import loosened
from shoal.encoding.forms import Ints
from shoal.encoding.frames import Frame, FrameT, open_frame
from shoal.errors import InputError, NotAvailable, counted, raise_problems
from shoal.pipeline.carriers.released import dialect_for
from shoal.pipeline.run import RunResult, run
from shoal.progress import Progress, progress_or_bar, silent
from shoal.report.facts import RunFacts
from shoal.report.page import write_report
from shoal.reuse.recoding import Recoding, recoding_of
from shoal.settings.settings import WMI, Settings, name_of
from shoal.solve.bounds.certificate import Certificate, Certifier
from shoal.solve.measures import Aggregate, MeasureName, column_losses, compute_loss
from shoal.solve.measures.catalogue import check_measure, measures_by_column

MOST_PASSES = 1_000_000  # of a certificate that is given time
UNASKED = (
    "it was not computed. Call release.certify(60) first, or add --certify 60 on the command line"
)


@dataclass(frozen=True, repr=False, eq=False)
class Release(RunResult[FrameT]):
    """A released table that has passed its audit.

    `Release[pandas.DataFrame]` is one whose `data` is of that kind. Two releases are equal only if they are the
    same object. A pickled release contains the original table.

    Attributes
    ----------
    data
        The released table, a frame of the same kind as the input (Arrow for a file). For a large table, it reads what
        its engine staged, until `close` or the end of the process.
    groups
        The group of every input record, in input order, −1 for those left out. Never written to disk: it
        would link records. Records of large tables have no numbers: `groups` and `is_released` raise
        `NotAvailable` there.
    is_released
        Whether each input record is in the release, in input order.
    suppressed
        The number of records left out of the release.
    removed
        Columns of the table that are not in the release.
    dialect
        The format of the CSV file that the table comes from, None for any other source. A release is
        saved in the same format.
    settings
        The settings that make this release again, with every model.
    audit
        What the independent audit proved: records, groups, k.
    history
        For a release made with `previous=`: what the next one must know about it and all before; otherwise None.
        It reveals who was released, so protect it like the original table.
    notes
        Notes of the method about its run.
    reading_notes
        What was detected about the table's format, like the format of its dates.
    seconds
        Seconds by stage.
    """

    @property
    def data(self) -> FrameT:
        return self.released.data

    @property
    def is_released(self) -> npt.NDArray[np.bool_]:
        if self.in_release is None:
            self.released.lacks("groups")
        assert self.in_release is not None
        return self.in_release

    @cached_property
    def groups(self) -> Ints:
        groups = np.full(self.is_released.size, -1, dtype=np.int32)
        groups[self.is_released] = self.closed.groups
        return groups

    @property
    def suppressed(self) -> int:
        return self.closed.left_out

    @property
    def k(self) -> int:
        """The size of the smallest group, as proved by the audit: records, or people if they are counted."""
        return self.audit.smallest

    def loss(
        self,
        measure: MeasureName | WMI | None = None,
        *,
        aggregate: Aggregate | None = None,
    ) -> float:
        """Compute a measure of information loss; by default the objective.

        `shoal.list_measures()` lists them; `shoal.WMI(0.3)` is "wmi" with another share of `mi` than the
        settings'. `aggregate` is "sum" or "mean" for measures that have both.
        """
        return compute_loss(
            self.closed,
            name_of(measure or self.settings.objective),
            k=self.settings.k,
            weights=self.settings.weights,
            aggregate=aggregate,
            w=measure.w if isinstance(measure, WMI) else self.settings.w,
        )

    def column_losses(self, measure: MeasureName | None = None) -> dict[str, float]:
        """Mean loss of a record in each quasi-identifier, unweighted, by an additive measure."""
        name = measure or self.settings.objective
        raise_problems(check_measure(name, measures_by_column()))
        return column_losses(self.closed, name, w=self.settings.w)

    @cached_property
    def comparison(self) -> Comparison:
        """The table together with this release, for evaluations."""
        return comparison_of(self.closed, self.settings, self.persons)

    @property
    def verdict(self) -> Verdict:
        """Whether this release is safe as a whole: protected, proved for some columns only, or not proved."""
        assert self.audit.verdict is not None
        return self.audit.verdict

    @property
    def examination(self) -> Examination:
        """Whether the audit missed nothing."""
        kept = ("",) * (1 + len(self.audit.proofs))
        return Examination(self.audit, kept, self.comparison.sizes.astype(np.int64))

    @property
    def making(self) -> RunFacts:
        """How it was made, for a report: with a certificate if it has been computed."""
        impossible = self.suppressed or not self.settings.method.homogeneous
        asked = impossible or "_certifier" in vars(self)
        return RunFacts(
            (*self.reading_notes, *self.notes),
            self.seconds,
            self.certificate if asked else None,
            self.certificate_reason if asked else UNASKED,
            self.settings.loosen,
            self.loosening_cost,
        )

    @property
    def recoding(self) -> Recoding:
        """The closures of this release, for new records; see `shoal.Recoding`."""
        return recoding_of(open_frame(self.data), self.settings)

    @property
    def mapping(self) -> Mapping:
        """What became of each value of each quasi-identifier; it shows original values, so do not release it."""
        return mapping_of(self.closed)

    @cached_property
    def singled_out(self) -> list[KeptColumns]:
        """How many released records are the only ones with their value in each kept column, and in all together."""
        return self.alone_in(self.settings.keep) if self.settings.keep else []

    def alone_in(self, columns: Sequence[str]) -> list[KeptColumns]:
        """How many released records are the only ones with their value in each of some columns, and in all together."""
        return self.released.alone_in(columns)

    @property
    def shown(self) -> Frame:
        """The released records that a report shows, not all."""
        return self.released.shown

    @cached_property
    def risk(self) -> Risks:
        """The risk of re-identification and of disclosed sensitive values, before and after."""
        return compare_risks(self.comparison)

    @cached_property
    def downcoding(self) -> Downcoding | None:
        """What an attacker concludes who assumes that released values are as specific as possible; see `loosen`.

        None if records do not look the same in groups. Not in any report, because it reveals how much was loosened.
        """
        return measure_downcoding(self.closed) if self.settings.method.homogeneous else None

    @cached_property
    def loosening_cost(self) -> float:
        """About how much of the loss by `lm` is due to `loosen`; 0 without it.

        Estimated from the release alone, by loosening it once more, so that it does not reveal which values are
        tight. Compare with a release without `loosen` to know the cost exactly, and do not publish that.
        """
        share = self.settings.loosen
        if not share:
            return 0.0
        draws = min(50, 1 + 20_000 // self.audit.groups)  # few groups, few draws of their own
        again = [replace(self, closed=loosened(self.closed, share, seed)) for seed in range(draws)]
        mean = sum(release.loss("lm") for release in again) / draws
        return max(0.0, (1.0 - share) * (mean - self.loss("lm")))

    def advice(self, *, progress: Progress | None = None) -> Advice:
        """Say what to change if this release is too coarse, and how much detail each change gains.

        Every gain is measured, in seconds, on the table or on a sample of a large one; see `shoal.advise`.
        """
        if self.source is None:
            raise NotAvailable(IN_MEMORY)
        with progress_or_bar(progress) as report:
            return advise(self.source, self.settings, report)

    @cached_property
    def distributions(self) -> Distributions:
        """How far the distributions in the release are from the table's, with histograms to draw."""
        return compare_distributions(self.comparison)

    def evaluate(
        self, *, queries: int = 1000, sum_column: str | None = None, seed: int = 0
    ) -> Evaluation:
        """Compare this release with its table: risk, distributions, rules and random queries.

        `queries` is their number per workload, 0 for none; `sum_column` is the column that SUM queries add up. For
        classifiers, see `shoal.classify`: they are tested on records that are not in the release.
        """
        return evaluate_release(self, queries=queries, sum_column=sum_column, seed=seed)

    @property
    def certificate(self) -> Certificate | None:
        """How far the objective is from its optimum; None if there is no certificate (see `certificate_reason`).

        It is computed when first used, in a few seconds; `certify` improves it. If people are counted, the true
        optimum may be higher than the certificate says, never lower.
        """
        return self._certifier.certificate if self._certifier else None

    def certify(
        self,
        seconds: float | None = None,
        *,
        passes: int | None = None,
        progress: Progress | None = None,
    ) -> Certificate | None:
        """Improve the certificate, for a number of seconds or, repeatably, by a number of passes over the table.

        The best certificate so far is returned and kept. Stops early if it cannot be improved.
        """
        given = [value for value in (seconds, passes) if value is not None]
        if len(given) != 1 or not given[0] > 0:
            raise InputError("Set 'seconds' or 'passes' to a number above 0.")
        if self._certifier is None:
            return None
        most = (inf if seconds is None else seconds, MOST_PASSES if passes is None else passes)
        with progress_or_bar(progress) as report:
            return self._certifier.certify(*most, report)

    @property
    def certificate_reason(self) -> str:
        """Why there is no certificate; empty if there is one."""
        if self.suppressed:
            return "records were left out, so loss is measured on the released records alone"
        if self._certifier is None:
            return f"in releases by '{self.settings.method.name}', records of a group do not look the same"
        return self._certifier.reason

    @cached_property
    def _certifier(self) -> Certifier | None:
        settings = self.settings
        if self.suppressed or not settings.method.homogeneous:
            return None
        return Certifier(
            self.closed,
            k=settings.k,
            objective=settings.objective,
            weights=settings.weights,
            w=settings.w,
            loss=self.loss(),
            requirements=() if settings.person else settings.requirements,
            duals=self.duals,
            known=self.bound,
            most_left_out=int(settings.suppression_limit * self.closed.records),
        )

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        delimiter: str | None = None,
        encoding: str | None = None,
        table: str | None = None,
        if_exists: IfExists = "fail",
    ) -> None:
        """Write the released table to CSV, Parquet, JSON Lines, Excel or a database, whole or not at all.

        The audit reads the finished file once more, as text, before it gets its name. A table that came from
        a CSV file is written with the same delimiter, decimal separator, line ends and encoding, unless
        `delimiter` or `encoding` say otherwise. In an encoding without the characters – ≥ ≤, ranges are written
        as `[20, 29]` and `>= 90`.

        For the address of a database, `table` is the name of a table in it. An existing table is replaced only if
        `if_exists` is "replace", and never if the release was made from it. The records go to a staging table, are
        audited there, and get their name in the same transaction.

        A release of a large table can also be written to a folder of Parquet files: a path that ends in a slash, or
        without a suffix. On Spark it is a table of the catalogue, like "health.released", or a folder.
        """
        place = stored_place(path, table, if_exists)
        if place is not None:
            self.released.into_database(place, if_exists)
        else:
            dialect = dialect_for(self.dialect, path, delimiter, encoding)
            self.released.into_file(path, overwrite, dialect)

    def close(self) -> None:
        """Remove what an engine staged for this release; its `data` can no longer be read then."""
        self.released.close()

    def save_report(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a report for people, one HTML file, whole or not at all.

        It says what was proved, done and lost, and what risk is left, in aggregates and released values only.
        It includes the certificate if that has been computed; see `certify`.
        """
        distributions = compare_distributions(self.comparison, pairs=False)
        write_report(self, self.risk, distributions, path, overwrite)

    def to_dict(self) -> dict[str, Any]:
        """Return what was released, proved and lost as dicts, lists, texts and numbers, ready for JSON.

        It contains no record. It includes the certificate if that has been computed; see `certify`.
        """
        if "_certifier" not in vars(self):
            return brief_facts(self)
        return brief_facts(self, self.certificate, self.certificate_reason)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        return brief_html(self)

    def __repr__(self) -> str:
        return (
            f"Release({counted(self.audit.records, 'record')} in {counted(self.audit.groups, 'group')}, k = "
            f"{self.k}, {self.settings.objective} = {self.loss():.4g})"
        )


def make_release(
    table: Any, settings: Settings, progress: Progress = silent, **how: Any
) -> Release[Any]:
    """Anonymize a table by complete settings; see `pipeline.run.run` for what else it takes."""
    return Release(**vars(run(table, settings, progress, **how)))
