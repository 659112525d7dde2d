"""What is released can be read back: every closure has one text, and the text stands for that closure only."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import reference
import tables
from hypothesis import given, reject
from hypothesis import strategies as st
from round_trips import assert_round_trip, closures_of

import shoal
from shoal import Hierarchy, InputError, Interval, Subset, Suppression
from shoal.encoding.forms import SetForm

AWKWARD = [v for v in tables.AWKWARD if tables.is_allowed(v, "subset")]
ORDERED: dict[str, list[Any]] = {
    "integers": [-(2**62), -3, -1, 0, 7],
    "floats": [-1.5, -1.0, 0.0, 0.1, 1e-300, 1e16, 1.5e300],
    "decimals": [Decimal("-1.50"), Decimal("0.00"), Decimal("2.25")],
    "dates": [date(1900, 1, 1), date(1999, 12, 31), date(2000, 2, 29)],
    "timestamps": [
        datetime(1969, 12, 31, 23, 59, 59, 5),
        datetime(2000, 1, 1),
        datetime(2000, 1, 2),
    ],
    "zoned timestamps": [datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, 0, 30, tzinfo=UTC)],
}
UNORDERED: dict[str, list[Any]] = {"texts": AWKWARD, "truths": [False, True]}
has_null = pytest.mark.parametrize("has_null", [False, True], ids=["", "null"])


@has_null
@pytest.mark.parametrize("kind", ORDERED)
def test_intervals_are_read_back(kind, has_null):
    form, codes = Interval().compile("x", pa.array(ORDERED[kind]), has_null)
    assert codes.tolist() == list(range(len(ORDERED[kind])))
    assert_round_trip(form)


@has_null
@pytest.mark.parametrize("model", [Suppression(), Subset()], ids=lambda model: model.name)
@pytest.mark.parametrize("kind", {**ORDERED, **UNORDERED})
def test_stars_and_sets_are_read_back(kind, model, has_null):
    form, _ = model.compile("x", pa.array({**ORDERED, **UNORDERED}[kind]), has_null)
    assert_round_trip(form)


@has_null
def test_nodes_are_read_back_and_star_is_the_root(has_null):
    tree = Hierarchy.from_dict({"all, really": {"{a, b}": ["a", 'b "']}, "[1, 2]": ["1", "2"]})
    form, _ = tree.compile("x", pa.array(["a"]), has_null)
    assert_round_trip(form)
    assert form.parse("*") == (form.entries - 1,)


@given(st.sets(st.text(max_size=4), min_size=1, max_size=5).filter(lambda s: "*" not in s))
def test_any_texts_can_be_members_of_a_set(labels):
    if any(label[:1] == "{" and label[-1:] == "}" for label in labels):
        with pytest.raises(InputError, match="texts in braces"):
            Subset().compile("x", pa.array(sorted(labels)), False)
        reject()
    form, _ = Subset().compile("x", pa.array(sorted(labels)), False)
    [text] = form.text(np.array([form.pack(range(form.size))], np.int32).T)
    assert form.parse(text) == form.pack(range(form.size))
    if len(labels) > 1:
        assert reference.members_of(text) == sorted(labels)


def test_sets_of_more_values_than_a_word_has_bits_are_read_back():
    form, _ = Subset().compile("x", pa.array(range(70)), True)
    for codes in ([0, 30, 31, 61, 62, 69], range(70), [69], [70], range(71)):
        [text] = form.text(np.array([form.pack(codes)], np.int32).T)
        assert form.parse(text) == form.pack(codes)


# The texts themselves


def written(model: Any, values: list[Any], closure: list[int], has_null: bool = False) -> Any:
    form, _ = model.compile("x", pa.array(values), has_null)
    packed = form.pack(closure) if isinstance(form, SetForm) else closure
    return form.text(np.array([packed], np.int32).T)[0]


@pytest.mark.parametrize(
    ("model", "values", "closure", "text"),
    [
        (Interval(), [24, 27, 30], [0, 2], "24–30"),
        (Interval(), [24, 27, 30], [1, 1], "27"),
        (Interval(), [-2.5, 1.0], [0, 1], "-2.5 – 1"),
        (Interval(), [date(2024, 1, 2), date(2024, 3, 4)], [0, 1], "2024-01-02 – 2024-03-04"),
        (
            Interval(),
            [datetime(2024, 1, 2), datetime(2024, 1, 2, 3, 4, 5)],
            [0, 1],
            "2024-01-02 00:00:00 – 2024-01-02 03:04:05",
        ),
        (Subset(), ["a", "b", "c d"], [0, 2], "{a, c d}"),
        (Subset(), ["a, b", 'say "c"', " d"], [0, 1, 2], '{"a, b", "say \\"c\\"", " d"}'),
        (Subset(), ["", "ä"], [0, 1], '{"", ä}'),
        (Subset(), [False, True], [0, 1], "{false, true}"),
        (Subset(), [1.0, 2.5], [0, 1], "{1, 2.5}"),
        (Subset(), [1, 2], [1], "2"),
        (Suppression(), ["a", "b"], [1], "b"),
        (Suppression(), ["a", "b"], [2], "*"),
        (Suppression(), [1.0, 2.0], [0], "1"),
    ],
)
def test_a_closure_reads_as_the_spec_says(model, values, closure, text):
    assert written(model, values, closure) == text


@pytest.mark.parametrize(
    ("model", "alone", "mixed"),
    [(Interval(), [2, 2], [0, 2]), (Subset(), [2], [0, 1, 2]), (Suppression(), [2], [3])],
    ids=["interval", "subset", "suppression"],
)
def test_null_alone_is_null_and_mixed_is_a_star(model, alone, mixed):
    assert written(model, [1, 2], alone, has_null=True) is None
    assert written(model, [1, 2], mixed, has_null=True) == "*"


def test_everything_but_null_is_not_a_star():
    assert written(Interval(), [1, 2], [0, 1], has_null=True) == "1–2"
    assert written(Subset(), [1, 2], [0, 1], has_null=True) == "{1, 2}"


@pytest.mark.parametrize("model", [Suppression(), Interval(), Subset()], ids=lambda m: m.name)
def test_minus_zero_is_zero(model):
    table = pa.table({"x": [0.0, -0.0, 1.0, 1.0]})
    release = shoal.anonymize(table, quasi_identifiers={"x": model}, k=2, keep_order=True)
    assert release.data["x"].to_pylist() == ["0", "0", "1", "1"]


@pytest.mark.parametrize(
    "values",
    [pa.array([1, 2, 3, 4], pa.timestamp("ns")), pa.array([2**60 + i for i in range(4)])],
    ids=["nanoseconds", "whole numbers beyond 2^53"],
)
def test_neighbours_far_from_zero_have_a_width(values):
    table = pa.table({"x": values})
    release = shoal.anonymize(table, quasi_identifiers=["x"], k=2, objective="ncp")
    assert release.loss("ncp") == pytest.approx(4 / 3)


def test_numbers_as_far_apart_as_floats_allow_have_an_interval():
    table = pa.table({"x": [-1e308, 0.0, 1.0, 1e308]})
    release = shoal.anonymize(table, quasi_identifiers=["x"], k=2, keep_order=True)
    assert release.data["x"].to_pylist() == ["-1e+308 – 0"] * 2 + ["1 – 1e+308"] * 2


@has_null
@pytest.mark.parametrize("kind", ORDERED)
def test_the_plain_spelling_of_ranges_is_read_back(kind, has_null):
    form, _ = Interval().compile("x", pa.array(ORDERED[kind]), has_null)
    closures = closures_of(form)
    plain = [form.plainly(text) for text in form.text(np.array(closures, np.int32).T)]
    assert all(text is None or text.isascii() for text in plain)
    assert [list(form.parse(text) or ()) for text in plain] == closures


# What no closure is written like


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Interval(), "[1; 3]"),
        (Interval(), "[3, 1]"),
        (Interval(), "[1, three]"),
        (Interval(), "[]"),
        (Interval(), "{1, 2}"),
        (Interval(), ""),
        (Interval(), None),
        (Subset(), "{}"),
        (Subset(), "{1, 9}"),
        (Subset(), '{1, "2}'),
        (Subset(), "{1 2}"),
        (Subset(), "[1, 2]"),
        (Subset(), None),
        (Suppression(), "**"),
        (Suppression(), None),
    ],
)
def test_other_texts_stand_for_nothing(model, text):
    form, _ = model.compile("x", pa.array([1, 2, 3]), False)
    assert form.parse(text) is None


def test_members_need_a_comma_between_them():
    form, _ = Subset().compile("x", pa.array(["a", "b"]), False)
    assert form.parse('{"a""b"}') is None
    assert form.parse('{a"b"}') is None


@pytest.mark.parametrize("model", [Suppression(), Subset()])
def test_a_star_among_the_values_is_refused(model):
    with pytest.raises(InputError, match=r"contains the text '\*'"):
        model.compile("x", pa.array(["*", "a"]), False)


@pytest.mark.parametrize(
    "values", [pa.array(["a"], pa.large_string()), pa.array([True])], ids=["text", "true/false"]
)
def test_an_interval_of_texts_or_truths_is_refused(values, request):
    kind = request.node.callspec.id
    with pytest.raises(InputError, match=f"contains {kind}.*an interval needs numbers or dates"):
        Interval().compile("x", values, False)


@pytest.mark.parametrize("model", [Suppression, Interval, Subset])
def test_a_value_outside_its_domain_is_counted_not_shown(model):
    with pytest.raises(InputError, match="1 of the 2 distinct values of column 'x'") as caught:
        model(domain=[1, 2]).compile("x", pa.array([2, 31337]), False)
    assert "31337" not in str(caught.value)


@pytest.mark.parametrize("model", [Suppression, Interval, Subset])
def test_a_domain_in_any_order_is_put_in_order(model):
    form, codes = model(domain=[3, 1, 2, 3, None]).compile("x", pa.array([2, 3]), False)
    assert form.labels == ("1", "2", "3")
    assert codes.tolist() == [1, 2]
