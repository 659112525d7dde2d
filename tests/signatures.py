"""Writes `signatures.json`, the lists of kernels that runs call: python -m tests.signatures, for a few minutes.

Runs on a few records of the sample are made one after another, and each kernel is put on the list of the first run that
calls it. Run it when a kernel is new or is given other types of arguments; a test says when the lists are out of date.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from numba import config
from numba.core import event

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.compile import ahead
from shoal.kernels.compile.bundles import BundleType
from shoal.kernels.compile.jit import KERNELS
from shoal.solve.bounds.certificate import Certifier
from shoal.solve.methods import METHODS
from shoal.solve.problem import Problem

RECORDS = 300
FEW = 10  # for `exact`
MANY = 1_200  # enough for all of refinement
BUDGET = 3e8  # units of work of quick refinement: enough for all of its neighbourhoods
Called = tuple[str, tuple[str, ...]]  # a kernel and the types of its arguments


@patch("shoal.solve.local_search.budget.LEAST", BUDGET)
def make_runs(name: str) -> None:
    """Make the runs whose kernels are on a list."""
    limits = {"requirements": [shoal.LDiversity(2, kind="distinct")]}
    person = {"person": "person"}
    if name == ahead.DEFAULT:
        run()
    elif name == ahead.LARGER:
        models = shoal.Settings.load(shoal.samples.adult_settings()).quasi_identifiers
        trees = {column: model for column, model in models.items() if column != "age"}
        run(MANY)
        run(MANY, quasi_identifiers=trees, others="drop")
    elif name == ahead.REQUIREMENTS:
        run(**limits)
        run(MANY, **limits)
    elif name == ahead.PERSON:
        run(**person)
        run(**person, **limits)
    elif name == ahead.SOMETIMES:
        for job in ({}, limits, person):
            run(FEW, method="exact", **job)
        certify()
        run(MANY, **limits).certify(passes=1)
    elif name == ahead.OTHERS:
        for method in sorted({*METHODS} - {"auto", "exact"}):
            for job in ({}, limits) if METHODS[method].homogeneous else ({},):
                run(method=method, refine=False, **job)
        run(method="mondrian", **person)
        for job in ({}, limits):
            run(refine=shoal.Refine(steps=30), **job)
        for job in ({}, person):
            run(suppression_limit=0.3, **job)
        series()


def run(records: int = RECORDS, method: str = "cover", **job: Any) -> shoal.Release:
    """Anonymize a few records of the sample."""
    table = shoal.samples.adult()[:records]
    if "person" in job:
        table = table.append_column("person", pa.array([i % 8 for i in range(records)]))
    asked = {"k": 3, "requirements": [], **job}
    return shoal.anonymize(table, settings=shoal.samples.adult_settings(), method=method, **asked)


def certify() -> None:
    """Bound the loss of groups that no method made."""
    models = shoal.Settings.load(shoal.samples.adult_settings()).quasi_identifiers
    table = encode(open_frame(shoal.samples.adult()[:MANY]), models, ())
    closed = Problem.of(table, "lm", 3).close(np.arange(MANY, dtype=np.int32) // 3)
    Certifier(closed, k=3, objective="lm", weights={}, w=0.5, loss=None)


def series() -> None:
    """Two releases of a series."""
    models = shoal.Settings.load(shoal.samples.adult_settings()).quasi_identifiers
    table = shoal.samples.adult()[:RECORDS].append_column("person", pa.array(range(RECORDS)))
    previous: list[shoal.Release[Any]] = []
    for _ in range(2):
        release = shoal.anonymize(
            table,
            quasi_identifiers={name: own for name, own in models.items() if name != "occupation"},
            sensitive=["occupation"],
            person="person",
            others="drop",
            k=3,
            requirements=[shoal.LDiversity(2)],
            suppression_limit=0.5,
            previous=previous[-1:],
        )
        previous.append(release)


def called() -> set[Called]:
    """Every kernel that was called so far, with the types of its arguments."""
    return {
        (name, texts)
        for name, kernel in KERNELS.items()
        for types in kernel.signatures
        if (texts := texts_of(types))
    }


def texts_of(types: tuple[Any, ...]) -> tuple[str, ...]:
    """Types of arguments as they are listed; none if one of them cannot be."""
    try:
        return tuple(map(ahead.text_of, types))
    except ValueError:
        return ()


def bundles() -> dict[str, list[str]]:
    """The types of all fields of all bundles that kernels were given."""
    found: dict[str, list[str]] = {}

    def add(kind: Any) -> None:
        if isinstance(kind, BundleType) and (fields := texts_of(kind.kinds)):
            found.setdefault(ahead.text_of(kind), list(fields))
            for field in kind.kinds:
                add(field)

    for kernel in KERNELS.values():
        for types in kernel.signatures:
            for kind in types:
                add(kind)
    return dict(sorted(found.items()))


@contextmanager
def compiled() -> Iterator[list[Called]]:
    """Note, in that order, which kernels are compiled."""
    found: list[Called] = []
    with event.install_recorder("numba:compile") as recorder:
        yield found
    names = {id(kernel): name for name, kernel in KERNELS.items()}
    for _, one in recorder.buffer:
        name, texts = names.get(id(one.data["dispatcher"])), texts_of(one.data["args"])
        if one.is_start and name and texts:
            found.append((name, texts))


def write(file: Path, bundles: dict[str, list[str]], kernels: dict[str, list[Called]]) -> None:
    """Write lists of kernels, a kernel to a line."""

    def block(lines: list[str], ends: str) -> str:
        return ends[0] + "\n  " + ",\n  ".join(lines) + "\n" + ends[1]

    bundled = block(
        [f"{json.dumps(name)}: {json.dumps(own)}" for name, own in bundles.items()], "{}"
    )
    lists = [
        f"{json.dumps(name)}: " + block([*map(json.dumps, own)], "[]")
        for name, own in kernels.items()
    ]
    text = f'{{\n"bundles": {bundled},\n"kernels": {{\n' + ",\n".join(lists) + "\n}\n}\n"
    file.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the lists, from kernels that this process compiles in that order."""
    sys.executable = ""  # so no process compiles for it
    lists: dict[str, list[Called]] = {}
    with tempfile.TemporaryDirectory() as folder:
        config.CACHE_DIR = folder
        for name in ahead.ALL:
            with compiled() as found:
                make_runs(name)
            lists[name] = found
            sys.stdout.write(f"{name}: {len(found)}\n")
    write(ahead.FILE, bundles(), lists)


if __name__ == "__main__":
    main()
