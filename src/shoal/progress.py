"""Progress of long work: the stage, how much is done and how much there is to do."""

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


COMPILING = "compiling (first run only)"
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
    "counting people": "counting people",
    "leaving out": "leaving records out",
    "closing": "generalizing",
    "rendering": "generalizing",
    "auditing": "checking the release",
    "writing": "writing and checking the file",
    "bounding the loss": "computing the certificate",
    "reporting": "writing the report",
}  # stages of a run in order, and the words shown for each
STEP_WORDS = tuple(dict.fromkeys(STAGES.values()))


def stage_in_words(stage: str) -> str:
    """Return the words for a stage, which may be a method's own."""
    return STAGES.get(stage, stage.partition(":")[0])


def step_of(stage: str) -> int:
    """Return the number of a stage's step among `STEP_WORDS`, from 1; 0 for a method's own stage."""
    return STEP_WORDS.index(STAGES[stage]) + 1 if stage in STAGES else 0


class Watch:
    """Runs stages one after another, and reports and times each."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.stage = ""
        self.seconds: dict[str, float] = {}

    def again(self) -> None:
        """Report the current stage again, after something else was reported."""
        self.progress(self.stage, 0, 1)

    def __call__(self, stage: str, work: Callable[[], T]) -> T:
        self.stage = stage
        self.progress(stage, 0, 1)
        start = time.perf_counter()
        result = work()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
        return result


SOON = 0.5  # seconds of work before a bar is shown
EVERY = 0.2  # seconds between two updates


@contextmanager
def progress_or_bar(progress: Progress | None) -> Iterator[Progress]:
    """Yield the given function, or else a bar in a notebook and silence elsewhere."""
    if progress is not None or not _is_notebook():
        yield progress or silent
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


def _is_notebook() -> bool:
    """Whether this code runs in a notebook, whose kernel has loaded IPython."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    return hasattr(shell, "kernel")


class _Bar:
    """One line below a notebook cell: the stage and how much of it is done."""

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
        """Remove the line."""
        if self._shown is not None:
            self._show("")

    def _show(self, line: str) -> None:
        from IPython.display import HTML, display

        if self._shown is None:
            self._shown = display(HTML(line), display_id=True)
        else:
            self._shown.update(HTML(line))
