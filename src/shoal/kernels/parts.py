"""Code that becomes machine code only in the kernels that it is linked into.

Numba compiles a function that only kernels call on its own, too, and again in every function on the way to the kernel;
leaving that out makes a first run several times shorter. This builds on Numba's inside. Where Numba's inside is
another one, functions are compiled the plain way: a first run takes longer, and everything else is the same.
"""

from __future__ import annotations

from functools import cache, partial

import numba
from numba import njit

KNOWN = (0, 60), (0, 68)  # oldest and newest version of Numba that this was tried with


def is_known():
    """Whether this version of Numba is one of those."""
    return KNOWN[0] <= numba.version_info[:2] <= KNOWN[1]


@cache
def part_options():
    """Return the options that make a function a part; none where that cannot be had."""
    try:
        options = _options()
        if not is_known():
            _try_out(options)
    except Exception:  # whatever another Numba makes of it
        return {}
    return options


def hide(compiled):
    """Keep a part out of reach of calls from Python, which would crash."""
    compiled.add_overload = partial(_note, compiled)
    compiled._compile_for_args = _refuse


def _options():
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    class Part(JITCodeLibrary):
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

    class PartCompiler(Compiler):
        def __init__(self, typing, target, library, *rest):
            super().__init__(typing, target, Part(target.codegen(), "part of a kernel"), *rest)

    return {
        "pipeline_class": PartCompiler,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }


def _try_out(options):
    """Compile a kernel with a part of either kind; raise something where that does not work."""

    def triple(number):
        return 3 * number

    for counts in (False, True):
        part = njit(_nrt=counts, **options)(triple)
        hide(part)

        def total(numbers, part=part):
            found = 0
            for number in numbers:
                found += part(number)
            return found

        if njit(_nrt=True)(total)((1, 2)) != 9:
            raise ArithmeticError("A part of a kernel was compiled to something else.")


def _note(compiled, result):
    compiled.overloads[result.signature.args] = result


def _refuse(*given, **named):
    raise TypeError("Only kernels can call this function; compile it with 'kernel' to call it.")
