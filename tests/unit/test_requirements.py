"""Requirements beyond k: kernels, levels and plain definitions agree, and nothing impossible is begun."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import reference
import tables
from compiled import callable_here
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import (
    AlphaK,
    AuditFailed,
    Hierarchy,
    Infeasible,
    InputError,
    LDiversity,
    PSensitive,
    Settings,
    TCloseness,
)
from shoal.cli import options
from shoal.kernels.rules import count_values, is_diverse
from shoal.privacy import REQUIREMENTS, Requirement, audit, check_feasible, compile_rules
from shoal.privacy.feasibility import most_groups
from shoal.settings import make_settings
from shoal.table import Table, encode, open_frame

count_values = callable_here(count_values)

LETTERS, NUMBERS = list("abcde"), [1, 2, 3, 5, 8]


@dataclass(frozen=True)
class Secret:
    """A sensitive column 's' beside group numbers 'g', and what is required of it."""

    values: list[Any]
    groups: list[int]
    requirement: Requirement
    tree: reference.Column | None = None

    @property
    def frame(self) -> pa.Table:
        kind = pa.string() if set(self.values) & set(LETTERS) else pa.int64()
        return pa.table({"g": self.groups, "s": pa.array(self.values, kind)})

    def encoded(self) -> Table:
        return encode(open_frame(self.frame), ["g"], ["s"])

    def members(self) -> list[list[Any]]:
        """The values of each group."""
        return [[self.values[i] for i in group] for group in tables.members(self.groups)]


@st.composite
def trees(draw: st.DrawFn, values: list[Any]) -> tuple[Hierarchy, reference.Column]:
    nested = draw(tables.trees(LETTERS))
    tree, leaves = Hierarchy.from_dict(nested), tables.nodes_of(nested)
    nodes = {name: frozenset(leaves[name]) for name in tree.inner}
    return tree, reference.Column("hierarchy", values, list(tree.leaves), nodes)


Make = Callable[[st.DrawFn, list[Any], Hierarchy], Requirement]


def one(draw: st.DrawFn, *choices: float) -> Any:
    return draw(st.sampled_from(choices))


KINDS: dict[str, Make] = {
    "frequency": lambda draw, seen, tree: LDiversity(one(draw, 1, 1.5, 2, 3)),
    "entropy": lambda draw, seen, tree: LDiversity(one(draw, 1, 1.5, 2, 3), "entropy"),
    "distinct": lambda draw, seen, tree: LDiversity(one(draw, 1, 2, 3, 4), "distinct"),
    "recursive": lambda draw, seen, tree: LDiversity(
        one(draw, 1, 2, 3, 4), "recursive", one(draw, 0.5, 1, 1.5, 3)
    ),
    "sensitive": lambda draw, seen, tree: PSensitive(one(draw, 1, 2, 3, 4)),
    "extended": lambda draw, seen, tree: PSensitive(
        one(draw, 1, 2, 3),
        tree,
        draw(st.lists(st.sampled_from([*tree.leaves, *tree.inner]), min_size=1, max_size=3)),
        columns=["s"],
    ),
    "alpha": lambda draw, seen, tree: AlphaK(one(draw, 0.25, 1 / 3, 0.5, 1)),
    "alpha of values": lambda draw, seen, tree: AlphaK(
        one(draw, 0.25, 1 / 3, 0.5), draw(st.lists(st.sampled_from(seen), min_size=1))
    ),
    "equal": lambda draw, seen, tree: TCloseness(one(draw, 0, 0.1, 0.25, 0.5)),
    "ordered": lambda draw, seen, tree: TCloseness(one(draw, 0, 0.1, 0.25, 0.5), "ordered"),
    "hierarchical": lambda draw, seen, tree: TCloseness(
        one(draw, 0, 0.1, 0.25, 0.5), "hierarchical", tree, columns=["s"]
    ),
}


@st.composite
def secrets(draw: st.DrawFn, kind: str | None = None) -> Secret:
    """A requirement of a kind for a small table, nulls among its values.

    What is required is often just what some group reaches, or a little more or less.
    """
    kind = kind or draw(st.sampled_from(list(KINDS)))
    known = {"ordered": [NUMBERS], "extended": [LETTERS], "hierarchical": [LETTERS]}.get(
        kind, [LETTERS, NUMBERS]
    )
    cells = [*draw(st.sampled_from(known)), *([None] if draw(st.booleans()) else [])]
    n = draw(st.integers(1, 12))
    values = draw(st.lists(st.sampled_from(cells), min_size=n, max_size=n))
    values = values if any(v is not None for v in values) else [cells[0], *values[1:]]
    tree, twin = draw(trees(values))
    requirement = KINDS[kind](draw, sorted({v for v in values if v is not None}), tree)
    secret = Secret(values, draw(tables.partitions(n)), requirement, twin)
    near = draw(st.sampled_from([None, 0.99, 1.0, 1.01]))
    if near is None:
        return secret
    number = near * level(secret, draw(st.sampled_from(secret.members())))
    match requirement:
        case LDiversity(kind="recursive") if 0 < number < inf:
            return replace(secret, requirement=replace(requirement, c=number))
        case LDiversity(kind="frequency" | "entropy") if number >= 1:
            return replace(secret, requirement=replace(requirement, l=number))
        case AlphaK() if 0 < number <= 1:
            return replace(secret, requirement=replace(requirement, alpha=number))
        case TCloseness() if 0 <= number <= 1:
            return replace(secret, requirement=replace(requirement, t=number))
    return secret


def level(secret: Secret, values: Sequence[Any]) -> float:
    """What a group reaches, by the plain definition."""
    places = {value: place for place, value in enumerate(sorted(set(secret.values) - {None}))}
    places[None] = len(places)
    match secret.requirement:
        case LDiversity(kind="frequency"):
            return reference.least_share(values)
        case LDiversity(kind="entropy"):
            return reference.perplexity(values)
        case LDiversity(l=l, kind="recursive"):
            return reference.recursive_ratio(values, int(l))
        case PSensitive(hierarchy=Hierarchy(), protected=protected):
            assert secret.tree
            return reference.protected_subtrees(secret.tree, values, protected)
        case LDiversity() | PSensitive():
            return len(set(values))
        case AlphaK(values=named):
            return reference.largest_share(values, named)
        case TCloseness(ground="equal"):
            return reference.earth_movers_distance(values, secret.values, lambda a, b: a != b)
        case TCloseness(ground="ordered"):
            last = max(1, len(set(secret.values)) - 1)
            return reference.earth_movers_distance(
                values, secret.values, lambda a, b: abs(places[a] - places[b]) / last
            )
        case TCloseness(ground="hierarchical"):
            assert secret.tree
            return reference.earth_movers_distance(
                values,
                secret.values,
                lambda a, b: reference.hierarchical_distance(secret.tree, a, b),  # type: ignore[arg-type]
            )
    raise ValueError(secret.requirement)


def suffices(requirement: Requirement, reached: float) -> bool:
    match requirement:
        case LDiversity(kind="recursive", c=c):
            return reached < float(c or 0) - 1e-9
        case LDiversity(l=least) | PSensitive(p=least):
            return reached >= least - 1e-9
        case AlphaK(alpha=most) | TCloseness(t=most):
            return reached <= most + 1e-9
    raise ValueError(requirement)


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_kernel_and_plain_definition_agree_on_every_group(kind: str, data: st.DataObject) -> None:
    secret = data.draw(secrets(kind))
    rules, tallies = compile_rules(secret.encoded(), 1, [secret.requirement])
    for records in tables.members(secret.groups):
        counts = np.zeros(rules.start[-1], np.int32)
        count_values(tallies, np.array(records), counts)
        expected = suffices(secret.requirement, level(secret, [secret.values[i] for i in records]))
        assert is_diverse(rules, counts, len(records)) == expected


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_the_audit_says_what_the_plain_definition_says(kind: str, data: st.DataObject) -> None:
    secret = data.draw(secrets(kind))
    reached = [level(secret, values) for values in secret.members()]
    misses = [r for r in reached if not suffices(secret.requirement, r)]
    worst = max(reached) if is_falling(secret.requirement) else min(reached)
    job = {"quasi_identifiers": ["g"], "sensitive": ["s"], "k": 1}
    if not misses:
        [proof] = shoal.audit(secret.frame, requirements=[secret.requirement], **job).proofs
        assert proof.reached == pytest.approx(worst, abs=1e-9)
        assert proof.required == secret.requirement.required
        assert proof.requirement == secret.requirement.describe("s")
    else:
        says = f"{len(misses)} of {len(reached)} groups miss {secret.requirement.describe('s')} "
        with pytest.raises(AuditFailed, match=re.escape(says)):
            shoal.audit(secret.frame, requirements=[secret.requirement], **job)


def is_falling(requirement: Requirement) -> bool:
    """Whether lower levels are safer."""
    match requirement:
        case LDiversity(kind="recursive") | AlphaK() | TCloseness():
            return True
    return False


@given(secrets())
def test_what_the_whole_table_cannot_keep_is_refused(secret: Secret) -> None:
    possible = suffices(secret.requirement, level(secret, secret.values))
    if possible:
        check_feasible(secret.encoded(), 1, [secret.requirement])
    else:
        with pytest.raises(Infeasible, match="No release can keep"):
            check_feasible(secret.encoded(), 1, [secret.requirement])


@given(secrets())
def test_two_groups_that_keep_a_requirement_keep_it_together(secret: Secret) -> None:
    groups = secret.members()
    for a in groups:
        for b in groups:
            if all(suffices(secret.requirement, level(secret, part)) for part in (a, b)):
                assert suffices(secret.requirement, level(secret, [*a, *b]))


def refusal(secret: Secret) -> str:
    """Why no release can keep a requirement, or nothing."""
    try:
        check_feasible(secret.encoded(), 1, [secret.requirement])
    except Infeasible as error:
        return str(error)
    return ""


@given(secrets())
def test_the_nearest_feasible_setting_is_feasible(secret: Secret) -> None:
    said, tries = refusal(secret), 0
    while said:
        name, number = re.findall(r"choose (\w+) of at (?:most|least) ([\d.]+)\.$", said)[0]
        nearest = replace(secret.requirement, **{name: float(number)})
        secret, tries = replace(secret, requirement=nearest), tries + 1
        said = refusal(secret)
        recursive = getattr(secret.requirement, "kind", "") == "recursive"
        assert tries <= 1 + recursive  # which may need a smaller l first and then a larger c


# What a user is told


JOB = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 2}
PATIENTS = pd.DataFrame(
    {
        "age": [31, 33, 34, 35, 52, 55, 58, 59],
        "ill": ["flu", "flu", "flu", "cold", "cold", "flu", "flu", None],
        "pay": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)
TREE = Hierarchy.from_dict({"*": {"cancer": ["colon", "breast"], "cold": None, "flu": None}})


@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        (LDiversity(2), "No release can keep frequency 2-diversity of 'ill': its most frequent value "
            "allows ℓ0 = 1.6000; choose l of at most 1.6."),
        (LDiversity(4, kind="distinct"), "No release can keep distinct 4-diversity of 'ill': it has 3 "
            "distinct values; choose l of at most 3."),
        (LDiversity(3, kind="entropy"), "No release can keep entropy 3-diversity of 'ill': its entropy "
            "allows 2.4602; choose l of at most 2.4602."),
        (LDiversity(2, kind="recursive", c=1.5), "No release can keep recursive (1.5, 2)-diversity of "
            "'ill': it allows only c above 1.6667; choose c of at least 1.6667."),
        (LDiversity(4, kind="recursive", c=9.5), "No release can keep recursive (9.5, 4)-diversity of "
            "'ill': it has 3 distinct values; choose l of at most 3."),
        (PSensitive(4), "No release can keep 4-sensitivity of 'ill': it has 3 distinct values "
            "(Condition 1); choose p of at most 3."),
        (PSensitive(4, TREE, ["cancer"], columns=["ill"]), "No release can keep extended 4-sensitivity "
            "of 'ill': it has 3 protected subtrees (Condition 1); choose p of at most 3."),
        (AlphaK(0.5), "No release can keep a share of at most 0.5 for any value of 'ill': a value has a "
            "share of 0.6250 of the table; choose alpha of at least 0.625."),
    ],
)  # fmt: skip
def test_what_cannot_be_met_is_refused_with_the_numbers(
    requirement: Requirement, says: str
) -> None:
    with pytest.raises(Infeasible) as caught:
        shoal.anonymize(PATIENTS, **JOB, requirements=[requirement])
    assert str(caught.value) == says


def test_all_that_cannot_be_met_is_said_together() -> None:
    with pytest.raises(Infeasible) as caught:
        shoal.anonymize(PATIENTS, **{**JOB, "k": 9}, requirements=[LDiversity(2), AlphaK(0.5)])
    assert len(str(caught.value).splitlines()) == 3


COLUMNS_OF = "'columns' of {} must be a list of column names; leave it out to mean all."
L = "'l' of diversity must be a number of at least 1. Got {} instead."
ONE_COLUMN = "{} with a hierarchy is about one column; name it in 'columns'."


@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        (LDiversity(0.5), L.format(0.5)),
        (LDiversity(float("nan")), L.format("nan")),
        (LDiversity(float("inf")), L.format("inf")),
        (LDiversity("3"), L.format("'3'")),
        (LDiversity(True), L.format(True)),
        (LDiversity([3]), L.format("a value of type tuple")),
        (LDiversity(2.5, kind="distinct"), "'l' of distinct diversity must be whole. Got 2.5 instead."),
        (LDiversity(2, kind="entropi"), "'kind' of diversity must be one of frequency, distinct, entropy, "
            "recursive. Got 'entropi' instead."),
        (LDiversity(2, kind="recursive"), "'c' of recursive diversity must be a number above 0. "
            "Got None instead."),
        (LDiversity(2, kind="recursive", c=-1), "'c' of recursive diversity must be a number above 0. "
            "Got -1 instead."),
        (LDiversity(2, c=1), "'c' is for recursive diversity only; leave it out or choose that kind."),
        (LDiversity(2, columns="ill"), "'columns' of diversity must be a list of columns; write ['ill']."),
        (LDiversity(2, columns=[]), COLUMNS_OF.format("diversity")),
        (LDiversity(2, columns=3), COLUMNS_OF.format("diversity")),
        (LDiversity(2, columns=PATIENTS["ill"]), COLUMNS_OF.format("diversity")),
        (AlphaK(0.5, columns=[1]), COLUMNS_OF.format("alpha")),
        (PSensitive(0), "'p' of sensitivity must be a whole number of at least 1. Got 0 instead."),
        (PSensitive(2.5), "'p' of sensitivity must be a whole number of at least 1. Got 2.5 instead."),
        (PSensitive(2, TREE), "Sensitivity needs 'hierarchy' and 'protected' together; give both or neither."),
        (PSensitive(2, protected=["cancer"]), "Sensitivity needs 'hierarchy' and 'protected' together; "
            "give both or neither."),
        (PSensitive(2, TREE, ["cancer"]), ONE_COLUMN.format("Sensitivity")),
        (PSensitive(2, TREE, ["cancer", "acne"], columns=["ill"]), "1 of the labels in 'protected' of "
            "sensitivity are not in its hierarchy; name labels of it."),
        (PSensitive(2, TREE, "cancer", columns=["ill"]), "'protected' of sensitivity must be a list of labels."),
        (PSensitive(2, TREE, [["a"]], columns=["ill"]), "'protected' of sensitivity must be a list of labels."),
        (PSensitive(2, "ill.csv", ["cancer"], columns=["ill"]), "'hierarchy' of sensitivity must be a "
            "shoal.Hierarchy. Got 'ill.csv' instead."),
        (AlphaK(0), "'alpha' must be a number above 0 and at most 1. Got 0 instead."),
        (AlphaK(1.5), "'alpha' must be a number above 0 and at most 1. Got 1.5 instead."),
        (AlphaK(0.5, []), "'values' of alpha must be a list of sensitive values; leave it out to mean all."),
        (AlphaK(0.5, "flu"), "'values' of alpha must be a list of sensitive values; leave it out to mean all."),
        (AlphaK(0.5, [None]), "'values' of alpha must be a list of sensitive values; leave it out to mean all."),
        (TCloseness(-0.1), "'t' of closeness must be a number from 0 to 1. Got -0.1 instead."),
        (TCloseness(1.1), "'t' of closeness must be a number from 0 to 1. Got 1.1 instead."),
        (TCloseness(0.2, "far"), "'ground' of closeness must be one of equal, ordered, hierarchical. "
            "Got 'far' instead."),
        (TCloseness(0.2, "hierarchical", columns=["ill"]), "Closeness takes 'hierarchy' with ground "
            "'hierarchical' and only then; give both or neither."),
        (TCloseness(0.2, hierarchy=TREE, columns=["ill"]), "Closeness takes 'hierarchy' with ground "
            "'hierarchical' and only then; give both or neither."),
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


@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        (AlphaK(0.9, ["flu", "gout"]), "1 of the 2 values that alpha names are not in column 'ill'; "
            "name values of that column."),
        (TCloseness(0.5, "ordered"), "Column 'ill' is no number or date, and ordered closeness needs an "
            "order; choose ground 'equal' or 'hierarchical'."),
        (TCloseness(0.5, "hierarchical", Hierarchy.from_dict({"*": ["flu", "gout"]}), columns=["ill"]),
            "1 of the 2 distinct values of column 'ill' are not in its hierarchy; add a line for each of them."),
        (PSensitive(1, Hierarchy.from_dict({"*": ["flu", "gout"]}), ["*"], columns=["ill"]),
            "1 of the 2 distinct values of column 'ill' are not in its hierarchy; add a line for each of them."),
    ],
)  # fmt: skip
def test_a_column_that_a_requirement_cannot_be_asked_of_is_refused(
    requirement: Requirement, says: str
) -> None:
    for run in (shoal.anonymize, shoal.audit):
        with pytest.raises(InputError) as caught:
            run(PATIENTS, **JOB, requirements=[requirement, AlphaK(0.9, ["acne"])])
        other = "1 of the 1 values that alpha names are not in column 'ill'; name values of that column."
        assert set(caught.value.problems) == {says, other}


def test_white_space_around_a_value_is_no_reason_to_refuse_it() -> None:
    frame = PATIENTS.assign(ill=[" flu", "cold", "flu ", "cold"] * 2)
    tree = Hierarchy.from_dict({"*": ["flu", "cold"]})
    named = {"hierarchy": tree, "columns": ["ill"]}
    asked = [TCloseness(0.9, "hierarchical", **named), PSensitive(1, protected=["*"], **named)]
    assert shoal.anonymize(frame, **JOB, requirements=asked, method="agglomerative").k >= 2


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        (LDiversity(2), "The 'requirements' parameter must be a list of requirements, like "
            "[shoal.LDiversity(2)]. Got a value of type LDiversity instead."),
        ([2], "Each of the requirements must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) or "
            "TCloseness(…). Got 2 instead."),
        ([LDiversity], "Each of the requirements must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) "
            "or TCloseness(…). Got a value of type ABCMeta instead."),
        ([LDiversity(2, columns=["il"])], "Column 'il' of diversity is not a sensitive column; "
            "did you mean 'ill'?"),
        ([LDiversity(2, columns=["zip"])], "Column 'zip' of diversity is not a sensitive column. "
            "Sensitive columns: ill."),
    ],
)  # fmt: skip
def test_settings_refuse_what_is_no_requirement_of_a_sensitive_column(
    given_: Any, says: str
) -> None:
    for run in (shoal.anonymize, shoal.audit):
        with pytest.raises(InputError) as caught:
            run(PATIENTS, **JOB, requirements=given_)
        assert caught.value.problems == (says,)


def test_a_requirement_needs_a_sensitive_column() -> None:
    says = "Requirements are about sensitive columns; name at least one."
    with pytest.raises(InputError, match=says):
        shoal.anonymize(PATIENTS, quasi_identifiers=["age"], k=2, requirements=[LDiversity(2)])


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (shoal.NonHomogeneous(), "Method 'non_homogeneous' can keep k only; "
            "choose another method or drop the requirements."),
        (shoal.Cover(guarantee=True), "Method 'cover' with these options can keep k only; "
            "choose another method or drop the requirements."),
    ],
)  # fmt: skip
def test_methods_that_keep_k_only_are_refused(method: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        shoal.anonymize(PATIENTS, **JOB, method=method, requirements=[PSensitive(2)])
    assert caught.value.problems == (says,)
    assert shoal.anonymize(PATIENTS, **JOB, method=method).k >= 2


# The audit


def test_the_audit_names_no_value_and_says_all_that_is_missed() -> None:
    asked = [LDiversity(2, columns=["ill"]), TCloseness(0.1, "ordered", columns=["pay"])]
    frame = PATIENTS.assign(age=["a"] * 4 + ["b"] * 4)
    job = {"quasi_identifiers": ["age"], "sensitive": ["ill", "pay"], "k": 5}
    with pytest.raises(AuditFailed) as caught:
        shoal.audit(frame, **job, requirements=asked)
    assert str(caught.value).splitlines() == [
        "2 of 2 groups have fewer than k = 5 records (the smallest has 4); do not release this table.",
        "1 of 2 groups miss frequency 2-diversity of 'ill' (the worst reaches 1.333); "
        "do not release this table.",
        "2 of 2 groups miss 0.1-closeness (ordered) of 'pay' (the worst reaches 0.2857); "
        "do not release this table.",
    ]


def test_the_audit_needs_the_sensitive_column() -> None:
    with pytest.raises(InputError) as caught:
        shoal.audit(
            PATIENTS.rename(columns={"ill": "illness"}), **JOB, requirements=[LDiversity(1)]
        )
    says = "Sensitive column 'ill' is not in the table; did you mean 'illness'?"
    assert caught.value.problems == (says,)
    assert shoal.audit(PATIENTS.drop(columns="ill"), **{**JOB, "k": 1}).k == 1


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9))
def test_blocks_of_groups_do_not_change_the_proof(seed: int, cells: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pa.table({"g": rng.integers(0, 9, 60), "s": rng.integers(0, 7, 60)})
    asked = [
        LDiversity(1, kind="entropy"),
        AlphaK(1),
        TCloseness(1),
        TCloseness(1, ground="ordered"),
    ]
    job = {"quasi_identifiers": ["g"], "sensitive": ["s"], "k": 1, "requirements": asked}
    whole = shoal.audit(frame, **job)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "CELLS", cells)
        patch.setattr(audit, "GROUPS", groups)
        parts = shoal.audit(frame, **job)
    assert [proof.requirement for proof in parts.proofs] == [p.requirement for p in whole.proofs]
    assert [p.reached for p in parts.proofs] == pytest.approx([p.reached for p in whole.proofs])


def test_an_audit_shows_its_proofs_where_there_are_some() -> None:
    job = {"quasi_identifiers": ["g"], "sensitive": ["s"], "k": 1}
    frame = pa.table({"g": [1, 1], "s": ["a", "b"]})
    assert repr(shoal.audit(frame, **job)) == "Audit(records=2, groups=1, k=2)"
    assert repr(shoal.audit(frame, **job, requirements=[PSensitive(2)])) == (
        "Audit(records=2, groups=1, k=2, "
        """proofs=(Proof(requirement="2-sensitivity of 's'", required=2.0, reached=2.0),))"""
    )


# Whole runs

MANY = {
    "frequency": LDiversity(2.5),
    "distinct": LDiversity(3, kind="distinct"),
    "entropy": LDiversity(3, kind="entropy", columns=["ill"]),
    "recursive": LDiversity(2, kind="recursive", c=2.0, columns=["ill"]),
    "sensitive": PSensitive(3),
    "extended": PSensitive(3, TREE, ["cancer"], columns=["ill"]),
    "alpha": AlphaK(0.5),
    "alpha of a value": AlphaK(0.25, ["flu"], columns=["ill"]),
    "equal": TCloseness(0.25, columns=["ill"]),
    "ordered": TCloseness(0.2, ground="ordered", columns=["pay"]),
    "hierarchical": TCloseness(0.25, "hierarchical", TREE, columns=["ill"]),
}


def crowd(n: int = 120) -> pa.Table:
    ill = ["colon", "breast", "cold", "flu", None]
    return pa.table(
        {
            "age": [20 + 7 * i % 61 for i in range(n)],
            "sex": ["f" if i % 3 else "m" for i in range(n)],
            "ill": [ill[(i * i) % 11 % 5] for i in range(n)],
            "pay": [100 * (i * 13 % 17) for i in range(n)],
        }
    )


@pytest.mark.parametrize("name", MANY)
def test_a_release_keeps_its_requirement_and_comes_back_from_its_settings(
    name: str, tmp_path: Path
) -> None:
    job: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["ill", "pay"],
        "k": 4,
        "method": "agglomerative",
    }
    release = shoal.anonymize(crowd(), **job, requirements=[MANY[name]])
    columns = MANY[name].columns or ("ill", "pay")
    assert [p.requirement for p in release.audit.proofs] == [
        MANY[name].describe(c) for c in columns
    ]
    release.settings.save(tmp_path / "release.toml")
    assert Settings.load(tmp_path / "release.toml") == release.settings
    again = shoal.anonymize(crowd(), settings=tmp_path / "release.toml")
    assert again.data.equals(release.data)
    release.save(tmp_path / "release.parquet")
    proved = shoal.audit(tmp_path / "release.parquet", settings=tmp_path / "release.toml")
    assert proved == release.audit


def test_a_first_run_compiles_on_records_that_cannot_keep_the_requirement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["shoal.anonymize"], "is_cached", lambda: False)
    table = crowd().sort_by("ill")
    job = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 2, "method": "agglomerative"}
    release = shoal.anonymize(table, **job, requirements=[LDiversity(3, kind="distinct")])
    assert release.audit.proofs[0].reached >= 3


# Settings files and flags


def test_requirements_come_back_from_a_settings_file(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "ill.csv").write_text("flu,cold,*\nrhinitis,cold,*\ngout,gout,*\n")
    tree = Hierarchy.from_csv(tmp_path / "trees" / "ill.csv")
    asked = [
        *MANY.values(),
        PSensitive(2, tree, ["cold", "gout"], columns=["ill"]),
        TCloseness(0.5, "hierarchical", tree, columns=["ill"]),
        AlphaK(0.25, [1, 2.5, "x", True, date(2020, 1, 1)], columns=["pay"]),
        LDiversity(1.5, columns=["ill", "pay"]),
    ]
    job = make_settings(
        Settings(quasi_identifiers={"age": None}, sensitive=("ill", "pay"), k=2),
        requirements=asked,
    )
    job.save(tmp_path / "job.toml")
    assert Settings.load(tmp_path / "job.toml") == job
    assert set(job.requirements) >= set(asked[:3])
    text = (tmp_path / "job.toml").read_text()
    assert '[[requirement.diversity]]\nl = 2\nkind = "recursive"\nc = 2.0\n' in text
    assert 'hierarchy = "trees/ill.csv"' in text


def test_requirements_of_a_kind_stand_together_whatever_their_order() -> None:
    asked = [TCloseness(0.5), LDiversity(2), AlphaK(0.9), LDiversity(1)]
    kept = make_settings(Settings({"age": None}, sensitive=("ill",), k=2), requirements=asked)
    assert kept.requirements == (LDiversity(2), LDiversity(1), AlphaK(0.9), TCloseness(0.5))


def test_a_second_label_of_a_set_can_be_protected(tmp_path: Path) -> None:
    rows = [["a", "A", "*"], ["b", "B", "*"], ["c", "B", "*"]]
    requirement = PSensitive(2, Hierarchy.from_rows(rows), ["A", "B"], columns=["s"])
    assert requirement.protected == ("a", "B")
    job = make_settings(Settings({"g": None}, sensitive=("s",), k=1), requirements=[requirement])
    job.save(tmp_path / "job.toml")
    assert Settings.load(tmp_path / "job.toml") == job


FLAGS: dict[str, Requirement] = {
    "diversity:l=3": LDiversity(3),
    "diversity:l=2.5:kind=entropy:columns=ill": LDiversity(2.5, "entropy", columns=["ill"]),
    "diversity:l=2:kind=recursive:c=3:columns=ill,pay": LDiversity(
        2, "recursive", 3, columns=["ill", "pay"]
    ),
    "sensitivity:p=2": PSensitive(2),
    "sensitivity:p=2:hierarchy=ill.csv:protected=cold,gout:columns=ill": PSensitive(
        2,
        Hierarchy.from_rows(
            [["flu", "cold", "*"], ["rhinitis", "cold", "*"], ["gout", "gout", "*"]]
        ),
        ["cold", "gout"],
        columns=["ill"],
    ),
    "alpha:alpha=0.4": AlphaK(0.4),
    "alpha:alpha=0.4:values=flu,a\\,b,c\\:d": AlphaK(0.4, ["flu", "a,b", "c:d"]),
    "closeness:t=0.2": TCloseness(0.2),
    "closeness:t=0.2:ground=ordered:columns=a\\:b,c=d": TCloseness(
        0.2, "ordered", columns=["a:b", "c=d"]
    ),
    "closeness:t=0:ground=hierarchical:hierarchy=ill.csv:columns=ill": TCloseness(
        0,
        "hierarchical",
        Hierarchy.from_rows(
            [["flu", "cold", "*"], ["rhinitis", "cold", "*"], ["gout", "gout", "*"]]
        ),
        columns=["ill"],
    ),
}


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_say_what_python_says(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ill.csv").write_text("flu,cold,*\nrhinitis,cold,*\ngout,gout,*\n")
    problems: list[str] = []
    assert options.requirements([flag], problems) == [FLAGS[flag]]
    assert problems == []


def test_every_requirement_is_listed() -> None:
    assert set(shoal.requirements()) == set(REQUIREMENTS)
    assert {kind.__name__ for kind in REQUIREMENTS.values()} <= set(dir(shoal))


# Condition 2


def brute_force(columns: Sequence[Sequence[Any]], p: int) -> int:
    """The largest number of p-sensitive groups that a few records can be cut into."""
    n, best = len(columns[0]), 0

    def grow(groups: list[list[int]], i: int) -> None:
        nonlocal best
        if i == n:
            if all(len({column[j] for j in g}) >= p for g in groups for column in columns):
                best = max(best, len(groups))
            return
        for group in groups:
            group.append(i)
            grow(groups, i + 1)
            group.pop()
        grow([*groups, [i]], i + 1)

    grow([], 0)
    return best


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=7),
    st.integers(1, 3),
)
def test_condition_2_is_never_below_the_groups_there_can_be(
    records: list[tuple[int, int]], p: int
) -> None:
    columns = list(zip(*records, strict=True))
    if min(len(set(column)) for column in columns) >= p:
        counts = [np.unique(column, return_counts=True)[1].astype(float) for column in columns]
        assert most_groups(counts, p)[0] >= brute_force(columns, p)
        if len(set(columns)) == 1:
            assert most_groups(counts, p)[0] == brute_force(columns, p)


def test_a_release_says_how_many_groups_its_sensitive_values_allow():
    table = pd.DataFrame({"n": range(12), "s": ["a"] * 9 + list("bcb")})
    release = shoal.anonymize(
        table,
        quasi_identifiers=["n"],
        sensitive=["s"],
        k=2,
        requirements=[PSensitive(2)],
    )
    assert release.audit.groups <= 3
    assert "at most 3 groups can have 2 sensitive values (Condition 2)" in release.notes
    easy = shoal.anonymize(
        table.assign(s=list("ab") * 6),
        quasi_identifiers=["n"],
        sensitive=["s"],
        k=2,
        requirements=[PSensitive(2)],
    )
    assert not any("Condition 2" in note for note in easy.notes)
