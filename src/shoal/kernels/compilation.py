"""How kernels are compiled, and whether they still have to be, so that a first run can say why it takes long."""

from __future__ import annotations

from pathlib import Path

from numba import config, njit

# For functions that only kernels call: what Python would need to call them takes longer to compile than they do.
inner = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def is_cached() -> bool:
    """Whether compiled kernels are on disk from an earlier run."""
    folder = Path(config.CACHE_DIR) if config.CACHE_DIR else Path(__file__).parent / "__pycache__"
    return next(folder.rglob("*.nbi"), None) is not None
