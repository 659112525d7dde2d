"""Every setting of a release, each declared once, and all of them in one frozen object that is checked as a whole."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_args

from shoal.encoding.source import Input
from shoal.errors import InputError, Reason, raise_problems
from shoal.settings.declaration import (
    FLAG,
    SHARE,
    TEXT,
    Check,
    Question,
    declared,
    is_number,
    is_whole,
    one_of,
    read_input,
    setting,
    wrong,
)
from shoal.solve.local_search.budget import Refine

if TYPE_CHECKING:
    from shoal.audits.requirements.base import Requirement
    from shoal.encoding.models import Model
    from shoal.encoding.render import Style
    from shoal.solve.measures.catalogue import ObjectiveName
    from shoal.solve.methods import Method, MethodName

Others = Literal["refuse", "drop", "keep"]  # what becomes of columns without a role
MeasureT = TypeVar("MeasureT", bound=str)
Refining = Refine | Literal["quick", False] | float
MOST_IDENTIFIED = 0.05  # beyond that "protected" would mean little


@dataclass(frozen=True)
class WMI:
    """The objective "wmi", w·mi + (1 − w)·pmi, with the share of `mi` in it.

    Parameters
    ----------
    w
        The share of `mi`, from 0 to 1.

    Examples
    --------
    >>> import shoal
    >>> shoal.WMI(0.3)
    WMI(w=0.3)
    """

    w: float = 0.5


def name_of(measure: MeasureT | WMI) -> MeasureT | Literal["wmi"]:
    return "wmi" if isinstance(measure, WMI) else measure


def _is_style(value: Any) -> bool:
    from shoal.encoding.render import STYLES

    return value in STYLES


def _auto() -> Method:
    from shoal.solve.methods import Auto

    return Auto()


def _columns(**more: Any) -> Any:
    """A setting that lists the columns of a role."""
    return setting((), "columns", kind="names", metavar="COLUMN", **more)


@dataclass(frozen=True)
class Settings:
    """Everything that decides a release beside the table.

    Parameters are those of `shoal.anonymize`. A model of None means the column's default: interval for
    numbers and dates, suppression for the rest.
    """

    quasi_identifiers: Mapping[str, Model | None] = setting(
        dict,
        "quasi_identifiers",
        kind="models",
        help="Column to generalize; MODEL is suppression, interval, calendar, prefix, subset, order[:FILE] or "
        "hierarchy:FILE, with options like interval:step=5:high=90; repeatable.",
        flags=("-q", "--quasi-identifier"),
        metavar="COLUMN[:MODEL[:FILE][:KEY=VALUE]]",
        doc="""The columns an attacker may know, with a generalization model each; or a list, in which case
        numbers and dates get intervals and the rest suppression. A column left out is NOT protected.""",
    )
    identifiers: tuple[str, ...] = _columns(
        init="removed",
        help="Column to remove; repeatable.",
        flags=("-i", "--identifier"),
        doc="Columns removed.",
    )
    pseudonyms: tuple[str, ...] = _columns(
        help="Identifier to replace by a keyed hash; repeatable.",
        flags=("--pseudonym",),
        doc="""Identifiers replaced by keyed hashes, see the page on [pseudonyms](how-to/pseudonyms.md): equal values
        get equal pseudonyms in every table and release made with the same key. One that stands in several records is
        refused unless allowed: it links them.""",
    )
    key_file: str | None = setting(
        None,
        "columns",
        kind="path",
        help="File with the key of the pseudonyms, see `shoal key`; else SHOAL_KEY.",
        takes=Path,
        doc="""The path of the file with the key of the pseudonyms, see `shoal key`; by default the key is the
        environment variable SHOAL_KEY. In a settings file it is relative to that file, and never the key itself.""",
    )
    person: str | None = setting(
        None,
        "columns",
        kind="column",
        help="Column that tells persons apart; k then counts persons, not records.",
        metavar="COLUMN",
        ask=Question("Count persons in place of records, told apart by", pages=("requirement",)),
        doc="""The column that tells [persons](how-to/several-records-per-person.md) apart, where they have several
        records: k and the requirements then count persons in place of records. It is removed, or replaced if it is
        among the pseudonyms.""",
    )
    sensitive: tuple[str, ...] = _columns(
        init="released; taken as unknown to outsiders, and requirements are about them",
        help="Column to release unchanged; repeatable.",
        flags=("-s", "--sensitive"),
        doc="Columns released unchanged, unless they are coarsened, which requirements are about.",
    )
    keep: tuple[str, ...] = _columns(
        init="released unchanged, and nothing protects them",
        help="Column to release as it is; repeatable.",
        flags=("-x", "--keep"),
        doc="""Columns released as they are, unless they are coarsened, which nothing protects. Those that reveal a
        quasi-identifier, contain free text or identify people together with the released quasi-identifiers are
        refused unless allowed.""",
    )
    others: Others = setting(
        "refuse",
        "columns",
        check=one_of(*get_args(Others)),
        always=True,
        help="Columns that are not named: refuse (default), drop or keep.",
        metavar="WHAT",
        doc='What becomes of columns that are not named: "refuse" (default) the table, "drop" or "keep" them.',
    )
    allow: Mapping[str, tuple[str, ...]] = setting(  # reasons by column
        dict,
        "columns",
        kind="reasons",
        help="Release a column in spite of a reason that was given against it, as in salary:unique; repeatable.",
        metavar="COLUMN:REASON",
        doc="""What may be released in spite of a reason against it: reasons by column, like `{"salary": "unique"}`.
        A [refusal](verdict.md#what-is-refused) names the reason. "unique": it identifies people, alone or with other
        columns (the same as a list of names); "reveals": it reveals a quasi-identifier; "identifier": it contains
        names, addresses or numbers of people; "text": it contains free text; "person": a group may belong to a single
        one of its values; "links": its pseudonyms link records; "formula": a spreadsheet would run its texts. The
        verdict says what was allowed.""",
    )
    identified_limit: float = setting(
        0.0,
        "columns",
        check=Check(
            f"a share from 0 to {MOST_IDENTIFIED}, so {MOST_IDENTIFIED:.0%} of all records at most",
            lambda value: is_number(value) and 0 <= value <= MOST_IDENTIFIED,
        ),
        help="Share of people that kept columns may identify without being allowed (default 0, at most 0.05).",
        metavar="SHARE",
        doc="""The share of people that kept columns may identify, together with the released quasi-identifiers,
        without being allowed to (default 0, at most 0.05).""",
    )
    coarsen: Mapping[str, Model] = setting(  # kept and sensitive columns
        dict,
        "columns",
        kind="coarsening",
        help="Kept or sensitive column to make coarser in all records, like salary:interval:step=1000, "
        "admitted:calendar:finest=month or zip:prefix:finest=3; repeatable.",
        metavar="COLUMN:MODEL[:FILE]:KEY=VALUE",
        doc="""Models that make kept and sensitive columns coarser in all records alike, before anything else is done:
        bins, a highest value, months or prefixes. Requirements, checks and measures see the coarsened values only.""",
        in_python='For example, `{"salary": shoal.Interval(step=1000, high=200_000)}`.',
    )
    k: int = setting(
        0,
        "requirement",
        check=Check("a whole number of at least 1", lambda value: is_whole(value, 1)),
        init="at least this many records read the same; larger is safer and costs more",
        help="Least number of records that read the same.",
        flags=("-k",),
        ask=Question("k", "records that read the same", pages=("requirement", "run")),
        doc="""The least number of records that must read the same, or of persons who have such records. Larger is
        safer and costs more.""",
    )
    suppression_limit: float = setting(
        0.0,
        "requirement",
        check=SHARE,
        always=True,
        help="Largest share of records that may be left out.",
        metavar="SHARE",
        ask=Question(
            "Leave out at most this share of records, in percent",
            "Records unlike all others cost the rest much.",
            pages=("requirement",),
        ),
        doc="""The largest share of records that may be left out of the release where they cost the others more
        than themselves, by the values of the whole table (default 0). They count as fully suppressed in every
        measure, and measures know of the values of released records only.""",
    )
    series: bool = setting(
        False,
        "requirement",
        check=FLAG,
        is_keyword=False,
        doc="""Whether it is one of several releases of people who stay, see [run it nightly](how-to/run-it-nightly.md);
        such settings do not run without `previous` (`--previous` or `--save-history`).""",
    )
    requirements: tuple[Requirement, ...] = setting(
        (),
        "requirement",
        kind="requirements",
        help="Requirement beyond k, repeatable, see `shoal requirements`; e.g. diversity:l=3:kind=entropy.",
        flags=("--require",),
        metavar="NAME:KEY=VALUE",
        doc="""What the sensitive values of every group must look like beside, like `[shoal.LDiversity(2)]`; see
        `shoal.list_requirements()`. Without any, all records of a group may share a sensitive value.""",
    )
    objective: ObjectiveName = setting(
        "lm",
        "objective",
        key="measure",
        init="what to minimize, see `shoal measures`",
        kind="objective",
        help="Measure to minimize, see `shoal measures`; wmi:0.3 gives the share of mi in it.",
        metavar="NAME",
        ask=Question("What shall be lost least", usual="lm", is_wide=True),
        doc='The [measure](measures.md) to minimize (default "lm").',
        in_python='See `shoal.list_measures()`; `shoal.WMI(0.3)` is "wmi" with another share of `mi` than one half.',
    )
    w: float = setting(
        WMI.w,
        "objective",
        check=Check("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1),
        always=True,
        is_keyword=False,
        doc="The share of `mi` in measure `wmi`.",
    )
    weights: Mapping[str, float] = setting(
        dict,
        "quasi_identifiers",
        key="weight",
        kind="weights",
        help="How much a column matters.",
        flags=("--weight",),
        metavar="COLUMN=NUMBER",
        doc="How much each quasi-identifier matters (default 1).",
    )
    method: Method = setting(
        _auto,
        "method",
        key="name",
        kind="method",
        init="see `shoal methods`",
        help="See `shoal methods`.",
        ask=Question("Method", "how groups are made", usual="auto", is_wide=True),
        doc='The name of a [method](methods.md) (default "auto").',
        in_python="Or a method with options, like `shoal.Mondrian(strict=False)`.",
    )
    refine: Refining = setting(
        Refine,
        "method",
        kind="refine",
        init="false for the method's own groups, 60.0 to improve them for a minute",
        help="How long to improve the groups: quick, off, a number of seconds, or steps=NUMBER.",
        metavar="HOW_LONG",
        ask=Question("Time to improve", usual="quick"),
        doc="""How long to improve the groups by local search: "quick" (default) for a few seconds, false for not at
        all, a number of seconds, or a number of steps: `{ steps = 50 }`, in Python `shoal.Refine(steps=50)`. With
        seconds, two runs may differ. Methods other than local recoding are left as they are, and so are `enhanced_pk`
        and the optimum of a handful of records.""",
    )
    seed: int = setting(
        0,
        "method",
        check=Check(
            "a whole number from 0 to 2^64 - 1",
            lambda value: is_whole(value, 0) and value < 2**64,
        ),
        init="",
        help="Makes chance repeatable.",
        doc="""Makes the groups repeatable (default 0). The order of records is random all the same, and so is what
        `loosen` and `non_homogeneous` draw. In a series, who is left out also depends on a secret in its history.""",
    )
    keep_order: bool = setting(
        False,
        "output",
        check=FLAG,
        init="true keeps the order of records, which can identify them",
        help="Keep the order of records (can identify).",
        flags=("--keep-order/--shuffle",),
        ask=Question(
            "Keep the order of records",
            "(it can identify people; by default they are shuffled)",
            is_wide=True,
        ),
        doc="""Keep the order of records, which can itself identify them. By default they are shuffled. The index of a
        pandas frame is not released either way: it may hold names.""",
    )
    loosen: float = setting(
        0.0,
        "output",
        check=SHARE,
        help="Share of general values that shall be more general than their group needs.",
        metavar="SHARE",
        doc="""About what share of the more general values of a release shall be more general than their group needs,
        from 0 (default) to below 1, so that nobody can rely on their being tight; see
        [downcoding](threat-model.md#downcoding) in the threat model. They are drawn by fresh chance in every run:
        publish one of these releases only.""",
    )
    render: Style = setting(
        "text",
        "output",
        check=Check("'text', 'bounds', 'midpoint' or 'mean'", _is_style),
        init='"bounds": two columns per interval; "midpoint": one number',
        help="text; bounds: two columns per interval or order; midpoint or mean: one number per interval.",
        metavar="HOW",
        doc=""""text" (default); "bounds": two columns per interval or order; or a
        [single number](how-to/compute-with-a-release.md) per interval: "midpoint", the middle of its bounds (also of
        dates), or "mean", the rounded mean of the group's own numbers, which tells a little more; see "Means" in the
        threat model.""",
    )
    title: str = setting(
        "",
        "output",
        check=TEXT,
        help="What the release is about, for the report.",
        ask=Question("Title of the report", is_wide=True),
        doc="What the release is about, for its report.",
    )
    reading: Input = setting(
        Input,
        "input",
        kind="input",
        doc="""How to read the table's file, like `{"encoding": "cp1252", "missing": ["?"]}`; see `shoal.Input`.""",
    )

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
        from shoal.settings.problems import settings_problems

        return settings_problems(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Settings:
        """Read settings from a TOML file; hierarchy paths are relative to it."""
        from shoal.settings.toml import read_toml

        return cls._of(read_toml(path), Path(path).parent)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write these settings to a TOML file that `load` reads back, whole or not at all."""
        from shoal.settings.toml import content_of, write_toml

        write_toml(content_of(self._normalized(), Path(path).parent), path)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Settings:
        """Settings from what `to_dict` gives: the content of a settings file; paths are relative to this folder."""
        return cls._of(content, Path())

    @classmethod
    def _of(cls, content: Mapping[str, Any], folder: Path) -> Settings:
        from shoal.settings.toml import fields_of

        problems: list[str] = []
        settings = cls(**fields_of(content, folder, problems))
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
        from shoal.settings.toml import content_of, json_ready

        return json_ready(content_of(self._normalized()))

    def _normalized(self) -> Settings:
        from shoal.settings.kinds import normalized

        problems: list[str] = []
        settings = normalized(self, problems)
        raise_problems(problems)
        return settings


SETTINGS = declared(Settings)


class SettingsOptions(TypedDict, total=False):
    """Settings as keywords of `shoal.anonymize`, for editors and type checkers; None says nothing."""

    quasi_identifiers: Mapping[str, Model | None] | Sequence[str] | None
    identifiers: Sequence[str] | None
    pseudonyms: Sequence[str] | None
    key_file: str | os.PathLike[str] | None
    person: str | None
    sensitive: Sequence[str] | None
    keep: Sequence[str] | None
    others: Others | None
    allow: Mapping[str, str | Sequence[str]] | Sequence[str] | None
    identified_limit: float | None
    coarsen: Mapping[str, Model] | None
    k: int | None
    suppression_limit: float | None
    requirements: Sequence[Requirement] | None
    objective: ObjectiveName | WMI | None
    weights: Mapping[str, float] | None
    method: MethodName | Method | type[Method] | None
    refine: Refining | None
    seed: int | None
    keep_order: bool | None
    loosen: float | None
    render: Style | None
    title: str | None
    reading: Input | Mapping[str, Any] | None


def make_settings(
    base: Settings | str | os.PathLike[str] | None,
    reading_options: Mapping[str, Any] | None = None,
    method_options: Mapping[str, Any] | None = None,
    **given: Any,
) -> Settings:
    """Settings from a file, an object or nothing, with whatever else was given put in its place.

    `reading_options` replaces single fields of `reading`, `method_options` single options of the method.
    """
    from shoal.settings.kinds import normalized, with_options

    problems: list[str] = []
    settings = base
    if base is None:
        settings = Settings()
    elif isinstance(base, str | os.PathLike):
        from shoal.settings.toml import fields_of, read_toml

        settings = Settings(**fields_of(read_toml(base), Path(base).parent, problems))
    if not isinstance(settings, Settings):
        raise InputError(
            wrong("settings", "a Settings object or the path of a TOML file", settings)
        )
    changes = {key: value for key, value in given.items() if value is not None}
    settings = normalized(replace(settings, **changes), problems)
    if method_options:
        method = with_options(settings.method, method_options, problems)
        settings = replace(settings, method=method)
    if reading_options:
        said = {**vars(settings.reading), **reading_options}
        settings = replace(settings, reading=read_input(said, problems))
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
