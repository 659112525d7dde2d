"""Functions that only kernels call, made callable for tests."""

from __future__ import annotations

from functools import cache
from typing import Any

from shoal.kernels.compilation import kernel


@cache
def callable_here(inner: Any) -> Any:
    """The same function, compiled as one that Python calls."""
    return kernel(getattr(inner, "py_func", inner))
