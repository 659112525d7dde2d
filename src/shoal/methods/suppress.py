"""Trade a few records for less loss: those that cost the others more than themselves are left out."""

from __future__ import annotations

import numpy as np

from shoal.generalization.forms import Floats, Ints
from shoal.kernels.clustering.suppression import suppress_records
from shoal.kernels.shared.forms import cost_of_closure
from shoal.methods.base import state_of
from shoal.problem import Problem


def suppressed_costs(problem: Problem) -> Floats:
    """What a fully suppressed record of each class costs: the whole domain in every quasi-identifier."""
    classes = range(problem.class_count)
    return np.array([cost_of_closure(problem.arrays, y, problem.whole, 0) for y in classes])


def suppress(problem: Problem, groups: Ints, limit: float, records: int | None = None) -> Ints:
    """Leave out (−1) at most a share `limit` of so many records, by default all, where that lowers the objective.

    A record that is left out counts as fully suppressed: it costs what the whole domain costs in every
    quasi-identifier. All groups go on meeting the requirement.
    """
    most = int(limit * (problem.table.records if records is None else records))
    if not most:
        return groups
    whole = suppressed_costs(problem)
    state = state_of(problem, groups)
    return suppress_records(
        problem.arrays, problem.rules, state, problem.codes, problem.classes, whole, most
    )
