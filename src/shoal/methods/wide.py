"""Keys of cells where the lattice has many columns: look-ups only for columns that are not on their lowest rung.

Of many columns, most hold nearly the same value everywhere, and lattice points that records propose leave these on
their lowest rungs. So the key of every distinct record on the lowest rungs of all columns is kept in one row, and the
rows of each part of the columns hold by what the key changes: at a lattice point, parts on their lowest rungs cost
nothing. The keys are the same as without.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.methods.ladders import Ladder
from shoal.methods.lattice import KEY_BYTES, Keys, Rows, make_keys, rows_of, split_columns
from shoal.problem import Problem

MOST_PARTS = (
    4  # with more parts of the columns than that, only those off their lowest rungs are looked up
)
# A column is quiet if so large a share of the records has the same value. Quiet columns share parts of so many.
QUIET_SHARE, QUIET_PART = 0.95, 3


@dataclass(frozen=True)
class WideKeys:
    """Keys of all distinct records, and which rows of them tell the cells of a lattice point apart."""

    ladders: list[Ladder]
    parts: list[list[int]]  # columns that share rows of keys
    keys: Keys  # [rows, distinct records]
    lowest: Rows | None  # the row of each part's lowest rungs; None if all parts are looked up

    @classmethod
    def of(cls, problem: Problem, ladders: list[Ladder], seed: int) -> WideKeys:
        """Make the keys of a problem."""
        distinct = len(problem.points.codes)
        parts = split_columns(ladders, distinct)
        if len(parts) <= MOST_PARTS:
            return cls(ladders, parts, make_keys(problem, ladders, parts, seed), None)
        parts = _split_quiet(problem, ladders, distinct)
        keys = make_keys(problem, ladders, parts, seed, room=2)
        lowest = rows_of(np.zeros((1, len(ladders)), np.int32), ladders, parts)[0]
        keys[-1], keys[-2] = 0, np.bitwise_xor.reduce(keys[lowest], axis=0)
        for first, end in zip(lowest, [*lowest[1:], len(keys) - 2], strict=True):
            keys[first + 1 : end] ^= keys[first]
        return cls(ladders, parts, keys, lowest)

    def key_rows(self, steps: Rows) -> Rows:
        """The rows of keys whose xor tells cells apart, by rows of all parts; −1 after the last."""
        if self.lowest is None:
            return steps
        raised = -np.sort(-np.where(steps == self.lowest, -1, steps), axis=1)
        rows = np.column_stack([np.full(len(steps), len(self.keys) - 2), raised])
        rows[rows[:, 1] < 0, 1] = len(self.keys) - 1  # zeros: kernels expect two rows at least
        return rows


def _split_quiet(problem: Problem, ladders: list[Ladder], distinct: int) -> list[list[int]]:
    """Share the columns among parts, quiet ones apart from the others."""
    codes = problem.codes
    shares = [np.bincount(codes[:, j]).max() / len(codes) for j in range(len(ladders))]
    quiet = [j for j, share in enumerate(shares) if share >= QUIET_SHARE]
    loud = [j for j, share in enumerate(shares) if share < QUIET_SHARE]
    together = [quiet[at : at + QUIET_PART] for at in range(0, len(quiet), QUIET_PART)]
    rows = sum(np.prod([len(ladders[j].rungs) for j in part]) for part in together)
    left = max(0, KEY_BYTES - int(rows) * 8 * distinct)
    split = split_columns([ladders[j] for j in loud], distinct, left) if loud else []
    return [*([loud[j] for j in part] for part in split if part), *together]
