"""Texts that differ only in spaces, case or Unicode form are one sensitive value, for kernels and audit alike."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.auditing.texts import same_value
from shoal.table.encode import encode
from shoal.table.folding import fold, fold_all
from shoal.table.frames import open_frame

ONE_VALUE = ["HIV", "hiv", " HIV ", "H\u200bIV", "\uff28\uff29\uff36", "hiv\u00a0", "HIV\n"]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    [*ONE_VALUE, "ß", "SS", "ǅ", "İ", "ﬁ", "a  b", "a\tb", "\x1c", "\x0b a"]
)


@pytest.mark.parametrize("text", ONE_VALUE)
def test_forms_of_one_value_fold_to_one(text: str) -> None:
    assert fold(text) == "hiv"


@pytest.mark.parametrize(("one", "other"), [("flu", "flue"), ("250.1", "250.10"), ("a b", "ab")])
def test_different_values_stay_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(TEXTS)
def test_encoding_and_audit_fold_alike(text: str) -> None:
    assert fold(text) == same_value(text)


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.lists(TEXTS, max_size=8))
def test_many_fold_like_one(texts: list[str]) -> None:
    values = pa.array(texts, type=pa.large_string())
    assert fold_all(values).to_pylist() == [fold(text) for text in texts]


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
    with pytest.raises(shoal.InputError, match="differ from others only in spaces"):
        shoal.anonymize(
            table, quasi_identifiers=["age"], k=2, sensitive=["d"], requirements=[wanted]
        )


def test_named_values_are_found_in_any_spelling() -> None:
    table = pd.DataFrame({"age": [30] * 4, "d": ["HIV ", "hiv", "flu", "flu"]})
    options = {"quasi_identifiers": ["age"], "sensitive": ["d"], "k": 2}
    with pytest.raises(shoal.Infeasible):
        shoal.anonymize(table, requirements=[shoal.AlphaK(0.4, ["Hiv"])], **options)
