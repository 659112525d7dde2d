"""Kernels compiled ahead of a run, by several processes at once.

`signatures.json` lists the kernels that runs call, in the order of the calls, with the types of their arguments.
`python -m tests.signatures` writes it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from numba import config, types

from shoal.kernels.compile.bundles import BundleType
from shoal.kernels.compile.cache import cache_folder, kept_file, part_suffix
from shoal.kernels.compile.jit import KERNELS, compile_options, kernel

FILE = Path(__file__).with_name("signatures.json")
ARRAY = re.compile(r"(\w+)\[(\d)([CFA])(r?)\]")
NAMED = ("int8", "int64", "uint64", "float64", "int32", "float32", "boolean", "none", "npy_rng")

# The lists of the file. Every kernel is on the first list that needs it.
DEFAULT = "default"  # the default method on up to 1,000 records
LARGER = "larger"  # the same on more records
REQUIREMENTS = "requirements"  # the same with requirements beyond k
PERSON = "person"  # the same with several records of a person
SOMETIMES = "sometimes"  # what runs with default settings call on few or very many records, and certificates
OTHERS = "others"  # all other methods and settings
USUAL = (DEFAULT, LARGER, REQUIREMENTS, PERSON, SOMETIMES)
ALL = (*USUAL, OTHERS)

SECONDS = 0.9  # of one processor to compile a kernel: the mean over a default run
WORTH_IT = 5  # kernels; starting processes for fewer takes longer than it saves
EVERY = 0.1  # seconds between two calls of the progress function
MOST = 6  # processes; more would wait for the longest kernel

ProgressCallback = Callable[
    [int, int], None
]  # is called with (done, total) and may raise an error to stop


class Signature(NamedTuple):
    """A kernel and the types of its arguments."""

    kernel: str
    types: tuple

    def is_kept(self) -> bool:
        """Whether its machine code is on disk."""
        return kept_file(*self) is not None

    def compile(self) -> None:
        """Compile it, or load it if it is kept."""
        load_kernel(self.kernel).compile(self.types)


def needed(lists: Iterable[str]) -> list[Signature]:
    """Return the kernels on some lists; none where kernels take their arguments by value or are not compiled."""
    if config.DISABLE_JIT or not compile_options().part:
        return []
    return [
        Signature(name, tuple(map(parse_type, texts)))
        for wanted in lists
        for name, texts in listed()["kernels"][wanted]
    ]


def uncompiled(lists: Iterable[str]) -> list[Signature]:
    """Return the kernels on some lists that are not compiled yet."""
    return [signature for signature in needed(lists) if not signature.is_kept()]


def text_of(kind) -> str:
    """Write a type of Numba; raise ValueError for one that cannot be listed."""
    if isinstance(kind, BundleType):
        return f"{kind.cls.__module__.removeprefix('shoal.kernels.')}.{kind.cls.__qualname__}"
    if isinstance(kind, types.Array) and kind.aligned:
        readonly = "" if kind.mutable else "r"
        return f"{text_of(kind.dtype)}[{kind.ndim}{kind.layout}{readonly}]"
    text = {types.boolean: "boolean", types.npy_rng: "npy_rng"}.get(kind, str(kind))
    if text not in NAMED:
        raise ValueError(f"Type {text} cannot be listed.")
    return text


@cache
def parse_type(text: str):
    """Read a type that `text_of` wrote."""
    if "." in text:
        module, _, name = text.rpartition(".")
        cls = getattr(importlib.import_module(f"shoal.kernels.{module}"), name)
        return BundleType(cls, tuple(map(parse_type, listed()["bundles"][text])))
    array = ARRAY.fullmatch(text)
    if array is None:
        return getattr(types, text)
    kind, dimensions, layout, readonly = array.groups()
    return types.Array(parse_type(kind), int(dimensions), layout, readonly=bool(readonly))


def load_kernel(name: str):
    """Return a kernel by its name; a function that only kernels call becomes a kernel, for tests."""
    module, _, own = name.rpartition(".")
    function = getattr(importlib.import_module(f"shoal.kernels.{module}"), own)
    return KERNELS.get(name) or kernel(function.py_func)


@cache
def listed() -> dict:
    """Return what `signatures.json` holds: the types in each bundle, and the kernels on each list."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def compile_ahead(wanted: list[Signature], told: ProgressCallback, processes: int) -> None:
    """Compile some kernels in several processes; those that fail there stay missing."""
    with Ahead(wanted, told, processes) as work:
        work.finish()


def worker_count(wanted: list[Signature]) -> int:
    """Return how many processes should compile some kernels; 0 where the run itself is faster."""
    number = min(processors(), MOST, len(wanted))
    return number if number > 1 and len(wanted) >= WORTH_IT else 0


class Ahead:
    """Processes that compile kernels, in the order of the list, while the run goes on.

    Nothing that goes wrong here makes a run fail: the run itself compiles what is missing. No process is left over.
    """

    def __init__(self, wanted: list[Signature], told: ProgressCallback, processes: int) -> None:
        self._wanted, self._told = wanted, told
        self._number = min(processes, len(wanted)) if can_start() else 0
        self._workers: list[subprocess.Popen[bytes]] = []
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._work: dict[Signature, Future[None]] = {}

    def __enter__(self) -> Ahead:
        with contextlib.suppress(OSError):  # no more processes are allowed
            for _ in range(self._number):
                self._workers.append(_start_worker())
                self._idle.put(self._workers[-1])
        if self._workers:
            pool = ThreadPoolExecutor(len(self._workers))
            self._work = {one: pool.submit(self._compile, one) for one in self._wanted}
            pool.shutdown(wait=False)  # ends the threads after the last kernel
        return self

    def __exit__(self, *failure: object) -> None:
        for work in self._work.values():
            work.cancel()
        for worker in self._workers:
            worker.kill()
        wait(self._work.values())
        for worker in self._workers:
            worker.communicate()
            folder = cache_folder()
            assert folder is not None
            for file in folder.glob(f"*{part_suffix(worker.pid)}"):
                file.unlink(missing_ok=True)

    @property
    def done(self) -> int:
        """How many kernels are compiled so far."""
        return sum(work.done() for work in self._work.values())

    def wait_for(self, signature: Signature) -> bool:
        """Wait until a kernel is compiled if a process has begun; return whether one has."""
        work = self._work.get(signature)
        if work is None or work.cancel():
            return False
        self._wait([work])
        return True

    def finish(self) -> None:
        """Wait until all kernels are compiled."""
        self._wait(list(self._work.values()))

    def _wait(self, work: list[Future[None]]) -> None:
        while wait(work, timeout=EVERY).not_done:
            self._told(self.done, len(self._work))
        self._told(self.done, len(self._work))

    def _compile(self, signature: Signature) -> None:
        """Let a process compile a kernel."""
        worker = self._idle.get()
        try:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(pickle.dumps(signature))
            worker.stdin.flush()
            worker.stdout.readline()
        finally:
            self._idle.put(worker)


def _start_worker() -> subprocess.Popen[bytes]:
    package = str(Path(__file__).parents[3])
    paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"import {__name__} as ahead; ahead.work()"],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def work() -> None:
    """Compile the kernels that standard input names until it ends; write a line after each."""
    gc.disable()  # the process ends soon
    with contextlib.suppress(EOFError):
        while True:
            signature = pickle.load(sys.stdin.buffer)
            with contextlib.suppress(Exception):  # the run will meet the same error
                signature.compile()
            sys.stdout.write("done\n")
            sys.stdout.flush()


def can_start() -> bool:
    """Whether processes can be started that use the same folder."""
    is_python = Path(sys.executable or "").name.lower().startswith("python")
    return is_python and cache_folder() is not None


def processors() -> int:
    """Return how many processors this process may use."""
    with contextlib.suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
