"""Roles, generalization, requirement, objective, method and seed in one frozen object, checked as a whole."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import Model
from shoal.encoding.render import Style
from shoal.encoding.source import Input
from shoal.errors import InputError, Reason, raise_problems
from shoal.settings.content import content_of, fields_of, json_ready
from shoal.settings.input import read_input
from shoal.settings.kinds import with_options, wrong
from shoal.settings.normalizing import normalized
from shoal.settings.problems import Others, settings_problems
from shoal.settings.toml import read_toml, write_toml
from shoal.solve.local_search.budget import Refine
from shoal.solve.measures.catalogue import ObjectiveName
from shoal.solve.methods import Auto, Method


@dataclass(frozen=True)
class Settings:
    """Everything that decides a release beside the table.

    Parameters are those of `shoal.anonymize`. A model of None means the column's default: interval for
    numbers and dates, suppression for the rest.
    """

    quasi_identifiers: Mapping[str, Model | None] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    pseudonyms: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    others: Others = "refuse"
    allow: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # reasons by column
    identified_limit: float = 0.0
    coarsen: Mapping[str, Model] = field(default_factory=dict)  # kept and sensitive columns
    person: str | None = None
    key_file: str | None = None  # a path; the key itself is in no settings
    k: int = 0
    requirements: tuple[Requirement, ...] = ()
    suppression_limit: float = 0.0
    series: bool = False  # whether it is one of several releases over time
    objective: ObjectiveName = "lm"
    w: float = 0.5
    weights: Mapping[str, float] = field(default_factory=dict)
    method: Method = field(default_factory=Auto)
    refine: Refine | Literal["quick", False] | float = field(default_factory=Refine)
    seed: int = 0
    keep_order: bool = False
    loosen: float = 0.0
    render: Style = "text"
    title: str = ""
    input: Input = field(default_factory=Input)

    @property
    def removed(self) -> tuple[str, ...]:
        """Columns that must not be in a release: identifiers, and what tells persons apart unless it is replaced."""
        if self.person and self.person not in (*self.identifiers, *self.pseudonyms):
            return (*self.identifiers, self.person)
        return self.identifiers

    def allows(self, column: str, reason: Reason) -> bool:
        """Whether somebody allowed to release a column in spite of a reason that speaks against it."""
        return reason in self.allow.get(column, ())

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Columns whose values are released as they are: sensitive and kept ones, unless they are coarsened."""
        return tuple(name for name in (*self.sensitive, *self.keep) if name not in self.coarsen)

    def problems(self) -> list[str]:
        """Sentences for everything wrong with these settings, the table aside."""
        return settings_problems(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Settings:
        """Read settings from a TOML file; hierarchy paths are relative to it."""
        problems: list[str] = []
        settings = cls._read(path, problems)
        raise_problems(problems)
        return settings

    @classmethod
    def _read(cls, path: str | os.PathLike[str], problems: list[str]) -> Settings:
        return cls(**fields_of(read_toml(path), Path(path).parent, problems))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write these settings to a TOML file that `load` reads back, whole or not at all."""
        write_toml(content_of(self._normalized(), Path(path).parent), path)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Settings:
        """Settings from what `to_dict` gives: the content of a settings file; paths are relative to this folder."""
        problems: list[str] = []
        settings = cls(**fields_of(content, Path(), problems))
        raise_problems(problems)
        return settings

    def to_dict(self) -> dict[str, Any]:
        """The content of a settings file as dicts, lists, texts and numbers, ready for JSON.

        Hierarchies are spelled out in `rows`, dates are ISO texts, so that no other file is needed.

        Examples
        --------
        >>> import shoal
        >>> settings = shoal.Settings(quasi_identifiers={"age": shoal.Interval()}, k=3)
        >>> settings.to_dict()["requirement"]
        {'k': 3, 'suppression_limit': 0.0}
        >>> shoal.Settings.from_dict(settings.to_dict()) == settings
        True
        """
        return json_ready(content_of(self._normalized()))

    def _normalized(self) -> Settings:
        problems: list[str] = []
        settings = normalized(self, problems)
        raise_problems(problems)
        return settings


def make_settings(
    base: Settings | str | os.PathLike[str] | None,
    reading: Mapping[str, Any] | None = None,
    method_options: Mapping[str, Any] | None = None,
    **given: Any,
) -> Settings:
    """Settings from a file, an object or nothing, with whatever else was given put in its place.

    `reading` replaces single fields of `input`, `method_options` single options of the method.
    """
    problems: list[str] = []
    settings = base
    if base is None:
        settings = Settings()
    elif isinstance(base, str | os.PathLike):
        settings = Settings._read(base, problems)
    if not isinstance(settings, Settings):
        raise InputError(
            wrong("settings", "a Settings object or the path of a TOML file", settings)
        )
    changes = {key: value for key, value in given.items() if value is not None}
    settings = normalized(replace(settings, **changes), problems)
    if method_options:
        method = with_options(settings.method, method_options, problems)
        settings = replace(settings, method=method)
    if reading:
        settings = replace(
            settings, input=read_input({**vars(settings.input), **reading}, problems)
        )
    if "quasi_identifiers" in changes and "weights" not in changes:
        kept = {n: w for n, w in settings.weights.items() if n in settings.quasi_identifiers}
        settings = replace(settings, weights=kept)
    if {"sensitive", "keep"} & changes.keys() and "coarsen" not in changes:
        named = (*settings.sensitive, *settings.keep)
        is_kept = settings.others == "keep"  # whether columns are that nobody names
        left = {n: m for n, m in settings.coarsen.items() if is_kept or n in named}
        settings = replace(settings, coarsen=left)
    raise_problems(problems + settings.problems())
    return settings
