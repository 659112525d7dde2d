"""The problem, which is all that a method sees: codes, what closures cost, and the requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.audits.requirements.base import Requirement
from shoal.encoding.closed import Closed, merge_equal
from shoal.encoding.encode import Column, Table, distinct_rows
from shoal.encoding.forms import Floats, Ints, Records, TreeForm
from shoal.kernels.shared import groups as kernels
from shoal.kernels.shared.forms import Compiled
from shoal.kernels.shared.groups import Pairs, make_pairs
from shoal.kernels.shared.rules import Rules
from shoal.risk.limits import compile_rules
from shoal.solve.measures.additive import CompiledMeasure, compile_measure, compile_wmi

TOLERANCE = 1e-12  # relative; rounding must not choose a closure
HIDDEN = -1  # the form of values that are hidden in all columns


@dataclass(frozen=True)
class Points:
    """The points of a problem: the distinct combinations of all that methods see of a record, weighted by records."""

    codes: Ints
    classes: Ints
    values: Ints
    weights: Ints
    of_record: Ints  # the point of each record


@dataclass(frozen=True)
class ClosingRules:
    """How the closures of groups are made, where they are not simply the least that cover their members."""

    windows: Ints | None = None  # the records that each record's closure covers
    forms: Ints | None = None  # records × quasi-identifiers: values of equal number read the same
    closures: Ints | None = None  # slots × groups, chosen by the method

    def of(self, records: Records) -> ClosingRules:
        """The closing of some of the records; windows and chosen closures are those of all."""
        return ClosingRules(forms=None if self.forms is None else self.forms[records])


@dataclass(frozen=True)
class Problem:
    """A table to be cut into groups that meet a requirement at least cost."""

    table: Table
    objective: CompiledMeasure
    classes: Ints  # of each record; what a closure costs a record may depend on it
    rules: Rules  # what every group must keep to
    values: Ints  # what each record counts as in each tally of the rules
    tallies: tuple[str, ...] = ()  # the sensitive column of each tally
    most_left_out: int = 0  # records that may be left out

    @classmethod
    def of(
        cls,
        table: Table,
        objective: str,
        k: int,
        weights: Mapping[str, float] | None = None,
        w: float = 0.5,
        requirements: Sequence[Requirement] = (),
    ) -> Problem:
        """Compile objective and requirements for a table; `w` is the share of `mi` in `wmi`."""
        rules, values = compile_rules(table, k, requirements)
        tallies = tuple(name for item in requirements for name in item.over(list(table.sensitive)))
        if objective in ("pmi", "wmi"):
            share = w if objective == "wmi" else 0.0
            compiled = compile_wmi(table, share, weights or {})
            return cls(table, compiled, table.classes, rules, values, tallies)
        compiled = compile_measure(objective, table.columns, weights)
        classes = np.zeros(table.rows, dtype=np.int32)
        return cls(table, compiled, classes, rules, values, tallies)

    @property
    def k(self) -> int:
        return self.rules.k

    @property
    def tallied(self) -> int:
        """The number of sensitive values that are counted in every group, 0 where k is all that is required."""
        return int(self.rules.start[-1])

    @property
    def counts_values_only(self) -> bool:
        """Whether nothing beyond k is asked of a group but numbers of distinct sensitive values."""
        rules = self.rules
        shares = rules.capped.any() or (rules.entropy > 0).any() or (rules.depth > 0).any()
        return not shares and bool(np.isinf(rules.distance).all())

    @property
    def codes(self) -> Ints:
        return self.table.codes

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.table.columns

    @property
    def arrays(self) -> Compiled:
        """The compiled columns, as kernels read them."""
        return self.objective.arrays

    @property
    def class_count(self) -> int:
        return int(self.arrays.cost.shape[0])

    @cached_property
    def pairs(self) -> Pairs:
        """The cost of the lowest node above any two nodes of a column, found in advance for the kernels."""
        return make_pairs(self.arrays)

    @cached_property
    def points(self) -> Points:
        """The distinct records as weighted points."""
        found = distinct_rows(np.column_stack([self.codes, self.classes, self.values]))
        return Points(
            self.codes[found.first],
            self.classes[found.first],
            self.values[found.first],
            self.table.count(found.place).astype(np.int32),
            found.place,
        )

    def closures(self, groups: Ints) -> tuple[Ints, Floats]:
        """The closure of every group and its records by class; records without a group (−1) do not count."""
        placed = np.flatnonzero(groups >= 0)
        order, bounds = kernels.members(groups[placed], int(groups.max()) + 1)
        order = placed[order]
        closures = kernels.close_groups(self.arrays, self.codes, order, bounds)
        if self.table.counts is None:
            return closures, kernels.count_classes(self.classes, self.class_count, order, bounds)
        counts = np.zeros((self.class_count, closures.shape[1]))
        np.add.at(counts, (self.classes[placed], groups[placed]), self.table.counts[placed])
        return closures, counts

    def close(self, groups: Ints, closing: ClosingRules | None = None) -> Closed:
        """Close every group; groups with equal closures become one.

        Unless `closing` says otherwise, a closure is the tightest that covers the group's members or, where costs may
        fall as closures grow, the node of a tree above it that costs least.
        """
        how = closing or ClosingRules()
        if how.windows is not None:
            rows, width = how.windows.shape
            order, bounds = how.windows.reshape(-1), np.arange(rows + 1) * width
            closures = kernels.close_groups(self.arrays, self.codes, order, bounds)
        elif how.forms is not None:
            closures = self._recoded(groups, how.forms)
        elif how.closures is not None:
            closures = how.closures.copy()
        else:
            closures, counts = self.closures(groups)
            if not self.objective.monotone:
                self._loosen(closures, counts)
        kernels.spread_nulls(self.arrays, closures)
        return merge_equal(self.table, groups, closures)

    def _loosen(self, closures: Ints, counts: Floats) -> None:
        """Give every group, in each column with a tree, the node above its closure that costs least."""
        for j, column in enumerate(self.columns):
            if not isinstance(column.form, TreeForm):
                continue
            start = int(self.arrays.start[j])
            costs = self.arrays.cost[:, start : start + column.form.entries]
            node = closures[self.table.slots[j]][0].copy()
            best, least = node.copy(), (counts * costs[:, node]).sum(axis=0)
            while (node != column.form.parent[node]).any():
                node = column.form.parent[node]
                cost = (counts * costs[:, node]).sum(axis=0)
                is_less = cost < least - TOLERANCE * (1 + np.abs(least))
                best, least = np.where(is_less, node, best), np.where(is_less, cost, least)
            closures[self.table.slots[j]] = best

    def _recoded(self, groups: Ints, forms: Ints) -> Ints:
        """The closures of groups where values of equal number in `forms` read the same, whatever their group."""
        first = np.unique(groups, return_index=True)[1]
        closures = np.empty((self.whole.shape[0], first.size), dtype=np.int32)
        for j, slots in enumerate(self.table.slots):
            form = np.unique(forms[:, j], return_inverse=True)[1].astype(np.int32)
            closures[slots] = self.closures(form)[0][slots][:, form[first]]
        is_hidden = (forms[first] == HIDDEN).all(axis=1)
        closures[:, is_hidden] = self.whole
        return closures

    @cached_property
    def whole(self) -> Ints:
        """The closure of all allowed values, as an array with one column."""
        slots = [slot for column in self.columns for slot in column.form.whole]
        return np.array(slots, dtype=np.int32)[:, None]

    def cost(self, groups: Ints) -> float:
        """The cost of a partition: the objective, summed over all records."""
        closures, counts = self.closures(groups)
        costs = kernels.group_costs(self.arrays, closures, counts)
        return float(costs.sum() + self.objective.offset.sum())


def relative_weights(weights: Mapping[str, float], table: Table) -> dict[str, float]:
    """Weights with a mean of 1, which rounding tolerances expect: only their ratios matter."""
    known = {name: float(weights.get(name, 1.0)) for name in table.names}
    mean = sum(known.values()) / len(known)
    return {name: weight / mean for name, weight in known.items()}
