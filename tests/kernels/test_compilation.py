"""Kernels are compiled as often as needed and no more."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from compiled import callable_here, needs_jit
from numba import njit

import shoal
from shoal.kernels.compile.jit import inner

FILES = sorted((Path(shoal.__file__).parent / "kernels").glob("*.py"))
SCALAR = {"ceil", "int32", "int64", "log", "log2", "uint64"}


@inner
def double(number):
    return number + number


@njit
def double_all(small, large):
    return double(small[0]) + double(large[0]) + double(1)


@needs_jit
def test_a_function_that_kernels_call_is_compiled_once_for_integers_of_all_sizes() -> None:
    assert double_all(np.array([2], np.int32), np.array([3], np.int64)) == 12
    assert len(double.overloads) == 1


def test_a_function_that_kernels_call_can_be_called_from_tests() -> None:
    assert callable_here(double)(4) == 8


@needs_jit
def test_a_function_that_only_kernels_call_says_so() -> None:
    double_all(np.array([2], np.int32), np.array([3], np.int64))  # compiled, for kernels
    for number in (4, 4.0):
        with pytest.raises(TypeError, match="Only kernels can call"):
            double(number)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_functions_without_reference_counts_leave_arrays_to_others(file: Path) -> None:
    called = {
        (function.name, ast.unparse(node.func))
        for function in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(function, ast.FunctionDef)
        and any(ast.unparse(decorator) == "inner" for decorator in function.decorator_list)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not {(name, call) for name, call in called if call.removeprefix("np.") not in SCALAR}
