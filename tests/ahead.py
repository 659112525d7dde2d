"""Compiles all kernels of runs, and those that only tests call, before the tests: python -m tests.ahead --processes 2

Tests also call functions that are only linked into kernels of runs. `python -m tests.ahead --list tests/solve` runs
tests and writes in `ahead.json` which kernels they call beyond those of runs; the first test that calls a kernel that
is not on that list compiles it.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from importlib.util import find_spec
from pathlib import Path

from shoal.kernels.compile import ahead
from shoal.kernels.compile.ahead import Signature
from tests.signatures import Called, bundles, called, write

LIST = Path(__file__).with_suffix(".json")


def of_tests() -> list[Signature]:
    """The kernels that only tests call; those whose module or bundle is gone are left out."""
    known = json.loads(LIST.read_text(encoding="utf-8"))
    ahead.listed()["bundles"].update(known["bundles"])
    return [
        Signature(name, types)
        for name, texts in known["kernels"]["tests"]
        if (types := read(texts))
    ]


def read(texts: list[str]) -> tuple[object, ...]:
    """Types of arguments; none if one of them is gone."""
    try:
        return tuple(map(ahead.parse_type, texts))
    except (AttributeError, ImportError, KeyError):
        return ()


def in_order(runs: list[Signature], tests: list[Signature]) -> list[Signature]:
    """Put every kernel of tests behind the last of runs from the same folder, with which it shares functions."""
    folders = [one.kernel.partition(".")[0] for one in runs]
    place = {folder: number for number, folder in enumerate(folders)}
    numbered = [
        *enumerate(runs),
        *((place.get(one.kernel.partition(".")[0], 0), one) for one in tests),
    ]
    return [one for _, one in sorted(numbered, key=lambda pair: pair[0])]


def compile_all(processes: int) -> int:
    """Compile all kernels in so many processes; 0 if all that runs need were compiled."""
    runs = ahead.needed(ahead.ALL)
    wanted = [one for one in in_order(runs, of_tests()) if not one.is_kept()]
    ahead.compile_ahead(wanted, lambda done, total: None, processes)
    compiled = sum(signature.is_kept() for signature in runs)
    sys.stdout.write(f"Compiled {compiled} of {len(runs)} kernels, and those of tests.\n")
    return int(compiled < len(runs))


def write_list(given: list[str]) -> None:
    """Run tests in this process; write which kernels they call."""
    import pytest

    pytest.main(["-q", "-p", "no:cacheprovider", *given])
    runs = {
        (name, tuple(texts)) for own in ahead.listed()["kernels"].values() for name, texts in own
    }
    known = ahead.listed()["bundles"]
    made = {name: fields for name, fields in bundles().items() if name not in known}
    write(LIST, made, {"tests": sorted(one for one in called() - runs if is_ours(one))})


def is_ours(one: Called) -> bool:
    """Whether it is a kernel of the package, not one that a test or a benchmark makes."""
    try:
        return find_spec(f"shoal.kernels.{one[0].rpartition('.')[0]}") is not None
    except ImportError:
        return False


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        sys.exit(write_list(sys.argv[2:]))
    parser = ArgumentParser()
    parser.add_argument("--processes", type=int, default=2)
    sys.exit(compile_all(parser.parse_args().processes))
