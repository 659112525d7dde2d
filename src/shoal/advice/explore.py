"""What a release loses and risks against k, and against its columns: one quasi-identifier left out at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shoal.advice.changes import LEAVE_OUT, Change
from shoal.advice.trials import LEAST_K, Trials
from shoal.encoding.source import Source
from shoal.pipeline.plan import compiling_for
from shoal.progress import Progress, Watch, silent
from shoal.settings.settings import Settings

TRYING = "trying changes"
KS = (2, 3, 5, 10, 20, 50, 100, 200)


@dataclass(frozen=True)
class Explored:
    """A setting that was tried: k, which quasi-identifier is left out, and what the release loses and risks."""

    k: int
    left_out: str | None
    loss: float
    highest_risk: float
    groups: int

    def to_dict(self) -> dict[str, Any]:
        """Return this row as plain values, ready for JSON."""
        return dict(vars(self))


def explore(source: Source, settings: Settings, progress: Progress = silent) -> list[Explored]:
    """Loss and highest risk of settings, with other k and with each quasi-identifier left out, as `Advice.explore`."""
    trials = Trials.of(source, settings)
    with compiling_for(settings, trials.sampled, progress, Watch(progress).again):
        return explored(trials, settings, progress)


def explored(trials: Trials, settings: Settings, progress: Progress) -> list[Explored]:
    """The same on trials that exist already."""
    names, found = list(settings.quasi_identifiers), []
    trials.plan(settings)  # raises what is wrong with the settings
    tried: list[tuple[Settings, str | None]] = [
        (replace(settings, k=k), None) for k in sorted({*KS, settings.k})
    ]
    if len(names) > 1:
        tried += [(Change(LEAVE_OUT, "", name).applied(settings), name) for name in names]
    for place, (own, left_out) in enumerate(tried):
        progress(TRYING, place, len(tried))
        if trials.share < 1 and trials.share * own.k < LEAST_K:
            continue  # too few records for this k
        losses = trials.measure(own)
        if losses is not None:
            smallest = max(own.k, round(losses.smallest / trials.share))
            loss = losses.whole(settings.weights)
            found.append(Explored(own.k, left_out, loss, 1 / smallest, losses.groups))
    return found
