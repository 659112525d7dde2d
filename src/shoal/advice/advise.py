"""What to change if a release is too coarse: changes are tried, measured, and ranked by what they gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.advice.candidates import added_requirements, of_column, of_release
from shoal.advice.changes import LEAVE_OUT, MODEL, OTHER_K, WEIGHT, Change, with_all
from shoal.advice.explore import TRYING, Explored, explored
from shoal.advice.trials import Losses, Trials
from shoal.encoding.source import Source
from shoal.errors import Infeasible, InputError, counted
from shoal.pipeline.plan import compiling_for
from shoal.progress import Progress, Watch, silent
from shoal.report.formats import percent
from shoal.settings.settings import Settings

LOSSY = 0.25  # share of a column's detail above which changes are looked for
MOST_COLUMNS = 4  # that changes are looked for in, those first that lose most
MODELS = 2  # of a column, whose gain is measured
GAINED = 0.01  # of the whole release, or five times as much of the column: less is not worth a line
MOST_SHOWN = 9
LADDER = (1.2, 1.5, 2, 3, 5, 10, 20)  # times k that may be affordable


@dataclass(frozen=True)
class Suggestion:
    """A change of settings, with what a release loses before and after it, as shares of detail from 0 to 1.

    `column_loss` is that of the changed column, None if it is left out or the change is about the whole release;
    `release_loss` is that of all columns, or of all others if one is left out. `gain` compares with exact values, so
    that coarser bins do not count as a gain. `protects_less` says that the change lowers protection.
    """

    number: int
    kind: str
    column: str | None
    what: str
    protects_less: bool
    column_loss: tuple[float, float] | None
    release_loss: tuple[float, float]
    gain: float
    lines: tuple[str, ...]
    python: str
    settings: Settings = field(repr=False)
    change: Change = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return this suggestion as plain values, ready for JSON; without the settings as a whole."""
        return {
            "number": self.number,
            "kind": self.kind,
            "column": self.column,
            "what": self.what,
            "protects_less": self.protects_less,
            "column_loss": None if self.column_loss is None else list(self.column_loss),
            "release_loss": list(self.release_loss),
            "gain": self.gain,
            "lines": list(self.lines),
            "python": self.python,
        }


@dataclass(frozen=True)
class Advice:
    """What to change in settings, the best first; `print` shows it. It contains no value of the table.

    `loss` and `column_losses` are those of now, measured on `sampled` of the `records` as all others are. `together`
    are the numbers of the suggestions that fit together best, with the loss of the release after them.
    `affordable` are sentences about the protection that would cost no more than the loss of now, and
    `affordable_settings` are the settings of each.
    """

    records: int
    sampled: int
    loss: float
    column_losses: dict[str, float]
    suggestions: tuple[Suggestion, ...]
    together: tuple[int, ...]
    together_loss: float | None
    affordable: tuple[str, ...]
    affordable_settings: tuple[Settings, ...] = field(repr=False)
    settings: Settings = field(repr=False)
    trials: Trials = field(repr=False)

    def apply(self, *numbers: int) -> Settings:
        """The settings with the suggestions of these numbers, for `shoal.anonymize` or `Settings.save`."""
        known = {own.number: own.change for own in self.suggestions}
        unknown = [str(number) for number in numbers if number not in known]
        if unknown:
            there = f"Choose from 1 to {len(known)}" if known else "There are none"
            raise InputError(f"There is no suggestion {', '.join(unknown)}. {there}.")
        chosen = [known[number] for number in dict.fromkeys(numbers)]
        seen: set[tuple[str, str | None]] = set()
        for change in chosen:
            part = (LEAVE_OUT if change.kind == MODEL else change.kind, change.column)
            if part in seen:
                raise InputError(
                    "Two of these suggestions change the same setting. Choose one of them."
                )
            seen.add(part)
        gone = {change.column for change in chosen if change.kind == LEAVE_OUT}
        return with_all(
            self.settings, [own for own in chosen if own.kind != WEIGHT or own.column not in gone]
        )

    def explore(self, progress: Progress = silent) -> list[Explored]:
        """Loss and highest risk against k, and against the columns: one left out at a time."""
        return explored(self.trials, self.settings, progress)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain values, ready for JSON."""
        return {
            "records": self.records,
            "sampled": self.sampled,
            "loss": self.loss,
            "column_losses": dict(self.column_losses),
            "suggestions": [own.to_dict() for own in self.suggestions],
            "together": list(self.together),
            "together_loss": self.together_loss,
            "affordable": list(self.affordable),
        }

    def __str__(self) -> str:
        return "\n".join(advice_lines(self))


def advise(source: Source, settings: Settings, progress: Progress = silent) -> Advice:
    """Try changes of settings on a table, or on a sample of a large one, and rank those that gain detail.

    Raises
    ------
    InputError, Infeasible
        If there is no release by these settings.
    """
    trials = Trials.of(source, settings)
    plan = trials.plan(settings)
    watch = Watch(progress)
    with compiling_for(plan.settings, trials.sampled, progress, watch.again):
        return _Search(trials, settings, progress).advice(plan.problem.columns)


class _Search:
    """One search for advice; every setting is tried at most once."""

    def __init__(self, trials: Trials, settings: Settings, progress: Progress) -> None:
        self.trials, self.settings, self.progress = trials, settings, progress
        self.names = tuple(settings.quasi_identifiers)
        self.done, self.planned = 0, 40
        now, rough = self.measure([]), self.measure([], has_effort=False)
        if now is None or rough is None:
            raise Infeasible(
                "There is no release by these settings, so there is nothing to compare with."
            )
        self.now, self.rough = now, rough

    def measure(self, changes: Sequence[Change], has_effort: bool = True) -> Losses | None:
        self.progress(TRYING, min(self.done, self.planned - 1), self.planned)
        self.done += 1
        return self.trials.measure(with_all(self.settings, changes), has_effort)

    def exactly(self, losses: Losses) -> float:
        return losses.exactly(self.settings.weights, self.names)

    def score(self, change: Change, losses: Losses, before: Losses) -> float:
        """The gain of the whole release; with another model, that of the changed column counts twice."""
        gain = self.exactly(before) - self.exactly(losses)
        if change.column is None or change.kind != MODEL:
            return gain
        own = before.of(change.column) - losses.of(change.column)
        return gain + own / len(self.names)

    def advice(self, columns: Sequence[Any]) -> Advice:
        chosen = list(self.finalists(columns))
        self.planned = self.done + len(chosen) + 6
        measured = [(own, losses) for own in chosen if (losses := self.measure([own]))]
        worth = [(own, losses) for own, losses in measured if self.is_worth(own, losses)]
        worth.sort(key=lambda found: -self.score(found[0], found[1], self.now))
        shown = worth[:MOST_SHOWN]
        suggestions = tuple(
            self.suggestion(number, own, losses) for number, (own, losses) in enumerate(shown, 1)
        )
        together, loss = self.together([own for own, _ in shown])
        best = [shown[place - 1][0] for place in together] or [
            own for own, _ in shown[:1] if own.kind == MODEL
        ]
        affordable = list(self.affordable(best, shown))
        return Advice(
            records=self.trials.records,
            sampled=self.trials.sampled,
            loss=self.now.whole(self.settings.weights),
            column_losses=dict(self.now.columns),
            suggestions=suggestions,
            together=together,
            together_loss=loss,
            affordable=tuple(said for said, _ in affordable),
            affordable_settings=tuple(own for _, own in affordable),
            settings=self.settings,
            trials=self.trials,
        )

    def finalists(self, columns: Sequence[Any]) -> Iterator[Change]:
        """The changes whose gain is worth measuring, by trials without effort."""
        lossy = sorted(
            (own for own in columns if self.now.of(own.name) > LOSSY),
            key=lambda own: -self.now.of(own.name),
        )[:MOST_COLUMNS]
        candidates = [list(of_column(self.trials.source, self.settings, own)) for own in lossy]
        self.planned = 4 + 3 * sum(map(len, candidates)) // 2
        for found in candidates:
            for kind, most in ((MODEL, MODELS), (LEAVE_OUT, 1), (WEIGHT, 1)):
                scored = [
                    (self.score(own, losses, self.rough), own)
                    for own in found
                    if own.kind == kind and (losses := self.measure([own], has_effort=False))
                ]
                scored.sort(key=lambda item: -item[0])
                yield from (own for score, own in scored[:most] if score > 0 or kind == WEIGHT)
        yield from of_release(self.settings)

    def is_worth(self, change: Change, losses: Losses) -> bool:
        gain = self.exactly(self.now) - self.exactly(losses)
        own = 0.0
        if change.column is not None and change.kind != LEAVE_OUT:
            own = self.now.of(change.column) - losses.of(change.column)
        if change.kind == WEIGHT:  # the others pay for it
            return own >= 5 * GAINED and own / len(self.names) > -2 * gain
        return gain >= GAINED or (own >= 5 * GAINED and gain > -GAINED)

    def suggestion(self, number: int, change: Change, losses: Losses) -> Suggestion:
        weights, own = self.settings.weights, None
        names = tuple(losses.columns)
        if change.column is not None and change.kind != LEAVE_OUT:
            own = (self.now.columns[change.column], losses.columns[change.column])
        return Suggestion(
            number=number,
            kind=change.kind,
            column=change.column,
            what=change.what,
            protects_less=change.protects_less,
            column_loss=own,
            release_loss=(self.now.whole(weights, names), losses.whole(weights, names)),
            gain=self.exactly(self.now) - self.exactly(losses),
            lines=tuple(change.lines(self.settings)),
            python=change.in_python(self.settings),
            settings=change.applied(self.settings),
            change=change,
        )

    def together(self, shown: Sequence[Change]) -> tuple[tuple[int, ...], float | None]:
        """The best model of each column, all at once, if there are several."""
        best: dict[str | None, int] = {}
        for number, own in enumerate(shown, 1):
            if own.kind == MODEL:
                best.setdefault(own.column, number)
        numbers = tuple(sorted(best.values()))
        if len(numbers) < 2:
            return (), None
        losses = self.measure([shown[number - 1] for number in numbers])
        if losses is None or self.exactly(losses) >= self.exactly(self.now):
            return (), None
        return numbers, losses.whole(self.settings.weights)

    def affordable(
        self, best: Sequence[Change], shown: Sequence[tuple[Change, Losses]]
    ) -> Iterator[tuple[str, Settings]]:
        """The protection that costs no more than the loss of now, once the best changes are made, and its settings."""
        if not best:
            return
        limit, own = self.exactly(self.now), self.settings.k
        numbers = [number for number, (change, _) in enumerate(shown, 1) if change in best]
        said = _numbers(numbers)
        low, high = 0, len(LADDER)  # the first are affordable, those from `high` on are not
        while low < high:
            middle = (low + high) // 2
            losses = self.measure([*best, Change(OTHER_K, "", k=round(own * LADDER[middle]))])
            is_affordable = losses is not None and self.exactly(losses) <= limit
            low, high = (middle + 1, high) if is_affordable else (low, middle)
        if low:
            k = round(own * LADDER[low - 1])
            changed = with_all(self.settings, [*best, Change(OTHER_K, "", k=k)])
            yield f"With {said}, k = {k} would lose no more than now.", changed
        for added in added_requirements(self.settings):
            losses = self.measure([*best, added])
            if losses is not None and self.exactly(losses) <= limit:
                sentence = f"With {said}, {added.what} of all sensitive columns would lose no more than now."
                yield sentence, with_all(self.settings, [*best, added])
                return


def _numbers(numbers: Sequence[int]) -> str:
    return " and ".join(filter(None, [", ".join(map(str, numbers[:-1])), *map(str, numbers[-1:])]))


def advice_lines(advice: Advice) -> list[str]:
    """Advice as lines for a terminal or a notebook."""
    how = "all" if advice.sampled == advice.records else f"a sample of {advice.sampled:,} of"
    lines = [
        f"Detail lost now: {percent(advice.loss)} (measured on {how} {counted(advice.records, 'record')})"
    ]
    lines += [f"  {name}: {percent(loss)}" for name, loss in advice.column_losses.items()]
    if not advice.suggestions:
        return [*lines, "No change that was tried gains much."]
    for own in advice.suggestions:
        lines += ["", *suggestion_lines(own)]
    if advice.together:
        assert advice.together_loss is not None
        lines += [
            "",
            f"{_numbers(advice.together)} together: the release {_arrow((advice.loss, advice.together_loss))}",
        ]
    return [*lines, *(["", *advice.affordable] if advice.affordable else [])]


def suggestion_lines(own: Suggestion) -> list[str]:
    """A suggestion with its gain and what to write in the settings file."""
    name = f"{own.column}: " if own.column else ""
    less = " (protects less)" if own.protects_less else ""
    parts = [f"the column {_arrow(own.column_loss)}"] if own.column_loss else []
    whole = "the other columns" if own.kind == LEAVE_OUT else "the release"
    gains = ", ".join([*parts, f"{whole} {_arrow(own.release_loss)}"])
    return [
        f"{own.number}. {name}{own.what}{less}",
        f"   {gains}",
        *(f"     {line}" for line in own.lines),
    ]


def _arrow(losses: tuple[float, float]) -> str:
    return " → ".join(percent(loss) for loss in losses)
