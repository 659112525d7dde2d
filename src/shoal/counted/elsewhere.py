"""Parts of a round solved elsewhere: on the executors of a cluster, which get a part as bytes and give its groups back.

What a part gives follows from these bytes alone, so a part that is solved twice, or in another place, gives the same.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from shoal.generalization.forms import Ints
from shoal.methods import Cover, Method, Partition
from shoal.methods.lending import Stock
from shoal.problem import Problem
from shoal.progress import Progress, silent


class Elsewhere(Protocol):
    """Another place than this process where parts are solved."""

    @property
    def note(self) -> str:
        """Say whether parts were solved there, and if not, why."""

    def is_ready(self) -> bool:
        """Whether parts can be solved there, by this version of shoal."""

    def solve(self, parts: Sequence[bytes]) -> list[bytes]:
        """Give every part to `solve_packed`, and return what it gives, in the order of the parts."""


@dataclass(frozen=True)
class Asked:
    """Records to be grouped by a method, beside the groups of a stock that may lend some of them."""

    problem: Problem
    method: Method
    seed: int
    stock: Stock | None = None
    settles: bool = True

    def solve(self, progress: Progress) -> Partition:
        """Group the records; those of a stock that nobody borrowed get no group (−1)."""
        if self.stock is None:
            return self.method.partition(self.problem, self.seed, progress)
        assert isinstance(self.method, Cover)
        return self.method.partition_beside(
            self.problem, self.stock, self.seed, progress, self.settles
        )

    def packed(self) -> bytes:
        """All that it takes to solve it; sensitive values go as the numbers that rules count, if any do."""
        table = replace(self.problem.table, sensitive={})
        bare = replace(self, problem=replace(self.problem, table=table))
        return zlib.compress(pickle.dumps(bare, pickle.HIGHEST_PROTOCOL), 1)


def solve_packed(part: bytes) -> bytes:
    """Solve a packed part and return the group of each of its records, packed too."""
    asked = pickle.loads(zlib.decompress(part))
    assert isinstance(asked, Asked)
    groups = asked.solve(silent).groups.astype("<i4")
    return zlib.compress(groups.tobytes(), 1)


def unpacked(groups: bytes) -> Ints:
    """The groups that `solve_packed` returned."""
    return np.frombuffer(zlib.decompress(groups), "<i4").astype(np.int32)
