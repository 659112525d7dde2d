"""What a release loses and risks against k, against its columns, one left out at a time, and against requirements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.advice.candidates import compared_requirements
from shoal.advice.changes import LEAVE_OUT, Change
from shoal.advice.trials import LEAST_K, Trials
from shoal.encoding.source import Source
from shoal.pipeline.plan import compiling_for
from shoal.progress import Progress, Watch, silent
from shoal.settings.settings import Settings

TRYING = "trying changes"
KS = (2, 3, 5, 10, 20, 50, 100, 200)
MOST_COLUMNS = 20  # that are left out one at a time, so that a wide table takes minutes, not hours


@dataclass(frozen=True)
class Explored:
    """A setting that was tried: k, which quasi-identifier is left out, and what the release loses and risks.

    `requirement` says what else the groups were made for, None if that is as in the settings. `highest_risk` is the
    chance of finding a person's record. `guessed` is how often a guess of the most frequent sensitive value of a
    person's group is right, on average over all records and for the sensitive column where it is right most often;
    None without a sensitive column.
    """

    k: int
    left_out: str | None
    loss: float
    highest_risk: float
    groups: int
    requirement: str | None = None
    guessed: float | None = None
    settings: Settings | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return this row as plain values, ready for JSON; without the settings as a whole."""
        return {name: value for name, value in vars(self).items() if name != "settings"}


def explore(source: Source, settings: Settings, progress: Progress = silent) -> list[Explored]:
    """Loss and risk of settings with another k, without a quasi-identifier or with another requirement."""
    trials = Trials.of(source, settings)
    with compiling_for(settings, trials.sampled, progress, Watch(progress).again):
        return explored(trials, settings, progress)


def explored(trials: Trials, settings: Settings, progress: Progress) -> list[Explored]:
    """The same on trials that exist already."""
    trials = replace(trials, has_sensitive=True)
    trials.plan(settings)  # raises what is wrong with the settings
    tried, found = list(_tried(trials, settings)), []
    for place, (own, left_out, requirement) in enumerate(tried):
        progress(TRYING, place, len(tried))
        if trials.share < 1 and trials.share * own.k < LEAST_K:
            continue  # too few records for this k
        losses = trials.measure(own)
        if losses is not None:
            smallest = max(own.k, round(losses.smallest / trials.share))
            found.append(
                Explored(
                    k=own.k,
                    left_out=left_out,
                    loss=losses.whole(settings.weights),
                    highest_risk=1 / smallest,
                    groups=losses.groups,
                    requirement=requirement,
                    guessed=losses.guessed,
                    settings=own,
                )
            )
    return found


def _tried(trials: Trials, settings: Settings) -> Iterator[tuple[Settings, str | None, str | None]]:
    """Settings to try, with the column that is left out and the requirement in words."""
    for k in sorted({*KS, settings.k}):
        yield replace(settings, k=k), None, None
    for name in _columns(trials, settings):
        yield Change(LEAVE_OUT, "", name).applied(settings), name, None
    for change in compared_requirements(settings):
        yield change.applied(settings), None, change.what


def _columns(trials: Trials, settings: Settings) -> list[str]:
    """The quasi-identifiers to leave out one at a time: of many, those that lose most."""
    names = list(settings.quasi_identifiers)
    if len(names) <= MOST_COLUMNS:
        return names if len(names) > 1 else []
    rough = trials.measure(settings, has_effort=False)
    lost = rough.columns if rough else {}
    chosen = sorted(names, key=lambda name: -lost.get(name, 0.0))[:MOST_COLUMNS]
    return [name for name in names if name in chosen]
