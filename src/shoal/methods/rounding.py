"""How methods compare costs: sums of the same numbers in another order must count as equal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.generalization.forms import Floats

# Costs of a record are about 1 (weights have a mean of 1), and sums of a few of them are right to about 15 digits:
# nine decimals are far above the error and far below any difference that matters.
DECIMALS = 9
TOLERANCE = 1e-9


def rounded(costs: npt.ArrayLike) -> Floats:
    """Round costs to so many decimals that equal sums become equal numbers."""
    found: Floats = np.asarray(costs, dtype=np.float64).round(DECIMALS)
    return found
