"""How long work reports itself: one function that is told the stage, what is done and what there is to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Progress(Protocol):
    """Called now and then during long work; raise `shoal.Cancelled` in it to stop."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


class Watch:
    """Runs one stage after the other, reporting and timing each."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.stage = ""
        self.seconds: dict[str, float] = {}

    def again(self) -> None:
        """Say once more which stage this is, after something else was said."""
        self.progress(self.stage, 0, 1)

    def __call__(self, stage: str, work: Callable[[], T]) -> T:
        self.stage = stage
        self.progress(stage, 0, 1)
        start = time.perf_counter()
        result = work()
        self.seconds[stage] = time.perf_counter() - start
        return result
