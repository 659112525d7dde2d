"""The order in which records are released: fresh chance that is recorded nowhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def shuffled(records: int, order_seed: int | None = None) -> npt.NDArray[np.int64]:
    """A random order of so many records.

    No function of the records decides it, and no seed that is known: from such an order an outsider could
    conclude on records that were left out, or on the order of the input. `order_seed` makes it repeatable,
    which only tests may want.
    """
    return np.random.default_rng(order_seed).permutation(records)
