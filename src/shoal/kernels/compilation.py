"""How kernels are compiled, and whether they still have to be, so that a first run can say why it takes long.

`kernel` is for functions that Python calls. Of those that only kernels call, `inner` is for loops over the elements
of arrays, `allocating` for what makes arrays or lists, is returned some, or calls a function of NumPy on an array.
"""

from __future__ import annotations

from functools import partial

from numba import config, njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from shoal.kernels.cache import cache_folder, kernel_cache


class _Part(JITCodeLibrary):
    """Code that becomes machine code only in the kernels that it is linked into.

    Numba would optimise it on its own, too, and again in every function on the way to the kernel.
    """

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        """Do nothing: the environment is for calls from Python."""


class _PartCompiler(Compiler):
    def __init__(self, typing, target, library, *rest):
        super().__init__(typing, target, _Part(target.codegen(), "part of a kernel"), *rest)


def _decorator(keep=False, **options):
    def decorate(function):
        if config.DISABLE_JIT:
            return function
        compiled = njit(**options)(function)
        resolve = compiled.get_call_template
        compiled.get_call_template = lambda given, named: resolve(_widened(given), named)
        if keep:
            compiled._cache = kernel_cache(function)
        if "pipeline_class" in options:
            compiled.add_overload = partial(_hide, compiled)
            compiled._compile_for_args = _refuse
        return compiled

    return decorate


def _hide(compiled, result):
    """Note what was compiled for kernels, out of reach of calls from Python, which would crash."""
    compiled.overloads[result.signature.args] = result


def _refuse(*given, **named):
    raise TypeError("Only kernels can call this function; compile it with 'kernel' to call it.")


def _widened(given):
    """Types of arguments, with int64 for smaller integers and for constants."""
    small = types.Integer | types.IntegerLiteral
    return tuple(
        types.int64 if isinstance(kind, small) and kind != types.uint64 else kind for kind in given
    )


_PART = {
    "pipeline_class": _PartCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
kernel = _decorator(keep=True, _nrt=True, nogil=True)
inner = _decorator(_nrt=False, **_PART)  # without reference counts
allocating = _decorator(_nrt=True, **_PART)


def is_cached() -> bool:
    """Whether compiled kernels are on disk, from an earlier run or from this one."""
    folder = cache_folder()
    return folder is not None and next(folder.glob("*.nbi"), None) is not None
