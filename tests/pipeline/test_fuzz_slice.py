"""A short slice of every fuzz campaign, and proof that its checker notices what it is there for."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fuzz.cases import METHODS, QUICK, Case, draw_case
from fuzz.checker import Promise, Released, faults, matching_size
from fuzz.demands import Demand
from fuzz.full_disk import limited_faults
from fuzz.hostile import try_file
from fuzz.jobs import Files, InDuckDB, InSQLite, Job
from fuzz.kills import Killing
from fuzz.readings import canonical, members, reader_of
from fuzz.trials import message_faults, try_case

import shoal

THREE = [31, 33, 52]


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_random_cases_keep_every_promise(start: int) -> None:
    outcomes = [try_case(seed, QUICK) for seed in range(start, start + 10)]
    assert not [outcome for outcome in outcomes if outcome.kind == "failed"]


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_hostile_files_give_a_sentence_or_a_release(start: int, tmp_path: Path) -> None:
    tried = [(number, *try_file(number, tmp_path)) for number in range(start, start + 20)]
    assert not [(number, found) for number, _, found in tried if found]


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize(
    ("job", "library"), [(Files, "os"), (InSQLite, "adbc_driver_sqlite"), (InDuckDB, "duckdb")]
)
def test_killed_runs_leave_every_output_whole(tmp_path: Path, job: type[Job], library: str) -> None:
    pytest.importorskip(library)
    killing = Killing(job(tmp_path, 3000), seed=1, is_compiled=True)
    assert not [fault for _ in range(3) for fault in killing.kill()]


@pytest.mark.skipif(os.name == "nt", reason="needs limits on the size of files")
def test_a_full_disk_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    assert not limited_faults(tmp_path, ".csv", records=300)


def test_every_method_is_fuzzed() -> None:
    assert set(METHODS) == set(shoal.list_methods())


def test_a_case_comes_back_from_its_number() -> None:
    assert draw_case(7) == draw_case(7)
    assert isinstance(draw_case(7), Case)


# The checker


def promise(**changes: object) -> Promise:
    reader = reader_of("interval", "number", THREE, None, None)
    whole = Promise({"age": reader}, {"age": list(THREE)}, {"ill": list("aba")}, [()] * 3, k=2)
    return replace(whole, **changes)  # type: ignore[arg-type]


def released(*cells: str, **changes: object) -> Released:
    whole = Released({"age": list(cells)}, [()] * 3, {"ill": list("aba")}, None, 0, 3, 1.0)
    return replace(whole, **changes)  # type: ignore[arg-type]


def test_the_checker_accepts_a_good_release() -> None:
    assert not faults(promise(), released("31–52", "31–52", "31–52"))


@pytest.mark.parametrize(
    ("what", "given", "found"),
    [
        ({}, released("31–33", "31–33", "52", claimed_k=1, claimed_loss=1 / 3), "k = 2"),
        ({}, released("31–52", "31–52", "31–52", claimed_k=2), "audit counted 2"),
        ({}, released("31–52", "31–52", "31–52", claimed_loss=0.9), "the loss is 1.0"),
        ({}, released("33", "33", "33", claimed_loss=0.0), "2 released records stand for no"),
        ({}, released("52", "33", "31", order=[0, 1, 2], claimed_loss=0.0), "2 records are not in"),
        ({}, released("old", "old", "old"), "cannot be read"),
        ({}, released("31–52", "31–52", "31–52", left_out=1), "1 said to be left out"),
        (
            {"demands": [Demand("distinct", 3, ("ill",))]},
            released("31–52", "31–52", "31–52"),
            "miss distinct 3",
        ),
    ],
)
def test_the_checker_finds_a_broken_promise(
    what: dict[str, object], given: Released, found: str
) -> None:
    assert any(found in fault for fault in faults(promise(**what), given))


def test_the_checker_finds_changed_columns() -> None:
    given = released("31–52", "31–52", "31–52", unchanged=[("x",), ("x",), ("y",)])
    found = faults(promise(unchanged=[("x",), ("y",), ("y",)]), given)
    assert any("1 records have other unchanged columns" in fault for fault in found)


def test_the_largest_matching_is_found() -> None:
    assert matching_size([[0, 1], [0], [1, 2]]) == 3
    assert matching_size([[0], [0], [0, 1]]) == 2
    assert matching_size([]) == 0


def test_one_value_in_several_spellings_is_one_value() -> None:
    spellings = ["Flu", " flu", "FLU\u200b", "ﬂu", "flu\u00a0"]
    assert len(set(map(canonical, spellings))) == 1
    assert canonical(" \u200b ") is None
    assert not Demand("distinct", 2, ("ill",)).holds(spellings, spellings)


def test_members_of_a_set_are_read_with_and_without_quotes() -> None:
    assert members('{a, "b, c", "say \\"d\\""}') == ["a", "b, c", 'say "d"']


@pytest.mark.parametrize(
    ("demand", "group", "holds"),
    [
        (Demand("frequency", 2, ()), "aabb", True),
        (Demand("frequency", 2, ()), "aaab", False),
        (Demand("entropy", 2, ()), "abab", True),
        (Demand("entropy", 2, ()), "aaab", False),
        (Demand("recursive", 2, (), c=2), "aab", False),
        (Demand("recursive", 2, (), c=3), "aab", True),
        (Demand("alpha", 0.5, (), values=("b",)), "aaab", True),
        (Demand("alpha", 0.5, ()), "aaab", False),
        (Demand("equal", 0.25, ()), "aaab", True),
        (Demand("equal", 0.2, ()), "aaab", False),
        (
            Demand(
                "sensitivity",
                2,
                (),
                tree=("*", (("x", (("a", ()), ("b", ()))), ("c", ()))),
                protected=("x",),
            ),
            "ab",
            False,
        ),
        (
            Demand("hierarchical", 0.2, (), tree=("*", (("x", (("a", ()), ("b", ()))), ("c", ())))),
            "aaab",
            True,
        ),
    ],
)
def test_requirements_are_checked_by_their_definition(
    demand: Demand, group: str, holds: bool
) -> None:
    assert demand.holds(list(group), list("aabb")) is holds


def test_a_message_that_shows_a_cell_is_found() -> None:
    assert message_faults(shoal.InputError("The value 'Zq7 flu' is odd."))
    assert message_faults(shoal.InputError("no sentence"))
    assert not message_faults(shoal.InputError("A cell is odd; mend it."), re.compile("Zq7"))
