"""One round of bottom-up merging (XU06 Fig. 4)."""

from __future__ import annotations

import numpy as np

from shoal.kernels.clustering.agglomerative import nearest
from shoal.kernels.compilation import unrolled
from shoal.kernels.shared.state import group_complies, merge


@unrolled
def merge_round(c, pairs, q, s, kind, start, stop):
    """Merge each of the groups start..stop that does not meet the requirement with its closest group, in order."""
    room = s.size.size
    out, scratch = np.empty(room), np.empty(room)
    allowed = s.size > 0
    for a in range(start, stop):
        if s.size[a] == 0 or group_complies(q, s, a):
            continue
        b, _ = nearest(c, pairs, s, room, a, kind, allowed, out, scratch)
        if b >= 0:
            merge(c, s, a, b)
            allowed[b] = False
