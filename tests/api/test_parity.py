"""A release says the same of itself wherever its table is; what an engine cannot tell is one kind of error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import parity
import pytest
from engines import put_on

import shoal


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    release = shoal.anonymize(parity.people(), **parity.ASKED)
    return parity.asked_of(release, tmp_path_factory.mktemp("memory"))


def test_a_release_in_memory_answers_everything(expected: dict[str, Any]) -> None:
    assert [name for name, found in expected.items() if found is shoal.NotAvailable] == []
    assert sorted([*expected, parity.LAST]) == parity.names()


def test_a_release_on_an_engine_answers_the_same(
    engine: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    release = shoal.anonymize(put_on(engine, parity.people()), **parity.ASKED)
    found = parity.asked_of(release, tmp_path)
    lacking = {name for name, own in found.items() if own is shoal.NotAvailable}
    assert lacking == parity.UNAVAILABLE_ON_ENGINES
    assert parity.differing(found, expected) == []


@pytest.mark.parametrize(
    "asked",
    [
        {"keep_order": True},
        {"method": "non_homogeneous"},
        {"render": "mean"},
        {"person": "name"},
        {"pseudonyms": ["name"], "identifiers": [], "key_file": "key"},
    ],
)
def test_what_an_engine_cannot_do_is_one_kind_of_error(engine: str, asked: dict[str, Any]) -> None:
    with pytest.raises(shoal.NotAvailable):
        shoal.anonymize(put_on(engine, parity.people()), **{**parity.ASKED, **asked})
