"""A hierarchy and a column compared: how many records belong to each node, and where the two do not fit.

Nothing here names a value that fewer than `LEAST` records have: rarer nodes are counted, and a label that lists such
a value is replaced by the number of its values.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shoal.encoding.forms.base import DASH
from shoal.encoding.models.base import CountedValues
from shoal.encoding.models.periods import days_of_label
from shoal.errors import counted

if TYPE_CHECKING:
    from shoal.encoding.models.hierarchy import Hierarchy

LEAST = 10  # records that a node must have to be named
SHOWN = 8  # nodes of a level that are printed
LONGEST = 40  # characters of a label that is printed

_RANGE = re.compile(rf"-?[0-9.]+ ?{DASH} ?<?-?[0-9.]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Node:
    """A node of a hierarchy: its label, the values below it, and the records that have one of them."""

    label: str
    values: int
    records: int
    share: float


@dataclass(frozen=True)
class Level:
    """The nodes of one level, those with most records first.

    Attributes
    ----------
    level
        0 for the values; a set is one level above the highest of its parts.
    count
        All nodes of the level.
    nodes
        Those that at least ten records have.
    rarer, rarer_share
        How many nodes fewer records have, and the share of records below them.
    empty
        Nodes that no record has.
    """

    level: int
    count: int
    nodes: tuple[Node, ...]
    rarer: int
    rarer_share: float
    empty: int


@dataclass(frozen=True)
class Preview:
    """How many records of a column belong to the nodes of a hierarchy; `print` shows it.

    Attributes
    ----------
    records
        Records whose value is in the tree; shares are of these.
    outside
        Records whose value is not.
    missing
        Records without a value.
    levels
        From the values to the root.
    """

    records: int
    outside: int
    missing: int
    levels: tuple[Level, ...]

    def to_dict(self) -> dict[str, Any]:
        """This result as dicts, lists, texts and numbers, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [_beside(self)]
        for level in self.levels:
            lines.append(_heading(level))
            rows = _shown(level)
            width = max((len(label) for label, _ in rows), default=0)
            lines += [f"  {label.ljust(width)}  {share:>7}".rstrip() for label, share in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        cell = '<td style="text-align: left">{}</td>'
        rows = []
        for level in self.levels:
            heading = html.escape(_heading(level))
            rows.append(f'<tr><th colspan="2" style="text-align: left">{heading}</th></tr>')
            for texts in _shown(level):
                cells = "".join(cell.format(html.escape(text)) for text in texts)
                rows.append(f"<tr>{cells}</tr>")
        caption = html.escape(_beside(self))
        return f"<table><caption>{caption}</caption><tbody>{''.join(rows)}</tbody></table>"


@dataclass(frozen=True)
class HierarchyCheck:
    """What is wrong with a hierarchy for a column; `print` shows it, and it contains no value.

    Attributes
    ----------
    records
        Records that have a value.
    missing_values, missing_records
        Distinct values that are not in the tree, and the records that have them. With any, it does not fit.
    unused
        Values of the tree that no record has.
    idle_levels
        Levels, counted from the values, that join no two values of the column.
    single
        Sets of values in which only one part has records, so that they mean the same as the part.
    repeated
        Labels that name the same set as another.
    """

    records: int
    missing_values: int
    missing_records: int
    unused: int
    idle_levels: tuple[int, ...]
    single: int
    repeated: int

    @property
    def fits(self) -> bool:
        """Whether every value of the column is in the tree."""
        return not self.missing_values

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for everything that was found, the most important first."""
        found = []
        if self.missing_values:
            found.append(
                f"{counted(self.missing_values, 'value')} of the column "
                f"{'is' if self.missing_values == 1 else 'are'} not in the hierarchy "
                f"({counted(self.missing_records, 'record')}). Add a line for each."
            )
        if self.unused:
            found.append(
                f"{counted(self.unused, 'value')} of the hierarchy {'does' if self.unused == 1 else 'do'} not occur."
            )
        for level in self.idle_levels:
            found.append(f"Level {level} joins no further values of the column.")
        if self.single:
            found.append(
                f"{counted(self.single, 'set')} of values {'has' if self.single == 1 else 'have'} records in only "
                "one part."
            )
        if self.repeated:
            found.append(
                f"{counted(self.repeated, 'label')} {'names' if self.repeated == 1 else 'name'} the same set as "
                "another."
            )
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """This result as dicts, lists, texts and numbers, ready for JSON."""
        return {"fits": self.fits, **asdict(self), "problems": list(self.problems)}

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        return "\n".join(
            [f"The hierarchy {verdict} {counted(self.records, 'record')}.", *self.problems]
        )

    def _repr_html_(self) -> str:
        """The list that notebooks show."""
        first, *others = str(self).splitlines()
        items = "".join(f"<li>{html.escape(line)}</li>" for line in others)
        return f"<p>{html.escape(first)}</p><ul>{items}</ul>"


def preview_of(tree: Hierarchy, found: CountedValues) -> Preview:
    """Spread the records of a column over a tree."""
    per_leaf, outside, _ = _per_leaf(tree, found)
    records = sum(per_leaf.values())
    rows = rows_by_height(tree)
    rare = {leaf for leaf in tree.leaves if per_leaf[leaf] < LEAST}
    listed = _Listed(rare)
    levels = []
    for number in range(len(rows[0])):
        members: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            members[row[number]].append(row[0])
        levels.append(_level(number, members, per_leaf, records, listed))
    return Preview(records, outside, found.missing, tuple(levels))


def check_of(tree: Hierarchy, found: CountedValues) -> HierarchyCheck:
    """Find where a tree and a column do not fit."""
    per_leaf, outside, absent = _per_leaf(tree, found)
    rows = [row for row in rows_by_height(tree) if per_leaf[row[0]]]
    nodes = [len(set(column)) for column in zip(*rows, strict=True)]
    idle = [level for level in range(1, len(nodes)) if nodes[level] == nodes[level - 1] > 1]
    children: dict[int, set[int]] = defaultdict(set)
    for node, leaf in enumerate(tree.leaves):
        while per_leaf[leaf] and tree.parent[node] != node:
            children[tree.parent[node]].add(node)
            node = tree.parent[node]
    labels = {*tree.leaves, *tree.inner}
    return HierarchyCheck(
        records=found.records,
        missing_values=absent,
        missing_records=outside,
        unused=sum(not per_leaf[leaf] for leaf in tree.leaves),
        idle_levels=tuple(idle),
        single=sum(len(below) == 1 for below in children.values()),
        repeated=sum(alias not in labels for alias in tree.aliases),
    )


def node_levels(tree: Hierarchy) -> list[int]:
    """The level of each node, leaves first: 0 for a value, else one above the highest of its children."""
    heights = [0] * len(tree.parent)
    for node, above in enumerate(tree.parent[:-1]):  # parents come after their children
        heights[above] = max(heights[above], heights[node] + 1)
    return heights


def rows_by_height(tree: Hierarchy) -> list[list[str]]:
    """For each value, its text on every level: the label of the highest node above it that is no higher."""
    heights, labels = node_levels(tree), tree.leaves + tree.inner
    rows = []
    for leaf in range(len(tree.leaves)):
        row, node = [], leaf
        for level in range(heights[-1] + 1):
            while tree.parent[node] != node and heights[tree.parent[node]] <= level:
                node = tree.parent[node]
            row.append(labels[node])
        rows.append(row)
    return rows


def _per_leaf(tree: Hierarchy, found: CountedValues) -> tuple[dict[str, int], int, int]:
    """The records of each leaf, and records and distinct values that are in none."""
    per_leaf = dict.fromkeys(tree.leaves, 0)
    outside = absent = 0
    for label, count in zip(found.labels, found.counts, strict=True):
        name = label if label in per_leaf else label.strip()
        if name in per_leaf:
            per_leaf[name] += count
        else:
            outside, absent = outside + count, absent + 1
    return per_leaf, outside, absent


class _Listed:
    """Whether a label lists a rare value: the value stands between characters that are no letters or digits."""

    def __init__(self, rare: set[str]) -> None:
        self.by_word: dict[str, list[str]] = defaultdict(list)
        for value in rare:
            words = _WORD.findall(value)
            self.by_word[words[0] if words else ""].append(value)

    def __call__(self, label: str) -> bool:
        if _RANGE.fullmatch(label) or days_of_label(label):  # bounds that are round, not found
            return False
        words = {"", *_WORD.findall(label)}
        near = (value for word in words for value in self.by_word.get(word, ()))
        return any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", label) for value in near)


def _level(
    number: int,
    members: Mapping[str, Sequence[str]],
    per_leaf: Mapping[str, int],
    records: int,
    listed: _Listed,
) -> Level:
    sizes = {label: sum(per_leaf[leaf] for leaf in leaves) for label, leaves in members.items()}
    named = sorted((label for label in members if sizes[label] >= LEAST), key=lambda n: -sizes[n])
    nodes = []
    for label in named:
        values = len(members[label])
        text = f"({counted(values, 'value')})" if values > 1 and listed(label) else label
        nodes.append(Node(text, values, sizes[label], sizes[label] / records))
    rarer = [size for size in sizes.values() if 0 < size < LEAST]
    share = sum(rarer) / records if records else 0.0
    empty = sum(size == 0 for size in sizes.values())
    return Level(number, len(members), tuple(nodes), len(rarer), share, empty)


def _beside(preview: Preview) -> str:
    parts = [f"{counted(len(preview.levels), 'level')} over {counted(preview.records, 'record')}"]
    if preview.outside:
        parts.append(
            f"{preview.outside:,} more {'has' if preview.outside == 1 else 'have'} a value that is not in the tree"
        )
    if preview.missing:
        parts.append(
            f"{preview.missing:,} more {'has' if preview.missing == 1 else 'have'} no value"
        )
    return "; ".join(parts)


def _heading(level: Level) -> str:
    what = counted(level.count, "set") if level.level else counted(level.count, "value")
    return f"level {level.level}: {what}"


def _shown(level: Level) -> list[tuple[str, str]]:
    """The nodes of a level that are printed, and how many others there are."""
    what = "set" if level.level else "value"
    rows = [(_one_line(node.label), _percent(node.share)) for node in level.nodes[:SHOWN]]
    rest = level.nodes[SHOWN:]
    if rest:
        share = sum(node.share for node in rest)
        rows.append((f"… and {counted(len(rest), f'more {what}')}", _percent(share)))
    if level.rarer:
        rarer = f"… and {counted(level.rarer, f'rarer {what}')}"
        rows.append((rarer, _percent(level.rarer_share)))
    if level.empty:
        rows.append((f"… and {counted(level.empty, what)} without records", ""))
    return rows


def _one_line(text: str) -> str:
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
