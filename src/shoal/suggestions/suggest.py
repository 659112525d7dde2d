"""Roles, models and missing codes for a table, each with its reason: `shoal.suggest`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from shoal.data.databases.address import reading_of
from shoal.data.files.proposals import Proposal
from shoal.data.files.table_file import formula_columns
from shoal.data.open import open_table
from shoal.encoding.frames import Frame, arrow_column, category_order
from shoal.encoding.models import Interval, Model
from shoal.encoding.source import Input, Source
from shoal.errors import InputError, raise_problems, shown
from shoal.settings.declaration import read_input
from shoal.settings.settings import Settings
from shoal.suggestions import words
from shoal.suggestions.choice import RELEASED, Chooser, about_kept, about_persons, missing_texts
from shoal.suggestions.findings import DROP, IDENTIFIER, KEEP, QUASI, SENSITIVE, RoleGuess
from shoal.suggestions.meaning import with_batteries
from shoal.suggestions.messy_values import messy_values
from shoal.suggestions.models import ChosenModel, model_for
from shoal.suggestions.points import joined_points
from shoal.suggestions.profile import PLAIN, Profile, profile_of
from shoal.suggestions.reading import (
    LEAST,
    NumberedColumn,
    TableWriting,
    number_column,
    text_markers,
    writing_of,
)
from shoal.suggestions.role_rules import guess_role
from shoal.suggestions.singling_out import (
    Singled,
    greedy_columns,
    group_by,
    person_columns,
    ranking,
)

USUAL_K = 10


@dataclass(frozen=True)
class ColumnSuggestion:
    """What is suggested for one column, and why; it contains no value of the column.

    `role` is "identifier", "quasi-identifier", "sensitive", "keep" or "drop" (not released). `holds` says what the
    values are, `shapes` what most of them look like (9 for a digit, a and A for letters). `missing` are texts that
    mean "missing", `maybe_missing` those that may do so. `model` with its `options` generalizes a quasi-identifier; if
    a sensitive or kept column has one, it is coarsened by it in all records. `is_unknown` says that a column is left
    out because its meaning is unknown, and `battery` names the similar columns that were decided together with it.
    """

    name: str
    role: str
    reason: str
    is_sure: bool
    holds: str = ""
    values: int = 0
    shapes: tuple[str, ...] = ()
    model: str | None = None
    model_reason: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    maybe_missing: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    is_unknown: bool = False
    battery: str = ""


@dataclass(frozen=True)
class Suggestions:
    """Suggested roles of a table, with reasons; `print` shows them as a table.

    `singled` ranks quasi-identifiers, alone and in pairs and triples, by the share of records that they identify;
    `together` adds one after the other. `compared` is the number of records used for this. `remarks` are about the
    whole table.
    """

    columns: tuple[ColumnSuggestion, ...]
    records: int
    k: int
    reading: Input
    remarks: tuple[str, ...]
    singled: tuple[Singled, ...]
    together: tuple[Singled, ...]
    compared: int
    persons: tuple[str, ...] = ()  # identifiers that repeat
    person: str | None = None  # the one of them by which k counts
    models: Mapping[str, Model] = field(default_factory=dict, repr=False)
    detected: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # why fields of `reading` are as they are

    def of(self, role: str) -> tuple[str, ...]:
        """The columns with a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def unsure(self) -> tuple[str, ...]:
        """The columns whose role or model a person must check first."""
        return tuple(c.name for c in self.columns if not c.is_sure or c.doubts)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The columns that are left out because their meaning is unknown."""
        return tuple(column.name for column in self.columns if column.is_unknown)

    def settings(self) -> Settings:
        """These suggestions as settings for `shoal.anonymize`; read the reasons first."""
        protected = self.of(QUASI)
        return Settings(
            quasi_identifiers={n: model for n, model in self.models.items() if n in protected},
            sensitive=self.of(SENSITIVE),
            identifiers=self.of(IDENTIFIER),
            person=self.person,
            keep=self.of(KEEP),
            coarsen={n: model for n, model in self.models.items() if n not in protected},
            others="drop" if self.of(DROP) else "refuse",
            k=self.k,
            reading=self.reading,
        )

    def to_toml(self, title: str = "a table") -> str:
        """These suggestions as a settings file, with every reason as a comment."""
        from shoal.suggestions.toml import suggested_settings_text

        return suggested_settings_text(self, title)

    def __str__(self) -> str:
        from shoal.suggestions.toml import suggestions_text

        return suggestions_text(self)


def suggest(
    data: Any, /, *, k: int | None = None, reading: Input | Mapping[str, Any] | None = None
) -> Suggestions:
    """Suggest a role for every column of a table, a model for every quasi-identifier, and explain why.

    Values count, not only names: patterns of identifiers with their check digits, free text, dates, codes, several
    records per person, and how many records columns identify. Words are known in seven languages. Unclear columns are
    marked unsure. A column is left out if it may name a person or if its meaning is unknown; similar columns such as Q1
    to Q40 are decided together. A sensitive number that is nearly unique is coarsened. The result contains no value
    that fewer than ten records have, except marks of a missing one like "?". Suggestions are a start: no table says
    what an attacker knows.

    Parameters
    ----------
    data
        A pandas, polars or Arrow frame, the path of a CSV, Parquet, JSON Lines or Excel file, or the address of a
        database.
    k
        The least number of records that must look the same (default 10, less for a small table).
    reading
        How to read a file, like ``{"encoding": "cp1252"}``; what is not given is detected.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"name": [f"P{i}" for i in range(60)], "age": [20 + i % 30 for i in range(60)]})
    >>> for column in shoal.suggest(people).columns:
    ...     print(column.name, column.role, column.model)
    name identifier None
    age quasi-identifier interval
    """
    problems: list[str] = []
    given = read_input(reading or Input(), problems)
    given = replace(given, **reading_of(data))
    if k is not None and (not isinstance(k, int) or isinstance(k, bool) or k < 1):
        problems.append(
            f"The 'k' parameter must be a whole number of at least 1. Got {shown(k)} instead."
        )
    raise_problems(problems)
    source, given, detected = _opened(data, given)
    frame = source.data
    if not frame.shape[0]:
        raise InputError("The table has no records to learn from. Give at least one.")
    usable, broken = _columns(frame, given)
    clean, why = messy_values(usable, given)
    clean, joined = joined_points(usable, clean)
    why |= joined
    if why:
        source, given, more = _opened(data, clean)
        detected = detected | why | more
        usable, broken = _columns(source.data, given)
    return _suggested(source, given, k, usable, broken, detected)


def _opened(table: Any, given: Input) -> tuple[Source, Input, dict[str, str]]:
    """Open a table; whatever its file leaves unclear is decided as shoal proposes, and remarks by field report this."""
    detected: dict[str, str] = {}
    while True:
        try:
            source = open_table(table, given)
        except Proposal as proposal:
            if not set(proposal.changes) - _said(given):
                raise
            given = replace(given, **proposal.changes)
            for found in proposal.findings:
                detected |= dict.fromkeys(found.changes, found.remark)
            continue
        for remark, changes in source.notes:
            given = replace(given, **changes)
            detected |= dict.fromkeys(changes, remark)
        return source, given, detected


def _said(input: Input) -> set[str]:
    """The fields of an input that are given."""
    return {name for name, value in vars(input).items() if value != vars(Input())[name]}


def _columns(frame: Frame, given: Input) -> tuple[dict[str, NumberedColumn], dict[str, str]]:
    """The columns that can be read, and a sentence for each of the others."""

    def read(name: str) -> NumberedColumn | str:
        try:
            found = number_column(name, arrow_column(frame, name))
            return found.as_text() if given.is_text(name) else found
        except InputError as error:
            return error.problems[0]

    with ThreadPoolExecutor() as threads:
        found = dict(zip(frame.columns, threads.map(read, frame.columns), strict=True))
    usable = {name: column for name, column in found.items() if isinstance(column, NumberedColumn)}
    return usable, {name: why for name, why in found.items() if isinstance(why, str)}


def _suggested(
    source: Source,
    given: Input,
    k: int | None,
    usable: Mapping[str, NumberedColumn],
    broken: Mapping[str, str],
    detected: Mapping[str, str],
) -> Suggestions:
    frame = source.data
    writing, looked = _looked_at(source, given, usable)
    input = writing.input
    profiles = {name: profile for name, (profile, _) in looked.items()}
    single = {name: verdict for name, (_, verdict) in looked.items()}
    chooser = Chooser(profiles, with_batteries(profiles, single), input)
    verdicts = chooser.choose()
    models = {
        name: model_for(profiles[name], category_order(frame, name) is not None)
        for name in chooser.quasi_identifiers
    }
    models |= {
        name: _coarse(verdict.coarsen, input.encoding)
        for name, verdict in verdicts.items()
        if verdict.coarsen
    }
    missing, about_missing = missing_texts(profiles, verdicts, given)
    input = replace(input, missing=missing)
    persons = person_columns(profiles, verdicts)
    named = [name for name in persons[:1] if profiles[name].known == profiles[name].records]
    counted = profiles[named[0]].distinct if named else frame.shape[0]
    usual_k = USUAL_K if counted >= 3 * USUAL_K else max(2, counted // 3)
    columns = tuple(
        ColumnSuggestion(name, DROP, broken[name], is_sure=False)
        if name in broken
        else _column(profiles[name], verdicts[name], models.get(name))
        for name in frame.columns
    )
    return Suggestions(
        columns=columns,
        records=frame.shape[0],
        k=k or usual_k,
        reading=input,
        remarks=(
            *dict.fromkeys(detected.values()),
            *writing.remarks,
            *about_missing,
            *about_persons(profiles, persons),
            *about_kept(chooser, verdicts),
        ),
        singled=ranking(chooser.codes, chooser.quasi_identifiers, chooser.compared),
        together=_together(chooser),
        compared=chooser.compared,
        persons=tuple(persons),
        person=named[0] if named else None,
        models={name: chosen.make() for name, chosen in models.items()},
        detected=detected,
    )


def _looked_at(
    source: Source, given: Input, usable: Mapping[str, NumberedColumn]
) -> tuple[TableWriting, dict[str, tuple[Profile, RoleGuess | None]]]:
    """How the table is written, and each usable column's profile with what it suggests on its own."""
    names = words.names_in_words(source.data.columns)
    usable = {name: found.without(given.missing_in(name)) for name, found in usable.items()}
    with ThreadPoolExecutor() as threads:
        markers = dict(zip(usable, threads.map(text_markers, usable.values()), strict=True))
        plain = {name: found.without(markers[name]) for name, found in usable.items()}
        told = [found for name, found in plain.items() if not given.is_text(name)]
        writing = writing_of(told, given)

        def look(name: str) -> tuple[Profile, RoleGuess | None]:
            profile = profile_of(
                usable[name],
                names[name],
                markers[name],
                writing.input,
                writing.doubts.get(name),
                source.dialect is not None,
            )
            return profile, _formulas(usable[name]) or guess_role(profile)

        return writing, dict(zip(usable, threads.map(look, usable), strict=True))


def _formulas(column: NumberedColumn) -> RoleGuess | None:
    """A column that no CSV file may contain."""
    if column.is_text and formula_columns(pa.table({"column": column.values})):
        reason = "it contains texts that a spreadsheet would run as a formula"
        return RoleGuess(DROP, reason, is_sure=False)
    return None


def _column(profile: Profile, verdict: RoleGuess, model: ChosenModel | None) -> ColumnSuggestion:
    return ColumnSuggestion(
        name=profile.name,
        role=verdict.role,
        reason=verdict.reason,
        is_sure=verdict.is_sure,
        holds=PLAIN[profile.kind] if profile.known else "nothing",
        values=profile.distinct,
        shapes=profile.shapes(LEAST),
        model=model.name if model else None,
        model_reason=model.why if model else "",
        options=model.options if model else {},
        missing=profile.missing,
        maybe_missing=profile.maybe_missing,
        doubts=profile.doubts if verdict.role in RELEASED else (),
        is_unknown=verdict.is_unknown,
        battery=verdict.battery,
    )


def _coarse(options: Mapping[str, Any], encoding: str | None) -> ChosenModel:
    """The bins of a sensitive number, without an open end if the file cannot contain its character."""
    kept = dict(options)
    try:
        "≥".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        kept.pop("high", None)
    return ChosenModel(Interval.name, kept, "wide enough for values to repeat")


def _together(chooser: Chooser) -> tuple[Singled, ...]:
    """Quasi-identifiers added one by one, those first that identify most; counted on all records."""
    _, order = greedy_columns(
        group_by(chooser.codes, [], chooser.compared),
        chooser.codes,
        chooser.quasi_identifiers,
        len(chooser.profiles),
    )
    found, steps = group_by({}, [], chooser.records), []
    for name in order:
        found = found.with_column(name, chooser.profiles[name].found.codes)
        steps.append(found.singled())
    return tuple(steps)
