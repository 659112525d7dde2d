"""What unchanged columns give away is found before the run, named, and refused unless allowed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.risk.leaks import find_leaks

RNG = np.random.default_rng(5)
N = 400
AGE = RNG.integers(18, 90, N)
BORN = pd.Series(pd.to_datetime("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20_000, N), "D"))
TOWNS = np.array(["Lille", "Lyon", "Paris", "Nantes"])
TOWN = RNG.integers(0, 4, N)


def found(column: object, quasi_identifier: object, sensitive: bool = False) -> str:
    frame = open_frame(pd.DataFrame({"q": quasi_identifier, "c": column}))
    table = encode(frame, ["q"], ["c"] if sensitive else [])
    refused = find_leaks(frame, table, [] if sensitive else ["c"], {}).refused
    return "\n".join(leak.sentence for leak in refused)


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize(
    ("column", "quasi_identifier", "says"),
    [
        (AGE**2, AGE, "reveals quasi-identifier 'q'"),
        (AGE // 10, AGE, "follows from quasi-identifier 'q'"),
        (BORN.dt.year, BORN, "follows from quasi-identifier 'q'"),
        (TOWN * 7, TOWNS[TOWN], "reveals quasi-identifier 'q'"),
        (TOWNS[TOWN], TOWN, "reveals quasi-identifier 'q'"),
        (-AGE * 1.5, AGE, "reveals quasi-identifier 'q'"),
        (np.arange(N) * 3, np.arange(N), "reveals quasi-identifier 'q'"),
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
    assert "reveals quasi-identifier" in found(squares, AGE)


def test_kept_columns_that_single_out_are_named() -> None:
    assert "400 of 400 people" in found([f"v{i}" for i in range(N)], TOWN)


def test_sensitive_columns_that_are_nearly_unique_are_named() -> None:
    says = found(RNG.permutation(N) * 10, TOWN, sensitive=True)
    assert "nearly unique: 400 of 400 records" in says
    half_and_more = np.where(np.arange(N) < 0.45 * N, np.arange(N), -1)
    assert found(half_and_more, TOWN, sensitive=True) == ""


def test_few_records_are_not_called_nearly_unique() -> None:
    few = pd.DataFrame({"q": [1, 2, 3, 4] * 4, "c": range(16)})
    frame = open_frame(few)
    assert find_leaks(frame, encode(frame, ["q"], ["c"]), [], {}).refused == ()


DAYS = RNG.integers(0, 25_000, N)


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_column_that_reveals_a_quasi_identifier_but_for_noise_is_named(
    sign: int, sensitive: bool
) -> None:
    noisy = sign * DAYS + RNG.integers(0, 30, N)
    assert "almost reveals quasi-identifier 'q'" in found(noisy, DAYS, sensitive)


def test_a_loose_relation_is_no_leak() -> None:
    assert "reveals" not in found(DAYS + RNG.integers(0, 12_000, N), DAYS, sensitive=True)


FIRST = ["Oliver", "Amelia", "Mohammed", "Isla", "Noah", "Ava"]
LAST = ["Smith", "Patel", "Jones", "Khan", "Taylor", "Begum"]


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([f"{RNG.choice(FIRST).lower()}.{i % 40}@example.org" for i in range(N)], "e-mail"),
        (
            [
                RNG.choice([f"Spoke to {RNG.choice(FIRST)} {RNG.choice(LAST)} again", "no answer"])
                for _ in range(N)
            ],
            "names of people",
        ),
        (
            ["my neighbour Bob Tanner at the shop", "none", "the mayor", "no comment"] * (N // 4),
            "name people",
        ),
        ([f"{RNG.choice(FIRST)} {RNG.choice(LAST)}" for _ in range(N)], "names of people"),
        ([f"call +44 113 496 {i % 30:04}" for i in range(N)], "telephone numbers"),
    ],
)
def test_columns_with_names_and_addresses_are_named(
    values: object, says: str, sensitive: bool
) -> None:
    assert says in found(values, AGE, sensitive)


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
    assert find_leaks(frame, encode(frame, ["q"], ["c"]), [], {}).refused == ()


def test_what_reveals_is_refused_unless_allowed() -> None:
    table = pd.DataFrame({"age": AGE, "squared": AGE**2})
    options = {"quasi_identifiers": ["age"], "keep": ["squared"], "k": 5}
    with pytest.raises(shoal.InputError, match=r"'squared' reveals quasi-identifier 'age'"):
        shoal.anonymize(table, **options)
    allow = {"squared": ["reveals", "unique"]}
    assert shoal.anonymize(table, allow=allow, **options).k >= 5


def test_no_message_holds_a_cell() -> None:
    table = pd.DataFrame({"age": AGE, "note": [f"Zq7 was here on day {i}" for i in range(N)]})
    with pytest.raises(shoal.InputError) as raised:
        shoal.anonymize(table, quasi_identifiers=["age"], keep=["note"], k=5)
    assert "Zq7" not in str(raised.value)


def test_large_tables_are_looked_at_whole() -> None:
    age = RNG.integers(18, 90, 60_000)
    assert "reveals quasi-identifier" in found(age * 2, age)
    assert "reveals" not in found(np.where(np.arange(60_000) % 20, age * 2, 0), age)
