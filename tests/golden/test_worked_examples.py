"""The worked examples of spec §3, by number."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.encoding.render import render
from shoal.risk.limits import most_groups
from shoal.solve.problem import Problem

SUPPRESSION, INTERVAL = shoal.Suppression(), shoal.Interval()


def close_to(value: float) -> Any:
    """Equal as far as the spec prints it."""
    return pytest.approx(value, abs=5e-5)


# 1: GT10 §5.1

PUBLIC = list("aaaabbbbc")
PRIVATE = [0, 0, 0, 1, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("released", "relative", "absolute"),
    [("aaa**bbb*", -0.1260, 0.5951), ("aa*a*bbb*", 0.0859, 0.8070), ("aaaabbbbc", 0.0, 0.7211)],
    ids=["g1", "g2", "the table itself"],
)
def test_1_pmi_prefers_to_hide_the_outliers(released, relative, absolute):
    table = pd.DataFrame({"x": PUBLIC, "y": PRIVATE})
    release = pd.DataFrame({"x": list(released)})
    roles = {"quasi_identifiers": {"x": SUPPRESSION}, "sensitive": ["y"]}
    assert shoal.loss(table, release, "pmi_relative", **roles) == close_to(relative)
    assert shoal.loss(table, release, "pmi", **roles) == close_to(absolute)


# 2: GiT09 Examples 4.4 and 4.5


@pytest.mark.parametrize(
    ("values", "hidden", "bits"),
    [([1, 2, 3, 3], 2, 3.0), ([1, 2, 3, 3, 3, 3, 3, 3], 3, 3.1838)],
    ids=["4.4", "4.5"],
)
def test_2_entropy_of_hidden_values_is_that_of_the_column(values, hidden, bits):
    release = ["*"] * hidden + [str(value) for value in values[hidden:]]
    found = shoal.loss(
        pd.DataFrame({"x": values}),
        pd.DataFrame({"x": release}),
        "entropy",
        quasi_identifiers={"x": SUPPRESSION},
        aggregate="sum",
    )
    assert found == close_to(bits)


# 3: GiT09 Example 4.7, Tables 1 and 2, ε = 0.05

SKEWED = ["1"] * 17 + ["2", "3", "4"]
PAIRS = shoal.Hierarchy.from_dict({"*": {"{1, 2}": ["1", "2"], "{3, 4}": ["3", "4"]}})


def cost_of_one_cell(measure: str, value: str, label: str) -> float:
    """What it costs to release a single record's value under a label, all others as they are."""
    place = SKEWED.index(value)
    release = [*SKEWED[:place], label, *SKEWED[place + 1 :]]
    return shoal.loss(
        pd.DataFrame({"x": SKEWED}),
        pd.DataFrame({"x": release}),
        measure,
        quasi_identifiers={"x": PAIRS},
        aggregate="sum",
    )


@pytest.mark.parametrize(
    ("measure", "value", "label", "cost"),
    [
        ("entropy", "1", "{1, 2}", 0.3095),
        ("entropy", "2", "{1, 2}", 0.3095),
        ("monotone_entropy", "1", "{1, 2}", 0.2786),
        ("mi", "1", "{1, 2}", 0.0825),
        ("mi", "2", "{1, 2}", 4.1699),
        ("entropy", "4", "*", 0.8476),
        ("monotone_entropy", "4", "*", 0.8476),
        ("mi", "1", "*", 0.2345),
        ("mi", "2", "*", 4.3219),
        ("entropy", "3", "{3, 4}", 1.0),
        ("monotone_entropy", "3", "{3, 4}", 0.1),
        ("mi", "3", "{3, 4}", 1.0),
    ],
)
def test_3_entropy_measures_of_a_skewed_column(measure, value, label, cost):
    assert cost_of_one_cell(measure, value, label) == close_to(cost)


def test_3_entropy_falls_when_a_closure_grows_to_the_whole():
    assert cost_of_one_cell("entropy", "4", "*") < cost_of_one_cell("entropy", "4", "{3, 4}")


# 4: GiT09 Example 4.2


def losses_of_hiding(zips: list[str], measure: str) -> tuple[float, float]:
    """Loss with gender hidden and with zip hidden."""
    table = pd.DataFrame({"gender": ["M", "F"] * (len(zips) // 2), "zip": zips})
    models = {"gender": SUPPRESSION, "zip": SUPPRESSION}
    gender, zip_ = (
        shoal.loss(table, table.assign(**{name: "*"}), measure, quasi_identifiers=models)
        for name in models
    )
    return gender, zip_


@pytest.mark.parametrize("measure", ["tree", "suppressed", "entropy"])
def test_4_two_columns_of_two_even_values_cannot_be_told_apart(measure):
    gender, zip_ = losses_of_hiding(["41278", "41278", "98705", "98705"], measure)
    assert gender == pytest.approx(zip_)


def test_4_with_more_zips_entropy_prefers_to_hide_gender():
    zips = ["41278", "41278", "98705", "98705", "10001", "10001", "20002", "20002"]
    gender, zip_ = losses_of_hiding(zips, "entropy")
    assert gender < zip_
    assert losses_of_hiding(zips, "tree")[0] == losses_of_hiding(zips, "tree")[1]


# 5 and 7: XU06 Example 1 and Figure 1. With each column's range as its weight, ncp is the sum of widths.


def total_width(table: pd.DataFrame, groups: list[int]) -> float:
    frame = open_frame(table)
    closed = Problem.of(encode(frame, table.columns), "ncp", 1).close(np.array(groups, np.int32))
    release = render(frame, closed, np.arange(len(table)))
    ranges = {name: float(table[name].max() - table[name].min()) for name in table}
    return shoal.loss(
        table,
        release.to_native(),
        "ncp",
        quasi_identifiers=dict.fromkeys(table.columns, INTERVAL),
        weights=ranges,
    )


SIX_POINTS = pd.DataFrame({"x": [10, 20, 20, 50, 50, 60], "y": [60, 70, 50, 20, 15, 10]})


@pytest.mark.parametrize(
    ("groups", "width"),
    [([0, 0, 1, 1, 2, 2], 190), ([0, 0, 0, 1, 1, 1], 150)],
    ids=["pairs", "triples"],
)
def test_5_fewer_larger_groups_can_be_narrower(groups, width):
    assert total_width(SIX_POINTS, groups) == pytest.approx(width)


def test_7_local_recoding_is_narrower_than_global():
    table = pd.DataFrame(
        {"age": [24, 25, 30, 30, 32, 32], "zip": [53712, 53711, 53711, 53711, 53712, 53713]}
    )
    recoded_globally = total_width(table, [0, 1, 1, 1, 0, 0])
    recoded_locally = total_width(table, [0, 0, 0, 1, 1, 1])
    assert recoded_globally == pytest.approx(3 * (8 + 1) + 3 * (5 + 0))
    assert recoded_locally == pytest.approx(3 * (6 + 1) + 3 * (2 + 2))


# 6: XU06 Examples 2 and 3


@pytest.mark.parametrize(("pair", "penalty"), [("de", 6 / 7), ("ad", 1)])
def test_6_ncp_counts_the_leaves_below_the_closest_common_ancestor(pair, penalty):
    tree = shoal.Hierarchy.from_dict(
        {"*": {"a": None, "b-g": {"bcd": {"bc": ["b", "c"], "d": None}, "efg": ["e", "f", "g"]}}}
    )
    table = pd.DataFrame({"x": list(pair)})
    release = shoal.anonymize(table, quasi_identifiers={"x": tree}, k=2)
    assert release.loss("ncp") / 2 == pytest.approx(penalty)


# 8: HE12 Tables 1 and 2

PATIENTS = pd.DataFrame(
    {
        "name": ["Andy", "Bob", "Jane", "Alex", "Mary", "Lily", "Lucy"],
        "age": [20, 20, 30, 40, 50, 60, 60],
        "zip": [25, 30, 25, 30, 10, 5, 10],
        "disease": [
            "Flu",
            "Bronchitis",
            "Gastritis",
            "Pneumonia",
            "Flu",
            "Bronchitis",
            "Gastritis",
        ],
    }
)


def test_8_the_groups_close_to_the_printed_intervals():
    frame = open_frame(PATIENTS)
    table = encode(frame, ["age", "zip"], ["disease"], ["name"])
    closed = Problem.of(table, "gcp", 2).close(np.array([0, 0, 1, 1, 2, 2, 2], np.int32))
    release = render(frame, closed, np.arange(7), ["disease"]).to_native()
    assert release["age"].tolist() == ["20"] * 2 + ["30–40"] * 2 + ["50–60"] * 3
    assert release["zip"].tolist() == ["25–30"] * 4 + ["5–10"] * 3
    assert release["disease"].tolist() == PATIENTS["disease"].tolist()
    assert shoal.audit(release, quasi_identifiers=["age", "zip"], k=2).groups == 3
    widths = 2 * (0 / 40 + 5 / 25) + 2 * (10 / 40 + 5 / 25) + 3 * (10 / 40 + 5 / 25)
    found = shoal.loss(PATIENTS, release, "gcp", quasi_identifiers=["age", "zip"])
    assert found == pytest.approx(widths / (7 * 2))


# 9: TCM07 Table 1

MASKED = pd.DataFrame(
    {
        "age": [20] * 3 + [30] * 4,
        "zip": [41099] * 7,
        "diagnosis": ["AIDS"] * 3 + ["Diabetes"] * 2 + ["Tuberculosis"] * 2,
        "income": [60_000, 60_000, 40_000, 50_000, 40_000, 50_000, 40_000],
    }
)


SECRETS = ["diagnosis", "income"]


def sensitivity(table: pd.DataFrame) -> int:
    """The largest p that the audit proves."""
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": SECRETS, "k": 3}
    proofs = shoal.audit(table, **roles, requirements=[shoal.PSensitive(1)]).proofs
    p = int(min(proof.reached for proof in proofs))
    with pytest.raises(shoal.AuditFailed, match=rf"miss(es)? {p + 1}-sensitivity"):
        shoal.audit(table, **roles, requirements=[shoal.PSensitive(p + 1)])
    return p


def test_9_three_anonymous_data_can_disclose_the_diagnosis():
    audit = shoal.audit(MASKED, quasi_identifiers=["age", "zip"], k=3)
    assert (audit.k, audit.groups) == (3, 2)
    assert sensitivity(MASKED) == 1
    with pytest.raises(shoal.AuditFailed):
        shoal.audit(MASKED, quasi_identifiers=["age", "zip"], k=4)


def test_9_one_other_diagnosis_makes_it_two_sensitive():
    mended = MASKED.copy()
    mended.loc[0, "diagnosis"] = "Flu"
    assert sensitivity(mended) == 2


# 10: TCM07 Figure 1

FIGURE = pd.DataFrame({"A": [1, 1, 2, 2], "B": list("abab"), "C": list("αββα")})


def test_10_condition_2_can_promise_more_groups_than_there_are():
    counts = [FIGURE[name].value_counts().to_numpy().astype(float) for name in FIGURE]
    assert most_groups(counts, p=2) == (2, 1)
    pairs = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    for groups in [*pairs, [0, 0, 0, 1]]:
        with pytest.raises(shoal.AuditFailed, match=r"miss(es)? 2-sensitivity"):
            audit_figure(groups)
    assert audit_figure([0, 0, 0, 0]).groups == 1


def audit_figure(groups: list[int]) -> Any:
    roles = {"quasi_identifiers": ["group"], "sensitive": list("ABC"), "k": 1}
    two = [shoal.PSensitive(2)]
    return shoal.audit(FIGURE.assign(group=groups), **roles, requirements=two)


def test_10_condition_1_refuses_more_than_the_distinct_values():
    roles = {"quasi_identifiers": ["group"], "sensitive": list("ABC"), "k": 2}
    with pytest.raises(shoal.Infeasible, match=r"3-sensitivity of 'A'.* choose p of at most 2"):
        shoal.anonymize(FIGURE.assign(group=0), **roles, requirements=[shoal.PSensitive(3)])


# 12: Adult


@pytest.mark.parametrize(("column", "most_diverse"), [("income", 1.3295), ("education", 3.06)])
def test_12_the_largest_l_that_adult_allows(column, most_diverse):
    complete = shoal.samples.adult().drop_null()
    assert complete.num_rows == 45_222
    roles = {"quasi_identifiers": ["age"], "sensitive": [column], "others": "drop", "k": 2}
    with pytest.raises(shoal.Infeasible) as refused:
        shoal.anonymize(complete, **roles, requirements=[shoal.LDiversity(4)])
    [said] = re.findall(r"choose l of at most (\d+\.\d+)", str(refused.value))
    digits = len(str(most_diverse).partition(".")[2])
    assert round(float(said), digits) == most_diverse
