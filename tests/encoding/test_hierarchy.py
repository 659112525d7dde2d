"""A hierarchy is a tree over the values, however it is given; what is no tree is refused with the reason."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pytest
import reference
import tables
from hypothesis import given
from hypothesis import strategies as st

from shoal import Hierarchy, InputError

COUNTRIES = {"*": {"Europe": {"North": ["Norway", "Sweden"], "Spain": None}, "Asia": ["Japan"]}}
ROWS = [
    ["Norway", "North", "Europe", "*"],
    ["Sweden", "North", "Europe", "*"],
    ["Spain", "Spain", "Europe", "*"],
    ["Japan", "Japan", "Asia", "*"],
]
SETS = {
    "North": ["Norway", "Sweden"],
    "Europe": ["Norway", "Sweden", "Spain"],
    "*": ["Norway", "Sweden", "Spain", "Japan"],
}


def sets_of(tree: Hierarchy) -> dict[str, frozenset[str]]:
    """The leaves below every label, read from the parents."""
    labels = tree.leaves + tree.inner
    found: dict[str, set[str]] = {label: set() for label in labels}
    for leaf in range(len(tree.leaves)):
        node = leaf
        found[labels[node]].add(labels[leaf])
        while tree.parent[node] != node:
            node = tree.parent[node]
            found[labels[node]].add(labels[leaf])
    return {label: frozenset(below) for label, below in found.items()}


def as_csv(path: Any, rows: list[list[str]]) -> Any:
    path.write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    return path


@st.composite
def random_trees(draw: st.DrawFn) -> dict[str, Any]:
    leaves = [f"v{i}" for i in range(draw(st.integers(2, 9)))]
    return draw(tables.trees(leaves))


# The four ways to give one


def test_a_file_a_dict_rows_and_sets_make_the_same_tree(tmp_path):
    tree = Hierarchy.from_dict(COUNTRIES)
    assert Hierarchy.from_csv(as_csv(tmp_path / "tree.csv", ROWS)) == tree
    assert Hierarchy.from_rows(ROWS) == tree
    assert sets_of(Hierarchy.from_sets(SETS)) == sets_of(tree)
    assert sets_of(tree)["Europe"] == {"Norway", "Sweden", "Spain"}


@given(random_trees())
def test_every_tree_survives_its_rows_and_its_sets(nested):
    tree = Hierarchy.from_dict(nested)
    leaves = {name: frozenset(below) for name, below in tables.nodes_of(nested).items()}
    named = leaves | {leaf: frozenset([leaf]) for leaf in tree.leaves}
    assert set(sets_of(tree).values()) == set(named.values())
    assert sets_of(tree).items() <= named.items()
    again = Hierarchy.from_rows(tree.rows())
    assert again == tree
    values = pa.array(tree.leaves)
    forms = [own.compile("q", values, has_null=False)[0] for own in (tree, again)]
    assert forms[0].relative_heights.tolist() == forms[1].relative_heights.tolist()
    assert len({len(row) for row in tree.rows()}) == 1
    sets = {label: sets_of(tree)[label] for label in tree.inner}
    assert sets_of(Hierarchy.from_sets(sets)) == sets_of(tree)
    unnamed = sets_of(Hierarchy.from_sets(sets.values()))
    assert set(unnamed.values()) == set(sets_of(tree).values())


@given(random_trees())
def test_parents_come_after_their_children_and_the_root_is_its_own(nested):
    tree = Hierarchy.from_dict(nested)
    assert all(parent > node for node, parent in enumerate(tree.parent[:-1]))
    assert tree.parent[-1] == len(tree.parent) - 1
    assert len(tree.parent) == len(tree.leaves) + len(tree.inner)


def test_single_values_and_the_whole_are_added_to_sets():
    tree = Hierarchy.from_sets([["b", "a"], ["c"]])
    assert sets_of(tree) == {
        "a": {"a"}, "b": {"b"}, "c": {"c"}, "{a, b}": {"a", "b"}, "*": {"a", "b", "c"}
    }  # fmt: skip


def test_labels_are_stripped_and_a_byte_order_mark_is_dropped(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("\ufeffa , x,*\n\nb,x , *\n", encoding="utf-8")
    assert Hierarchy.from_csv(path) == Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"]])


def test_a_quoted_label_may_hold_a_comma(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text('"a, b",*\n"say ""c""",*\n', encoding="utf-8")
    assert Hierarchy.from_csv(path).leaves == ("a, b", 'say "c"')


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_delimiter_of_a_file_is_found(tmp_path, delimiter, mark, end):
    path = tmp_path / "tree.csv"
    lines = end.join(delimiter.join(row) for row in ROWS)
    path.write_bytes(f"{mark}{lines}{end}".encode())
    assert Hierarchy.from_csv(path) == Hierarchy.from_dict(COUNTRIES)


def test_a_delimiter_that_makes_even_lines_is_preferred(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("Lille, Nord, Somme;*\nLyon;*\n", encoding="utf-8")
    assert Hierarchy.from_csv(path).leaves == ("Lille, Nord, Somme", "Lyon")


def test_an_empty_value_survives_its_rows_on_every_level():
    for nested in ({"*": ["", "a"]}, {"*": {"": None, "x": ["a", "b"]}}):
        tree = Hierarchy.from_dict(nested)
        assert "" in tree.leaves
        assert Hierarchy.from_rows(tree.rows()) == tree


def test_values_are_written_as_the_table_writes_them():
    tree = Hierarchy.from_dict({"*": {"low": [1, 2.0, -3.5], "yes": [True]}})
    assert tree.leaves == ("1", "2", "-3.5", "true")


# Shapes


def test_a_chain_of_equal_sets_keeps_the_most_specific_label():
    tree = Hierarchy.from_rows(
        [["a", "x", "X", "*", "all"], ["b", "x", "X", "*", "all"], ["c", "c", "C", "*", "all"]]
    )
    assert tree.leaves == ("a", "b", "c")
    assert tree.inner == ("x", "*")


def test_a_short_branch_may_repeat_its_label():
    tree = Hierarchy.from_rows([["a", "a", "*"], ["b", "x", "*"], ["c", "x", "*"]])
    assert sets_of(tree) == {
        "a": {"a"}, "b": {"b"}, "c": {"c"}, "x": {"b", "c"}, "*": {"a", "b", "c"}
    }  # fmt: skip


def test_a_line_given_twice_counts_once():
    assert Hierarchy.from_rows([*ROWS, ROWS[0]]) == Hierarchy.from_rows(ROWS)


def test_the_root_may_have_any_name():
    assert Hierarchy.from_rows([["a", "World"], ["b", "World"]]).inner == ("World",)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Hierarchy.from_rows([["a", "*"]]),
        lambda: Hierarchy.from_rows([["a"]]),
        lambda: Hierarchy.from_dict({"*": ["a"]}),
        lambda: Hierarchy.from_sets([["a"]]),
    ],
    ids=["rows", "no levels", "dict", "sets"],
)
def test_a_single_value_is_a_tree_too(make):
    assert make().leaves == ("a",)


# What is refused


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "no values"),
        ([["a", "x", "*"], ["b", "*"]], "2 has another number of levels than .* 1"),
        ([["a", "x", "*"], ["b", "", "*"]], "2 has an empty cell"),
        ([["a", "x", "*"], ["b", "x", "*"], ["a", "y", "*"]], "1 and 3 give .* two parents"),
        ([["a", "x", "*"], ["b", "x", "all"]], "1 and 2 give the same level 1 label two parents"),
        ([["a", "b", "*"], ["b", "y", "*"]], "one label names different sets on level 0 and level 1"),
        ([["a", "x", "y"], ["b", "y", "x"]], "one label names different sets"),
        ([["a", "*", "all"], ["b", "x", "all"], ["c", "*", "all"]], "'\\*' must name the whole"),
        ([["*", "all"], ["a", "all"]], "'\\*' must name the whole"),
    ],
    ids=[
        "nothing", "ragged", "empty cell", "value with two parents", "set with two parents",
        "value that is a set", "label on two levels", "star below the root", "star as a value",
    ],
)  # fmt: skip
def test_rows_that_are_no_tree_are_refused(tmp_path, rows, sentence):
    with pytest.raises(InputError, match=sentence):
        Hierarchy.from_rows(rows)
    with pytest.raises(InputError, match=f"'tree.csv'.*{sentence}"):
        Hierarchy.from_csv(as_csv(tmp_path / "tree.csv", rows))


@pytest.mark.parametrize(
    ("nested", "sentence"),
    [
        ({}, "no values"),
        ({"*": {"x": ["a"], "y": ["a", "b"]}}, "1 value has two parents"),
        ({"*": {"x": ["a", "b"], "y": {"x": ["c", "d"]}}}, "'x' names two different sets"),
        ({"*": {"a": ["b", "c"], "d": {"a": None}}}, "'a' is both a value and a set"),
    ],
    ids=["nothing", "two parents", "one label for two sets", "value that is a set"],
)
def test_dicts_that_are_no_tree_are_refused(nested, sentence):
    with pytest.raises(InputError, match=sentence):
        Hierarchy.from_dict(nested)


def test_sets_that_clash_are_both_named():
    with pytest.raises(InputError, match="sets 'left' and 'right' overlap"):
        Hierarchy.from_sets({"left": "ab", "right": "bc"})
    with pytest.raises(InputError, match=r"sets '{a, b}' and '{b, c, d}' overlap"):
        Hierarchy.from_sets(["ab", "bcd"])


@given(st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=6))
def test_a_collection_is_refused_exactly_when_it_is_not_laminar(sets):
    laminar = all(a <= b or b <= a or not a & b for a in sets for b in sets)
    if laminar:
        found = set(sets_of(Hierarchy.from_sets(sets)).values())
        whole = frozenset().union(*sets)
        assert found == {*sets, whole, *(frozenset(value) for value in whole)}
    else:
        with pytest.raises(InputError, match="overlap"):
            Hierarchy.from_sets(sets)


def test_a_label_that_is_a_value_and_a_larger_set_is_refused():
    with pytest.raises(InputError, match="'a' is both a value and a set"):
        Hierarchy.from_sets({"a": ["a", "b"]})


@pytest.mark.parametrize("content", [b"a,*\n\xff,*\n", b'"a,*\nb,*\n'], ids=["bytes", "quote"])
def test_a_file_that_is_no_csv_is_refused_by_name(tmp_path, content):
    (tmp_path / "tree.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"'tree\.csv' cannot be read"):
        Hierarchy.from_csv(tmp_path / "tree.csv")


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, why in [
        ("pipe", "not a regular file"),
        (".", "not a regular file"),
        ("loop", "Too many levels of symbolic links"),
        ("a\0b", "no file can have this name"),
    ]:
        with pytest.raises(InputError, match=f"cannot be read: {why}"):
            Hierarchy.from_csv(tmp_path / name)


def test_a_dict_that_holds_itself_or_is_too_deep_is_refused():
    cyclic: dict[str, Any] = {}
    cyclic["a"] = cyclic
    deep: Any = ["leaf"]
    for level in range(1200):
        deep = {f"n{level}": deep}
    for nested in (cyclic, deep):
        with pytest.raises(InputError, match="contains itself or has more than 200 levels"):
            Hierarchy.from_dict(nested)


def test_a_set_needs_a_label():
    with pytest.raises(InputError, match="a set of values has an empty label"):
        Hierarchy.from_dict({"*": {"": ["a", "b"], "c": None}})


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match=r"'none\.csv' cannot be read: No such file"):
        Hierarchy.from_csv(tmp_path / "none.csv")


# Compiled for a column


@pytest.mark.parametrize("has_null", [False, True])
def test_a_compiled_tree_keeps_its_sets_and_null_hangs_below_the_root(has_null):
    tree = Hierarchy.from_dict(COUNTRIES)
    form, codes = tree.compile("country", pa.array(["Japan", "Norway"]), has_null)
    assert [tree.leaves[code] for code in codes] == ["Japan", "Norway"]
    assert form.size == 4 + has_null
    root = form.entries - 1
    assert form.parent[root] == root
    sizes = {label: len(below) for label, below in sets_of(tree).items()}
    labels = [*tree.leaves, *([None] if has_null else []), *tree.inner]
    expected = [1 if label is None else sizes[label] for label in labels]
    assert form.leaf_counts.tolist() == [*expected[:-1], 4 + has_null]
    if has_null:
        assert form.parent[form.null] == root


def test_values_outside_the_tree_are_counted_not_shown():
    tree = Hierarchy.from_dict(COUNTRIES)
    with pytest.raises(
        InputError, match="1 of the 2 distinct values of column 'country'"
    ) as caught:
        tree.compile("country", pa.array(["Japan", "Secretland"]), False)
    assert "Secretland" not in str(caught.value)


def test_numbers_and_truths_find_their_leaves():
    tree = Hierarchy.from_dict({"*": {"low": [1, 2], "high": [3.5]}})
    _, codes = tree.compile("n", pa.array([1.0, 3.5]), False)
    assert codes.tolist() == [0, 2]
    _, codes = Hierarchy.from_dict({"*": [True, False]}).compile("b", pa.array([False]), False)
    assert codes.tolist() == [1]


def test_a_value_with_blanks_around_it_finds_its_leaf():
    tree = Hierarchy.from_dict({"*": [" a", "b "]})
    _, codes = tree.compile("text", pa.array([" a", "b "]), False)
    assert codes.tolist() == [0, 1]


# Monotone trees (GiT09 §4.2.2)


def monotone_hierarchy(tree: Hierarchy, counts: dict[str, int]) -> Hierarchy:
    return tree.monotone([leaf for leaf, times in counts.items() for _ in range(times)])


def entropy_of(tree: Hierarchy, counts: dict[str, int]) -> dict[str, float]:
    below = sets_of(tree)
    return {label: reference.entropy(counts[v] for v in below[label]) for label in below}


def is_monotone(tree: Hierarchy, counts: dict[str, int]) -> bool:
    bits, labels = entropy_of(tree, counts), tree.leaves + tree.inner
    return all(
        bits[labels[node]] <= bits[labels[parent]] + 1e-9 for node, parent in enumerate(tree.parent)
    )


@given(random_trees(), st.data())
def test_entropy_never_falls_on_the_way_up_a_monotone_tree(nested, data):
    tree = Hierarchy.from_dict(nested)
    skewed = st.sampled_from([0, 1, 2, 50, 1000])
    counts = {leaf: data.draw(skewed) for leaf in tree.leaves}
    result = monotone_hierarchy(tree, counts)
    assert is_monotone(result, counts)
    assert sorted(result.leaves) == sorted(tree.leaves)
    assert result.inner[-1] == tree.inner[-1]
    if is_monotone(tree, counts):
        assert set(sets_of(result).values()) == set(sets_of(tree).values())


def test_a_uniform_column_leaves_every_tree_as_it_is():
    tree = Hierarchy.from_dict(COUNTRIES)
    result = monotone_hierarchy(tree, dict.fromkeys(tree.leaves, 7))
    assert sets_of(result) == sets_of(tree)


def test_values_outside_the_hierarchy_are_refused_and_nulls_are_not_counted():
    tree = Hierarchy.from_dict(COUNTRIES)
    assert sets_of(tree.monotone([*tree.leaves, None])) == sets_of(tree)
    with pytest.raises(InputError, match="1 of the 2 distinct values of column 'values' is not"):
        tree.monotone([tree.leaves[0], "nowhere"])


def test_two_siblings_of_which_one_breaks_are_both_dropped():
    """Example 4.7 of GiT09: {3, 4} has a bit, the whole almost none."""
    tree = Hierarchy.from_dict({"*": {"{1, 2}": ["1", "2"], "{3, 4}": ["3", "4"]}})
    counts = {"1": 85, "2": 5, "3": 5, "4": 5}
    assert entropy_of(tree, counts)["{3, 4}"] == 1 > entropy_of(tree, counts)["*"]
    result = monotone_hierarchy(tree, counts)
    assert result.inner == ("*",)
    assert sorted(result.leaves) == ["1", "2", "3", "4"]


def test_a_node_that_breaks_unites_with_one_of_several_siblings():
    tree = Hierarchy.from_dict({"*": {"x": ["a", "b"], "y": ["c", "d"], "z": ["e", "f"]}})
    counts = {"a": 1000, "b": 0, "c": 1, "d": 1, "e": 100, "f": 0}
    assert entropy_of(tree, counts)["y"] > entropy_of(tree, counts)["*"]
    found = set(sets_of(monotone_hierarchy(tree, counts)).values())
    united = [{"a", "b", "c", "d"}, {"c", "d", "e", "f"}]
    assert sum(frozenset(union) in found for union in united) == 1
    assert frozenset({"c", "d"}) not in found
    assert len(found) == 6 + 3
