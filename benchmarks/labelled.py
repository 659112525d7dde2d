"""Tables with a target to predict: text with few values in every column, so that suppression makes sense.

Numbers are cut at quantiles of the whole table into a few ranges, which are named by their order. The target is
the only sensitive column. Records without a target are left out; a missing value elsewhere is a value, `?`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import shoal
from benchmarks.tables import Table, Tables

TARGET = "target"
RANGES = 4  # of a number
FINE = 3  # of a number, in tables of measurements with few records or many columns

Column = npt.NDArray[Any] | pa.ChunkedArray | pa.Array

CENSUS = (
    *("class_of_worker", "marital_status", "major_industry_code", "major_occupation_code"),
    *("race", "sex", "tax_filer_status", "hispanic_origin"),
)


def adult(tables: Tables) -> Table:
    """Adult × 12: who earns more than 50,000. fnlwgt tells nothing of a person, education-num repeats education."""
    data = tables.read("adult/adult_complete.csv.gz")
    texts = (
        *("workclass", "education", "marital-status", "occupation", "relationship"),
        *("race", "sex", "native-country"),
    )
    numbers = ("age", "hours-per-week", "capital-gain", "capital-loss")
    return _table(tables, "adult", data, texts, numbers, data["income"])


def adult_sample(tables: Tables) -> Table:
    """The sample that shoal ships × 9, with missing values: who is married. Relationship would say it."""
    data = shoal.samples.adult()
    texts = ("workclass", "education", "occupation", "race", "sex", "native-country", "income")
    married = pc.is_in(
        data["marital-status"], value_set=pa.array(["Married-civ-spouse", "Married-AF-spouse"])
    )
    return _table(tables, "sample", data, texts, ("age", "hours-per-week"), married)


def credit_card(tables: Tables) -> Table:
    """Clients of a bank × 11: who defaults."""
    data = tables.read("creditcard/creditcard.csv.gz")
    status = [name for name in data.column_names if name.startswith("PAY_") and "AMT" not in name]
    texts = ("SEX", "EDUCATION", "MARRIAGE", *status)
    target = data["default-payment-next-month"]
    return _table(tables, "credit", data, texts, ("LIMIT_BAL", "AGE"), target)


def census_income(tables: Tables) -> Table:
    """Adults of the census who worked all year × 10: who earns more than 50,000."""
    data = _workers(tables)
    return _table(tables, "census", data, (*CENSUS, "education"), ("age",), data["income"])


def census_degree(tables: Tables) -> Table:
    """The same × 10: who has a degree, from a bachelor's on."""
    data = _workers(tables)
    degree = pc.match_substring_regex(
        _text(data["education"]), "^(Bachelors|Masters|Prof|Doctorate)"
    )
    return _table(tables, "degree", data, (*CENSUS, "income"), ("age",), degree)


def contraceptives(tables: Tables) -> Table:
    """Women of Indonesia × 9: which of three methods of contraception they use."""
    data = tables.read("cmc/cmc.csv.gz")
    texts = (
        *("Weducation", "Heducation", "religion", "working", "occupation", "solindex"),
        "exposure",
    )
    return _table(tables, "cmc", data, texts, ("age", "children"), data["method"])


def mammograms(tables: Tables) -> Table:
    """Patients × 5: whose growth is malignant."""
    data = tables.read("mgm/mgm.csv.gz")
    texts = ("bi_rads_assessment", "shape", "margin", "density")
    return _table(tables, "mgm", data, texts, ("age",), data["severity"])


def crashes(tables: Tables) -> Table:
    """Persons who died in crashes and whose race is known × 5: who is white."""
    data = tables.read("fars/fars.csv.gz")
    unknown = pa.array(["Not a fatal(N/A)", "Unknown"])
    data = data.filter(pc.invert(pc.is_in(data["irace"], value_set=unknown)))
    texts = ("isex", "ihispanic", "istatenum", "ideathmon")
    return _table(tables, "fars", data, texts, ("iage",), pc.equal(data["irace"], "White"))


def breast_cancer(tables: Tables) -> Table:
    """Ten means of cells (scikit-learn): which tumour is malignant."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    return _measured(tables, "breast", found.data[:, :10], found.target)


def diabetes(tables: Tables) -> Table:
    """Ten measurements of patients (scikit-learn): whose illness progresses more than in the median."""
    from sklearn.datasets import load_diabetes

    found = load_diabetes(scaled=False)
    return _measured(tables, "diabetes", found.data, found.target > np.median(found.target))


def digits(tables: Tables) -> Table:
    """Mean ink of the 16 blocks of 2 × 2 pixels of a written digit (scikit-learn): which of ten it is."""
    from sklearn.datasets import load_digits

    found = load_digits()
    blocks = found.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    return _measured(tables, "digits", blocks, found.target)


LOADERS: Mapping[str, Callable[[Tables], Table]] = {
    "adult": adult,
    "sample": adult_sample,
    "credit": credit_card,
    "census": census_income,
    "degree": census_degree,
    "cmc": contraceptives,
    "mgm": mammograms,
    "fars": crashes,
    "breast": breast_cancer,
    "diabetes": diabetes,
    "digits": digits,
}


def _workers(tables: Tables) -> pa.Table:
    data = tables.read("census_income_kdd/census_income_kdd.parquet")
    grown = pc.greater_equal(data["age"], 25)
    return data.filter(pc.and_(grown, pc.greater_equal(data["weeks_worked_in_year"], 52)))


def _measured(tables: Tables, name: str, numbers: npt.NDArray[Any], target: Column) -> Table:
    columns = {f"m{j + 1}": numbers[:, j] for j in range(numbers.shape[1])}
    return _table(tables, name, pa.table(columns), (), tuple(columns), target, FINE)


def _table(
    tables: Tables,
    name: str,
    data: pa.Table,
    texts: Sequence[str],
    numbers: Sequence[str],
    target: Column,
    ranges: int = RANGES,
) -> Table:
    columns = {column: _text(data[column]) for column in texts}
    columns |= {column: cut(np.asarray(data[column], dtype=float), ranges) for column in numbers}
    models = {column: shoal.Suppression() for column in columns}
    answers = target if isinstance(target, pa.ChunkedArray) else pa.chunked_array([target])
    whole = pa.table({**columns, TARGET: _text(answers)})
    return Table(name, whole.slice(0, tables.records), models, (TARGET,))


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(column.cast(pa.string()), "?")


def cut(numbers: npt.NDArray[np.float64], ranges: int) -> pa.Array:
    """The range of each number, `r1` the lowest; fewer ranges where quantiles are equal."""
    between = np.quantile(numbers, np.arange(1, ranges) / ranges)
    place = np.searchsorted(np.unique(between), numbers, side="left")
    _, place = np.unique(place, return_inverse=True)
    return pa.array([f"r{one + 1}" for one in place])
