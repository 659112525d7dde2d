"""A change of settings: what it does in words, the settings after it, and the lines to write in a file or in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import Hierarchy, Model, Order
from shoal.encoding.source import ALL_COLUMNS, Input
from shoal.errors import counted
from shoal.settings.settings import Settings
from shoal.settings.toml import write_model, write_requirement
from shoal.suggestions.toml import toml_name, toml_value

MODEL, LEAVE_OUT, WEIGHT = "model", "leave out", "weight"  # kinds of changes of one column
SUPPRESSION, OTHER_K, REQUIREMENT = (
    "suppression limit",
    "k",
    "requirement",
)  # of the whole release


@dataclass(frozen=True)
class Change:
    """One change of settings. `protects_less` says that a release made with it protects people less."""

    kind: str
    what: str  # a short sentence without a full stop
    column: str | None = None
    protects_less: bool = False
    model: Model | None = None
    date_format: str | None = None  # of the column's dates, which are read as text so far
    missing: tuple[str, ...] = ()  # texts among them that mean "missing"
    weight: float | None = None
    suppression_limit: float | None = None
    k: int | None = None
    requirements: tuple[Requirement, ...] | None = None

    def applied(self, settings: Settings) -> Settings:
        """The settings with this change."""
        name = self.column
        if self.kind == MODEL:
            assert name is not None
            models = {**settings.quasi_identifiers, name: self.model}
            return replace(settings, quasi_identifiers=models, reading=self._read(settings.reading))
        if self.kind == LEAVE_OUT:
            assert name is not None
            models = {n: m for n, m in settings.quasi_identifiers.items() if n != name}
            weights = {n: w for n, w in settings.weights.items() if n != name}
            named = () if settings.others == "drop" else (name,)
            gone = (*settings.identifiers, *named)
            return replace(settings, quasi_identifiers=models, weights=weights, identifiers=gone)
        if self.kind == WEIGHT:
            assert name is not None
            assert self.weight is not None
            return replace(settings, weights={**settings.weights, name: self.weight})
        if self.kind == SUPPRESSION:
            assert self.suppression_limit is not None
            return replace(settings, suppression_limit=self.suppression_limit)
        if self.kind == OTHER_K:
            assert self.k is not None
            return replace(settings, k=self.k)
        assert self.requirements is not None
        return replace(settings, requirements=self.requirements)

    def _read(self, reading: Input) -> Input:
        """How the table is read after the change."""
        assert self.column is not None
        if self.date_format:
            types = {name: kind for name, kind in reading.types.items() if name != self.column}
            reading = replace(reading, types=types).with_formats({self.column: self.date_format})
        if self.missing:
            said = reading.missing
            by_column = dict(said) if isinstance(said, Mapping) else {ALL_COLUMNS: said}
            by_column[self.column] = (*by_column.get(self.column, ()), *self.missing)
            reading = replace(reading, missing={n: own for n, own in by_column.items() if own})
        return reading

    def lines(self, settings: Settings) -> list[str]:
        """The lines of the settings file after the change; without values of the table."""
        if self.kind == MODEL:
            return self._model_lines(settings)
        if self.kind == LEAVE_OUT:
            assert self.column is not None
            section = f"# remove [quasi_identifiers.{toml_name(self.column)}] and its lines"
            if settings.others == "drop":
                return [section]
            return [section, "[columns]", f"# add to identifiers: {toml_name(self.column)}"]
        if self.kind == WEIGHT:
            assert self.column is not None
            return [f"[quasi_identifiers.{toml_name(self.column)}]", f"weight = {self.weight:g}"]
        if self.kind == SUPPRESSION:
            return ["[requirement]", f"suppression_limit = {self.suppression_limit:g}"]
        if self.kind == OTHER_K:
            return ["[requirement]", f"k = {self.k}"]
        return _requirement_lines(self.requirements or ())

    def _model_lines(self, settings: Settings) -> list[str]:
        assert self.column is not None
        entry = _without_values(self.model)
        lines = [f"[quasi_identifiers.{toml_name(self.column)}]", *_pairs(entry)]
        if self.column in settings.weights:
            lines.append(f"weight = {settings.weights[self.column]:g}")
        if isinstance(self.model, Hierarchy):
            lines.append("# and the rows of the hierarchy, written when you apply this")
        elif isinstance(self.model, Order) and self.model.values != "names":
            lines.append(
                "# and the values from the lowest to the highest, written when you apply this"
            )
        reading = self._read(settings.reading)
        changed = {
            key: getattr(reading, key)
            for key, is_changed in (("date_format", self.date_format), ("missing", self.missing))
            if is_changed
        }
        return [*lines, *(["[input]", *_pairs(changed)] if changed else [])]

    def in_python(self, settings: Settings) -> str:
        """The keyword of `shoal.anonymize` after the change; without values of the table."""
        name = self.column
        if self.kind == MODEL:
            model = self.model
            text = f"shoal.{model!r}"
            if isinstance(model, Hierarchy):
                text = f"shoal.Hierarchy.from_data(table, {name!r}, by={list(_others(settings, name))!r})"
            elif isinstance(model, Order) and model.values != "names":
                text = "shoal.Order([…])"
            extra = ""
            if self.date_format:
                extra = f", reading={{'date_format': {{{name!r}: {self.date_format!r}}}}}"
            return f"quasi_identifiers={{**settings.quasi_identifiers, {name!r}: {text}}}{extra}"
        if self.kind == LEAVE_OUT:
            left = [own for own in settings.quasi_identifiers if own != name]
            return f"quasi_identifiers={{n: m for n, m in settings.quasi_identifiers.items() if n in {left!r}}}"
        if self.kind == WEIGHT:
            return f"weights={{**settings.weights, {name!r}: {self.weight:g}}}"
        if self.kind == SUPPRESSION:
            return f"suppression_limit={self.suppression_limit:g}"
        if self.kind == OTHER_K:
            return f"k={self.k}"
        return f"requirements=[{', '.join(map(_requirement_call, self.requirements or ()))}]"


def with_all(settings: Settings, changes: Sequence[Change]) -> Settings:
    """The settings with several changes."""
    for change in changes:
        settings = change.applied(settings)
    return settings


def _others(settings: Settings, column: str | None) -> list[str]:
    """The quasi-identifiers by which the categories of one are compared."""
    return [name for name in settings.quasi_identifiers if name != column]


def _pairs(entry: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {toml_value(value)}" for key, value in entry.items()]


def _without_values(model: Model | None) -> dict[str, Any]:
    """What a settings file says about a model, without categories of the table."""
    entry = write_model(model, None)
    return {key: value for key, value in entry.items() if key not in ("rows", "values")} | (
        {"values": "names"} if isinstance(model, Order) and model.values == "names" else {}
    )


def _requirement_entry(required: Requirement) -> dict[str, Any]:
    """What a settings file says about a requirement, without values of the table."""
    entry = write_requirement(required, None)
    return {key: value for key, value in entry.items() if key not in ("rows", "values")}


def _requirement_lines(required: Sequence[Requirement]) -> list[str]:
    """All requirements as entries of a settings file; a comment says where values of the table are missing."""
    lines = []
    for own in required:
        entry = _requirement_entry(own)
        lines += [f"[[requirement.{own.name}]]", *_pairs(entry)]
        if len(entry) < len(write_requirement(own, None)):
            lines.append("# and its values or hierarchy, as before")
    return lines


def _requirement_call(required: Requirement) -> str:
    """A requirement in Python; `…` for values of the table."""
    entry = _requirement_entry(required)
    given = [f"{key}={value!r}" for key, value in entry.items()]
    given += ["…"] if len(entry) < len(write_requirement(required, None)) else []
    return f"shoal.{type(required).__name__}({', '.join(given)})"


def described(model: Model) -> str:
    """What a model releases, in a few words."""
    given = vars(model)
    step, finest = given.get("step"), given.get("finest")
    match model.name:
        case "interval" if isinstance(step, str):
            return f"ranges of {step}s"
        case "interval" if step is not None:
            return f"ranges in steps of {step:g}"
        case "interval":
            return "ranges from value to value"
        case "calendar":
            return f"calendar periods from {finest or 'day'}s on"
        case "prefix" if given.get("separator"):
            return f"parts of codes separated by {given['separator']!r}"
        case "prefix" if finest is not None:
            return f"at most the first {counted(finest, 'character')}"
        case "prefix":
            return "the first characters"
        case "subset":
            return "sets of values instead of *"
        case "order":
            return "ranges of ordered categories"
        case _:
            return "a hierarchy made from the data"
