"""Decorators that compile kernels with Numba, with a shorter pipeline than Numba's own.

A part is a function that only kernels call. Numba would compile a part on its own and again in every function on the
way to the kernel; here it becomes machine code only in the kernels that it is linked into. Kernels and parts also skip
the passes for features that they do not use (closures, literal arguments, parallel loops). Unrolled loops take 8 %
longer to compile and gain time only in kernels that go through all groups or records for each record; only these have
them. `docs/explanation/kernels.md` says what all this saves.

The pipeline uses Numba's private classes. With a Numba where it does not work, kernels are compiled by Numba's own
pipeline: a first run takes longer, and everything else is the same.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
from llvmlite import binding as llvm
from numba import config, njit, types

from shoal.kernels.compile.cache import KernelCache

NEWEST = 0, 68  # version of Numba that this was tried with
# Steps of Numba's compiler that change nothing in plain loops over arrays, and that look at all of a function.
NEEDLESS = {
    "WithLifting",
    "InlineClosureLikes",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "DumpParforDiagnostics",
}
# How hard single functions are optimized before they are linked and optimized with all others. With 3, as Numba has it,
# the kernels of a default run take 2 % longer to compile and run no faster.
EARLY_LEVEL = 1


class CompileOptions(NamedTuple):
    """Options for `njit`, by kind of function; empty ones mean Numba's own pipeline."""

    kernel: dict
    unrolled: dict  # a kernel with unrolled loops
    part: dict


def is_known():
    """Whether the pipeline was tried with this version of Numba."""
    return numba.version_info[:2] <= NEWEST


@cache
def compile_options():
    """Return the options for the Numba pipeline of this file, empty ones where it does not work."""
    if is_known():
        return _numba_pipeline()
    try:
        found = _numba_pipeline()
        _try_out(found)
    except Exception:  # a newer Numba may fail in any way
        return CompileOptions({}, {}, {})
    return found


def _numba_pipeline():
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder

    class Code(JITCodeLibrary):
        """Machine code of a kernel. The oldest versions of Numba optimize it as they always do."""

        unrolls = False

        if hasattr(llvm, "create_pipeline_tuning_options"):

            def _optimize_functions(self, module):
                module.data_layout = self._codegen._data_layout
                for function in module.functions:
                    if not function.is_declaration:
                        builder = self._builder(EARLY_LEVEL)
                        _run(builder, builder.getFunctionPassManager(), function)

            def _optimize_final_module(self):
                builder = self._builder(config.OPT)
                _run(builder, builder.getModulePassManager(), self._final_module)

            def _builder(self, level):
                tuning = llvm.create_pipeline_tuning_options(level)
                tuning.loop_vectorization = bool(config.LOOP_VECTORIZE)
                tuning.slp_vectorization = bool(config.SLP_VECTORIZE)
                tuning.loop_unrolling = self.unrolls
                return llvm.create_pass_builder(self._codegen._tm, tuning)

    class UnrolledCode(Code):
        unrolls = True

    class Part(Code):
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

    class KernelCompiler(CompilerBase):
        library = Code

        def __init__(self, typing, target, library, *rest):
            library = self.library(target.codegen(), "kernel")
            library.enable_object_caching()
            super().__init__(typing, target, library, *rest)

        def define_pipelines(self):
            steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
            steps.passes = [step for step in steps.passes if step[0].__name__ not in NEEDLESS]
            steps._finalized = False
            steps.finalize()
            return [steps]

    class UnrolledCompiler(KernelCompiler):
        library = UnrolledCode

    class PartCompiler(KernelCompiler):
        library = Part

    kernel = {"pipeline_class": KernelCompiler, "no_cfunc_wrapper": True}
    return CompileOptions(
        kernel,
        unrolled={**kernel, "pipeline_class": UnrolledCompiler},
        part={**kernel, "pipeline_class": PartCompiler, "no_cpython_wrapper": True},
    )


def _run(builder, passes, code):
    """Optimize code, also without pairs of reference counts that cancel each other."""
    passes.add_refprune_pass()
    passes.run(code, builder)


def _try_out(found):
    """Compile a kernel with a bundle and parts of both kinds; raise an error if that does not work."""
    from shoal.kernels.compile.bundles import by_reference  # which imports this module

    def added(tried):
        return tried.number + tried.real + tried.array[0, 1] + tried.array.shape[1]

    bundle = by_reference(namedtuple("Tried", "number real array"))

    one, other = (njit(_nrt=counts, **found.part)(added) for counts in (False, True))
    _hide(one)
    _hide(other)
    total = njit(_nrt=True, **found.kernel)(lambda tried: one(tried) + other(tried))
    if total(bundle(1, 0.5, np.array([[2, 3]]))) != 13.0:
        raise ArithmeticError("A part of a kernel was compiled to something else.")


def _hide(compiled):
    """Keep a part from calls by Python, which would crash."""
    compiled.add_overload = lambda found: compiled.overloads.update({found.signature.args: found})
    compiled._compile_for_args = _refuse


def _refuse(*given, **named):
    raise TypeError("Only kernels can call this function; compile it with 'kernel' to call it.")


KERNELS: dict = {}  # every kernel by its name, like "shared.groups.members"


def kernel(function):
    """Compile a function that Python calls, and keep its machine code."""
    return _kernel(function, compile_options().kernel)


def unrolled(function):
    """Compile a function that Python calls, with unrolled loops: that takes longer, and runs up to 13 % faster."""
    return _kernel(function, compile_options().unrolled)


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
    options = compile_options().part
    compiled = _compiled(function, _nrt=counts or not options, **options)
    if options:
        _hide(compiled)
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
