"""Trees of labelled sets: read from a hierarchy's file or nested dicts, and grown from the paths of values."""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.atomic import write_atomically
from shoal.encoding.forms import STAR, TreeForm
from shoal.encoding.models.base import label_of
from shoal.errors import InputError, counted, raise_problems

_DELIMITERS = ",;\t|"
_NEEDS_QUOTES = re.compile(r'[,;\t|"\r\n]')

Lines = list[tuple[int, list[str]]]


def read_lines(path: str | os.PathLike[str]) -> Lines:
    """Read the cells of every line that is not blank, with its number; blanks around cells do not count."""
    name = Path(path).name
    text = read_text(path)
    unquoted = re.sub('"[^"]*"', "", text.lstrip())  # cells in quotes may have lines
    first = unquoted.partition("\n")[0]
    candidates = sorted(_DELIMITERS, key=first.count, reverse=True)
    try:
        likely = _split(text, candidates[0])
        others = (_split(text, delimiter) for delimiter in candidates[1:] if delimiter in first)
        return next((lines for lines in (likely, *others) if _is_even(lines)), likely)
    except csv.Error:
        raise _unreadable(name, "not a UTF-8 CSV file. Save it as one") from None


def read_text(path: str | os.PathLike[str], what: str = "Hierarchy") -> str:
    """Read a whole UTF-8 file; `what` is its purpose, for messages."""
    kind = "UTF-8 CSV file" if what == "Hierarchy" else "UTF-8 text file"
    try:
        if stat.S_ISREG(Path(path).stat().st_mode):  # opening a pipe would wait for ever
            return Path(path).read_bytes().decode("utf-8-sig")
        why = "not a regular file. Copy its content to one"
    except OSError as error:
        why = f"{error.strerror}. Check the path"
    except UnicodeError:
        why = f"not a {kind}. Save it as one"
    except ValueError:  # a NUL character in the path
        why = "no file can have this name. Check the path"
    raise _unreadable(Path(path).name, why, what)


def _split(text: str, delimiter: str) -> Lines:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    return [
        (number, [cell.strip() for cell in row]) for number, row in enumerate(rows, start=1) if row
    ]


def _is_even(lines: Lines) -> bool:
    """Whether every line has the same number of cells, as with the right delimiter."""
    return len({len(row) for _, row in lines}) == 1


def _unreadable(name: str, why: str, what: str = "Hierarchy") -> InputError:
    return InputError(f"{what} file '{name}' cannot be read: {why}.")


def write_rows(
    rows: list[list[str]],
    path: str | os.PathLike[str],
    overwrite: bool,
    read: Callable[[Path], list[list[str]]],
) -> None:
    """Write rows to a file, whole or not at all; nothing is written unless `read` reads the same rows from it.

    The file lists original values, so only its owner may read it. Cells that contain any delimiter are quoted.
    """
    text = "".join(",".join(_quoted(cell) for cell in row) + "\n" for row in rows)

    def check(file: Path) -> None:
        try:
            is_same = read(file) == rows
        except InputError:
            is_same = False
        if not is_same:
            raise InputError(
                "A CSV file cannot represent this hierarchy: a label is empty, or begins or ends with a space. "
                "Rename it."
            )

    target = Path(path)
    write_atomically(
        target,
        overwrite,
        lambda file: file.write_text(text, "utf-8", newline=""),
        check,
        target.suffix,
        private=True,
    )


def _quoted(cell: str) -> str:
    if cell and not _NEEDS_QUOTES.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


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
    """The sets in nested dicts: a key names the set of all values below it."""
    sets: dict[str, set[str]] = {}
    leaves: list[str] = []
    problems: list[str] = []

    def walk(label: Any, below: Any, level: int) -> set[str]:
        name = label_of(label)
        if level > _MAX_LEVELS:
            raise InputError(
                f"Hierarchy: the dict contains itself or has more than {_MAX_LEVELS} levels. Use fewer levels."
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
            problems.append(f"Hierarchy: '{name}' names two different sets. Rename one.")
        sets[name] = union
        return union

    for key, value in tree.items():
        walk(key, value, 1)
    twice = len(leaves) - len(set(leaves))
    if twice:
        problems.append(
            f"Hierarchy: {counted(twice, 'value')} {'has' if twice == 1 else 'have'} two parents. Keep one of each."
        )
    raise_problems(problems)
    return LabelledSets(leaves, sets)


def sets_of_collection(sets: Iterable[Iterable[Any]] | Mapping[str, Iterable[Any]]) -> LabelledSets:
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
    """Check that labelled sets are laminar and build the tree."""
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
                f"{what}: the sets '{other}' and '{label}' overlap without one containing the other. Make them "
                "nested or disjoint."
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
        raise InputError(f"{what} has no values. Give at least one line per value.")
    for label, members in sets.items():
        if not label and members != {label}:
            raise InputError(f"{what}: a set of values has an empty label. Name it.")
        if label in place and members != {label}:
            raise InputError(
                f"{what}: '{label}' is both a value and a set of values. Rename the set."
            )
    if STAR in place or sets.get(STAR, set(place)) != set(place):
        raise InputError(f"{what}: '*' must name the whole. Rename that set or value.")


def _leaves_below(node: int, top: list[int], place: dict[str, int]) -> set[str]:
    return {leaf for leaf, code in place.items() if top[code] == node}


def _row_problems(what: str, unit: str, lines: list[tuple[int, list[str]]]) -> list[str]:
    """Return problems with rows of value, level 1, …, root, by line number."""
    if not lines:
        return [f"{what} has no values. Give one line per value: value,level 1,…,root."]
    problems = []
    width = len(lines[0][1])
    ragged = [number for number, row in lines if len(row) != width]
    if ragged:
        problems.append(
            f"{what}: {unit} {ragged[0]} has another number of levels than {unit} {lines[0][0]}. Give every line "
            "the same number; repeat a label if a branch is short."
        )
    may_be_empty = unit == "row"  # in a file, an empty cell is probably a mistake
    for number, row in lines:
        if not all(cell or (may_be_empty and cell == row[0]) for cell in row):
            problems.append(f"{what}: {unit} {number} has an empty cell. Name every level.")
            break
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
                    f"{what}: {unit}s {first} and {number} give the same level {level} label two parents. Use "
                    "one parent."
                )
    for sets in levels.values():
        if len({frozenset(members) for members in sets.values()}) > 1:
            low, high = sorted(sets)[:2]
            problems.append(
                f"{what}: one label names different sets on level {low} and level {high}. Rename one."
            )
    return problems[:_MOST_PROBLEMS]


def label_heights(paths: Iterable[Sequence[str]]) -> dict[str, int]:
    """The height of each label: its highest place on the paths of values, each from the value up to the root."""
    heights: dict[str, int] = {}
    for path in paths:
        for height, label in enumerate(path):
            heights[label] = max(height, heights.get(label, 0))
    return heights


def form_of(
    tree: Tree, has_null: bool, heights: Mapping[str, int], top: int, own_words: bool = False
) -> TreeForm:
    """The form of a tree; null is one more value, right below the root.

    `heights` are those of the labels in the hierarchy as given, and `top` is that of its top. A level that repeats a
    set counts there, but has no node here.
    """
    m = len(tree.leaves)
    parent = np.array(tree.parent, dtype=np.int32)
    levels = [heights[label] for label in (*tree.leaves, *tree.inner)]
    if has_null:
        parent[parent >= m] += 1
        parent = np.insert(parent, m, parent.size).astype(np.int32)
        levels.insert(m, 0)
    aliases = {name: node + (has_null and node >= m) for name, node in tree.aliases.items()}
    return TreeForm(
        labels=tree.leaves,
        has_null=has_null,
        fixed=frozenset(range(m)),
        parent=parent,
        inner=tree.inner,
        aliases=aliases,
        own_words=own_words,
        levels=np.array([*levels, top], dtype=np.int32),
    )


def sets_of_paths(paths: Collection[Sequence[str]]) -> LabelledSets:
    """The values at the beginnings of paths, and the sets on the way up, smaller ones first."""
    sets: dict[str, set[str]] = {}
    for level in range(1, max(map(len, paths), default=0)):
        for path in paths:
            if level < len(path):
                sets.setdefault(path[level], set()).add(path[0])
    return LabelledSets([path[0] for path in paths], sets)


def form_of_paths(
    column: str,
    paths: Mapping[Any, Sequence[str]],
    has_null: bool,
    heights: Mapping[str, int],
    top: int,
    own_words: bool,
) -> TreeForm:
    """The form of a tree given the path of each value: its label, and those of ever larger sets that hold it.

    Sets that hold the same values are one, under the label of the most specific. `heights` are those of the labels if
    all values occurred, and `top` is that of the root.
    """
    tree = hang_sets(f"Column '{column}'", sets_of_paths(paths.values()))
    if has_null and tree.inner[-1] != STAR:  # null is in none of the sets
        root = len(tree.parent)
        tree = Tree(tree.leaves, (*tree.inner, STAR), (*tree.parent[:-1], root, root), tree.aliases)
    return form_of(tree, has_null, {**heights, STAR: top}, top, own_words)
