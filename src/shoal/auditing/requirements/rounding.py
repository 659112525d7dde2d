"""Numbers in messages, rounded to the side on which a setting can still be kept."""

from __future__ import annotations

import math


def floor(value: float) -> str:
    """Round down to four decimals."""
    return _short(math.floor(value * 1e4 + 1e-6))


def ceil(value: float) -> str:
    """Round up to four decimals."""
    return _short(math.ceil(value * 1e4 - 1e-6))


def above(value: float) -> str:
    """The next number with four decimals that is larger."""
    return _short(math.floor(value * 1e4 + 1e-6) + 1)


def _short(ten_thousandths: int) -> str:
    return f"{ten_thousandths / 1e4:.4f}".rstrip("0").rstrip(".")
