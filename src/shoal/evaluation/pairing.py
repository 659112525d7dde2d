"""A release as if each record's own were known, for measures of loss, which do not ask whose is whose.

They look at closures, at how many records bear each, at the sensitive values beside it, and at how often
each original value occurs: so any pairing of all original records with released ones in which sensitive
values agree gives the same loss. Where records are left out, it is not known whose values to count, and
only measures that look at no original value are the same for every pairing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.errors import InputError
from shoal.evaluation.comparison import Comparison
from shoal.generalization.forms import Ints
from shoal.table.closed import Closed
from shoal.table.rows import distinct_rows


def pair_records(comparison: Comparison) -> Closed:
    """Give every released record to an original one with the same sensitive values; the others are left out.

    Raises
    ------
    InputError
        Where the release has more records of the same sensitive values than the table.
    """
    secrets = {name: comparison.table.sensitive[name] for name in comparison.sensitive}
    table = replace(comparison.table, sensitive=secrets)
    own, released = _classes(comparison)
    count = np.bincount(own, minlength=int(released.max()) + 1)
    surplus = np.bincount(released, minlength=count.size) - count
    if surplus.max() > 0:
        raise InputError(
            f"{surplus[surplus > 0].sum()} released records have sensitive values that are not left in the table; "
            "give the table that was released, in which sensitive columns are unchanged."
        )
    order = np.argsort(released, kind="stable")
    place = np.arange(order.size) - np.searchsorted(released[order], released[order])
    first = np.cumsum(count) - count
    paired = np.argsort(own, kind="stable")[first[released[order]] + place]
    groups = np.empty(comparison.records, dtype=np.int32)
    original = np.sort(paired)
    groups[np.searchsorted(original, paired)] = comparison.groups[order]
    left_out = table.records - comparison.records
    return Closed(table.take(original), groups, comparison.closures, left_out)


def _classes(comparison: Comparison) -> tuple[Ints, Ints]:
    """Number the combinations of sensitive values: the numbers of original records, and those of released ones."""
    names, records = comparison.sensitive, comparison.table.records
    if not names:
        return np.zeros(records, dtype=np.int32), np.zeros(comparison.records, dtype=np.int32)
    own = np.column_stack([comparison.table.sensitive[name].codes for name in names])
    released = np.column_stack([comparison.released[name] for name in names])
    classes = distinct_rows(np.concatenate([own, released])).place
    return classes[:records], classes[records:]
