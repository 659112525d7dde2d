"""Independent jobs in several threads: kernels do not hold Python's lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from shoal.errors import Cancelled
from shoal.progress import Progress

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
    with ThreadPoolExecutor(min(most, threads())) as pool:
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


def threads() -> int:
    """As many threads as there are processors for this process."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(MOST_THREADS, number or 1)
