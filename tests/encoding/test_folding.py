"""Texts that differ only in spaces, case, Unicode form or the spelling of a number are one sensitive value.

The encoder, and so methods, kernels and engines, and the audit must agree on it.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from engines import put_on
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from shoal.audits.texts import same_text, same_value
from shoal.encoding.encode import encode, fold_all, fold_text, value_key, value_keys
from shoal.encoding.frames import open_frame

ONE_VALUE = ["HIV", "hiv", " HIV ", "H\u200bIV", "\uff28\uff29\uff36", "hiv\u00a0", "HIV\n"]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    [*ONE_VALUE, "ß", "SS", "ǅ", "İ", "ﬁ", "a  b", "a\tb", "\x1c", "\x0b a"]
)
ONE_NUMBER = ["1", "1.0", "1.00", " 1 ", "+1", "1,0", "1.", "１", "10e-01"]
NUMBERS = st.from_regex(r"[+-]?0?[0-9]{0,3}[.,]?[0-9]{0,3}(e[+-]?[0-9]{1,3})?", fullmatch=True)
NEAR = st.from_regex(r"[+-]?0?[0-2][.,]?[0-2]?0?(e[+-]?[01])?", fullmatch=True)  # many are equal


@pytest.mark.parametrize("text", ONE_VALUE)
def test_forms_of_one_value_fold_to_one(text: str) -> None:
    assert fold_text(text) == "hiv"


@pytest.mark.parametrize(("one", "other"), [("flu", "flue"), ("250.1", "250.10"), ("a b", "ab")])
def test_different_values_stay_different(one: str, other: str) -> None:
    assert fold_text(one) != fold_text(other)


@pytest.mark.parametrize("text", ONE_NUMBER)
def test_spellings_of_one_number_have_one_key(text: str) -> None:
    assert value_key(text) == same_value(text) == "1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "01"),
        ("1", "-1"),
        ("1.5", "1.05"),
        ("2e10", "20000000000"),
        ("1.2.0", "1.2"),
        ("", "0"),
    ],
)
def test_codes_and_other_numbers_stay_apart(one: str, other: str) -> None:
    assert value_key(one) != value_key(other)


@given(TEXTS | NUMBERS)
def test_encoding_and_audit_fold_alike(text: str) -> None:
    assert fold_text(text) == same_text(text)
    assert value_key(text) == same_value(text)


@given(st.lists(NEAR, min_size=20, max_size=40, unique=True))
def test_numbers_with_one_key_are_equal(texts: list[str]) -> None:
    found: dict[str, set[Decimal]] = {}
    for text in texts:
        found.setdefault(value_key(text), set()).add(Decimal(text.replace(",", ".")))
    assume(len(found) < len(texts))
    assert all(len(numbers) == 1 for numbers in found.values())


@given(st.lists(TEXTS | NUMBERS, max_size=8))
def test_many_have_the_keys_of_each(texts: list[str]) -> None:
    values = pa.array(texts, type=pa.large_string())
    assert value_keys(values) == [value_key(text) for text in texts]


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.lists(TEXTS, max_size=8))
def test_many_fold_like_one(texts: list[str]) -> None:
    values = pa.array(texts, type=pa.large_string())
    assert fold_all(values).to_pylist() == [fold_text(text) for text in texts]


def test_encoding_counts_one_value() -> None:
    frame = open_frame(pd.DataFrame({"age": range(8), "ill": [*ONE_VALUE, "flu"]}))
    secret = encode(frame, ["age"], ["ill"]).sensitive["ill"]
    assert secret.size == 2
    assert len(set(secret.codes[:7])) == 1


def test_a_text_that_shows_nothing_is_missing() -> None:
    frame = open_frame(pd.DataFrame({"age": range(4), "ill": ["", " ", None, "flu"]}))
    secret = encode(frame, ["age"], ["ill"]).sensitive["ill"]
    assert secret.codes.tolist() == [1, 1, 1, 0]
    assert secret.has_null


def test_no_group_is_diverse_by_spelling() -> None:
    table = pd.DataFrame({"age": [30] * 4 + [60] * 4, "ill": [*ONE_VALUE[:4], *"abcd"]})
    options = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 2}
    release = shoal.anonymize(table, requirements=[shoal.LDiversity(2)], **options)
    assert set(release.data["age"]) == {"30–60"}


@pytest.mark.parametrize("texts", [["HIV", "HIV ", "hiv", "HIV\u200b"]])
def test_the_audit_counts_one_value(texts: list[str]) -> None:
    table = pd.DataFrame({"age": ["*"] * 4, "d": texts})
    options = {"quasi_identifiers": ["age"], "k": 4, "sensitive": ["d"]}
    with pytest.raises(shoal.AuditFailed):
        shoal.audit(table, requirements=[shoal.LDiversity(2, "distinct")], **options)


def test_extended_sensitivity_reads_values_like_the_hierarchy() -> None:
    tree = shoal.Hierarchy.from_rows(
        [["flu", "resp", "*"], ["asthma", "resp", "*"], ["hiv", "inf", "*"]]
    )
    table = pd.DataFrame({"age": ["*"] * 3, "d": ["flu", "flu ", "FLU"]})
    wanted = shoal.PSensitive(2, tree, ["inf"], columns=["d"])
    with pytest.raises(shoal.AuditFailed):
        shoal.audit(table, quasi_identifiers=["age"], k=3, sensitive=["d"], requirements=[wanted])


def test_a_hierarchy_cannot_tell_apart_what_reads_the_same() -> None:
    tree = shoal.Hierarchy.from_rows([["flu", "resp", "*"], ["FLU", "inf", "*"]])
    table = pd.DataFrame({"age": [1, 2], "d": ["flu", "FLU"]})
    wanted = shoal.PSensitive(1, tree, ["inf"], columns=["d"])
    with pytest.raises(shoal.InputError, match="from others only in spaces"):
        shoal.anonymize(
            table, quasi_identifiers=["age"], k=2, sensitive=["d"], requirements=[wanted]
        )


def test_named_values_are_found_in_any_spelling() -> None:
    table = pd.DataFrame({"age": [30] * 4, "d": ["HIV ", "hiv", "flu", "flu"]})
    options = {"quasi_identifiers": ["age"], "sensitive": ["d"], "k": 2}
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(table, requirements=[shoal.AlphaK(0.4, ["Hiv"])], **options)


# All sensitive values of an age are one number, spelled in several ways.
SPELLED = {"age": [30] * 3 + [60] * 3, "s": ["1", "1.0", "1.00", "2", "2.0", "2.00"]}


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize(
    "asked",
    [
        shoal.LDiversity(2, "distinct"),
        shoal.AlphaK(0.6, ["1.000"]),
        shoal.TCloseness(0.4, "ordered", columns=["s"]),
    ],
    ids=repr,
)
def test_no_group_is_diverse_by_how_it_spells_a_number(
    carrier: str, is_file: bool, asked: shoal.Requirement, tmp_path: Path
) -> None:
    if not is_file and isinstance(asked, shoal.TCloseness):
        pytest.skip("texts of a frame have no order")
    given_as, how = put_on(carrier, pa.table(SPELLED)), {}
    if is_file:
        given_as, how = tmp_path / "t.csv", {"engine": carrier}
        pd.DataFrame(SPELLED).to_csv(given_as, index=False)
    release = shoal.anonymize(
        given_as,
        quasi_identifiers={"age": shoal.Interval()},
        sensitive=["s"],
        allow=["s"],
        k=2,
        requirements=[asked],
        **how,
    )
    assert release.audit.groups == 1
    output = tmp_path / "release.csv"
    release.save(output)
    texts = [line.split(",")[1] for line in output.read_text("utf-8").splitlines()[1:]]
    assert sorted(texts) == SPELLED["s"]  # released as they are


def test_the_audit_ranks_spellings_of_a_number_alike() -> None:
    table = pd.DataFrame({"age": list("aabb"), "s": ["1", "2.0", "1.0", "2"]})
    options = {"quasi_identifiers": ["age"], "sensitive": ["s"], "k": 2}
    found = shoal.audit(table, requirements=[shoal.TCloseness(0.0, "ordered")], **options)
    assert found.proofs[0].reached == 0
