"""How long work reports its progress: the stage, how much is done and how much there is to do."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Progress(Protocol):
    """Called now and then during long work; raise `shoal.Cancelled` in it to stop."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""


COMPILING = "compiling kernels, once"
STAGES = {
    "reading": "reading the table",
    "encoding": "checking and encoding",
    "reducing": "checking and encoding",
    COMPILING: COMPILING,
    "solving": "grouping similar records",
    "setting aside": "grouping similar records",
    "solving in rounds": "grouping similar records",
    "grouping": "grouping similar records",
    "refining": "improving the groups",
    "counting persons": "counting persons",
    "leaving out": "leaving records out",
    "closing": "generalizing",
    "rendering": "generalizing",
    "auditing": "auditing the release",
    "writing": "writing and auditing the file",
    "bounding the loss": "bounding the loss",
    "reporting": "writing the report",
}  # of a run, in order, and what a person is told
STEP_WORDS = tuple(dict.fromkeys(STAGES.values()))


def stage_in_words(stage: str) -> str:
    """What a person is told of a stage, which may be one of a method's own."""
    return STAGES.get(stage, stage.partition(":")[0])


def step_of(stage: str) -> int:
    """The number of a stage's step among `STEP_WORDS`, from 1; 0 for a stage of a method's own."""
    return STEP_WORDS.index(STAGES[stage]) + 1 if stage in STAGES else 0


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
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
        return result


SOON = 0.5  # seconds of work before a bar is shown
EVERY = 0.2  # seconds between two changes of it


@contextmanager
def progress_or_bar(progress: Progress | None) -> Iterator[Progress]:
    """Yield the function that was given, or else a bar in a notebook and silence elsewhere."""
    if progress is not None or not _is_notebook():
        yield progress or silent
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


def _is_notebook() -> bool:
    """Whether this code runs in the kernel of a notebook, which has loaded IPython."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    return hasattr(shell, "kernel")


class _Bar:
    """One line below a cell: the stage and how much of it is done."""

    def __init__(self) -> None:
        self._due = time.monotonic() + SOON
        self._shown: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + EVERY
        share = f' value="{done}" max="{total}"' if total > 1 else ""
        self._show(f"<progress{share}></progress> {escape(stage)}")

    def close(self) -> None:
        """Take the line away."""
        if self._shown is not None:
            self._show("")

    def _show(self, line: str) -> None:
        from IPython.display import HTML, display

        if self._shown is None:
            self._shown = display(HTML(line), display_id=True)
        else:
            self._shown.update(HTML(line))
