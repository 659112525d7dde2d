"""What unchanged columns betray is found before the run, named, and refused unless allowed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.privacy.betrayal import betrayals
from shoal.table.encode import encode
from shoal.table.frames import open_frame

RNG = np.random.default_rng(5)
N = 400
AGE = RNG.integers(18, 90, N)
BORN = pd.Series(pd.to_datetime("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20_000, N), "D"))
TOWNS = np.array(["Lille", "Lyon", "Paris", "Nantes"])
TOWN = RNG.integers(0, 4, N)


def found(column: object, quasi_identifier: object, sensitive: bool = False) -> str:
    frame = open_frame(pd.DataFrame({"q": quasi_identifier, "c": column}))
    table = encode(frame, ["q"], ["c"] if sensitive else [])
    return "\n".join(betrayals(frame, table, [] if sensitive else ["c"]))


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize(
    ("column", "quasi_identifier", "says"),
    [
        (AGE**2, AGE, "tells quasi-identifier 'q'"),
        (AGE // 10, AGE, "follows from quasi-identifier 'q'"),
        (BORN.dt.year, BORN, "follows from quasi-identifier 'q'"),
        (TOWN * 7, TOWNS[TOWN], "tells quasi-identifier 'q'"),
        (TOWNS[TOWN], TOWN, "tells quasi-identifier 'q'"),
        (-AGE * 1.5, AGE, "tells quasi-identifier 'q'"),
        (np.arange(N) * 3, np.arange(N), "tells quasi-identifier 'q'"),
        ([f"seen by Dr Brown on day {i}" for i in range(N)], AGE, "free text"),
    ],
)
def test_a_column_that_betrays_is_named(
    column: object, quasi_identifier: object, says: str, sensitive: bool
) -> None:
    assert says in found(column, quasi_identifier, sensitive)


def test_a_few_errors_do_not_hide_a_derived_column() -> None:
    squares = AGE**2
    squares[:2] = 1
    assert "tells quasi-identifier" in found(squares, AGE)


def test_kept_columns_that_single_out_are_named() -> None:
    assert "400 of 400 records" in found([f"v{i}" for i in range(N)], TOWN)
    assert found([f"v{i}" for i in range(N)], TOWN, sensitive=True) == ""


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize(
    "column",
    [
        RNG.integers(0, 5, N),
        ["flu"] * N,
        ["Type 2 diabetes mellitus without complications", "Asthma of some other kind"] * (N // 2),
        RNG.choice(["yes", "no"], N, p=[0.002, 0.998]),
    ],
)
def test_ordinary_columns_are_not_suspected(column: object, sensitive: bool) -> None:
    assert found(column, AGE, sensitive) == ""


def test_small_tables_are_not_suspected_by_chance() -> None:
    people = pd.DataFrame({"q": [31, 33, 52, 58], "c": list("abca")})
    frame = open_frame(people)
    assert betrayals(frame, encode(frame, ["q"], ["c"]), []) == []


def test_what_betrays_is_refused_unless_allowed() -> None:
    table = pd.DataFrame({"age": AGE, "squared": AGE**2})
    options = {"quasi_identifiers": ["age"], "keep": ["squared"], "k": 5}
    with pytest.raises(shoal.InputError, match=r"'squared' tells quasi-identifier 'age'"):
        shoal.anonymize(table, **options)
    assert shoal.anonymize(table, allow=["squared"], **options).k >= 5


def test_no_message_holds_a_cell() -> None:
    table = pd.DataFrame({"age": AGE, "note": [f"Zq7 was here on day {i}" for i in range(N)]})
    with pytest.raises(shoal.InputError) as raised:
        shoal.anonymize(table, quasi_identifiers=["age"], keep=["note"], k=5)
    assert "Zq7" not in str(raised.value)


def test_large_tables_are_looked_at_whole() -> None:
    age = RNG.integers(18, 90, 60_000)
    assert "tells quasi-identifier" in found(age * 2, age)
    assert "tells" not in found(np.where(np.arange(60_000) % 20, age * 2, 0), age)
