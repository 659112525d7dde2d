"""The optimum for tiny tables where persons are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.kernels.clustering.exact import subset_costs
from shoal.kernels.persons.counting import subsets_comply
from shoal.methods import Method, Partition
from shoal.methods.exact import best_partition, check_records
from shoal.privacy.persons import People
from shoal.problem import Problem
from shoal.progress import Progress


def exact_partition(
    problem: Problem, people: People, method: Method, progress: Progress
) -> Partition:
    """Find a partition of least cost whose groups comply by their persons."""
    records = problem.table.records
    check_records(records)
    progress("weighing groups", 0, 1)
    rules = problem.rules._replace(k=1, start=problem.rules.start[:1])
    none = np.zeros((records, 0), dtype=np.int32)
    costs = subset_costs(problem.arrays, rules, problem.codes, problem.classes, none)
    costs[~subsets_comply(people.rules, people.crowd, records)] = np.inf
    notes = () if method.name == "exact" else ("chose exact",)
    return replace(best_partition(problem, costs, progress), notes=notes)
