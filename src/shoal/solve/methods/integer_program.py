"""The optimum of small tables by an integer program over all closed cells, solved by HiGHS.

A group is best released as the closed cell of its members, and two groups of one cell may as well be one. So a
partition is a choice of cells (y, 0 or 1) with the number of records x of each point that go to each cell:

    minimize    Σ x[c, p] · cost[c]
    subject to  Σ_c x[c, p] = weight[p]              every record is in a cell, or is left out
                Σ_p x[c, p] ≥ k · y[c]               a cell that is used has k records
                x[c, p] ≤ weight[p] · y[c]           a cell that is not used has none
                Σ_{c inside S} y[c] ≤ groups(S)      for every cell S

The last rows follow from the others only for whole numbers: eleven records make two groups of five, not 2.2. They bring
the linear bound from 3–5 % below the optimum to 0.4–3.5 % on samples of Adult. Requirements that are linear in the
counts of sensitive values are rows, too.

The linear program gives every variable a reduced cost: by how much the bound rises if the variable is used. A solution
that is better than the bound by less than δ uses only variables of reduced cost below δ. So the program is solved over
few variables first, and again over more, until δ covers the gap between its solution and the bound. That proves it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import Floats, Ints, Records
from shoal.kernels.bounding.cell_walk import make_walk
from shoal.kernels.bounding.closed_cells import list_cells
from shoal.kernels.shared.state import offending
from shoal.progress import Progress
from shoal.solve.bounds.diverse import distinct_needed, outside_needed
from shoal.solve.bounds.point_bounds import PointTrees
from shoal.solve.methods.base import state_of
from shoal.solve.methods.completion import suppressed_costs
from shoal.solve.problem import Problem

Bools = npt.NDArray[np.bool_]

# Closed cells and their entries (a cell and one of its points) that are listed at most: HiGHS takes 0.2 to 4 seconds to
# relax a program of 7,000 to 42,000 entries, samples of Adult.
MOST_CELLS, MOST_ENTRIES = 20_000, 400_000
# Of least reduced cost in the first program. With 2,000, six samples of Adult come to 0 to 1.4 % above the optimum
# in 1 to 6 seconds; with 1,000 to up to 5 %, as many programs then have no solution that is better.
FEW_ENTRIES = 2_000
GROWTH = 4  # times as many entries in the next program, at most
# Nanoseconds for a number in the rows of a program, and for a step of the simplex method in a linear program and in
# branch and bound: measured on programs of 4,000 to 130,000 numbers, where a step took 50 to 250 and 200 to 350
# microseconds.
PER_TERM, PER_STEP, PER_WHOLE_STEP = 1_000.0, 150_000.0, 250_000.0
MOST_NODES = 20_000  # of branch and bound, in each program
MOST_ROUNDS = 10  # programs: the last of them has all entries
# Records of cells whose groups are limited by a row, in multiples of k: wider ones raised no bound on samples of Adult.
WIDEST = 10
TIE = 1e-9  # share of the cost below which solutions count as equally good
SAFETY = 1e-6  # share by which a bound of HiGHS is lowered, whose tolerance this is


class Solution(NamedTuple):
    """What HiGHS found: the columns and, without whole numbers, their reduced costs, where there is a solution."""

    values: Floats | None
    reduced: Floats | None
    bound: float  # no solution costs less
    finished: bool  # there is no better solution
    work: float  # nanoseconds that HiGHS needs for so many steps and terms, about


@dataclass
class Model:
    """A program as HiGHS takes it, made block by block."""

    cost: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    is_whole: list[Bools] = field(default_factory=list)
    limits: list[Floats] = field(default_factory=list)  # the least and the most of each row
    entries: list[tuple[Records, Records, Floats]] = field(default_factory=list)
    width: int = 0
    height: int = 0

    def columns(self, cost: npt.ArrayLike, upper: npt.ArrayLike, size: int, whole: bool) -> Records:
        """Add columns from 0 to `upper`, and return their numbers."""
        self.cost.append(_spread(cost, size))
        self.upper.append(_spread(upper, size))
        self.is_whole.append(np.full(size, whole))
        self.width += size
        return np.arange(self.width - size, self.width)

    def rows(
        self,
        least: npt.ArrayLike,
        most: npt.ArrayLike,
        size: int,
        *terms: tuple[Records, Records, npt.ArrayLike],
    ) -> None:
        """Add rows from `least` to `most`; a term has the row, counted from 0, column and value of each entry."""
        for row, column, value in terms:
            self.entries.append((self.height + row, column, _spread(value, row.size)))
        self.limits.append(np.stack([_spread(least, size), _spread(most, size)]))
        self.height += size

    def relax(self, fixed: tuple[Records, Floats] | None = None) -> Solution:
        """Solve the linear program, in which no number need be whole, with some columns fixed."""
        return self._solve({}, False, fixed)

    def solve(self, below: float, nodes: int) -> Solution:
        """Find the best solution that costs less than `below`, with so many nodes of branch and bound at most."""
        options = {"objective_bound": below, "mip_max_nodes": nodes, "mip_rel_gap": TIE}
        return self._solve(options, True, None)

    def _solve(
        self, options: dict[str, Any], whole: bool, fixed: tuple[Records, Floats] | None
    ) -> Solution:
        import highspy  # takes a tenth of a second

        row, column, value = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        order = np.lexsort((column, row))
        lower, upper = np.zeros(self.width), np.concatenate(self.upper)
        if fixed is not None:
            lower[fixed[0]] = upper[fixed[0]] = fixed[1]
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = self.width, self.height
        program.col_cost_ = np.concatenate(self.cost)
        program.col_lower_, program.col_upper_ = lower, upper
        program.row_lower_, program.row_upper_ = np.concatenate(self.limits, axis=1)
        matrix = program.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_ = np.append(0, np.cumsum(np.bincount(row, minlength=self.height)))
        matrix.index_, matrix.value_ = column[order], value[order]
        if whole:
            kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
            program.integrality_ = [kinds[int(one)] for one in np.concatenate(self.is_whole)]
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        # One thread, and no limit in seconds: the same table always gets the same release.
        same = {"output_flag": False, "threads": 1, "parallel": "off", "random_seed": 0}
        for name, option in {**same, **options}.items():
            solver.setOptionValue(name, option)
        solver.passModel(program)
        solver.run()
        info, status, found = solver.getInfo(), solver.getModelStatus(), solver.getSolution()
        best, none = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible
        is_found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        return Solution(
            np.array(found.col_value) if is_found else None,
            np.array(found.col_dual) if is_found and not whole else None,
            info.mip_dual_bound if whole else info.objective_function_value,
            status in (best, none),
            PER_TERM * value.size
            + (PER_WHOLE_STEP if whole else PER_STEP) * max(0, info.simplex_iteration_count),
        )


def _spread(value: npt.ArrayLike, size: int) -> Floats:
    return np.broadcast_to(np.asarray(value, dtype=np.float64), size)


class Cells(NamedTuple):
    """All closed cells of at least k records; cell[i] has point[i]."""

    cell: Records
    point: Records
    costs: Floats  # what each cell costs a record

    @classmethod
    def of(cls, points: PointTrees, most: int, most_cells: int = MOST_CELLS) -> Cells | None:
        """List the cells, or return None if there are more than so many, or more entries than `most`."""
        trees, n = points.trees(), len(points.points.counts)
        bounds, costs = np.zeros(most_cells + 1, dtype=np.int64), np.empty(most_cells)
        members = np.empty(most, dtype=np.int32)
        walk, every = make_walk(trees, 1), np.full(n, inf)
        listed = list_cells(trees, walk, points.problem.k, 1, every, bounds, costs, members)
        if listed < 0:
            return None
        cell = np.repeat(np.arange(listed), np.diff(bounds[: listed + 1]))
        return cls(cell, members[: cell.size].astype(np.int64), costs[:listed].copy())


class Columns(NamedTuple):
    """The numbers of the columns of a model."""

    taken: Records  # x, for each entry
    used: Records  # y, for each cell that has entries
    present: Records  # whether a cell has a sensitive value, where distinct values are asked for
    left_out: Records  # records left out, for each point


class Outcome(NamedTuple):
    """The best partition found, and a bound that no partition's cost is below."""

    groups: Ints
    cost: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether the partition is an optimum."""
        return self.cost <= self.bound * (1 + 2 * TIE) + TIE


class IntegerProgram:
    """The program of one problem; records left out (−1) are part of it if `problem.most_left_out` allows any."""

    def __init__(self, problem: Problem, points: PointTrees, cells: Cells) -> None:
        self._problem, self._cells = problem, cells
        first, self._place, counts = points.points
        self._weights, self._values = counts.astype(np.int64), problem.values[first]
        self._sizes = np.bincount(cells.cell, minlength=cells.costs.size)
        self._hidden = float(suppressed_costs(problem)[0])
        self._inner, self._outer, self._limits = self._limited()
        self.work = 0.0  # nanoseconds that programs have taken so far, about

    @property
    def entries(self) -> int:
        """The number of cells with one of their points."""
        return int(self._cells.point.size)

    @classmethod
    def of(cls, problem: Problem, most_entries: int = MOST_ENTRIES) -> IntegerProgram | None:
        """State the program, or return None if that is not possible or it would be too large."""
        if obstacle(problem):
            return None
        points = PointTrees(problem, by_value=problem.tallied > 0)
        cells = Cells.of(points, most_entries)
        return None if cells is None else cls(problem, points, cells)

    def improve(
        self, groups: Ints, nodes: int, rounds: int, progress: Progress, few: int = FEW_ENTRIES
    ) -> Outcome:
        """Search for the best partition, starting from one, in at most so many programs of so many nodes each.

        The first has as many as `few` entries, those of least reduced cost.
        """
        offset = float(self._problem.objective.offset.sum())
        cost = self._cost(groups)
        dear, least = self._relaxed
        ranked, bound = np.sort(dear), least
        for done in range(rounds):
            progress("solving an integer program", done, rounds)
            gap = max(0.0, cost - least)
            gap = min(gap, float(ranked[min(few, ranked.size) - 1])) if few < ranked.size else gap
            kept = dear <= gap * (1 + TIE) + TIE
            cells = self._cells._replace(cell=self._cells.cell[kept], point=self._cells.point[kept])
            better, reached, finished = self._solve(cells, cost, nodes)
            if better is not None and self._cost(better) < cost:
                groups, cost = better, self._cost(better)
            # A solution that needs another entry costs at least the gap more than the linear bound.
            inside = cost if finished else reached * (1 - SAFETY)
            bound = max(bound, min(cost, inside, least + gap))
            if not finished or cost - least <= gap:
                break
            few *= GROWTH
        return Outcome(groups, cost + offset, min(bound, cost) + offset)

    @cached_property
    def _relaxed(self) -> tuple[Floats, float]:
        """The reduced cost of each entry in the linear program, and the linear bound."""
        model, columns = self._model(self._cells)
        relaxed = model.relax()
        self.work += relaxed.work
        if relaxed.reduced is None:
            return np.zeros(self.entries), 0.0
        # An entry costs its own reduced cost and, as its cell must be used, that of the cell.
        own = np.maximum(0.0, relaxed.reduced[columns.taken])
        dear = np.maximum(own, relaxed.reduced[columns.used][self._cells.cell])
        return dear, relaxed.bound

    def _solve(self, cells: Cells, cost: float, nodes: int) -> tuple[Ints | None, float, bool]:
        """Solve the program over some cells; return groups that cost less, a bound, and whether it is finished."""
        model, columns = self._model(cells)
        found = model.solve(cost * (1 - TIE), nodes)
        self.work += found.work
        if found.values is None:
            return None, found.bound, found.finished
        taken = found.values
        if np.abs(taken - np.rint(taken)).max() > SAFETY:
            # With all cells chosen this is a flow, whose corners are whole.
            chosen = np.concatenate([columns.used, columns.present])
            flow = model.relax((chosen, np.rint(taken[chosen]))).values
            if flow is None:
                return None, found.bound, False
            taken = flow
        points = np.concatenate([cells.point, np.arange(columns.left_out.size)])
        cell = np.concatenate([cells.cell, np.full(columns.left_out.size, -1)])
        counts = np.rint(np.concatenate([taken[columns.taken], taken[columns.left_out]]))
        groups = self._groups(points, cell, counts.astype(np.int64))
        return groups, found.bound, found.finished and groups is not None

    def _groups(self, point: Records, cell: Records, counts: Records) -> Ints | None:
        """Hand out the records of each point to cells; None if rounding has spoilt a group."""
        if not np.array_equal(np.bincount(point, counts, self._weights.size), self._weights):
            return None
        order = np.argsort(point, kind="stable")
        groups = np.empty(self._place.size, dtype=np.int32)
        groups[np.argsort(self._place, kind="stable")] = np.repeat(cell[order], counts[order])
        kept = np.flatnonzero(groups >= 0)
        groups[kept] = np.unique(groups[kept], return_inverse=True)[1].reshape(-1)
        state = state_of(self._problem, groups[kept], kept)
        return None if offending(self._problem.rules, state).any() else groups

    def _cost(self, groups: Ints) -> float:
        """What a partition costs, less the offset; records left out count as suppressed."""
        offset = float(self._problem.objective.offset.sum())
        return self._problem.cost(groups) - offset + self._hidden * int((groups < 0).sum())

    def _model(self, cells: Cells) -> tuple[Model, Columns]:
        """The program over some of the cells' entries."""
        model, rules = Model(), self._problem.rules
        cell, point, costs = cells
        weights, points = self._weights.astype(np.float64), self._weights.size
        names, own = np.unique(cell, return_inverse=True)
        own, entry = own.reshape(-1), np.arange(cell.size)
        # Once cells are chosen, the rest is a flow, unless shares or several sensitive columns cross it.
        crossed = bool(rules.capped.any()) or len(rules.distinct) > 1
        x = model.columns(costs[cell], weights[point], cell.size, crossed)
        y = model.columns(0.0, 1.0, names.size, True)
        most_left_out = self._problem.most_left_out
        loose = weights if most_left_out else weights[:0]
        left_out = model.columns(self._hidden, loose, loose.size, crossed)
        place = np.arange(left_out.size)
        model.rows(weights, weights, points, (point, x, 1.0), (place, left_out, 1.0))
        model.rows(0.0, float(most_left_out), 1, (np.zeros_like(place), left_out, 1.0))
        numbers = np.arange(names.size)
        model.rows(0.0, inf, names.size, (own, x, 1.0), (numbers, y, float(-rules.k)))
        model.rows(-inf, 0.0, cell.size, (entry, x, 1.0), (entry, y[own], -weights[point]))
        inside = np.full(costs.size, -1)
        inside[names] = y
        kept = inside[self._inner] >= 0
        limited = self._outer[kept], inside[self._inner[kept]], 1.0
        model.rows(-inf, self._limits, self._limits.size, limited)
        present = [self._require(model, t, own, x, y, point) for t in range(len(rules.distinct))]
        return model, Columns(x, y, np.concatenate([left_out[:0], *present]), left_out)

    def _require(
        self, model: Model, t: int, own: Records, x: Records, y: Records, point: Records
    ) -> Records:
        """Add what the requirements on one sensitive column ask; returns the columns that are new."""
        rules = self._problem.rules
        pairs, pair = np.unique(
            np.stack([own, self._values[point, t]]), axis=1, return_inverse=True
        )
        pair, (cell, value) = pair.reshape(-1), pairs
        for number in np.flatnonzero(rules.cap[value] < 1.0) if rules.capped[t] else ():
            entries = np.flatnonzero(own == cell[number])
            is_value = self._values[point[entries], t] == value[number]
            shares = is_value - rules.cap[value[number]]
            model.rows(-inf, 0.0, 1, (np.zeros_like(entries), x[entries], shares))
        need = int(rules.distinct[t])
        if need < 2:
            return x[:0]
        present = model.columns(0.0, 1.0, cell.size, True)
        numbers = np.arange(cell.size)
        model.rows(0.0, inf, cell.size, (pair, x, 1.0), (numbers, present, -1.0))
        model.rows(0.0, inf, y.size, (cell, present, 1.0), (np.arange(y.size), y, float(-need)))
        return present

    def _limited(self) -> tuple[Records, Records, Floats]:
        """The rows that limit groups inside a cell: the cells inside, the row of each, and the limit of each row."""
        cell, point, _ = self._cells
        records = np.bincount(cell, self._weights[point])
        ends = np.cumsum(self._sizes)
        cells_of = np.split(
            cell[np.argsort(point, kind="stable")], np.cumsum(np.bincount(point))[:-1]
        )
        inner, limits = [], []
        for c in np.flatnonzero(records < WIDEST * self._problem.k):
            members = point[ends[c] - self._sizes[c] : ends[c]]
            around, shared = np.unique(
                np.concatenate([cells_of[p] for p in members]), return_counts=True
            )
            inside = around[shared == self._sizes[around]]
            most = self._most_groups(members)
            if most < records[c] / self._problem.k and inside.size > most:
                inner.append(inside)
                limits.append(most)
        none = np.empty(0, dtype=np.int64)
        outer = np.repeat(np.arange(len(inner)), [inside.size for inside in inner])
        return np.concatenate([none, *inner]), outer, np.array(limits, dtype=np.float64)

    def _most_groups(self, members: Records) -> int:
        """How many groups some points make at most: by their records, and by those without each sensitive value."""
        rules, weights = self._problem.rules, self._weights[members]
        most = int(weights.sum()) // rules.k
        if not self._problem.tallied:
            return most
        need, outside = distinct_needed(rules), outside_needed(rules)
        for t in range(len(need)):
            own = slice(rules.start[t], rules.start[t + 1])
            values = self._values[members, t] - rules.start[t]
            counts = np.bincount(values, weights, rules.start[t + 1] - rules.start[t])
            others = np.maximum(outside[own], need[t] - 1)  # that a group needs besides each value
            asked = others > 0
            if asked.any():
                most = min(most, int(((weights.sum() - counts[asked]) // others[asked]).min()))
        return most


def obstacle(problem: Problem, over_all_cells: bool = True) -> str:
    """Why no program states a problem, over all its cells or over some, for messages; empty where one does."""
    rules = problem.rules
    if problem.class_count > 1 or not problem.objective.monotone:
        return "with this objective"
    if (rules.entropy > 0).any() or (rules.depth > 0).any() or np.isfinite(rules.distance).any():
        return "under this requirement"
    if over_all_cells and not PointTrees(problem).exact:
        return "with columns of subsets"  # they have too many closures
    # A row that stands for several records cannot be cut.
    return "" if problem.table.counts is None else "of counted records"
