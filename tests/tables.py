"""Random small tables for tests: every kind of value under every model, nulls, values that do not occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import reference
from hypothesis import strategies as st
from reference import folded_models

import shoal
from shoal.encoding.encode import Table, encode
from shoal.encoding.frames import open_frame
from shoal.encoding.models import Model
from shoal.kernels.shared.groups import group_costs
from shoal.solve.methods.base import Partition
from shoal.solve.problem import Problem

AWKWARD = [
    "",
    " ",
    "a",
    "a b",
    "a, b",
    '"',
    '"a"',
    "a\\",
    "{",
    "}",
    "[1, 2]",
    "1",
    "-1",
    "ä",
    "\n",
    ",",
    ".. a",
    "a ..b",
    " .. ",
    "a ..",
    "a .. b",
]

KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), st.sampled_from(AWKWARD) | st.text('ab,"{} \\', max_size=3)),
    "whole number": (pa.int64(), st.integers(-9, 9) | st.integers(-(2**40), 2**40)),
    "number": (pa.float64(), st.floats(-1e9, 1e9).map(lambda x: round(x, 3) + 0.0)),
    "truth": (pa.bool_(), st.booleans()),
    "date": (pa.date32(), st.dates(date(1900, 1, 1), date(2100, 1, 1))),
    "moment": (pa.timestamp("us"), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))),
}
CODES = st.text("01.", min_size=1, max_size=4)
NEAR = {
    "date": st.dates(date(2019, 12, 25), date(2021, 2, 10)),
    "moment": st.datetimes(datetime(2019, 12, 25), datetime(2021, 2, 10)),
}
FILELESS = ("calendar", "point", "prefix", "ready")
ORDERED = ("whole number", "number", "date", "moment")
WEIGHTS = [1.0, 2**0.5, 3**-0.5, 1.1]  # weighted costs of different columns do not tie
SHARE = 0.3  # of mi in wmi
MANY = list(range(70))  # more values than two words of a bit set hold


@dataclass(frozen=True)
class Sample:
    """A table as a user gives it and as the reference reads it."""

    frame: pa.Table
    columns: dict[str, reference.Column]
    models: dict[str, Model]
    weights: dict[str, float]

    @property
    def records(self) -> int:
        return self.frame.num_rows

    @property
    def twins(self) -> list[reference.Column]:
        return list(self.columns.values())

    @property
    def secrets(self) -> list[list[Any]]:
        return [self.frame[name].to_pylist() for name in self.sensitive]

    @property
    def sensitive(self) -> list[str]:
        return [name for name in self.frame.column_names if name.startswith("sensitive")]

    def encoded(self) -> Table:
        return encode(open_frame(self.frame), self.models, self.sensitive)

    def problem(self, measure: str, k: int = 1) -> Problem:
        return Problem.of(self.encoded(), measure, k, self.weights, SHARE)

    def objective(self, measure: str) -> reference.Objective:
        weights = [self.weights[name] for name in self.columns]
        secret = list(zip(*self.secrets, strict=True))
        return reference.Objective(measure, self.twins, weights, secret, SHARE)

    def unweighted(self) -> Sample:
        return replace(self, weights=dict.fromkeys(self.weights, 1.0))

    def with_columns(self, **columns: pa.Array) -> Sample:
        """The same table with more columns, at its end."""
        frame = self.frame
        for name, array in columns.items():
            frame = frame.append_column(name, array)
        return replace(self, frame=frame)

    def permuted(self, order: Sequence[int]) -> Sample:
        """The same table with its records in another order."""
        columns = {
            name: replace(column, values=[column.values[i] for i in order])
            for name, column in self.columns.items()
        }
        return replace(self, frame=self.frame.take(list(order)), columns=columns)


def is_allowed(value: Any, model: str) -> bool:
    """Texts that a model must refuse, because they could be misread, are not drawn."""
    if not isinstance(value, str) or model in ("interval", "prefix"):
        return True
    if model == "hierarchy":
        return bool(value) and value == value.strip()
    if model == "order":
        return " .. " not in f"{value} "
    return not (value[:1] == "{" and value[-1:] == "}")


@st.composite
def trees(draw: st.DrawFn, leaves: Sequence[str], name: str = "*") -> dict[str, Any]:
    """A nested dict over the leaves, balanced or not; a level may repeat a set."""
    children: dict[str, Any] = {}
    rest = list(leaves)
    while rest:
        most = len(rest) - (not children and len(leaves) > 1)
        size = draw(st.integers(1, most))
        part, rest = rest[:size], rest[size:]
        label = f"{name}.{len(children)}"
        inside = {part[0]: None} if size == 1 else draw(trees(part, label))
        if draw(st.integers(0, 3)) == 0:
            inside = {f"{label}'": inside if size == 1 else inside[label]}
            inside = {label: inside}
        children |= inside
    return {name: children}


def leaves_below(tree: Any) -> list[str]:
    return [
        leaf for key, below in tree.items() for leaf in (leaves_below(below) if below else [key])
    ]


def nodes_of(tree: dict[str, Any]) -> dict[str, list[str]]:
    """Leaves by label of every inner node of a nested dict."""
    found = {}
    for key, below in tree.items():
        if below:
            found |= {key: leaves_below(below), **nodes_of(below)}
    return found


def heights_in(tree: dict[str, Any]) -> dict[str, int]:
    """The height of every label of a nested dict: levels below it, the longest way down."""
    found = {}
    for key, below in tree.items():
        inside = heights_in(below) if below else {}
        found |= {**inside, key: 1 + max(inside[name] for name in below) if below else 0}
    return found


@st.composite
def columns(
    draw: st.DrawFn, records: int, kinds: Sequence[str] = tuple(KINDS)
) -> tuple[pa.Array, reference.Column, Model]:
    """A column of a table, its twin and its model."""
    models = ["suppression", "hierarchy", "interval", "subset"]
    texts = ("order", "point", "prefix", "ready")
    models += texts if "text" in kinds else []
    models += ["calendar"] if "date" in kinds else []
    model = draw(st.sampled_from(models))
    kind = draw(st.sampled_from([k for k in kinds if k in ORDERED or model != "interval"]))
    kind = "text" if model in texts else "date" if model == "calendar" else kind
    kind = "moment" if kind == "date" and "moment" in kinds and draw(st.booleans()) else kind
    arrow, values = KINDS[kind]
    if model in FILELESS:
        places = st.sampled_from(list(folded_models.PLACES))
        codes = {"point": folded_models.POINTS, "prefix": CODES, "ready": places}
        values = codes[model] if model in codes else values | NEAR[kind]
    pool = st.lists(values, min_size=2, max_size=6, unique_by=reference.label)
    if kind == "whole number":
        pool |= st.just(MANY)
    known = [v for v in draw(pool) if is_allowed(v, model)] or ["x"]
    if model == "hierarchy" and len(known) < 2:
        known = [*known, "y"]
    possible = [*known, *([None] if draw(st.booleans()) else [])]
    cells = draw(st.lists(st.sampled_from(possible), min_size=records, max_size=records))
    cells = cells if any(v is not None for v in cells) else [known[0], *cells[1:]]
    seen = sorted({v for v in cells if v is not None})
    array = pa.array(cells, type=arrow)
    if model in FILELESS:
        return array, *draw(getattr(folded_models, model)(cells))
    can_fold = kind in ORDERED and model != "hierarchy"
    if can_fold and len(known) < len(MANY) and draw(st.booleans()):
        if model == "interval":
            return array, *draw(folded_models.folded_interval(cells, known))
        return array, *draw(folded_models.folded_set(model, cells, known))
    if model == "hierarchy":
        by_label = {reference.label(v): v for v in known}
        tree = draw(trees(list(by_label)))
        if draw(st.booleans()):
            return array, *draw(folded_models.folded_hierarchy(cells, by_label, tree))
        hierarchy = shoal.Hierarchy.from_dict(tree)
        leaves = nodes_of(tree)
        nodes = {name: frozenset(by_label[v] for v in leaves[name]) for name in hierarchy.inner}
        domain = [by_label[v] for v in hierarchy.leaves]
        heights = heights_in(tree)
        top = max(heights.values()) + (len(tree) > 1)
        twin = reference.Column(model, cells, domain, nodes, {"*": top, **heights}, top)
        return array, twin, hierarchy
    declared = draw(st.booleans())
    if model == "order":
        order = draw(st.permutations(known)) if declared else seen
        if declared and draw(st.booleans()):
            return array, *draw(folded_models.folded_order(cells, order))
        return (
            array,
            reference.Column(model, cells, order),
            shoal.Order(order if declared else "names"),
        )
    make = {"suppression": shoal.Suppression, "interval": shoal.Interval, "subset": shoal.Subset}
    twin = reference.Column(model, cells, sorted(known) if declared else seen)
    return array, twin, make[model](domain=known if declared else None)


@st.composite
def samples(
    draw: st.DrawFn,
    min_records: int = 1,
    max_records: int = 16,
    max_columns: int = 3,
    sensitive: int = 0,
    kinds: Sequence[str] = tuple(KINDS),
) -> Sample:
    """A table of a few records and quasi-identifiers."""
    records = draw(st.integers(min_records, max_records))
    number = draw(st.integers(1, max_columns))
    arrays: dict[str, pa.Array] = {}
    twins: dict[str, reference.Column] = {}
    models: dict[str, Model] = {}
    for j in range(number):
        name = f"quasi{j}"
        arrays[name], twins[name], models[name] = draw(columns(records, kinds))
    for j in range(sensitive):
        secrets = st.lists(
            st.sampled_from(["s", "t", "u", None]), min_size=records, max_size=records
        )
        arrays[f"sensitive{j}"] = pa.array(draw(secrets), type=pa.string())
    weights = draw(st.permutations(WEIGHTS))[:number]
    return Sample(pa.table(arrays), twins, models, dict(zip(twins, weights, strict=True)))


@st.composite
def jobs(draw: st.DrawFn, records: int, objectives: Sequence[str]) -> tuple[Sample, str, int]:
    """A table, an objective and k."""
    sample = draw(samples(min_records=2, max_records=records, sensitive=1))
    k = draw(st.integers(1, min(sample.records, 4)))
    return sample, draw(st.sampled_from(objectives)), k


@st.composite
def partitioned_samples(draw: st.DrawFn, **options: Any) -> tuple[Sample, list[int]]:
    """A table and a group number per record."""
    sample = draw(samples(**options))
    return sample, draw(partitions(sample.records))


def partitions(records: int) -> st.SearchStrategy[list[int]]:
    """A group number per record, 0 … groups − 1, none of them empty."""
    return st.lists(st.integers(0, 3), min_size=records, max_size=records).map(renumbered)


def renumbered(groups: Sequence[int]) -> list[int]:
    """The same partition with groups numbered from 0 on without gaps."""
    return [sorted(set(groups)).index(group) for group in groups]


def members(groups: Sequence[int]) -> list[list[int]]:
    """Records of each group of a partition."""
    found: list[list[int]] = [[] for _ in range(max(groups) + 1)]
    for record, group in enumerate(groups):
        found[group].append(record)
    return found


def partition_of(groups: Sequence[int]) -> list[list[int]]:
    """A partition as sorted lists of records, whatever the numbers of its groups."""
    return sorted(members(renumbered(groups)))


def as_partition(groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Groups as `partition_of` gives them."""
    return sorted(sorted(group) for group in groups)


def paid(problem: Problem, partition: Partition) -> float:
    """What the release of a partition costs, under the closures that it is released with."""
    closed = problem.close(partition.groups, partition.closing)
    counts = np.zeros((problem.class_count, closed.closures.shape[1]))
    np.add.at(counts, (problem.classes, closed.groups), 1.0)
    costs = group_costs(problem.arrays, closed.closures, counts)
    return float(costs.sum() + problem.objective.offset.sum())


def problem_of(
    columns: Mapping[str, Any], models: Mapping[str, Model | None], measure: str, k: int
) -> Problem:
    """The problem of a table that is written out."""
    return Problem.of(encode(open_frame(pa.table(columns)), models), measure, k)
