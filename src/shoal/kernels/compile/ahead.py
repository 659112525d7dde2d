"""Kernels compiled ahead of a run, in several processes at once, each of which keeps its share."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from numba import config, types

from shoal.kernels.compile.bundles import BundleType, bundles_work
from shoal.kernels.compile.cache import cache_folder, cache_note, file_name, kept_file, part_suffix
from shoal.kernels.compile.jit import KERNELS

FILE = Path(__file__).with_name("signatures.json")
ARRAY = re.compile(r"(\w+)\[(\d)([CFA])(r?)\]")
NAMED = ("int8", "int64", "uint64", "float64", "int32", "float32", "boolean", "none", "npy_rng")


@dataclass(frozen=True)
class Signature:
    """A kernel and the types of its arguments."""

    kernel: str
    arguments: tuple[str, ...]
    seconds: float = 0.0  # that compiling takes, about

    def types(self) -> tuple:
        """Return the types as Numba has them."""
        return tuple(map(type_of, self.arguments))

    def is_kept(self) -> bool:
        """Whether its machine code is on disk."""
        load(self.kernel)
        return kept_file(self.kernel, self.types()) is not None

    def compile(self) -> None:
        """Compile it, or load it if it is kept."""
        load(self.kernel).compile(self.types())


def needed(parts: Iterable[str]) -> list[Signature]:
    """Return what some parts of a run need, each once; parts that nobody listed need nothing.

    Where kernels take their arguments another way, which is not on the list, nothing is.
    """
    listed = _listed()["parts"] if bundles_work() and not config.DISABLE_JIT else {}
    found = {
        (kernel, tuple(arguments)): seconds
        for part in parts
        for kernel, arguments, seconds in listed.get(part, [])
    }
    return [Signature(*what, seconds) for what, seconds in found.items()]


def missing(parts: Iterable[str]) -> list[Signature]:
    """Return what some parts of a run need and what is not compiled yet."""
    return [signature for signature in needed(parts) if not signature.is_kept()]


def parts() -> tuple[str, ...]:
    """Return the names of all parts."""
    return tuple(_listed()["parts"])


def text_of(kind) -> str:
    """Write a type of Numba; raise ValueError for one that is not among those that can be listed."""
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
def type_of(text: str):
    """Read a type that `text_of` wrote."""
    if "." in text:
        return _bundle(text)
    array = ARRAY.fullmatch(text)
    if array is None:
        return getattr(types, text)
    kind, dimensions, layout, readonly = array.groups()
    return types.Array(type_of(kind), int(dimensions), layout, readonly=bool(readonly))


def _bundle(text: str):
    module, _, name = text.rpartition(".")
    cls = getattr(importlib.import_module(f"shoal.kernels.{module}"), name)
    return BundleType(cls, tuple(map(type_of, _listed()["bundles"][text])))


def load(kernel: str):
    """The kernel of a name."""
    importlib.import_module(f"shoal.kernels.{kernel.rpartition('.')[0]}")
    return KERNELS[kernel]


@cache
def _listed() -> dict:
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # as in a package that somebody cut down
        return {"bundles": {}, "parts": {}}


WORTH_IT = 4.0  # seconds of compiling below which starting processes takes longer than it saves
EVERY = 0.1  # seconds between two looks at whether to go on
MOST = 6  # processes; more would wait for the longest kernel

Told = Callable[[int, int], None]


def compile_ahead(wanted: list[Signature], told: Told, processes: int) -> int:
    """Compile some kernels in so many processes; return how many of them were.

    `told` is called with (done, total) and may raise to stop; no process is left over then.
    """
    with Ahead(wanted, told, processes) as work:
        work.finish()
        return work.done


def worthwhile(wanted: list[Signature]) -> int:
    """Return how many processes should compile some kernels; 0 where the run itself had better do it."""
    seconds = sum(signature.seconds for signature in wanted)
    number = min(processors(), MOST, len(wanted))
    return number if number > 1 and seconds >= WORTH_IT else 0


class Ahead:
    """Processes that compile kernels while the run goes on; it waits for those that it needs.

    Whatever goes wrong is no reason to fail: what is missing afterwards is compiled by the run itself.
    """

    def __init__(self, wanted: list[Signature], told: Told, processes: int) -> None:
        self.done = 0  # kernels compiled so far
        self._told, self._total = told, len(wanted)
        number = min(processes, len(wanted)) if can_start() else 0
        self._work = shares(wanted, number) if number else []
        self._workers: list[_Worker] = []
        self._owner: dict[str, _Worker] = {}  # by the name of a kernel's file
        self._said: queue.Queue[None] = queue.Queue()

    def __enter__(self) -> Ahead:
        try:
            for share in self._work:
                worker = _Worker(self._said)
                self._workers.append(worker)
                worker.ask(share)
                self._owner |= {name_of(signature): worker for signature in share}
        except OSError:  # no more processes are allowed, or one has ended at once
            pass
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._end()

    def wait_for(self, file: str) -> bool:
        """Wait until the machine code with this file name is kept, if a process is about to compile it.

        Return whether it is.
        """
        worker, folder = self._owner.get(file), cache_folder()
        if worker is None or folder is None:
            return False
        while worker.is_running and not (folder / file).is_file():
            self._look()
        return (folder / file).is_file()

    def finish(self) -> None:
        """Wait until all is compiled."""
        while self.done < self._total and any(worker.is_running for worker in self._workers):
            self._look()

    def _look(self) -> None:
        """See what is done, wait a moment if nothing is, and tell."""
        with contextlib.suppress(queue.Empty):
            self._said.get(timeout=EVERY)
            self.done += 1
            while True:
                self._said.get_nowait()
                self.done += 1
        self._told(self.done, self._total)

    def _end(self) -> None:
        for worker in self._workers:
            worker.end()


class _Worker:
    """A process that compiles a share of the kernels."""

    def __init__(self, said: queue.Queue[None]) -> None:
        package = str(Path(__file__).parents[3])
        paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "shoal.kernels.compile.worker"],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._listener = threading.Thread(target=self._listen, args=(said,), daemon=True)
        self._listener.start()

    @property
    def is_running(self) -> bool:
        """Whether it may still compile something."""
        return self._listener.is_alive()

    def ask(self, share: list[Signature]) -> None:
        """Tell it what to compile."""
        line = json.dumps([[signature.kernel, signature.arguments] for signature in share])
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def end(self) -> None:
        """End it, if it has not ended itself, and leave nothing of it."""
        self.process.kill()
        self.process.wait()
        self._listener.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # it was not told everything
                if pipe is not None:
                    pipe.close()
        clean_up(self.process.pid)

    def _listen(self, said: queue.Queue[None]) -> None:
        """Pass on that a kernel is done, each time that the process says so."""
        assert self.process.stdout is not None
        for _ in self.process.stdout:
            said.put(None)


def name_of(signature: Signature) -> str:
    """Return the name of the file for a kernel's machine code."""
    return file_name(signature.kernel, signature.types())


def can_start() -> bool:
    """Whether processes can be started that share this one's folder."""
    name = Path(sys.executable or "").name.lower()
    return (
        name.startswith("python")
        and not getattr(sys, "frozen", False)
        and cache_folder() is not None
        and not cache_note()
    )


def shares(wanted: list[Signature], number: int) -> list[list[Signature]]:
    """Cut a list into stretches of about the same time: neighbours have most functions in common."""
    total = sum(signature.seconds for signature in wanted)
    found: list[list[Signature]] = [[] for _ in range(number)]
    before = 0.0
    for signature in wanted:
        middle = before + signature.seconds / 2
        found[min(number - 1, int(number * middle / total)) if total else 0].append(signature)
        before += signature.seconds
    return [share for share in found if share]


def clean_up(process: int) -> None:
    """Remove what a process that was stopped has left half written."""
    folder = cache_folder()
    for file in folder.glob(f"*{part_suffix(process)}") if folder else ():
        file.unlink(missing_ok=True)


def processors() -> int:
    """Return how many processors this process may use."""
    with contextlib.suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
