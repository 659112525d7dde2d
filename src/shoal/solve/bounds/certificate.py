"""The certificate: how far a release's loss can be from the least of all releases that meet the requirement.

A bound is a sum of numbers y, one per record, which in no group sum up to more than the group costs. A release that
leaves records out pays for its groups at least their y, and for each record left out its cost w if fully suppressed.
That is the sum of all y, less the sum of y − w over the records left out. So the bound takes off the largest y − w,
of as many records as may be left out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil, inf, isfinite

import numpy as np

from shoal.audits.requirements.base import Requirement
from shoal.encoding.closed import Closed
from shoal.encoding.forms import Floats
from shoal.kernels.shared.groups import group_costs
from shoal.progress import Progress, silent
from shoal.solve.bounds.ascent import Ascent
from shoal.solve.bounds.diverse import DiverseAscent
from shoal.solve.bounds.point_bounds import PointTrees, cell_bound, nearest_bound
from shoal.solve.bounds.record_bound import record_bound
from shoal.solve.measures.additive import ADDITIVE
from shoal.solve.problem import Problem, relative_weights

SAFETY = 1e-9  # share by which a bound is lowered: sums of a bound and of a loss round differently
PATIENCE = 10  # walks in a row that may gain next to nothing before tightening ends
LEAST_GAIN = 1e-7  # share of the bound; a walk that gains less gains next to nothing
# The first bound takes so many looks for each record and column, at least and at most so many in all: a look is a point
# that is looked at, some 5 nanoseconds, and refinement takes longer. Under requirements a look takes longer. Tightening
# ends at a ratio of ENOUGH, or after so many passes.
LOOKS, DIVERSE_LOOKS, LEAST_LOOKS, MOST_LOOKS = 1_500, 1_000, 300_000_000, 6_000_000_000
ENOUGH, MOST_FIRST = 1.15, 8
STILL = "; still improving"
LOOSE = 1.5  # ratio of loss and bound from which a bound by nearest records may be the better one


@dataclass(frozen=True)
class Certificate:
    """A proof that no release of the table that meets the requirement loses less than `bound`.

    Releases that leave out as many records as `suppression_limit` allows are covered, too; a record left out costs
    what it costs if it is fully suppressed.

    Attributes
    ----------
    bound
        The least that the objective can be, totalled like `release.loss()`.
    ratio
        The release's loss over the bound: it is at most this many times the optimum.
    how
        How the bound was found.
    """

    bound: float
    ratio: float
    how: str

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return (
            f"<p>Certificate: the loss is {escape(str(self))}.<br>No release that meets the requirement loses "
            f"less than {self.bound:.4g} ({escape(self.how)}).</p>"
        )

    def __str__(self) -> str:
        if self.ratio == 1:
            return "the optimum"
        if self.ratio == inf:
            return "none: the bound is 0"
        return f"at most {ceil(1000 * self.ratio) / 1000:.3f} times the optimum"


class Certifier:
    """Finds bounds for one release and keeps the best certificate so far, or the reason why there is none."""

    def __init__(
        self,
        closed: Closed,
        *,
        k: int,
        objective: str,
        weights: Mapping[str, float],
        w: float,
        loss: float | None,
        requirements: Sequence[Requirement] = (),
        duals: Floats | None = None,
        known: float | None = None,
        most_left_out: int = 0,
    ) -> None:
        """Find a first bound; `duals`, a number per record from an earlier ascent, make it tighter, never wrong.

        `known` is the least that any partition costs, if that was found when groups were made.

        The bound also holds for releases that leave out up to `most_left_out` records.

        The `loss` of the release is computed if it is None, which needs one cost of a closure for all classes.
        """
        table = closed.table
        self.problem = Problem.of(
            table, objective, k, relative_weights(weights, table), w, requirements
        )
        self.certificate: Certificate | None = None
        self.reason = ""
        self._most_left_out = most_left_out
        if objective in ADDITIVE and ADDITIVE[objective].aggregate == "sum":
            self._scale = float(np.mean([weights.get(name, 1.0) for name in table.names]))
        else:
            self._scale = 1 / (table.records * len(table.columns))
        self._ascent: Ascent | None = None
        self._cells = PointTrees(self.problem)
        released = self._released(closed)
        self._loss = self._loss_of(released) if loss is None else loss
        self._mi: Certifier | None = None
        if known is not None:
            self._keep_bound(known * self._scale, "integer program")
            if self.certificate is not None and self.certificate.ratio == 1:
                return
        if objective == "wmi" and w > 0:
            self._mi = Certifier(
                closed,
                k=k,
                objective="mi",
                weights=weights,
                w=w,
                loss=None,
                requirements=requirements,
                most_left_out=most_left_out,
            )
            self._w, self._pmi_bound = w, self._bound_of_pmi(weights)
            self._keep_parts()
        monotone = self.problem.objective.monotone and released is not None
        if not monotone and not self._is_proper:
            self.reason = (
                ""
                if self._mi
                else (
                    "costs may fall as closures grow, so a bound needs suppression or a hierarchy in every "
                    "column"
                )
            )
            return
        if released is not None:
            self._climb(released, released if duals is None else duals)
        if released is None or not self._cells.exact:
            self._keep(cell_bound(self._cells), "cheapest cell of k records")
        if monotone and (self.certificate is None or self.certificate.ratio > LOOSE):
            nearest = nearest_bound(self._cells)
            if nearest is not None:
                self._keep(nearest, "nearest k − 1 records")
        if self._ascent and self.certificate is not None:
            self._mark(is_cut_off=self.certificate.ratio > ENOUGH)

    def _climb(self, released: Floats, above: Floats) -> None:
        """Find a first bound by ascent from `above`; `released` is what each record costs in the release.

        Where more than k is required, k alone is bounded first, from what records cost.
        """
        most = first_looks(self.problem)
        if self.problem.tallied:
            self._begin(Ascent(self._cells, self._cells.least_of_points(released)), most / 4)
            self._cells = PointTrees(self.problem, by_value=True)
            self._begin(DiverseAscent(self._cells, self._cells.least_of_points(above)), most)
        else:
            ascent = Ascent(self._cells, self._cells.least_of_points(above))
            self._begin(ascent, most)
            if ascent.slack > 0:  # a walk over all cells took too long
                costs = self._cells.least_of_points(released)
                self._keep(record_bound(self._cells, costs, most), "sets of k records")
        self._tighten(most)

    def _begin(self, ascent: Ascent, most: float) -> None:
        self._ascent = ascent
        ascent.begin(most)
        self._keep_ascent()

    def _tighten(self, most: float) -> None:
        """Tighten the first bound until it is enough, as long as fewer looks than `most` are spent."""
        ascent = self._ascent
        assert ascent is not None
        for _ in range(MOST_FIRST):
            if self.certificate is not None and self.certificate.ratio <= ENOUGH:
                return
            is_late = ascent.slack > 0 or ascent.spent + ascent.looks > most
            if is_late or not ascent.advance(lambda: ascent.spent < most):
                return
            self._keep_ascent()

    def _mark(self, is_cut_off: bool) -> None:
        """Have the certificate say whether it would be better with more time."""
        if self.certificate is not None and self.certificate.ratio > 1:
            how = self.certificate.how.removesuffix(STILL)
            self.certificate = replace(self.certificate, how=how + STILL * is_cut_off)

    def certify(
        self, seconds: float, passes: int, progress: Progress = silent
    ) -> Certificate | None:
        """Tighten the bound until time or passes run out or it gains no more; returns the best certificate so far."""
        start = time.monotonic()
        gains = [inf] * PATIENCE
        done = 0

        def go_on() -> bool:
            spent = time.monotonic() - start
            timed = isfinite(seconds)
            progress("tightening", int(spent) if timed else done, int(seconds) if timed else passes)
            return spent < seconds

        if self._mi:
            self._mi.certify(seconds, passes, progress)
            self._keep_parts()
        while self._ascent and done < passes and max(gains) >= LEAST_GAIN:
            if self.certificate and self.certificate.ratio == 1:
                return self.certificate
            before = self._ascent.total
            if not self._ascent.advance(go_on):
                break
            self._keep_ascent()
            gains = [*gains[1:], self._ascent.total / before - 1 if before else inf]
            done += 1
        if self._ascent:
            self._mark(is_cut_off=max(gains) >= LEAST_GAIN)
        return self.certificate

    def _released(self, closed: Closed) -> Floats | None:
        """The cost of each record's released closure, or None where it depends on the record's class."""
        if self.problem.class_count > 1:
            return None
        ones = np.ones((1, closed.closures.shape[1]))
        return group_costs(self.problem.arrays, closed.closures, ones).sum(axis=0)[closed.groups]

    def _loss_of(self, released: Floats | None) -> float:
        """What the release loses, from the cost of each record's closure."""
        assert released is not None
        counts = self.problem.table.counts
        total = float(released.sum() if counts is None else released @ counts)
        return (total + float(self.problem.objective.offset.sum())) * self._scale

    @property
    def _is_proper(self) -> bool:
        return all(column.model.proper for column in self.problem.columns)

    def _bound_of_pmi(self, weights: Mapping[str, float]) -> float:
        """A bound of `pmi` alone: that of each record, or 0, which no logarithm of a share goes below."""
        if not self._is_proper:
            return 0.0
        table = self.problem.table
        problem = Problem.of(table, "pmi", self.problem.k, relative_weights(weights, table))
        cells = PointTrees(problem)
        return self._bound_of(cells, cell_bound(cells))

    def _keep_parts(self) -> None:
        """Keep the bound of `wmi` that follows from one of `mi` and one of `pmi`.

        A group costs w times what it costs by `mi`, and 1 − w times what it costs by `pmi`, under the same closure; so
        numbers that are valid for either, weighed in the same way and added up, are valid for `wmi`.
        """
        if self._mi and self._mi.certificate:
            found = self._mi.certificate
            bound = self._w * found.bound + (1 - self._w) * self._pmi_bound
            self._keep_bound(bound, f"mi: {found.how}; pmi: cheapest cell of k records")

    def _keep_ascent(self) -> None:
        assert self._ascent is not None
        some = "some " if self._ascent.slack > 0 else ""
        self._keep(self._ascent.valid, f"dual ascent over {some}{self._ascent.over}")

    def _keep(self, least: Floats, how: str) -> None:
        """Make a certificate of `least`, the least that each point can cost, and keep it if it is the best so far."""
        self._keep_bound(self._bound_of(self._cells, least), how)

    def _bound_of(self, cells: PointTrees, least: Floats) -> float:
        """The bound that follows from the least that each point can cost in a group."""
        total = float(least @ cells.points.counts)
        total -= suppression_saving(cells, least, self._most_left_out) + SAFETY * abs(total)
        return max(0.0, total + float(cells.problem.objective.offset.sum())) * self._scale

    def _keep_bound(self, bound: float, how: str) -> None:
        """Make a certificate of a bound and keep it if it is the best so far."""
        if self.certificate is None or bound > self.certificate.bound:
            self.certificate = Certificate(bound, ratio(self._loss, bound), how)


def first_looks(problem: Problem) -> float:
    """How many looks a first bound may take."""
    each = DIVERSE_LOOKS if problem.tallied else LOOKS
    return min(max(each * problem.codes.size, LEAST_LOOKS), MOST_LOOKS)


def suppression_saving(cells: PointTrees, least: Floats, most: int) -> float:
    """The most that leaving out up to `most` records saves, given the least that each point can cost in a group."""
    if not most:
        return 0.0
    problem = cells.problem
    each = np.eye(problem.class_count)
    hidden = np.repeat(problem.whole, problem.class_count, axis=1)
    suppressed = group_costs(problem.arrays, hidden, each).sum(axis=0)
    first, _, counts = cells.points
    saved = np.maximum(0.0, least - suppressed[problem.classes[first]])
    order = np.argsort(-saved)
    before = np.cumsum(counts[order]) - counts[order]
    return float(saved[order] @ np.clip(most - before, 0, counts[order]))


def ratio(loss: float, bound: float) -> float:
    """The ratio of a loss and its bound, 1 where only rounding tells them apart."""
    if loss <= bound * (1 + 10 * SAFETY) or loss < 1e-12:
        return 1.0
    return loss / bound if bound > 0 else inf
