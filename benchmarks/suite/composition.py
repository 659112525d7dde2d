"""Two releases that overlap: for how many of those in both an attacker is left with few sensitive values."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np

from benchmarks.record import ROOT
from benchmarks.tables import Tables

SIZES = (5, 10, 20)


def run(tables: Tables) -> list[dict[str, object]]:
    """One row per k, by the attack in `tests/attacks/test_composition.py`."""
    sys.path.insert(0, str(ROOT / "tests"))
    attack = import_module("attacks.test_composition")
    rows: list[dict[str, object]] = []
    for k in SIZES:
        left = attack.left_of_both(k)
        shares = {"fewer": float(np.mean(left < attack.L)), "one": float(np.mean(left == 1))}
        rows.append({"k": k, "people": left.size, **{n: round(s, 4) for n, s in shares.items()}})
    return rows
