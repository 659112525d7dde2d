"""The jobs that refinement and certificates are measured by: tables of every kind, k, and requirements."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import shoal
from benchmarks.drawn import DRAWN
from benchmarks.tables import Table, Tables
from shoal.audits.requirements.base import Requirement

WARM_UP = 1_200  # records


@dataclass(frozen=True)
class Job:
    """A table to be anonymized."""

    name: str
    table: Callable[[Tables], Table]
    k: int
    requirements: Sequence[Requirement] = ()

    def run(self, tables: Tables, certify: float = 0.0, **options: Any) -> dict[str, float | str]:
        """Anonymize the table, a part of it first so that nothing is compiled meanwhile; return loss and CPU seconds.

        With `certify`, the certificate is measured too, at once and after so many seconds.
        """
        table = self.table(tables)
        self._release(table.sample(max(WARM_UP, 2 * self.k)), options)
        start = time.process_time()
        release = self._release(table, options)
        row: dict[str, float | str] = {
            "loss": release.loss(),
            "cpu_s": round(time.process_time() - start, 2),
        }
        if certify:
            start = time.process_time()
            quick = release.certificate
            row["ratio"] = quick.ratio if quick else np.inf
            row["certificate_cpu_s"] = round(time.process_time() - start, 2)
            row["how"] = quick.how if quick else ""
            if certify > 1:
                later = release.certify(certify)
                row["later"] = later.ratio if later else np.inf
        return row

    def _release(self, table: Table, options: Mapping[str, Any]) -> shoal.Release:
        """Anonymize a table; a part of one may not allow what is asked of the whole."""
        asked: dict[str, Any] = {
            "quasi_identifiers": table.models,
            "sensitive": table.sensitive,
            "allow": table.sensitive,
            "others": "drop",
            "k": self.k,
        }
        try:
            return shoal.anonymize(table.data, **asked, requirements=self.requirements, **options)
        except shoal.Infeasible:
            return shoal.anonymize(table.data, **asked, **options)


DISTINCT = (shoal.LDiversity(2, kind="distinct"),)
ENTROPY = (shoal.LDiversity(2, kind="entropy"),)


def _of(name: str, *arguments: Any) -> Callable[[Tables], Table]:
    return lambda tables: getattr(tables, name)(*arguments)


def _drawn(name: str) -> Callable[[Tables], Table]:
    return lambda tables: DRAWN[name]()


LARGE = (
    Job("sample", _of("adult_sample"), 10),
    Job("sample, k = 100", _of("adult_sample"), 100),
    Job("adult_9", _of("adult_9"), 10),
    Job("adult_9, k = 5", _of("adult_9"), 5),
    Job("adult_9, k = 100", _of("adult_9"), 100),
    Job("adult_9, distinct", _of("adult_8_sensitive", "occupation"), 10, DISTINCT),
    Job("adult_9, entropy", _of("adult_8_sensitive", "occupation"), 10, ENTROPY),
    Job("adult_8", _of("adult_8"), 10),
    Job("adult_14", _of("adult_14"), 10),
    Job("fars", _of("fars"), 10),
    Job("fars, k = 5", _of("fars"), 5),
    Job("census_kdd", _of("census_kdd"), 10),
    Job("census_20", _of("census_wide", 20), 10),
    Job("credit_card", _of("credit_card"), 10),
    Job("credit_card, k = 100", _of("credit_card"), 100),
    Job("credit_card, distinct", _of("credit_card"), 10, DISTINCT),
    Job("skewed", _of("skewed"), 10),
    Job("skewed, distinct", _of("skewed"), 10, DISTINCT),
    Job("skewed, entropy", _of("skewed"), 10, ENTROPY),
    Job("wide_5", _drawn("wide_5"), 10),
    Job("wide_10", _drawn("wide_10"), 5),
    Job("wide_20", _drawn("wide_20"), 10),
    Job("wide_20, k = 100", _drawn("wide_20"), 100),
    Job("wide_40", _drawn("wide_40"), 10),
    Job("few_wide", _drawn("few_wide"), 5),
    Job("deep", _drawn("deep"), 10),
    Job("floats_3", _drawn("floats_3"), 10),
    Job("floats", _drawn("floats"), 10),
    Job("categories", _drawn("categories"), 10),
    Job("tenth_million", _drawn("tenth_million"), 10),
)


def _small(
    records: int, columns: str, tables: Tables, data: str = "adult_arx", seed: int = 5
) -> Table:
    """Random records of Adult: with its hierarchies, or by default models where a sensitive column is there."""
    names = columns.split()
    if data == "adult_arx":
        whole = tables.adult_9()
        table = Table("adult", whole.data, {name: whole.models[name] for name in names})
    else:
        read = tables.read("adult/adult_complete.csv.gz")
        table = Table("adult", read, dict.fromkeys(names), ("income",))
    rows = np.random.RandomState(seed).choice(table.data.num_rows, records, replace=False)
    return Table("adult", table.data.take(rows), table.models, table.sensitive)


def _adult(records: int, k: int, columns: str) -> Job:
    name = f"adult {records:,} × {len(columns.split())}"
    return Job(f"{name}, k = {k}", partial(_small, records, columns), k)


def _default(
    records: int, k: int, columns: str, what: str = "", requirements: Sequence[Requirement] = ()
) -> Job:
    name = f"default {records:,} × {len(columns.split())}, k = {k}{what}"
    made = partial(_small, records, columns, data="adult_complete", seed=7)
    return Job(name, made, k, requirements)


FOUR = "sex age race education"
NINE = "sex age race marital-status education native-country workclass occupation salary-class"
SMALL = (  # samples whose optimum is known
    _adult(200, 5, FOUR),
    _adult(400, 5, FOUR),
    _adult(1_000, 5, FOUR),
    _adult(1_000, 10, "sex age race marital-status"),
    _adult(400, 3, "sex age education workclass salary-class"),
    _adult(1_000, 10, "sex race marital-status education workclass"),
)
NARROW = (
    SMALL[2],
    _adult(3_000, 5, FOUR),
    _adult(10_000, 5, FOUR),
    _adult(30_162, 5, FOUR),
    _adult(3_000, 10, f"{FOUR} marital-status"),
    _adult(10_000, 10, f"{FOUR} marital-status"),
    _adult(3_000, 10, NINE),
    _default(300, 5, FOUR),
    _default(1_000, 5, FOUR),
    _default(1_000, 5, FOUR, ", distinct", DISTINCT),
    _default(5_000, 10, FOUR, ", entropy", (shoal.LDiversity(1.5, kind="entropy"),)),
    _default(5_000, 10, f"{FOUR} hours-per-week"),
    _default(1_000, 5, "age hours-per-week capital-gain"),
)
JOBS = {job.name: job for job in (*LARGE, *SMALL, *NARROW)}
HUGE = {
    job.name: job
    for job in (
        Job("floats_50", _drawn("floats_50"), 10),
        Job("million", _drawn("million"), 10),
    )
}
