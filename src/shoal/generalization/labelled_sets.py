"""Labelled sets of values: read from rows or nested dicts, and hung into the tree of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from shoal.errors import InputError, raise_problems
from shoal.generalization.forms import STAR
from shoal.generalization.models import label_of

_MAX_LEVELS = 200  # more would exceed Python's depth of recursion, and nobody needs them
_MOST_PROBLEMS = 5  # sentences about rows; a file with one fault often has it in every line


class LabelledSets(NamedTuple):
    """The values of a hierarchy in their order, and the values that each label stands for."""

    values: list[str]
    sets: dict[str, set[str]]


class Tree(NamedTuple):
    """The nodes of a hierarchy as `Hierarchy` keeps them: leaves first, every parent after its children."""

    leaves: tuple[str, ...]
    inner: tuple[str, ...]
    parent: tuple[int, ...]
    aliases: dict[str, int]


def sets_of_rows(what: str, unit: str, lines: list[tuple[int, list[str]]]) -> LabelledSets:
    """The sets in numbered rows of value, level 1, …, root; `unit` is what a message calls a row."""
    raise_problems(_row_problems(what, unit, lines))
    sets: dict[str, set[str]] = {}
    for _, row in lines:
        for label in row[1:]:
            sets.setdefault(label, set()).add(row[0])
    return LabelledSets([row[0] for _, row in lines], sets)


def sets_of_dict(tree: Mapping[Any, Any]) -> LabelledSets:
    """The sets in nested dicts: a key stands for all values below it."""
    sets: dict[str, set[str]] = {}
    leaves: list[str] = []
    problems: list[str] = []

    def walk(label: Any, below: Any, level: int) -> set[str]:
        name = label_of(label)
        if level > _MAX_LEVELS:
            raise InputError(
                f"Hierarchy: the dict holds itself or has more than {_MAX_LEVELS} levels; "
                "give fewer levels."
            )
        if below is None or (hasattr(below, "__len__") and len(below) == 0):
            leaves.append(name)
            return {name}
        if isinstance(below, Mapping):
            found = [walk(key, value, level + 1) for key, value in below.items()]
        elif isinstance(below, list | tuple | set | frozenset):
            parts = sorted(below, key=str) if isinstance(below, set | frozenset) else below
            found = [walk(value, None, level + 1) for value in parts]
        else:
            found = [walk(below, None, level + 1)]
        union = set().union(*found)
        if name in sets and sets[name] != union:
            problems.append(f"Hierarchy: '{name}' stands for two different sets; rename one.")
        sets[name] = union
        return union

    for key, value in tree.items():
        walk(key, value, 1)
    twice = len(leaves) - len(set(leaves))
    if twice:
        problems.append(f"Hierarchy: {twice} value(s) stand below two parents; keep one of each.")
    raise_problems(problems)
    return LabelledSets(leaves, sets)


def sets_of_collection(
    sets: Iterable[Iterable[Any]] | Mapping[str, Iterable[Any]],
) -> LabelledSets:
    """The sets of a collection with its own labels, or with their values in braces as labels."""
    named = sets.items() if isinstance(sets, Mapping) else ((None, s) for s in sets)
    labelled: dict[str, set[str]] = {}
    leaves: dict[str, None] = {}
    for name, members in named:
        texts = sorted(label_of(value) for value in members)
        leaves.update(dict.fromkeys(texts))
        labelled[name if name is not None else "{" + ", ".join(texts) + "}"] = set(texts)
    return LabelledSets(list(leaves), labelled)


def hang_sets(what: str, given: LabelledSets) -> Tree:
    """Check that labelled sets are laminar and hang them into a tree."""
    leaves = tuple(dict.fromkeys(given.values))
    place = {leaf: node for node, leaf in enumerate(leaves)}
    _check_labels(what, place, given.sets)
    inner: list[str] = []
    aliases: dict[str, int] = {}
    parent: list[int] = [-1] * len(leaves)
    top = list(range(len(leaves)))  # the largest node so far that holds each leaf
    size = [1] * len(leaves)
    for label, members in sorted(given.sets.items(), key=lambda item: len(item[1])):
        below = dict.fromkeys(top[place[leaf]] for leaf in sorted(members, key=place.__getitem__))
        if len(below) == 1:  # the same set under a second label: the more specific one stays
            aliases[label] = next(iter(below))
            continue
        if sum(size[node] for node in below) != len(members):
            clash = next(n for n in below if not _leaves_below(n, top, place) <= members)
            other = leaves[clash] if clash < len(leaves) else inner[clash - len(leaves)]
            raise InputError(
                f"{what}: the sets '{other}' and '{label}' overlap without one holding the other; "
                "make them nested or disjoint."
            )
        node = len(parent)
        parent.append(-1)
        inner.append(label)
        size.append(len(members))
        for child in below:
            parent[child] = node
        for leaf in members:
            top[place[leaf]] = node
    roots = [node for node, up in enumerate(parent) if up < 0]
    if len(roots) > 1 or not inner:
        for node in roots:
            parent[node] = len(parent)
        parent.append(-1)
        inner.append(STAR)
    parent[-1] = len(parent) - 1
    return Tree(leaves, tuple(inner), tuple(parent), aliases)


def _check_labels(what: str, place: Mapping[str, int], sets: Mapping[str, set[str]]) -> None:
    """Refuse a hierarchy without values, and labels that are empty or name a value as well as a set."""
    if not place:
        raise InputError(f"{what} has no values; give at least one line per value.")
    for label, members in sets.items():
        if not label and members != {label}:
            raise InputError(f"{what}: a set of values has an empty label; name it.")
        if label in place and members != {label}:
            raise InputError(
                f"{what}: '{label}' is both a value and a set of values; rename the set."
            )
    if STAR in place or sets.get(STAR, set(place)) != set(place):
        raise InputError(f"{what}: '*' must name the whole; rename that set or value.")


def _leaves_below(node: int, top: list[int], place: dict[str, int]) -> set[str]:
    return {leaf for leaf, code in place.items() if top[code] == node}


def _row_problems(what: str, unit: str, lines: list[tuple[int, list[str]]]) -> list[str]:
    """What is wrong with rows of value, level 1, …, root, by line number."""
    if not lines:
        return [f"{what} has no values; give one line per value: value,level 1,…,root."]
    problems = []
    width = len(lines[0][1])
    ragged = [number for number, row in lines if len(row) != width]
    if ragged:
        problems.append(
            f"{what}: {unit} {ragged[0]} has another number of levels than {unit} {lines[0][0]}; "
            "give every line the same number, repeating a label where a branch is short."
        )
    may_be_empty = unit == "row"  # in a file an empty cell is rather forgotten than meant
    empty = [
        number
        for number, row in lines
        if not all(cell or (may_be_empty and cell == row[0]) for cell in row)
    ]
    if empty:
        problems.append(f"{what}: {unit} {empty[0]} has an empty cell; name every level.")
    if problems:
        return problems
    above: dict[tuple[int, str], tuple[int, str]] = {}
    levels: dict[str, dict[int, set[str]]] = {}
    for number, row in lines:
        for level, label in enumerate(row):
            levels.setdefault(label, {}).setdefault(level, set()).add(row[0])
            if level + 1 == width:
                continue
            first, up = above.setdefault((level, label), (number, row[level + 1]))
            if up != row[level + 1]:
                problems.append(
                    f"{what}: {unit}s {first} and {number} give the same level {level} label two "
                    "parents; give it one."
                )
    for sets in levels.values():
        if len({frozenset(members) for members in sets.values()}) > 1:
            low, high = sorted(sets)[:2]
            problems.append(
                f"{what}: one label names different sets on level {low} and level {high}; rename one."
            )
    return problems[:_MOST_PROBLEMS]
