"""Independent jobs elsewhere: in several threads, or on the executors of a cluster."""

from __future__ import annotations

import os
import pickle
import threading
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from shoal.encoding.forms import Ints
from shoal.errors import Cancelled
from shoal.progress import Progress, silent
from shoal.solve.methods import Method, Partition
from shoal.solve.problem import Problem

MOST_THREADS = 8
# Threads for jobs as large as memory allows: solving a part takes less than half of what refining it would.
FEW_THREADS = 2
WAIT = 0.2  # seconds between two looks at whether somebody wants to stop

T = TypeVar("T")
R = TypeVar("R")


def in_threads(
    jobs: Sequence[T],
    work: Callable[[T, Progress], R],
    stage: str,
    progress: Progress,
    most: int = MOST_THREADS,
) -> list[R]:
    """Do all jobs, in so many threads at most, and return what they give, in their order.

    The first is done alone, so that kernels which others need are compiled once. Where `progress` raises an error, the
    jobs under way are stopped.
    """
    stopped = threading.Event()

    def checking(stage: str, done: int, total: int) -> None:
        if stopped.is_set():
            raise Cancelled("stopped")

    found = [work(job, progress) for job in jobs[:1]]
    with ThreadPoolExecutor(min(most, thread_count())) as pool:
        futures = [pool.submit(work, job, checking) for job in jobs[1:]]
        waiting: set[Future[R]] = set(futures)
        try:
            while waiting:
                progress(stage, len(jobs) - len(waiting), len(jobs))
                done, waiting = wait(waiting, WAIT, FIRST_COMPLETED)
                for future in done:
                    future.result()
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    return found + [future.result() for future in futures]


def thread_count() -> int:
    """As many threads as there are processors for this process."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(MOST_THREADS, number or 1)


class RemoteSolver(Protocol):
    """Another place than this process where parts are solved."""

    @property
    def note(self) -> str:
        """Say whether parts were solved there, and if not, why."""

    def is_ready(self) -> bool:
        """Whether parts can be solved there, by this version of shoal."""

    def solve(self, parts: Sequence[bytes]) -> list[bytes]:
        """Give every part to `solve_packed`, and return what it gives, in the order of the parts."""


@dataclass(frozen=True)
class SolverJob:
    """Records to be grouped by a method."""

    problem: Problem
    method: Method
    seed: int

    def solve(self, progress: Progress) -> Partition:
        """Group the records."""
        return self.method.partition(self.problem, self.seed, progress)

    def packed(self) -> bytes:
        """All that it takes to solve it; sensitive values go as the numbers that rules count, if any do."""
        table = replace(self.problem.table, sensitive={})
        bare = replace(self, problem=replace(self.problem, table=table))
        return zlib.compress(pickle.dumps(bare, pickle.HIGHEST_PROTOCOL), 1)


def solve_packed(part: bytes) -> bytes:
    """Solve a packed part and return the group of each of its records, packed too."""
    asked = pickle.loads(zlib.decompress(part))
    assert isinstance(asked, SolverJob)
    groups = asked.solve(silent).groups.astype("<i4")
    return zlib.compress(groups.tobytes(), 1)


def unpack_groups(groups: bytes) -> Ints:
    """The groups that `solve_packed` returned."""
    return np.frombuffer(zlib.decompress(groups), "<i4").astype(np.int32)
