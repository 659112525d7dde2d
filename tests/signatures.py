"""Lists the kernels that runs need, with types of arguments: python -m tests.signatures writes them beside the kernels.

Every part of a run is made on a few records of the sample, and all kernels are asked what they were compiled for.
Run it after a change of what kernels are given; without arguments it lists all parts, otherwise those named.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import shoal
from shoal.encoding.encode import encode
from shoal.encoding.frames import open_frame
from shoal.kernels.compile import ahead
from shoal.kernels.compile import ahead as signatures
from shoal.kernels.compile.bundles import BundleType
from shoal.kernels.compile.jit import KERNELS
from shoal.pipeline.estimate import BY_PERSONS, OWN_WAY_BY_PERSONS, SERIES, SUPPRESSION, WITH_LIMITS
from shoal.solve.bounds.certificate import Certifier
from shoal.solve.methods import METHODS
from shoal.solve.problem import Problem

RECORDS = 300
FEW = 10  # for `exact`
MANY = 1_200  # enough for all of refinement
PERSONS = {"person": "person"}
Listed = dict[tuple[str, tuple[str, ...]], float]


def keeping_requirements() -> list[str]:
    """The methods that keep requirements beyond k."""
    return sorted(name for name, method in METHODS.items() if method.homogeneous and name != "auto")


def jobs() -> dict[str, Callable[[], object]]:
    """What makes each part of a run, in the order in which parts are listed.

    One that returns kernels is listed without those.
    """
    made: dict[str, Callable[[], object]] = {}
    for name in ("cover", *sorted({*METHODS} - {"auto", "cover"})):
        made[name] = lambda name=name: run(method=name, refine=False)
    made["refine"] = lambda: run(method="cover")
    made["choose"] = choose
    made["carve"] = carve
    more = shoal.Refine(steps=30)
    made["refine longer"] = lambda: run(method="cover", refine=more)
    made["persons"] = lambda: run(method="cover", **PERSONS)
    for name in OWN_WAY_BY_PERSONS:
        made[f"{name}{BY_PERSONS}"] = lambda name=name: run(method=name, refine=False, **PERSONS)
    made[SUPPRESSION] = suppression
    made[f"{SUPPRESSION}{BY_PERSONS}"] = lambda: suppression(**PERSONS)
    made[SERIES] = series
    made["certificate"] = certificate
    limits = [shoal.LDiversity(2, kind="distinct")]
    for name in keeping_requirements():
        made[f"{name}{WITH_LIMITS}"] = lambda name=name: run(
            method=name, refine=False, requirements=limits
        )
    defaults = {
        "persons": {"method": "cover", **PERSONS},
        "refine": {"method": "cover"},
        "choose": {"method": "cover", "records": MANY},
        "refine longer": {"method": "cover", "refine": more},
    }  # parts of runs that leave the choice of method to shoal, or nearly
    for name, job in defaults.items():
        made[f"{name}{WITH_LIMITS}"] = lambda job=job: run(**job, requirements=limits)
    made[f"carve{WITH_LIMITS}"] = lambda: carve(requirements=limits)
    made[f"certificate{WITH_LIMITS}"] = lambda: run(
        method="cover", records=MANY, requirements=limits
    ).certify(passes=1)
    return made


def choose() -> None:
    """Refine with and without a range."""
    models = shoal.Settings.load(shoal.samples.adult_settings()).quasi_identifiers
    trees = {name: model for name, model in models.items() if name != "age"}
    run(method="cover", records=MANY)
    run(method="cover", records=MANY, quasi_identifiers=trees, others="drop")


def certificate() -> None:
    """Bound the loss of groups that no method made."""
    models = shoal.Settings.load(shoal.samples.adult_settings()).quasi_identifiers
    table = encode(open_frame(shoal.samples.adult()[:MANY]), models, ())
    closed = Problem.of(table, "lm", 3).close(np.arange(MANY, dtype=np.int32) // 3)
    Certifier(closed, k=3, objective="lm", weights={}, w=0.5, loss=None)


def carve(**job: Any) -> None:
    """Refine as if a table were large."""
    with patch("shoal.solve.local_search.schedule.MANY", 0):
        run(method="cover", records=MANY, **job)


def suppression(**job: Any) -> set[tuple[str, tuple[str, ...]]]:
    """Leave records out; returns the kernels that were used before that."""
    run(method="cover", refine=False, **job)
    before = used()
    run(method="cover", refine=False, suppression_limit=0.3, **job)
    return before


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


def run(records: int = RECORDS, **job: Any) -> shoal.Release:
    """Anonymize a few records of the sample."""
    records = FEW if job["method"] == "exact" else records
    asked = {"k": 3, "requirements": [], **job}
    settings = shoal.samples.adult_settings()
    table = shoal.samples.adult()[:records]
    if "person" in job:
        table = table.append_column("person", pa.array([i % 8 for i in range(records)]))
    return shoal.anonymize(table, settings=settings, **asked)


def used() -> set[tuple[str, tuple[str, ...]]]:
    """Every kernel that was called so far and the types of its arguments."""
    return {
        (name, texts)
        for name, kernel in KERNELS.items()
        for types in kernel.signatures
        if (texts := texts_of(types))
    }


def texts_of(types: tuple[Any, ...]) -> tuple[str, ...]:
    """Types of arguments as they are listed; none for those of kernels that are linked into others only."""
    try:
        return tuple(map(signatures.text_of, types))
    except ValueError:
        return ()


def bundles() -> dict[str, list[str]]:
    """The types of all fields of all bundles that kernels were given."""
    found: dict[str, list[str]] = {}

    def add(kind: Any) -> None:
        if isinstance(kind, BundleType):
            fields = [signatures.text_of(field) for field in kind.kinds]
            assert found.setdefault(signatures.text_of(kind), fields) == fields
            for field in kind.kinds:
                add(field)

    for kernel in KERNELS.values():
        for types in kernel.signatures:
            for kind in types:
                add(kind)
    return dict(sorted(found.items()))


@contextmanager
def timing() -> Iterator[Listed]:
    """Note, in the order of compiling, the processor seconds of each kernel."""
    from numba.core import event

    seconds: Listed = {}
    running: list[float] = []

    class Clock(event.Listener):
        def on_start(self, event: Any) -> None:
            running.append(time.process_time())

        def on_end(self, event: Any) -> None:
            spent, kernel = time.process_time() - running.pop(), event.data["dispatcher"]
            name = next((name for name, known in KERNELS.items() if known is kernel), None)
            if not running and name:
                seconds[name, texts_of(event.data["args"])] = spent

    with event.install_listener("numba:compile", Clock()):
        yield seconds


def list_part(name: str) -> dict[str, Any]:
    """Make a part of a run; say which kernels that took, and the seconds of those that were compiled."""
    ahead.can_start = lambda: False  # or the list would be made of itself
    with timing() as seconds:
        others = jobs()[name]()
    return {
        "kernels": sorted(used() - (others if isinstance(others, set) else set())),
        "seconds": [[what, round(spent, 1)] for what, spent in seconds.items()],
        "bundles": bundles(),
    }


def listed(names: list[str], **changed: str) -> dict[str, dict[str, Any]]:
    """Make parts of a run, each in a process of its own, whose kernels were compiled by another one.

    So none is among them that is only linked into others. Seconds are those of compiling, in that order.
    """
    command = [sys.executable, "-m", "tests.signatures", "--parts", *names]
    runs: list[list[dict[str, Any]]] = []
    while len(runs) < 2 and (not runs or any(part["seconds"] for part in runs[0])):
        said = subprocess.run(
            command, env={**os.environ, **changed}, stdout=subprocess.PIPE, check=True
        )
        runs.append([json.loads(line) for line in said.stdout.splitlines()])
    found = zip(names, runs[0], runs[-1], strict=True)
    return {name: {**last, "seconds": first["seconds"]} for name, first, last in found}


def list_parts(names: list[str]) -> None:
    """Print what `list_part` says of each, in copies of this process: imports take longer than most parts."""
    with get_context("fork").Pool(1, maxtasksperchild=1) as copies:
        for found in copies.imap(list_part, names):
            print(json.dumps(found), flush=True)


def main(names: list[str]) -> None:
    """Write the list."""
    known = json.loads(signatures.FILE.read_text()) if names else {"bundles": {}, "parts": {}}
    seconds = {
        (kernel, tuple(arguments)): spent
        for part in known["parts"].values()
        for kernel, arguments, spent in part
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in names or jobs():
            found = listed([name], NUMBA_CACHE_DIR=folder)[name]
            seconds |= {(what[0], tuple(what[1])): spent for what, spent in found["seconds"]}
            order = {what: number for number, what in enumerate(seconds)}
            found["kernels"].sort(key=lambda what: order.get((what[0], tuple(what[1])), -1))
            known["bundles"] |= found["bundles"]
            known["parts"][name] = [
                [kernel, types, seconds.get((kernel, tuple(types)), 0.0)]
                for kernel, types in found["kernels"]
            ]
            print(name, len(found["kernels"]), flush=True)
            parts = sorted(known["parts"].items(), key=lambda part: [*jobs()].index(part[0]))
            write({"bundles": dict(sorted(known["bundles"].items())), "parts": dict(parts)})


def write(known: dict[str, Any]) -> None:
    """Write the list, a kernel to a line."""
    lines = json.dumps(known, indent=1).splitlines()
    text = re.sub(r"\n {3,}", " ", "\n".join(lines)).replace("[ ", "[").replace("\n  ]", "]")
    signatures.FILE.write_text(text + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--parts"]:
        list_parts(sys.argv[2:])
    else:
        main(sys.argv[1:])
