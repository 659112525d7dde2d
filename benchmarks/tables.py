"""The tables that benchmarks run on: the shipped sample, and real ones from a folder of benchmark data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import shoal
from shoal.data.files.table_file import read_file
from shoal.encoding.models import Model

FOLDER = Path(__file__).parents[2] / "shared" / "data"

ADULT_CATEGORIES = (
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
CENSUS_CATEGORIES = (
    "sex",
    "education",
    "marital_status",
    "race",
    "class_of_worker",
    "country_of_birth_self",
    "occupation_code",
)
# Those a stranger may know best come first; the others describe work, family and moves ever more finely.
CENSUS_COLUMNS = (
    "age",
    "education",
    "marital_status",
    "race",
    "sex",
    "class_of_worker",
    "country_of_birth_self",
    "hispanic_origin",
    "full_or_part_time_employment_stat",
    "tax_filer_status",
    "major_industry_code",
    "major_occupation_code",
    "citizenship",
    "weeks_worked_in_year",
    "num_persons_worked_for_employer",
    "detailed_household_summary",
    "member_of_labor_union",
    "family_members_under_18",
    "veterans_benefits",
    "country_of_birth_father",
    "country_of_birth_mother",
    "enrolled_in_edu_inst_last_wk",
    "region_of_previous_residence",
    "own_business_or_self_employed",
    "live_in_this_house_1_year_ago",
    "migration_code_change_in_msa",
    "reason_for_unemployment",
    "detailed_household_and_family_stat",
    "capital_gains",
    "dividends_from_stocks",
)


CREDIT = ("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE")
EDUCATION = (  # of the census, from the least on
    "Children",
    "Less than 1st grade",
    "1st 2nd 3rd or 4th grade",
    "5th or 6th grade",
    "7th and 8th grade",
    "9th grade",
    "10th grade",
    "11th grade",
    "12th grade no diploma",
    "High school graduate",
    "Some college but no degree",
    "Associates degree-occup /vocational",
    "Associates degree-academic program",
    "Bachelors degree(BA AB BS)",
    "Masters degree(MA MS MEng MEd MSW MBA)",
    "Prof school degree (MD DDS DVM LLB JD)",
    "Doctorate degree(PhD EdD)",
)


class Unavailable(Exception):
    """A benchmark cannot run here; the message is one sentence for the user."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table with a model for every quasi-identifier."""

    name: str
    data: pa.Table
    models: Mapping[str, Model | None]
    sensitive: Sequence[str] = ()

    def sample(self, records: int) -> Table:
        """About so many records, evenly spread over the table."""
        step = max(1, self.data.num_rows // records)
        return replace(self, data=self.data.take(np.arange(0, self.data.num_rows, step)))


@dataclass(frozen=True)
class Tables:
    """Loaders of all tables; `records` keeps the first so many of each, for a quick look."""

    folder: Path = FOLDER
    records: int | None = None

    def adult_sample(self) -> Table:
        """The table that shoal ships, 48,842 × 8: age as interval, seven hierarchies, nulls."""
        models = shoal.Settings.load(shoal.samples.adult_settings()).quasi_identifiers
        return self._table("adult_sample", shoal.samples.adult(), models)

    def adult_9(self) -> Table:
        """30,162 × 9, hierarchies only, as in the publications of ARX."""
        data = self.read("adult_arx/adult_arx.csv.gz")
        trees = {"salary-class": "income"}
        models = {
            name: self._tree(f"adult/hierarchies/{trees.get(name, name)}.csv")
            for name in data.column_names
        }
        return self._table("adult_9", data, models)

    def adult_million(self) -> Table:
        """1,193,504 × 9: drawn from `adult_9` with replacement, one cell in ten drawn anew from its column."""
        source = self.adult_9()
        rng = np.random.default_rng(1)
        rows = rng.integers(0, source.data.num_rows, 1_193_504)
        drawn = {}
        for name in source.data.column_names:
            anew = rng.random(rows.size) < 0.1
            others = rng.integers(0, source.data.num_rows, rows.size)
            drawn[name] = source.data[name].take(np.where(anew, others, rows))
        return self._table("adult_million", pa.table(drawn), source.models)

    def adult_8_sensitive(self, sensitive: str) -> Table:
        """30,162 × 8, hierarchies: the columns of `adult_9` less the one that is sensitive."""
        whole = self.adult_9()
        models = {name: model for name, model in whole.models.items() if name != sensitive}
        return Table(f"adult_9 less {sensitive}", whole.data, models, (sensitive,))

    def adult_14(self) -> Table:
        """45,222 × 14, suppression only, as in GT10."""
        data = self.read("adult/adult_complete.csv.gz")
        return self._table("adult_14", data, _suppressed(data.column_names[:14]))

    def adult_15(self) -> Table:
        """The same with income, which GT10 holds to be sensitive."""
        data = self.read("adult/adult_complete.csv.gz")
        return self._table("adult_15", data, _suppressed(data.column_names[:15]))

    def adult_8(self) -> Table:
        """30,162 × 8: two intervals, six suppressions."""
        models = {**_intervals("age", "education-num"), **_suppressed(ADULT_CATEGORIES)}
        return self._table("adult_8", self._adult_train(), models)

    def adult_8_trees(self, train_only: bool = True) -> Table:
        """30,162 × 8 (45,222 with the test part): two intervals, six hierarchies."""
        trees = {name: self._tree(f"adult/hierarchies/{name}.csv") for name in ADULT_CATEGORIES}
        models = {**_intervals("age", "education-num"), **trees}
        data = self._adult_train() if train_only else self.read("adult/adult_complete.csv.gz")
        return self._table("adult_8_trees", data, models)

    def adult_8_mixed(self) -> Table:
        """30,162 × 8: two intervals, two hierarchies, four suppressions, as in XU06 §5.2."""
        table = self.adult_8()
        trees = {
            name: self._tree(f"adult/hierarchies/{name}.csv")
            for name in ("workclass", "marital-status")
        }
        return replace(table, name="adult_8_mixed", models={**table.models, **trees})

    def adult_6_sensitive(self, records: int = 10_000) -> Table:
        """Random records × 6: age as interval, five hierarchies; three sensitive columns, as in TCM07 §4."""
        names = ("workclass", "marital-status", "race", "sex", "native-country")
        trees = {name: self._tree(f"adult/hierarchies/{name}.csv") for name in names}
        models = {**_intervals("age"), **trees}
        sensitive = ("education-num", "education", "occupation")
        data = self.read("adult/adult_complete.csv.gz").select([*models, *sensitive])
        few = min(records, data.num_rows)
        chosen = np.random.default_rng(7).choice(data.num_rows, few, replace=False)
        data = data.take(np.sort(chosen)).slice(0, self.records)
        return Table("adult_6_sensitive", data, models, sensitive)

    def fars(self) -> Table:
        """100,937 × 8, hierarchies only: persons in fatal crashes."""
        data = self.read("fars/fars.csv.gz")
        models = {name: self._tree(f"fars/hierarchies/{name}.csv") for name in data.column_names}
        return self._table("fars", data, models)

    def census_kdd(self) -> Table:
        """299,285 × 8: age as interval, seven suppressions."""
        data = self.read("census_income_kdd/census_income_kdd.parquet")
        models = {**_intervals("age"), **_suppressed(CENSUS_CATEGORIES)}
        return self._table("census_kdd", data, models)

    def fars_deep(self) -> Table:
        """The table `fars` with numbers in six levels of bins."""
        table = self.fars()
        deep = {
            "iage": _bins(table.data, "iage", 5),
            "ideathday": _bins(table.data, "ideathday", 2),
        }
        return replace(table, name="fars_deep", models={**table.models, **deep})

    def census_deep(self) -> Table:
        """299,285 × 10: age, weeks and wage in six levels of bins, seven suppressions."""
        data = self.read("census_income_kdd/census_income_kdd.parquet")
        widths = {"age": 5, "weeks_worked_in_year": 2, "wage_per_hour": 200}
        deep = {name: _bins(data, name, width) for name, width in widths.items()}
        return self._table("census_deep", data, {**deep, **_suppressed(CENSUS_CATEGORIES)})

    def million_deep(self) -> Table:
        """The table `adult_million` with age in six levels of bins."""
        table = self.adult_million()
        deep = {"age": _bins(table.data, "age", 5)}
        return replace(table, name="million_deep", models={**table.models, **deep})

    def census_wide(self, columns: int) -> Table:
        """Every tenth record of the same, 29,929 × so many columns, suppression only."""
        data = self.read("census_income_kdd/census_income_kdd.parquet")
        data = data.take(np.arange(0, data.num_rows, 10))
        return self._table(f"census_{columns}", data, _suppressed(CENSUS_COLUMNS[:columns]))

    def census_ordered(self) -> Table:
        """299,285 × 8, age as interval, other columns in order: education by level, the rest by name."""
        table = self.census_kdd()
        models: dict[str, Model | None] = {"age": shoal.Interval()}
        for name in CENSUS_CATEGORIES:
            known = pc.unique(table.data[name].cast(pa.string()).drop_null()).sort().to_pylist()
            models[name] = shoal.Order(EDUCATION if name == "education" else known)
        return Table("census_ordered", table.data, models)

    def skewed(self) -> Table:
        """30,000 × 8, drawn: two intervals, six suppressions; a sensitive column of 15 values, the first most frequent.

        Every record is of one of 40 sorts, which decide what its columns are likely to be. Half of the records draw
        their sensitive value from those of their sort, so that some sorts have few of them.
        """
        rng = np.random.default_rng(11)
        records, sorts = 30_000, 40
        sort = rng.integers(0, sorts, records)
        centre = rng.integers(20, 80, sorts)
        columns = {
            "age": np.clip(rng.normal(centre[sort], 12), 16, 95).astype(np.int64),
            "level": np.clip(rng.normal(centre[sort] / 5, 3), 1, 16).astype(np.int64),
        }
        for j, size in enumerate((2, 5, 7, 9, 16, 40)):
            usual = rng.integers(0, size, sorts)[sort]
            chance = rng.zipf(1.6, records) % size
            columns[f"group {j}"] = np.where(rng.random(records) < 0.6, usual, chance)
        likely = 1 / np.arange(1, 16)
        drawn = rng.choice(15, records, p=likely / likely.sum())
        own = rng.choice(15, (sorts, 4), p=likely / likely.sum())
        chosen = own[sort, rng.integers(0, 4, records)]
        columns["secret"] = np.where(rng.random(records) < 0.5, chosen, drawn)
        texts = {
            name: pa.array(values if j < 2 else np.char.add("v", values.astype(str)))
            for j, (name, values) in enumerate(columns.items())
        }
        data = pa.table(texts).slice(0, self.records)
        models = {**_intervals("age", "level"), **_suppressed([*columns][2:-1])}
        return Table("skewed", data, models, ("secret",))

    def hospital(self, columns: int = 46) -> Table:
        """101,766 × 46, drawn: stays in hospitals; two intervals, 44 suppressions, most of them nearly always the same.

        A stay is of one of 60 sorts, which decide what its columns are likely to be. The first nine columns, age and
        length of stay among them, have 2 to 70 values; of the others, which say whether each of many drugs was given,
        24 have a most frequent value in 97 to 99.99 % of the stays.
        """
        rng = np.random.default_rng(46)
        records, sorts = 101_766, 60
        sort = rng.choice(sorts, records, p=rng.dirichlet(np.full(sorts, 0.7)))
        age = np.clip(rng.normal(rng.integers(30, 85, sorts)[sort], 15) // 10, 0, 9)
        days = np.clip(rng.gamma(2, rng.uniform(0.8, 3, sorts)[sort]), 1, 14)
        drawn = {"age": age.astype(np.int64), "days": days.astype(np.int64)}
        sizes = [2, 5, 8, 10, 18, 26, 70, *[4] * 8, *[2] * 5, *[4] * 24]
        for j, size in enumerate(sizes):
            is_usual = 1 - 10 ** rng.uniform(-4, -1.5) if j >= 20 else rng.uniform(0.4, 0.9)
            chance = np.minimum(rng.zipf(1.7, records) - 1, size - 1)
            usual = rng.integers(0, size, sorts)[sort] if j < 15 else 0
            drawn[f"c{j}"] = np.where(rng.random(records) < is_usual, usual, chance)
        data = pa.table(
            {
                name: values if j < 2 else np.char.add("v", values.astype(str))
                for j, (name, values) in enumerate(drawn.items())
            }
        )
        models = {**_intervals("age", "days"), **_suppressed([*drawn][2:columns])}
        return self._table(f"hospital_{columns}", data, models)

    def credit_card(self) -> Table:
        """30,000 × 11, suppression only: clients of a bank; whether they default is sensitive."""
        data = self.read("creditcard/creditcard.csv.gz")
        default = "default-payment-next-month"
        names = [name for name in data.column_names if name in CREDIT or name.startswith("PAY_")]
        models = _suppressed([name for name in names if not name.startswith("PAY_AMT")])
        data = data.select([*models, default]).slice(0, self.records)
        return Table("credit_card", data, models, (default,))

    def _adult_train(self) -> pa.Table:
        data = self.read("adult/adult_complete.csv.gz")
        return data.filter(pc.equal(data["part"], "train"))

    def _table(self, name: str, data: pa.Table, models: Mapping[str, Model | None]) -> Table:
        return Table(name, data.select(list(models)).slice(0, self.records), models)

    def read(self, path: str) -> pa.Table:
        """A file of the folder."""
        return read_file(self._found(path))

    def _tree(self, path: str) -> shoal.Hierarchy:
        return shoal.Hierarchy.from_csv(self._found(path))

    def _found(self, path: str) -> Path:
        full = self.folder / path
        if not full.is_file():
            raise Unavailable(
                f"The benchmark data '{os.path.relpath(full)}' is not there; "
                "name the folder that holds it with --data FOLDER."
            )
        return full


def _intervals(*names: str) -> dict[str, Model | None]:
    return {name: shoal.Interval() for name in names}


def _bins(data: pa.Table, name: str, width: int) -> shoal.Hierarchy:
    """Numbers in bins of five widths, each twice the one before, which makes six levels with the root."""
    return shoal.Hierarchy.from_numbers(data[name], [width * 2**level for level in range(5)])


def _suppressed(names: Sequence[str]) -> dict[str, Model | None]:
    return {name: shoal.Suppression() for name in names}
