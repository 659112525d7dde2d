"""Compiles all kernels of runs, and those that only tests call, before the tests: python -m tests.ahead --processes 2

Tests also call functions that are only linked into kernels of runs. Compiled in the processes that have just compiled
those, they take less time than in a test, which would compile what they share again. `python -m tests.ahead --list
tests/solve` runs tests and writes in `ahead.json` which kernels they call beyond those of runs; what is not on that
list is compiled by the first test that calls it.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.kernels.compile import ahead as signatures
from shoal.kernels.compile.ahead import Signature, needed, parts, shares
from shoal.kernels.compile.bundles import BundleType
from shoal.kernels.compile.jit import KERNELS, kernel
from tests.signatures import texts_of

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".json")
SECONDS = 1.0  # that one of the tests' own takes, about


def of_tests() -> list[Signature]:
    """The kernels that only tests call."""
    known = json.loads(LIST.read_text(encoding="utf-8"))
    signatures._listed()["bundles"].update(known["bundles"])
    return [Signature(name, tuple(types), SECONDS) for name, types in known["kernels"]]


def in_order(runs: list[Signature], tests: list[Signature]) -> list[Signature]:
    """Put every kernel of tests behind the last of runs that comes from the same file, or at least folder."""
    order = list(runs)
    for signature in tests:
        module, folder = signature.kernel.rpartition(".")[0], signature.kernel.partition(".")[0]
        near = [at for at, one in enumerate(order) if one.kernel.startswith(f"{module}.")]
        near = near or [at for at, one in enumerate(order) if one.kernel.startswith(f"{folder}.")]
        order.insert(near[-1] + 1 if near else len(order), signature)
    return order


def is_there(name: str) -> bool:
    """Make a function a kernel if it is none; whether there is such a function."""
    module, _, own = name.rpartition(".")
    function = getattr(import_module(f"shoal.kernels.{module}"), own, None)
    if function is not None and name not in KERNELS:
        kernel(getattr(function, "py_func", function))
    return function is not None


def compile_share(numbers: list[int]) -> None:
    """Compile some kernels of the list; those of tests may be out of date, those of runs may not."""
    gc.disable()
    runs, tests = needed(parts()), of_tests()
    order = in_order(runs, tests)
    for number in numbers:
        signature = order[number]
        try:
            if is_there(signature.kernel):
                signature.compile()
        except Exception:
            if signature in runs:
                raise


def compile_all(processes: int) -> int:
    """Compile all kernels in so many processes; 0 if all that runs need were compiled."""
    runs, tests = needed(parts()), of_tests()
    order = in_order(runs, tests)
    place = {id(signature): number for number, signature in enumerate(order)}
    command = [sys.executable, "-m", "tests.ahead", "--share"]
    working = [
        subprocess.Popen([*command, *(str(place[id(one)]) for one in share)], cwd=ROOT)
        for share in shares(order, processes)
    ]
    failed = [process for process in working if process.wait()]
    compiled = sum(signature.is_kept() for signature in runs)
    sys.stdout.write(f"Compiled {compiled} of {len(runs)} kernels, and those of tests.\n")
    return int(bool(failed) or compiled < len(runs))


def write_list(given: list[str]) -> None:
    """Run tests in this process; write which kernels they call."""
    import pytest

    runs = {(signature.kernel, signature.arguments) for signature in needed(parts())}
    pytest.main(["-q", "-p", "no:cacheprovider", *given])
    known = signatures._listed()["bundles"]
    before = {*known}
    called = [(name, types) for name, one in KERNELS.items() for types in one.signatures]
    for _, types in called:
        for kind in types:
            add_bundles(kind, known)
    signatures.type_of.cache_clear()
    found = {(name, texts_of(types)) for name, types in called if can_be_listed(types)}
    kernels = sorted(what for what in found - runs if is_ours(what[0]))
    made = {name: known[name] for name in sorted({*known} - before)}
    lines = ",\n  ".join(map(json.dumps, kernels))
    of_bundles = ",\n  ".join(
        f"{json.dumps(name)}: {json.dumps(own)}" for name, own in made.items()
    )
    text = f'{{\n "bundles": {{\n  {of_bundles}\n }},\n "kernels": [\n  {lines}\n ]\n}}\n'
    LIST.write_text(text, encoding="utf-8")


def add_bundles(kind: Any, known: dict[str, list[str]]) -> None:
    """Note what a bundle is made of, and what bundles are in it."""
    if isinstance(kind, BundleType) and (fields := texts_of(kind.kinds)):
        known.setdefault(signatures.text_of(kind), list(fields))
        for field in kind.kinds:
            add_bundles(field, known)


def can_be_listed(types: tuple[Any, ...]) -> bool:
    """Whether these types of arguments are read as they were written."""
    try:
        return Signature("", texts_of(types)).types() == types != ()
    except (AttributeError, ImportError, KeyError):
        return False


def is_ours(name: str) -> bool:
    """Whether it is a kernel of the package, not one that a test or a benchmark makes."""
    try:
        import_module(f"shoal.kernels.{name.rpartition('.')[0]}")
    except ImportError:
        return False
    return True


def main(given: list[str]) -> Any:
    """Do what was asked for."""
    if given[:1] == ["--share"]:
        return compile_share([*map(int, given[1:])])
    if given[:1] == ["--list"]:
        return write_list(given[1:])
    parser = ArgumentParser()
    parser.add_argument("--processes", type=int, default=2)
    return compile_all(parser.parse_args(given).processes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
