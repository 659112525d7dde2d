"""Whether kernels still have to be compiled, so that a first run can say why it takes long."""

from __future__ import annotations

from pathlib import Path

from numba import config


def is_cached() -> bool:
    """Whether compiled kernels are on disk from an earlier run."""
    folder = Path(config.CACHE_DIR) if config.CACHE_DIR else Path(__file__).parent / "__pycache__"
    return next(folder.rglob("*.nbi"), None) is not None
