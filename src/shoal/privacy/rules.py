"""The rules of a problem: all its requirements, compiled to the limits that kernels check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.auditing.requirements import Requirement
from shoal.errors import raise_problems
from shoal.generalization.forms import Floats, Ints
from shoal.kernels.shared.rules import Rules
from shoal.privacy.limits import Limits, limits_of
from shoal.table import Table


def compile_rules(
    table: Table, k: int, requirements: Sequence[Requirement] = ()
) -> tuple[Rules, Ints]:
    """Compile the rules for groups of a table.

    Also returns which of the counted values each record has in each tally: int32[records, tallies].
    """
    limits: list[Limits] = []
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
