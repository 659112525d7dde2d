"""How long work reports itself: one function that is told the stage, what is done and what there is to do."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then during long work; raise `shoal.Cancelled` in it to stop."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""
