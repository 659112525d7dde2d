"""Secret draws of a series: whose turn it is to be released, and who is released together.

Whoever could repeat the draws could run shoal on every table that fits the releases and exclude most of them, so they
follow from the salt of the history and not from `seed` alone. And they never look at sensitive values: exchanging two
values among all people of a signature must leave every draw as it is.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from shoal.generalization.forms import Ints, Records
from shoal.series.history import History
from shoal.series.splitting import rank_among

_OWN_DRAWS = 2  # beside a seed, so that they have nothing to do with the order drawn from the same
NOBODY = -1  # the set of a newcomer


def draw_order(history: History, seed: int, order_seed: int | None, records: int) -> Records:
    """A random order of tonight's records, the same for the same history; `order_seed` fixes it for tests."""
    night = len(history.nights)
    if order_seed is not None:
        return np.random.default_rng([order_seed, _OWN_DRAWS, night]).permutation(records)
    secret = sha256(f"draws\0{history.salt}\0{seed}\0{night}".encode()).digest()
    return np.random.default_rng(int.from_bytes(secret, "big")).permutation(records)


def turns_of(sets: Records, width: Records, drawn: Records) -> Records:
    """The turn of each person: those come last whose set has lost people since, the others as drawn.

    A set is released together, with one person of each value. If one of it leaves, the rest has to go to keep the
    balance, and that they are of different values is known already: leaving out others would tell more.
    `width` is the number of values of each person's signature.
    """
    lost = np.zeros(sets.size, dtype=np.int64)
    stays = sets != NOBODY
    if stays.any():
        _, place, present = np.unique(sets[stays], return_inverse=True, return_counts=True)
        lost[stays] = width[stays] - present[place.reshape(-1)]
    turn = np.empty(sets.size, dtype=np.int64)
    turn[np.lexsort((drawn, lost))] = np.arange(sets.size)
    return turn


def sets_of(groups: Ints, value: Ints, drawn: Records, first: int) -> Records:
    """A number from `first` on for the set of each person: one of each value of a group; −1 for those left out."""
    found = np.full(groups.size, NOBODY, dtype=np.int64)
    kept = np.flatnonzero(groups >= 0)
    copy = rank_among(groups[kept], value[kept], drawn[kept], drawn[kept])
    pairs = np.stack([groups[kept].astype(np.int64), copy])
    found[kept] = first + np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    return found
