"""How much memory there is, and what it suffices for."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from shoal.errors import InputError, shown

# Bytes that solving takes for each record, and that a counted row takes for each column; measured by
# `python -m benchmarks scale` with eight quasi-identifiers.
BYTES_TO_SOLVE = 1_000
BYTES_OF_A_CODE = 40
FEWEST, MOST = 200_000, 8_000_000  # records solved at once; more would take hours
SHARE = 0.6  # of free memory that is used where nobody says how much may be
ENGINES_SHARE = 0.4  # of that, what an engine may use for itself

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("kmgt", start=1)}
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)
_LEAST = 256_000_000


def read_memory(given: str | int | None) -> int:
    """Bytes that may be used: what was given, like "8GB", or most of what is free.

    Examples
    --------
    >>> read_memory("1.5 GB"), read_memory("2GiB")
    (1500000000, 2147483648)
    """
    if given is None:
        return int(SHARE * free_memory())
    amount = _AMOUNT.fullmatch(str(given)) if not isinstance(given, bool) else None
    bytes_given = int(float(amount[1]) * _UNITS[amount[2].lower()]) if amount else 0
    if bytes_given < _LEAST:
        raise InputError(
            f"The 'memory' parameter must be an amount of at least 256 MB, like 8GB. Got {shown(given)} instead."
        )
    return bytes_given


def free_memory() -> int:
    """Bytes of memory that are free, by what the system and the limit of a container say."""
    import psutil  # which takes a tenth of a second, for large tables only

    free = []
    with suppress(OSError):
        free.append(int(psutil.virtual_memory().available))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        free.append(limit - int((group / "memory.current").read_text()))
    return max(_LEAST, min(free, default=4 * 10**9))


def most_at_once(memory: int) -> int:
    """Records that can be solved at once."""
    return int(min(MOST, max(FEWEST, (1 - ENGINES_SHARE) * memory / BYTES_TO_SOLVE)))


def most_rows(memory: int, columns: int) -> int:
    """Combinations that can be counted in memory."""
    return int((1 - ENGINES_SHARE) * memory / (BYTES_OF_A_CODE * (columns + 2)))


def for_engine(memory: int) -> int:
    """Bytes that an engine may use."""
    return int(ENGINES_SHARE * memory)
