"""Kernels compiled ahead of a run, in several processes at once, each of which keeps its share.

Whatever goes wrong here is no reason to fail: what is missing afterwards is compiled by the run itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from shoal.kernels.cache import cache_folder, cache_note
from shoal.kernels.machine_code import part_suffix
from shoal.kernels.signatures import Signature, missing

WORTH_IT = 4.0  # seconds of compiling below which starting processes takes longer than it saves
EVERY = 0.2  # seconds between two looks at whether to go on
MOST = 6  # processes; more would wait for the longest kernel

Told = Callable[[int, int], None]


def compile_ahead(parts: Iterable[str], told: Told, processes: int | None = None) -> int:
    """Compile what some parts of a run need and what is not kept yet; return how many kernels that were.

    `told` is called with (done, total) and may raise to stop; no process is left over then. Kernels that no
    process could compile are left to the run.
    """
    wanted = missing(parts)
    number = min(processes or processors(), MOST, len(wanted))
    seconds = sum(signature.seconds for signature in wanted)
    if not wanted or not can_start() or (processes is None and seconds < WORTH_IT):
        return 0
    told(0, len(wanted))
    return _compile(shares(wanted, number), len(wanted), told)


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


def _compile(work: list[list[Signature]], total: int, told: Told) -> int:
    done: queue.Queue[str | None] = queue.Queue()
    workers: list[tuple[subprocess.Popen[bytes], threading.Thread]] = []
    try:
        for share in work:
            worker = _start()
            listener = threading.Thread(target=_listen, args=(worker, done), daemon=True)
            workers.append((worker, listener))
            listener.start()
            _ask(worker, share)
        compiled = ended = 0
        while ended < len(workers):
            with contextlib.suppress(queue.Empty):
                if done.get(timeout=EVERY) is None:
                    ended += 1
                else:
                    compiled += 1
            told(compiled, total)
        return compiled
    except OSError:  # no more processes are allowed, or one has ended at once
        return 0
    finally:
        for worker, listener in workers:
            _end(worker, listener)


def _start() -> subprocess.Popen[bytes]:
    package = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "shoal.kernels.worker"],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _ask(worker: subprocess.Popen[bytes], share: list[Signature]) -> None:
    """Tell a worker what to compile."""
    line = json.dumps([[signature.kernel, signature.arguments] for signature in share])
    assert worker.stdin is not None
    worker.stdin.write(f"{line}\n".encode())
    worker.stdin.flush()


def _listen(worker: subprocess.Popen[bytes], done: queue.Queue[str | None]) -> None:
    """Pass on what a worker says, and at last that it ended."""
    assert worker.stdout is not None
    for line in worker.stdout:
        done.put(line.decode(errors="replace").strip())
    done.put(None)


def _end(worker: subprocess.Popen[bytes], listener: threading.Thread) -> None:
    """End a worker, if it has not ended itself, and leave nothing of it."""
    worker.kill()
    worker.wait()
    listener.join()
    for pipe in (worker.stdin, worker.stdout):
        with contextlib.suppress(OSError):  # it was not told everything
            if pipe is not None:
                pipe.close()
    _clean_up(worker.pid)


def _clean_up(process: int) -> None:
    """Remove what a process that was stopped has left half written."""
    folder = cache_folder()
    for file in folder.glob(f"*{part_suffix(process)}") if folder else ():
        file.unlink(missing_ok=True)


def processors() -> int:
    """Return how many processors this process may use."""
    with contextlib.suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
