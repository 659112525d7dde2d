"""Functions that only kernels call, made callable for tests, and what is not tested where nothing is compiled."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from numba import config

from shoal.kernels.compile.jit import kernel

needs_jit = pytest.mark.skipif(
    config.DISABLE_JIT == 1, reason="is about compiling, or takes minutes without it"
)


@cache
def callable_here(inner: Any) -> Any:
    """The same function, compiled as one that Python calls."""
    return kernel(getattr(inner, "py_func", inner))
