"""What the requirements together ask of the sensitive values of a group, as numbers of values and of records."""

from __future__ import annotations

from math import ceil, exp

import numpy as np

from shoal.encoding.forms import Records
from shoal.kernels.shared.rules import Rules

ROUNDING = 1e-6  # tolerance in numbers of distinct values that follow from other limits


def distinct_needed(rules: Rules) -> Records:
    """The least number of distinct values in each tally of a group, as all its limits together ask for."""
    need = rules.distinct.copy()
    for t in range(len(need)):
        caps = -np.sort(-rules.cap[rules.start[t] : rules.start[t + 1]])
        enough = np.flatnonzero(np.cumsum(caps) >= 1 - ROUNDING)
        by_caps = 1 + int(enough[0]) if enough.size else 1
        by_entropy = ceil(exp(rules.entropy[t]) - ROUNDING)
        need[t] = max(need[t], by_caps, by_entropy, rules.depth[t])
    return need


def outside_needed(rules: Rules) -> Records:
    """For each value, the least number of records with another one in a group, as caps and entropy ask for."""
    outside = np.zeros(len(rules.cap), dtype=np.int64)
    for t in range(len(rules.entropy)):
        own = slice(rules.start[t], rules.start[t + 1])
        by_caps = np.ceil((1 - rules.cap[own]) * rules.k - ROUNDING).astype(np.int64)
        by_entropy = outside_by_entropy(rules.k, rules.entropy[t], len(by_caps))
        outside[own] = np.maximum(by_caps, by_entropy)
    return outside


def outside_by_entropy(k: int, entropy: float, values: int) -> int:
    """The least number of records outside one value in any group of at least k records with at least some entropy.

    Entropy is largest where the records outside have all other values about equally often. It falls with every record
    of the one value from there on where this is the most frequent.
    """
    others = max(1, values - 1)
    for outside in range(k):
        counts = (outside + np.arange(others)) // others
        for inside in range(k - outside, max(k - outside, counts.max()) + 1):
            shares = np.append(counts[counts > 0], inside) / (outside + inside)
            if -(shares * np.log(shares)).sum() >= entropy - ROUNDING:
                return outside
    return k
