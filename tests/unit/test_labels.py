"""Labels of periods and of beginnings of codes, as plain functions."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.generalization.calendar_labels import (
    DEFAULT_PERIODS,
    PERIODS,
    as_day,
    calendar_label,
    days_of_label,
    period_problems,
)
from shoal.generalization.prefix_labels import (
    code_parts,
    common_width,
    covers,
    default_lengths,
    length_problems,
    prefix_label,
    prefix_of_label,
)


def test_a_day_reads_as_the_periods_around_it() -> None:
    labels = [calendar_label(date(2020, 1, 31), period) for period in PERIODS]
    assert labels == ["2020-01-31", "2020-W05", "2020-01", "2020-Q1", "2020", "2020–2029"]


def test_a_week_at_new_year_belongs_to_the_year_of_its_thursday() -> None:
    assert calendar_label(date(2021, 1, 3), "week") == "2020-W53"
    assert calendar_label(date(2018, 12, 31), "week") == "2019-W01"


def test_the_time_of_a_day_is_ignored() -> None:
    noon = datetime(2020, 3, 14, 12, 30)
    assert calendar_label(noon, "day") == "2020-03-14"
    assert as_day(noon) == as_day(date(2020, 3, 14)) == date(2020, 3, 14)


@given(
    st.dates(min_value=date(10, 1, 1), max_value=date(9989, 12, 31)),
    st.sampled_from(PERIODS),
)
def test_a_label_covers_exactly_the_days_that_read_like_it(day: date, period: str) -> None:
    label = calendar_label(day, period)
    found = days_of_label(label)
    assert found is not None
    first, last = found
    assert first <= day <= last
    assert calendar_label(first, period) == calendar_label(last, period) == label
    step = timedelta(days=1)
    assert calendar_label(first - step, period) != label != calendar_label(last + step, period)


@pytest.mark.parametrize(
    "text", ["", "*", "2020-13", "2020-W60", "2020-Q5", "202", "2020-02-30", "1985–1994", "[1, 2]"]
)
def test_a_text_that_is_no_period_covers_no_days(text: str) -> None:
    assert days_of_label(text) is None


@pytest.mark.parametrize(
    "periods", [("day",), DEFAULT_PERIODS, ("day", "week"), ("year", "decade")]
)
def test_nested_periods_are_levels(periods: tuple[str, ...]) -> None:
    assert period_problems(periods) == []


@pytest.mark.parametrize(
    ("periods", "said"),
    [
        ((), "give a list"),
        ("day", "give a list"),
        (("day", "moth"), "did you mean 'month'?"),
        (("year", "month"), "from the shortest"),
        (("day", "day"), "each period once"),
        (("week", "month"), "leave out 'week'"),
    ],
)
def test_periods_that_are_no_levels_are_refused(periods: tuple[str, ...], said: str) -> None:
    assert said in period_problems(periods)[0]


def test_codes_of_one_length_show_a_star_for_every_hidden_sign() -> None:
    codes = ["02139", "02144"]
    width = common_width(codes)
    assert width == 5
    labels = [prefix_label("02139", n, width=width) for n in (*default_lengths(codes), 0)]
    assert labels == ["0213*", "021**", "02***", "0****", "*"]


def test_codes_of_different_lengths_show_one_star() -> None:
    assert common_width(["A1", "A123"]) is None
    assert prefix_label("A123", 2) == prefix_label("A1", 2) == "A1*"
    assert prefix_label("A", 2) == "A"


def test_a_separator_makes_parts() -> None:
    assert code_parts("10.1.2.3", ".") == ["10", "1", "2", "3"]
    assert [prefix_label("10.1.2.3", n, separator=".") for n in (3, 2, 1)] == [
        "10.1.2.*",
        "10.1.*",
        "10.*",
    ]
    assert default_lengths(["10.1", "10"], ".") == (1,)


def test_lengths_of_nothing_are_none() -> None:
    assert default_lengths([]) == ()
    assert common_width([]) is None


CODES = st.text(alphabet="01a", min_size=1, max_size=5)


@given(st.lists(CODES, min_size=1, max_size=6), st.integers(1, 5), st.booleans())
def test_a_label_covers_the_codes_that_read_like_it_and_no_others(
    codes: list[str], length: int, has_width: bool
) -> None:
    width = common_width(codes) if has_width else None
    label = prefix_label(codes[0], length, width=width)
    for code in codes:
        assert covers(label, code, width=width) == (
            prefix_label(code, length, width=width) == label
        )
    shown = prefix_of_label(label)
    assert shown is None or codes[0].startswith(shown)


def test_a_label_of_parts_covers_the_codes_of_that_part() -> None:
    assert covers("C34.*", "C34.1", separator=".")
    assert covers("C34.*", "C34", separator=".")
    assert not covers("C34.*", "C345.1", separator=".")
    assert covers("*", "anything")
    assert not covers("C34", "C35")


@pytest.mark.parametrize("lengths", [(), (1, 2), (2, 2), (2, 0), (2.0, 1), (True,)])
def test_lengths_that_do_not_shrink_are_refused(lengths: tuple[int, ...]) -> None:
    assert length_problems(lengths)


def test_lengths_that_shrink_are_taken() -> None:
    assert length_problems((4, 2, 1)) == []
