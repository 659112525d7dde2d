"""How kernels are compiled.

`kernel` is for functions that Python calls, `unrolled` for those of them that go through all groups or records for each
record. Of functions that only kernels call, `inner` is for loops over the elements of arrays, `allocating` for what
makes arrays or lists, is returned some, or calls a function of NumPy on an array.
"""

from __future__ import annotations

from numba import config, njit, types

from shoal.kernels.fast_way import hide, ways
from shoal.kernels.machine_code import KernelCache

KERNELS: dict = {}  # every kernel by its name, like "shared.groups.members"


def kernel(function):
    """Compile a function that Python calls, and keep its machine code."""
    return _kernel(function, ways().kernel)


def unrolled(function):
    """Compile a function that Python calls, with unrolled loops: that takes longer, and runs up to 13 % faster."""
    return _kernel(function, ways().unrolled)


def _kernel(function, options):
    if config.DISABLE_JIT:
        return function
    compiled = _compiled(function, _nrt=True, nogil=True, **options)
    name = f"{function.__module__.removeprefix('shoal.kernels.')}.{function.__qualname__}"
    compiled._cache = KernelCache(name)
    KERNELS[name] = compiled
    return compiled


def inner(function):
    """Compile a function that only kernels call, without reference counts."""
    return _part(function, counts=False)


def allocating(function):
    """Compile a function that only kernels call and that makes or is returned arrays."""
    return _part(function, counts=True)


def _part(function, counts):
    if config.DISABLE_JIT:
        return function
    options = ways().part
    compiled = _compiled(function, _nrt=counts or not options, **options)
    if options:
        hide(compiled)
    return compiled


def _compiled(function, **options):
    """A function that is compiled for int64 alone where integers of other sizes are given, too."""
    compiled = njit(**options)(function)
    resolve = compiled.get_call_template
    compiled.get_call_template = lambda given, named: resolve(_widened(given), named)
    return compiled


def _widened(given):
    """Types of arguments, with int64 for smaller integers and for constants."""
    small = types.Integer | types.IntegerLiteral
    return tuple(
        types.int64 if isinstance(kind, small) and kind != types.uint64 else kind for kind in given
    )
