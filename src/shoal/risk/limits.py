"""Requirements as limits on a group that kernels check, and whether a table can meet them at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.audits.requirements import AlphaK, LDiversity, PSensitive, Requirement, TCloseness
from shoal.encoding.encode import Sensitive, Table, value_key
from shoal.encoding.forms import Floats, Ints, TreeForm
from shoal.encoding.models import Hierarchy
from shoal.encoding.models.base import label_of
from shoal.errors import Infeasible, counted, raise_problems
from shoal.kernels.shared.rules import Rules


@dataclass(frozen=True)
class ColumnLimits:
    """The limits of one sensitive column: what kernels count in a group, and the limits for these counts."""

    entry: Ints  # what each code of the column counts as
    size: int
    cap: Floats | None = None
    distinct: int = 1
    entropy: float = 0.0
    depth: int = 0
    factor: float = 0.0
    distance: float = math.inf
    parent: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    edge: Floats = field(default_factory=lambda: np.zeros(0))


def limits_of(requirement: Requirement, column: str, secret: Sensitive) -> ColumnLimits:
    """Compile a requirement on a sensitive column to the limits that kernels enforce."""
    own = requirement.limits(secret.all_labels)
    if own is not None:
        return _own_limits(own, secret)
    match requirement:
        case LDiversity():
            return _diversity(requirement, secret)
        case PSensitive():
            return _sensitivity(requirement, column, secret)
        case AlphaK():
            return _alpha(requirement, secret)
        case TCloseness():
            return _closeness(requirement, column, secret)
    raise TypeError(
        f"No limits are known for requirement '{requirement.name}'. Derive it from one of shoal's own, or define "
        "'limits'."
    )


def _own_limits(asked: Mapping[str, Any], secret: Sensitive) -> ColumnLimits:
    """The limits that a user's own requirement defines."""
    given = dict(asked)
    if "cap" in given:
        given["cap"] = np.broadcast_to(np.asarray(given["cap"], np.float64), secret.size).copy()
    return ColumnLimits(_all_values(secret), secret.size, **given)


def _all_values(secret: Sensitive) -> Ints:
    """Let every value count for itself."""
    return np.arange(secret.size, dtype=np.int32)


def _diversity(asked: LDiversity, secret: Sensitive) -> ColumnLimits:
    entry, size = _all_values(secret), secret.size
    match asked.kind:
        case "frequency":
            return ColumnLimits(entry, size, cap=np.full(size, 1 / asked.l))
        case "distinct":
            return ColumnLimits(entry, size, distinct=int(asked.l))
        case "entropy":
            return ColumnLimits(entry, size, entropy=math.log(asked.l))
    return ColumnLimits(entry, size, depth=int(asked.l), factor=float(asked.c or 0.0))


def _alpha(asked: AlphaK, secret: Sensitive) -> ColumnLimits:
    cap = np.full(secret.size, asked.alpha)
    if asked.values is not None:
        named = {value_key(label_of(value)) for value in asked.values}
        for code, label in enumerate(secret.all_labels):
            if label is None or value_key(label) not in named:
                cap[code] = 1.0
    return ColumnLimits(_all_values(secret), secret.size, cap=cap)


def _sensitivity(asked: PSensitive, column: str, secret: Sensitive) -> ColumnLimits:
    entry = _all_values(secret)
    if asked.hierarchy is not None:
        form, codes = _compiled(asked.hierarchy, column, secret)
        null = [""] if secret.has_null else []
        labels = [*asked.hierarchy.leaves, *null, *asked.hierarchy.inner]
        strong = np.arange(form.entries)
        for node in range(form.entries - 1, -1, -1):  # from the root down
            above = form.parent[node]
            if above != node and (strong[above] != above or labels[above] in asked.protected):
                strong[node] = strong[above]
        entry = np.unique(strong[codes], return_inverse=True)[1].reshape(-1).astype(np.int32)
    return ColumnLimits(entry, int(entry.max()) + 1, distinct=int(asked.p))


def _closeness(asked: TCloseness, column: str, secret: Sensitive) -> ColumnLimits:
    entry, size = _all_values(secret), secret.size
    if asked.hierarchy is not None:
        form, entry = _compiled(asked.hierarchy, column, secret)
        height = form.heights
        edge = (height[form.parent] - height) / (2 * max(1.0, height[-1]))
        return ColumnLimits(entry, form.size, distance=asked.t, parent=form.parent, edge=edge)
    if asked.ground == "ordered":
        parent = np.minimum(np.arange(1, size + 1), size - 1).astype(np.int32)
        edge = np.full(size, 1 / max(1, size - 1))
        edge[-1] = 0.0
        return ColumnLimits(entry, size, distance=asked.t, parent=parent, edge=edge)
    parent = np.full(size + 1, size, np.int32)
    edge = np.append(np.full(size, 0.5), 0.0)
    return ColumnLimits(entry, size, distance=asked.t, parent=parent, edge=edge)


def _compiled(tree: object, column: str, secret: Sensitive) -> tuple[TreeForm, Ints]:
    """The form of a hierarchy and the leaf of each code of a sensitive column, null included."""
    assert isinstance(tree, Hierarchy)
    form, codes = tree.compile(column, _spelled(tree, secret.labels), secret.has_null)
    assert isinstance(form, TreeForm)
    return form, (np.append(codes, form.null) if secret.has_null else codes).astype(np.int32)


def _spelled(tree: Hierarchy, labels: Sequence[str]) -> pa.Array:
    """Spell labels as the hierarchy does."""
    leaf = {value_key(label): label for label in tree.leaves}
    return pa.array([leaf[value_key(label)] for label in labels], type=pa.large_string())


def compile_rules(
    table: Table, k: int, requirements: Sequence[Requirement] = ()
) -> tuple[Rules, Ints]:
    """Compile the rules for groups of a table.

    Also returns which of the counted values each record has in each tally: int32[records, tallies].
    """
    limits: list[ColumnLimits] = []
    codes: list[Ints] = []
    problems: list[str] = []
    for requirement in requirements:
        for column in requirement.over(list(table.sensitive)):
            secret = table.sensitive[column]
            unfit = requirement.value_problems(column, secret.labels, secret.is_ordered)
            if unfit:
                problems.extend(unfit)
                continue
            limits.append(limits_of(requirement, column, secret))
            codes.append(limits[-1].entry[secret.codes])
    raise_problems(problems)
    start = np.cumsum([0, *(own.size for own in limits)]).astype(np.int64)
    values = np.zeros((table.rows, len(limits)), dtype=np.int32)
    for t, own in enumerate(codes):
        values[:, t] = own + start[t]
    caps = [np.ones(own.size) if own.cap is None else own.cap for own in limits]
    rules = Rules(
        k=k,
        start=start,
        cap=_joined(caps),
        capped=np.array([cap.min(initial=1.0) < 1.0 for cap in caps], dtype=np.bool_),
        distinct=np.array([own.distinct for own in limits], dtype=np.int64),
        entropy=np.array([own.entropy for own in limits], dtype=np.float64),
        depth=np.array([own.depth for own in limits], dtype=np.int64),
        factor=np.array([own.factor for own in limits], dtype=np.float64),
        distance=np.array([own.distance for own in limits], dtype=np.float64),
        share=_counted(table, values, int(start[-1])) / max(1, table.records),
        node=np.cumsum([0, *(own.parent.size for own in limits)]).astype(np.int64),
        parent=_joined([own.parent for own in limits]).astype(np.int64),
        edge=_joined([own.edge for own in limits]),
    )
    return rules, values


def _counted(table: Table, values: Ints, size: int) -> npt.NDArray[Any]:
    """Records by value, over all tallies."""
    counts = None if table.counts is None else np.repeat(table.counts, values.shape[1])
    return np.bincount(values.reshape(-1), counts, size)


def _joined(parts: Sequence[Floats | Ints]) -> Floats:
    return np.concatenate([np.zeros(0), *parts])


def check_feasible(table: Table, k: int, requirements: Sequence[Requirement] = ()) -> None:
    """Raise an error with numbers and the nearest feasible setting if no release can meet the requirements.

    Requirements are monotone: if the whole table as one group does not meet them, no release does.
    """
    problems: list[str] = []
    if k > table.records:
        problems.append(
            f"k = {k:,} needs at least {counted(k, 'record')}, but the table has {table.records:,}. Choose k of "
            f"at most {table.records:,}."
        )
    for requirement in requirements:
        for column in requirement.over(list(table.sensitive)):
            secret = table.sensitive[column]
            counts = table.count(secret.codes, secret.size).astype(np.float64)
            level = requirement.levels(counts[None, :], secret.all_labels, counts / counts.sum())
            if not requirement.is_met(level).all():
                remedy = requirement.remedy(column, counts, float(level[0]))
                problems.append(f"No release can meet {requirement.describe(column)}: {remedy}.")
    if problems:
        raise Infeasible("\n".join(problems))


def group_notes(rules: Rules, values: Ints, table: Table) -> tuple[str, ...]:
    """Report if distinct sensitive values, not k, limit the number of groups (TCM07 Condition 2)."""
    notes = []
    for p in sorted({int(least) for least in rules.distinct if least > 1}):
        tallies = np.flatnonzero(rules.distinct == p)
        counts = [table.count(values[:, t] - rules.start[t]).astype(np.float64) for t in tallies]
        most, _ = most_groups(counts, p)
        if most < table.records // rules.k:
            notes.append(
                f"there can be at most {counted(most, 'group')} with {counted(p, 'sensitive value')} each (Condition "
                "2)"
            )
    return tuple(notes)


def most_groups(counts: Sequence[Floats], p: int) -> tuple[int, int]:
    """The most p-sensitive groups that are possible (TCM07 Condition 2), and the least i that limits them.

    `counts` are the records by value, one array for each sensitive column.
    """
    n = int(counts[0].sum())
    falling = [np.sort(own)[::-1] for own in counts]
    largest = [max(int(own[:i].sum()) for own in falling) for i in range(p)]
    bounds = [(n - largest[p - i]) // i for i in range(1, p + 1)]
    return min(bounds), 1 + bounds.index(min(bounds))
