"""What cannot be asked for is refused in a sentence, with the numbers and the nearest setting."""

from __future__ import annotations

import json
import re
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import reference
from patients import JOB, PATIENTS, TREE

import shoal
from shoal import (
    AlphaK,
    Hierarchy,
    Infeasible,
    InputError,
    LDiversity,
    PSensitive,
    TCloseness,
)
from shoal.audits.requirements.base import Requirement


def anonymize(table: Any, **job: Any) -> shoal.Release:
    """Release the columns that a job names."""
    return shoal.anonymize(table, **job, others="drop")


@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        (LDiversity(2), "No release can meet frequency 2-diversity of 'ill': one value has a share of 62.5 %, so "
            "groups cannot "
            "be balanced; protect the rare values instead (--require alpha:alpha=0.3:values=VALUE), or choose l "
            "of at most 1.6."),
        (LDiversity(4, kind="distinct"), "No release can meet distinct 4-diversity of 'ill': it has 3 distinct "
            "values; choose l of at "
            "most 3."),
        (LDiversity(3, kind="entropy"), "No release can meet entropy 3-diversity of 'ill': its values are too unevenly "
            "distributed; choose l of at most 2.4602."),
        (LDiversity(2, kind="recursive", c=1.5), "No release can meet recursive (1.5, 2)-diversity of 'ill': it "
            "allows only c above 1.6667; "
            "choose c of at least 1.6667."),
        (LDiversity(4, kind="recursive", c=9.5), "No release can meet recursive (9.5, 4)-diversity of 'ill': it "
            "has 3 distinct values; choose l "
            "of at most 3."),
        (PSensitive(4), "No release can meet 4-sensitivity of 'ill': it has 3 distinct values; choose p of "
            "at most 3."),
        (PSensitive(4, TREE, ["cancer"], columns=["ill"]), "No release can meet extended 4-sensitivity of 'ill': "
            "it has 3 protected subtrees; "
            "choose p of at most 3."),
        (AlphaK(0.5), "No release can meet a share of at most 0.5 for any value of 'ill': one value has a share of "
            "0.6250 of the table; choose alpha of at least 0.625."),
    ],
)  # fmt: skip
def test_what_cannot_be_met_is_refused_with_the_numbers(
    requirement: Requirement, says: str
) -> None:
    with pytest.raises(Infeasible) as caught:
        anonymize(PATIENTS, **JOB, requirements=[requirement])
    assert str(caught.value) == says


def test_all_that_cannot_be_met_is_said_together() -> None:
    with pytest.raises(Infeasible) as caught:
        anonymize(PATIENTS, **{**JOB, "k": 9}, requirements=[LDiversity(2), AlphaK(0.5)])
    assert len(str(caught.value).splitlines()) == 3


COLUMNS_OF = "'columns' of {} must be a list of column names. Leave it out to mean all."
L = "'l' of diversity must be a number of at least 1. Got {} instead."
ONE_COLUMN = "{} with a hierarchy is about one column. Name it in 'columns'."


@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        (LDiversity(0.5), L.format(0.5)),
        (LDiversity(float("nan")), L.format("nan")),
        (LDiversity(float("inf")), L.format("inf")),
        (LDiversity("3"), L.format("'3'")),
        (LDiversity(True), L.format(True)),
        (LDiversity([3]), L.format("a value of type tuple")),
        (LDiversity(2.5, kind="distinct"), "'l' of distinct diversity must be a whole number. Got 2.5 instead."),
        (LDiversity(2, kind="entropi"), "'kind' of diversity must be one of frequency, distinct, entropy, "
            "recursive. Got 'entropi' instead."),
        (LDiversity(2, kind="recursive"), "'c' of recursive diversity must be a number above 0. "
            "Got None instead."),
        (LDiversity(2, kind="recursive", c=-1), "'c' of recursive diversity must be a number above 0. "
            "Got -1 instead."),
        (LDiversity(2, c=1), "'c' is for recursive diversity only. Leave it out or choose that kind."),
        (LDiversity(2, columns="ill"), "'columns' of diversity must be a list of columns. Write ['ill']."),
        (LDiversity(2, columns=[]), COLUMNS_OF.format("diversity")),
        (LDiversity(2, columns=3), COLUMNS_OF.format("diversity")),
        (LDiversity(2, columns=PATIENTS["ill"]), COLUMNS_OF.format("diversity")),
        (AlphaK(0.5, columns=[1]), COLUMNS_OF.format("alpha")),
        (PSensitive(0), "'p' of sensitivity must be a whole number of at least 1. Got 0 instead."),
        (PSensitive(2.5), "'p' of sensitivity must be a whole number of at least 1. Got 2.5 instead."),
        (PSensitive(2, TREE), "Sensitivity needs 'hierarchy' and 'protected' together. Give both or neither."),
        (PSensitive(2, protected=["cancer"]), "Sensitivity needs 'hierarchy' and 'protected' together. Give both "
            "or neither."),
        (PSensitive(2, TREE, ["cancer"]), ONE_COLUMN.format("Sensitivity")),
        (PSensitive(2, TREE, ["cancer", "acne"], columns=["ill"]), "1 label in 'protected' of sensitivity is not "
            "in its hierarchy. Use labels of the hierarchy."),
        (PSensitive(2, TREE, "cancer", columns=["ill"]), "'protected' of sensitivity must be a list of labels."),
        (PSensitive(2, TREE, [["a"]], columns=["ill"]), "'protected' of sensitivity must be a list of labels."),
        (PSensitive(2, "ill.csv", ["cancer"], columns=["ill"]), "'hierarchy' of sensitivity must be a "
            "shoal.Hierarchy. Got 'ill.csv' instead."),
        (AlphaK(0), "'alpha' must be a number above 0 and at most 1. Got 0 instead."),
        (AlphaK(1.5), "'alpha' must be a number above 0 and at most 1. Got 1.5 instead."),
        (AlphaK(0.5, []), "'values' of alpha must be a list of sensitive values. Leave it out to limit all values."),
        (AlphaK(0.5, "flu"), "'values' of alpha must be a list of sensitive values. Leave it out to limit all values."),
        (AlphaK(0.5, [None]), "'values' of alpha must be a list of sensitive values. Leave it out to limit all "
            "values."),
        (TCloseness(-0.1), "'t' of closeness must be a number from 0 to 1. Got -0.1 instead."),
        (TCloseness(1.1), "'t' of closeness must be a number from 0 to 1. Got 1.1 instead."),
        (TCloseness(0.2, "far"), "'ground' of closeness must be one of equal, ordered, hierarchical. "
            "Got 'far' instead."),
        (TCloseness(0.2, "hierarchical", columns=["ill"]), "Closeness needs 'hierarchy' if and only if ground is "
            "'hierarchical'. Give both or neither."),
        (TCloseness(0.2, hierarchy=TREE, columns=["ill"]), "Closeness needs 'hierarchy' if and only if ground is "
            "'hierarchical'. Give both or neither."),
        (TCloseness(0.2, "hierarchical", TREE), ONE_COLUMN.format("Closeness")),
        (TCloseness(0.2, "hierarchical", 7, columns=["ill"]), "'hierarchy' of closeness must be a "
            "shoal.Hierarchy. Got 7 instead."),
    ],
)  # fmt: skip
def test_parameters_that_cannot_be_get_a_sentence(requirement: Requirement, says: str) -> None:
    assert requirement.problems() == [says]
    with pytest.raises(InputError) as caught:
        shoal.audit(PATIENTS, **JOB, requirements=[requirement])
    assert caught.value.problems == (says,)


def test_two_wrong_parameters_get_two_sentences() -> None:
    assert len(LDiversity(0, kind="most", columns="ill").problems()) == 3


@pytest.mark.parametrize(
    "requirement",
    [
        LDiversity(np.int64(2)),
        LDiversity(np.float32(1.5), columns=np.array(["ill"])),
        PSensitive(np.uint8(2), columns={"ill"}),
        AlphaK(np.float64(0.5), values=np.array(["flu"])),
    ],
)
def test_numpy_numbers_and_any_list_will_do(requirement: Requirement) -> None:
    assert requirement.problems() == []
    assert json.dumps({name: getattr(requirement, name) for name in ("columns",)})
    assert type(requirement.required) is float


@pytest.mark.parametrize(
    ("column", "named"),
    [
        ([1, 2, 2, 3], [2, 3]),
        ([1, 2, 2, 3], ["2", "3"]),
        ([1.0, 2.0, 2.0, 3.5], [2, 3.5]),
        ([True, True, False], [True]),
        ([date(2020, 1, 1), date(2021, 1, 1), date(2021, 1, 1)], [date(2021, 1, 1)]),
        ([Decimal("1.50"), Decimal("2.00")], [Decimal("1.50")]),
    ],
)
def test_values_of_any_type_can_be_named(column: list[Any], named: list[Any]) -> None:
    frame = pa.table({"g": [0] * len(column), "s": column})
    job = {"quasi_identifiers": ["g"], "sensitive": ["s"], "k": 1}
    [proof] = shoal.audit(frame, **job, requirements=[AlphaK(1, named)]).proofs
    values = [reference.label(v) for v in column]
    assert proof.reached == reference.largest_share(values, [reference.label(v) for v in named])


FLU_OR_GOUT = Hierarchy.from_dict({"*": ["flu", "gout"]})
UNFIT: list[tuple[Requirement, str]] = [
    (TCloseness(0.5, "ordered"), "Column 'ill' has no numbers or dates, but ordered closeness needs an order. "
        "Choose ground 'equal' "
        "or 'hierarchical'."),
    (TCloseness(0.5, "hierarchical", FLU_OR_GOUT, columns=["ill"]),
        "1 of the 2 distinct values of column 'ill' is not in its hierarchy. Add a line for each."),
    (PSensitive(1, FLU_OR_GOUT, ["*"], columns=["ill"]),
        "1 of the 2 distinct values of column 'ill' is not in its hierarchy. Add a line for each."),
]  # fmt: skip


@pytest.mark.parametrize(("requirement", "says"), UNFIT)
def test_a_column_that_a_requirement_cannot_be_asked_of_is_refused(
    requirement: Requirement, says: str
) -> None:
    for run in (anonymize, shoal.audit):
        with pytest.raises(InputError) as caught:
            run(PATIENTS, **JOB, requirements=[requirement])
        assert caught.value.problems == (says,)


@pytest.mark.parametrize(("requirement", "says"), UNFIT)
def test_named_values_that_a_table_lacks_are_refused_beside_other_problems(
    requirement: Requirement, says: str
) -> None:
    with pytest.raises(InputError) as caught:
        anonymize(PATIENTS, **JOB, requirements=[requirement, AlphaK(0.9, ["flu", "gout"])])
    other = "1 of the 2 values of alpha does not occur in column 'ill'. List values of that column."
    assert set(caught.value.problems) == {says, other}


def test_an_audit_says_how_many_named_values_a_release_lacks() -> None:
    frame = PATIENTS.assign(age="*")
    [proof] = shoal.audit(frame, **JOB, requirements=[AlphaK(0.9, ["flu", "gout"])]).proofs
    assert proof.requirement == (
        "a share of at most 0.9 for each listed value of 'ill', of which 1 does not occur"
    )
    assert proof.reached == 5 / 8


def test_white_space_around_a_value_is_no_reason_to_refuse_it() -> None:
    frame = PATIENTS.assign(ill=[" flu", "cold", "flu ", "cold"] * 2)
    tree = Hierarchy.from_dict({"*": ["flu", "cold"]})
    named = {"hierarchy": tree, "columns": ["ill"]}
    asked = [TCloseness(0.9, "hierarchical", **named), PSensitive(1, protected=["*"], **named)]
    assert anonymize(frame, **JOB, requirements=asked, method="agglomerative").k >= 2


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        (LDiversity(2), "The 'requirements' parameter must be a list of requirements, like "
            "[shoal.LDiversity(2)]. Got a value of type LDiversity instead."),
        ([2], 'Each requirement must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) or TCloseness(…). Got '
            '2 instead.'),
        ([LDiversity], 'Each requirement must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) or TCloseness(…). Got '
            'a value of type ABCMeta instead.'),
        ([LDiversity(2, columns=["il"])], "Column 'il' of diversity is not a sensitive column; "
            "did you mean 'ill'?"),
        ([LDiversity(2, columns=["zip"])], "Column 'zip' of diversity is not a sensitive column. "
            "Sensitive columns: ill."),
    ],
)  # fmt: skip
def test_settings_refuse_what_is_no_requirement_of_a_sensitive_column(
    given_: Any, says: str
) -> None:
    for run in (anonymize, shoal.audit):
        with pytest.raises(InputError) as caught:
            run(PATIENTS, **JOB, requirements=given_)
        assert caught.value.problems == (says,)


def test_a_requirement_needs_a_sensitive_column() -> None:
    says = "Requirements are about sensitive columns. Name at least one (sensitive, -s)."
    with pytest.raises(InputError, match=re.escape(says)):
        anonymize(PATIENTS, quasi_identifiers=["age"], k=2, requirements=[LDiversity(2)])


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (shoal.NonHomogeneous(), "Method 'non_homogeneous' supports k only. Choose another method, or drop the "
            "requirements."),
        (shoal.Cover(guarantee=True), "Method 'cover' with these options supports k only. Choose another method, "
            "or drop the "
            "requirements."),
    ],
)  # fmt: skip
def test_methods_that_keep_k_only_are_refused(method: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        anonymize(PATIENTS, **JOB, method=method, requirements=[PSensitive(2)])
    assert caught.value.problems == (says,)
    assert anonymize(PATIENTS, **JOB, method=method).k >= 2
