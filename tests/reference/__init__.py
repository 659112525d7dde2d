"""Slow, obvious twins of the kernels, measures and methods: sets of values and plain loops, no code of src.

A closure is a frozenset of allowed values; None is null. Records are numbers, groups are lists of records.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from math import inf, log2, prod, sqrt
from typing import Any

from scipy.optimize import linprog

Closure = frozenset[Any]
Group = list[int]
Meets = Callable[[Group], bool]  # whether records may be a group

ADDITIVE = ("suppressed", "tree", "lm", "ncp", "gcp", "il", "entropy", "monotone_entropy", "mi")
OBJECTIVES = (*ADDITIVE, "pmi", "wmi")
ADDS_UP = (*OBJECTIVES, "pmi_relative")
SUMS = ("suppressed", "ncp", "il")  # totalled by default; others that add up are means
PRIVATE = ("pmi", "pmi_relative", "wmi", "pmi_l2", "pmi_max", "cm")  # need a sensitive column
MEASURES = (*ADDITIVE, *PRIVATE, "am", "dm", "c_avg", "kl")
MONOTONE = ("suppressed", "tree", "lm", "ncp", "gcp", "il", "monotone_entropy", "mi")


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: its model, a value per record, and what is allowed."""

    model: str
    values: Sequence[Any]
    domain: Sequence[
        Any
    ]  # allowed values without null: ascending, in order, or as the tree's leaves
    nodes: Mapping[str, Closure] = field(default_factory=dict)  # hierarchy: inner nodes, root last
    heights: Mapping[str, int] = field(default_factory=dict)  # of labels, where levels repeat sets
    top: int = 1  # the height of the hierarchy, where levels repeat sets

    @cached_property
    def whole(self) -> Closure:
        return frozenset([*self.domain, *([None] if None in self.values else [])])

    @cached_property
    def allowed(self) -> list[Closure]:
        """Sets of a tree: values, null, inner nodes, the whole."""
        root = next(reversed(self.nodes), None)
        inner = [
            nodes
            for name, nodes in self.nodes.items()
            if len(nodes) < len(self.domain) or (None in self.whole and name != root)
        ]
        single = [frozenset([v]) for v in self.domain]
        null = [frozenset([None])] if None in self.whole else []
        return [*single, *null, *inner, self.whole]

    @cached_property
    def counts(self) -> Counter[Any]:
        return Counter(self.values)

    def records_in(self, closure: Closure) -> int:
        return sum(self.counts[value] for value in closure)


# Closures and how they read


def closure(column: Column, values: Iterable[Any]) -> Closure:
    """The least allowed set that holds all values; null mixed with anything is the whole."""
    present = frozenset(values)
    if len(present) == 1:
        return present
    if None in present:
        return column.whole
    match column.model:
        case "interval":
            low, high = min(present), max(present)
            return frozenset(v for v in column.domain if low <= v <= high)
        case "order":
            ends = [column.domain.index(v) for v in present]
            return frozenset(column.domain[min(ends) : max(ends) + 1])
        case "subset":
            return present
        case _:
            return min((s for s in column.allowed if present <= s), key=len)


def closures_over(column: Column, values: Iterable[Any]) -> list[Closure]:
    """All allowed sets that hold all values, the least one first; without values that no record has."""
    present = frozenset(values)
    least = closure(column, present)
    match column.model:
        case "interval" | "order" if None not in present:
            domain = column.domain
            runs = [
                frozenset(domain[a : b + 1])
                for a in range(len(domain))
                for b in range(a, len(domain))
            ]
        case "subset" if None not in present:
            others = [v for v in column.domain if v in column.counts and v not in present]
            sizes = range(len(others) + 1)
            runs = [present.union(more) for size in sizes for more in combinations(others, size)]
        case _:
            runs = [] if column.model in ("interval", "order", "subset") else column.allowed
    return [least, column.whole, *(run for run in runs if present <= run)]


def close(columns: Sequence[Column], group: Iterable[int]) -> tuple[Closure, ...]:
    group = list(group)
    return tuple(closure(column, (column.values[i] for i in group)) for column in columns)


def label(value: Any) -> str:
    """A value as the table's owner would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value)


def ranged(low: str, high: str) -> str:
    """A range: 20–29 of plain numbers, -5 – 3 of all else."""
    is_plain = all(re.fullmatch(r"<?\d+(\.\d+)?", end) for end in (low, high))
    return f"{low}–{high}" if is_plain else f"{low} – {high}"


def run_text(column: Column, low: Any, high: Any) -> str:
    """A range or run; a folded value says how it begins and ends, and whether it is open."""
    is_low, is_high = getattr(low, "is_lowest", False), getattr(high, "is_highest", False)
    begins, ends = getattr(low, "begins", label(low)), getattr(high, "ends", label(high))
    if is_low and is_high and None not in column.whole:
        return "*"
    if column.model == "order":
        if is_low != is_high:
            return f"{ends} or lower" if is_low else f"{begins} or higher"
        return f"{label(low)} .. {label(high)}"
    if is_low and is_high:
        return f"{low} – {high}"
    if is_low:
        return f"< {ends[1:]}" if ends.startswith("<") else f"≤ {ends}"
    if is_high:
        return f"> {begins[1:]}" if begins.startswith(">") else f"≥ {begins}"
    return ranged(begins, ends)


def text(column: Column, closed: Closure) -> str | None:
    """How a closure may be written; members of a set always in quotes."""
    if len(closed) == 1:
        [value] = closed
        return None if value is None else label(value)
    named = {nodes: name for name, nodes in reversed(column.nodes.items())}
    if column.model in ("interval", "order") and None not in closed:
        run = [v for v in column.domain if v in closed]
        return run_text(column, run[0], run[-1])
    if column.model == "subset" and None not in closed:
        return "{" + ", ".join(json.dumps(label(v)) for v in sorted(closed)) + "}"
    return named.get(closed, "*")


def read(column: Column, released: str | None) -> Closure:
    """What a released text says of a value."""
    if released is None:
        assert None in column.whole, "null is released, but no record is null"
        return frozenset([None])
    values = {label(v): v for v in column.domain}
    if released in values:
        return frozenset([values[released]])
    root = list(column.nodes)[-1:]
    if released in ["*", *root]:
        return column.whole
    if column.model == "hierarchy":
        return column.nodes[released]
    if column.model in ("interval", "order"):
        domain = column.domain
        runs = [
            domain[i : j + 1]
            for i in range(len(domain))
            for j in range(i + 1, len(domain))
            if run_text(column, domain[i], domain[j]) == released
        ]
        [run] = runs  # a text that could be two runs would tell nobody which
        return frozenset(run)
    assert column.model == "subset"
    return frozenset(values[member] for member in members_of(released))


def members_of(written: str) -> list[str]:
    """The labels in `{a, "b, c"}`, read from left to right."""
    assert written[0] == "{"
    assert written[-1] == "}"
    rest, found = written[1:-1], []
    while rest:
        if rest[0] == '"':
            member, end = json.JSONDecoder().raw_decode(rest)
        else:
            member = rest.partition(", ")[0]
            end = len(member)
        found.append(member)
        assert rest[end:] == "" or rest[end : end + 2] == ", "
        rest = rest[end + 2 :]
    return found


# What a closure costs (spec §3)


def height(column: Column, closed: Closure) -> int:
    """The height of the lowest label that names a set, in the hierarchy with all levels that were given."""
    if len(closed) == 1:
        return 0
    if not column.heights:
        return chain(column, closed)
    if None in closed:  # which is below the root alone
        return column.top
    own = [column.heights[name] for name, held in column.nodes.items() if held == closed]
    return min(own, default=column.top)


def chain(column: Column, closed: Closure) -> int:
    """Longest chain of allowed sets from a single value up to this one."""
    if len(closed) == 1:
        return 0
    return 1 + max(chain(column, inner) for inner in column.allowed if inner < closed)


def tree_cost(column: Column, closed: Closure) -> float:
    if column.model in ("interval", "order", "subset"):
        return lm_cost(column, closed)
    top = column.top if column.heights else max(1, chain(column, column.whole))
    return height(column, closed) / top


def lm_cost(column: Column, closed: Closure) -> float:
    return (len(closed) - 1) / max(1, len(column.whole) - 1)


def width(column: Column, closed: Closure) -> float:
    if len(closed) == 1:
        return 0.0
    if None in closed:
        return 1.0
    if column.model == "order":
        return (len(closed) - 1) / (len(column.domain) - 1)
    return float((max(closed) - min(closed)) / (max(column.domain) - min(column.domain)))


def entropy(counts: Iterable[int]) -> float:
    present = [count for count in counts if count]
    return -sum(count / sum(present) * log2(count / sum(present)) for count in present)


def cost(measure: str, column: Column, closed: Closure, value: Any) -> float:
    """What one cell costs whose value is released as a closure."""
    numeric = column.model in ("interval", "order")
    match measure:
        case "suppressed":
            return float(len(closed) > 1)
        case "tree":
            return tree_cost(column, closed)
        case "lm":
            return lm_cost(column, closed)
        case "ncp" | "gcp" if numeric:
            return width(column, closed)
        case "ncp" | "gcp":
            return len(closed) / len(column.whole) if len(closed) > 1 else 0.0
        case "il":
            return width(column, closed) if numeric else tree_cost(column, closed)
        case "entropy":
            return entropy(column.counts[v] for v in closed)
        case "monotone_entropy":
            share = column.records_in(closed) / len(column.values)
            return share * entropy(column.counts[v] for v in closed)
        case "mi":
            return log2(column.records_in(closed) / column.counts[value])
    raise ValueError(measure)


@dataclass(frozen=True)
class Objective:
    """What to minimize: a measure over weighted columns; `secret` is each record's class, for pmi and wmi."""

    measure: str
    columns: Sequence[Column]
    weights: Sequence[float]
    secret: Sequence[Any] = ()
    w: float = 0.5

    def cell(self, j: int, closed: Closure, i: int) -> float:
        """What it costs to release column j of record i as a closure."""
        column = self.columns[j]
        weight = 1.0 if self.measure == "gcp" else self.weights[j]
        if self.measure in ("pmi", "pmi_relative"):
            own = closure(column, [column.values[i]])
            known = bits_unknown(column, own, self.secret, i) if "_" in self.measure else 0.0
            return weight * (bits_unknown(column, closed, self.secret, i) - known)
        if self.measure == "wmi":
            mi = cost("mi", column, closed, column.values[i])
            pmi = bits_unknown(column, closed, self.secret, i)
            return weight * (self.w * mi + (1 - self.w) * pmi)
        return weight * cost(self.measure, column, closed, column.values[i])

    def record(self, closures: Sequence[Closure], i: int) -> float:
        return sum(self.cell(j, closed, i) for j, closed in enumerate(closures))

    def group(self, group: Group) -> float:
        """What closing a group costs all its records."""
        closed = close(self.columns, group)
        return sum(self.record(closed, i) for i in group)

    def cheapest(self, group: Group) -> float:
        """What a group costs all its records under the cheapest closures that cover it."""
        if self.measure in MONOTONE:
            return self.group(group)
        return sum(
            min(
                sum(self.cell(j, closed, i) for i in group)
                for closed in closures_over(column, (column.values[i] for i in group))
            )
            for j, column in enumerate(self.columns)
        )

    def joined(self, group: Group, i: int) -> float:
        """What it costs a group to take in record i."""
        return self.group([*group, i]) - self.group(group)


def bits_unknown(column: Column, closed: Closure, secret: Sequence[Any], i: int) -> float:
    """−log Pr(Y = s | X ∈ B) of record i."""
    inside = [other for other, value in enumerate(column.values) if value in closed]
    same = [other for other in inside if secret[other] == secret[i]]
    return -log2(len(same) / len(inside))


# What a release costs. `closures` holds the released closures of every record.

Closures = Sequence[tuple[Closure, ...]]


def loss(
    measure: str,
    columns: Sequence[Column],
    closures: Closures,
    *,
    sensitive: Sequence[Sequence[Any]] = (),
    weights: Sequence[float] | None = None,
    aggregate: str | None = None,
    k: int = 1,
    w: float = 0.5,
) -> float:
    """Any measure of spec §3 by its formula; several sensitive columns count as their combination."""
    n, r = len(closures), len(columns)
    secret = list(zip(*sensitive, strict=True))
    if measure in ADDS_UP:
        weight = [1.0] * r if weights is None or measure == "gcp" else weights
        objective = Objective(measure, columns, weight, secret, w)
        total = sum(objective.record(closures[i], i) for i in range(n))
        summed = (aggregate or ("sum" if measure in SUMS else "mean")) == "sum"
        return total if summed else total / (n * sum(weight))
    match measure:
        case "pmi_l2":
            gains = information(columns, closures, secret)
            return entropy(Counter(secret).values()) - sqrt(sum(i**2 for i in gains)) / r
        case "pmi_max":
            gains = information(columns, closures, secret)
            return entropy(Counter(secret).values()) - max(gains)
        case "am":
            return sum(prod(len(b) for b in released) for released in closures) / n
        case "dm":
            return sum(
                len(group) * (n if is_suppressed(columns, released) else len(group))
                for released, group in cells(closures).items()
            )
        case "c_avg":
            return n / (len(cells(closures)) * k)
        case "cm":
            return misfits(columns, closures, secret) / n
        case "kl":
            return divergence(columns, closures)
    raise ValueError(measure)


def information(
    columns: Sequence[Column], closures: Closures, secret: Sequence[Any]
) -> list[float]:
    """I(Y; released column j) of every column (GT10 (11)), in bits."""
    n, known = len(secret), entropy(Counter(secret).values())
    return [
        known - sum(bits_unknown(column, closures[i][j], secret, i) for i in range(n)) / n
        for j, column in enumerate(columns)
    ]


def is_suppressed(columns: Sequence[Column], released: tuple[Closure, ...]) -> bool:
    """Whether nothing is left of a record that had something to tell."""
    whole = tuple(column.whole for column in columns)
    return released == whole and any(len(values) > 1 for values in whole)


def misfits(columns: Sequence[Column], closures: Closures, secret: Sequence[Any]) -> int:
    """Records outside their group's majority, or suppressed."""
    found = 0
    for released, group in cells(closures).items():
        common = Counter(secret[i] for i in group).most_common(1)[0][1]
        found += len(group) if is_suppressed(columns, released) else len(group) - common
    return found


def divergence(columns: Sequence[Column], closures: Closures) -> float:
    """KL divergence, in bits, of the table's records from records drawn from the release."""
    n = len(closures)
    records = Counter(zip(*(column.values for column in columns), strict=True))

    def induced(record: tuple[Any, ...]) -> float:
        return sum(
            1 / (n * prod(len(b) for b in released))
            for released in closures
            if all(value in b for value, b in zip(record, released, strict=True))
        )

    return sum(count / n * log2(count / n / induced(record)) for record, count in records.items())


# What the values of a group reach of a requirement (spec §4)


def least_share(values: Sequence[Any]) -> float:
    """One over the share of the most frequent value: ℓ by frequency."""
    return len(values) / max(Counter(values).values())


def perplexity(values: Sequence[Any]) -> float:
    """ℓ by entropy."""
    return float(2 ** entropy(Counter(values).values()))


def recursive_ratio(values: Sequence[Any], l: int) -> float:
    """What c must be above: the largest count over the sum of the ℓ-th largest and all smaller ones."""
    counts = sorted(Counter(values).values(), reverse=True)
    return counts[0] / sum(counts[l - 1 :]) if len(counts) >= l else inf


def protected_subtrees(column: Column, values: Sequence[Any], protected: Iterable[str]) -> int:
    """Different strong values (TCM07 Definitions 4 and 5): the largest protected sets that hold the values."""
    nodes = {**{str(v): frozenset([v]) for v in column.domain}, **column.nodes}
    sets = [column.whole if nodes[p] == frozenset(column.domain) else nodes[p] for p in protected]
    return len({max([s for s in sets if v in s] or [frozenset([v])], key=len) for v in values})


def largest_share(values: Sequence[Any], named: Sequence[Any] | None = None) -> float:
    return max(values.count(v) / len(values) for v in (values if named is None else named))


def earth_movers_distance(
    values: Sequence[Any], table: Sequence[Any], distance: Callable[[Any, Any], float]
) -> float:
    """The least work that turns a group's distribution into the table's, as a linear program."""
    kinds = list(dict.fromkeys(table))
    work = [distance(a, b) for a in kinds for b in kinds]
    out = [[float(a == kind) for a in kinds for _ in kinds] for kind in kinds]
    into = [[float(b == kind) for _ in kinds for b in kinds] for kind in kinds]
    shares = [part.count(kind) / len(part) for part in (values, table) for kind in kinds]
    return float(linprog(work, A_eq=out + into, b_eq=shares).fun)


def hierarchical_distance(column: Column, a: Any, b: Any) -> float:
    """The height of the lowest set that holds both over the height of the tree."""
    return chain(column, closure(column, [a, b])) / chain(column, column.whole)


# Groups


def at_least(k: int) -> Meets:
    """What k-anonymity asks of a group."""
    return lambda group: len(group) >= k


def cells(keys: Iterable[Any]) -> dict[Any, Group]:
    """Records by key, in order of first appearance."""
    found: defaultdict[Any, Group] = defaultdict(list)
    for i, key in enumerate(keys):
        found[key].append(i)
    return dict(found)


def lowest_common_ancestor(parent: Sequence[int], a: int, b: int) -> int:
    """The first node that two ways to the root share; the root is its own parent."""

    def way(node: int) -> list[int]:
        return [node] if parent[node] == node else [node, *way(parent[node])]

    return next(node for node in way(a) if node in way(b))


# Methods


def partitions(records: Group, k: int) -> Iterator[list[Group]]:
    """All ways to cut records into groups of at least k."""
    if not records:
        yield []
        return
    first, *rest = records
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [i for i in rest if i not in others]
            for groups in partitions(left, k):
                yield [[first, *others], *groups]


def optimum(objective: Objective, records: int, k: int) -> float:
    """The least cost of any partition, under any closures that cover its groups."""
    cost = cache(lambda group: objective.cheapest(list(group)))
    found = partitions([*range(records)], k)
    return min(sum(cost(tuple(group)) for group in groups) for groups in found)


def mondrian(
    objective: Objective, group: Group, meets: Meets, relaxed: bool = False
) -> list[Group]:
    """Split on the column that costs the group most beyond its own values, the next one where that fails."""
    closed = close(objective.columns, group)

    def width(j: int) -> float:
        own = objective.columns[j].values
        return sum(
            objective.cell(j, closed[j], i) - objective.cell(j, frozenset([own[i]]), i)
            for i in group
        )

    widths = [width(j) for j in range(len(closed))]
    for j in sorted(range(len(closed)), key=lambda j: -widths[j]):
        if widths[j] > 1e-9:
            parts = split(objective.columns[j], closed[j], group, meets, relaxed)
            if len(parts) > 1:
                return [end for part in parts for end in mondrian(objective, part, meets, relaxed)]
    return [group]


def split(
    column: Column, closed: Closure, group: Group, meets: Meets, relaxed: bool
) -> list[Group]:
    if column.model in ("suppression", "hierarchy"):
        return split_node(column, closed, group, meets)
    return split_at_median(column, group, meets, relaxed)


def split_node(column: Column, closed: Closure, group: Group, meets: Meets) -> list[Group]:
    """Every child that may be a group alone; the others pooled, with the smallest children until they may."""

    def child(i: int) -> int:
        inside = [s for s in column.allowed if s < closed and column.values[i] in s]
        return column.allowed.index(max(inside, key=len)) if inside else -1

    children = sorted(
        cells(child(i) for i in group).items(), key=lambda item: (len(item[1]), item[0])
    )
    parts = [[group[place] for place in places] for _, places in children]
    alone = [part for part in parts if meets(part)]
    while True:
        pool = [i for part in parts if part not in alone for i in part]
        if not pool or meets(pool) or not alone:
            return [pool, *alone] if pool else alone
        alone = alone[1:]


def split_at_median(column: Column, group: Group, meets: Meets, relaxed: bool) -> list[Group]:
    """Null apart where that is allowed; else the allowed cut nearest to the median, equal values together."""
    rank = {value: place for place, value in enumerate([*column.domain, None])}
    ordered = sorted(group, key=lambda i: rank[column.values[i]])
    values = [column.values[i] for i in ordered]
    known = sum(value is not None for value in values)
    cuts = [cut for cut in range(1, len(group)) if relaxed or values[cut - 1] != values[cut]]
    cuts.sort(key=lambda cut: (abs(cut - len(group) // 2), cut))
    for cut in [known, *cuts] if 0 < known < len(group) else cuts:
        if meets(ordered[:cut]) and meets(ordered[cut:]):
            return [ordered[:cut], ordered[cut:]]
    return [group]


Rung = Mapping[Any, int] | Sequence[int]  # a bin per value
