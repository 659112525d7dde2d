"""Every setting of a release, each declared once, in one frozen object that is checked as a whole."""

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

Others = Literal["refuse", "drop", "keep"]  # what to do with columns without a role
MeasureT = TypeVar("MeasureT", bound=str)
Refining = Refine | Literal["quick", False] | float
MOST_IDENTIFIED = 0.05  # with a higher limit, "protected" would mean little


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
    """Everything that decides a release besides the table.

    Parameters are those of `shoal.anonymize`. A model of None means the column's default: interval for
    numbers and dates, suppression for all other columns.
    """

    quasi_identifiers: Mapping[str, Model | None] = setting(
        dict,
        "quasi_identifiers",
        kind="models",
        help="Quasi-identifier: a column that others may know, to generalize. MODEL is suppression, interval, "
        "calendar, prefix, subset, order[:FILE], ready:NAME or hierarchy:FILE, with options, as in "
        "age:interval:step=5:high=90; repeatable.",
        flags=("-q", "--quasi-identifier"),
        metavar="COLUMN[:MODEL[:FILE][:KEY=VALUE]]",
        doc="The columns that an attacker may know, each with a generalization model; or a list, in which case "
        "numbers and dates get intervals and all others suppression. A column left out is NOT protected.",
    )
    identifiers: tuple[str, ...] = _columns(
        init="removed",
        help="Identifier to remove, such as a name or number; repeatable.",
        flags=("-i", "--identifier"),
        doc="Columns to remove: names, numbers and anything else that identifies people directly.",
    )
    pseudonyms: tuple[str, ...] = _columns(
        help="Identifier to replace by a pseudonym (keyed hash); repeatable.",
        flags=("--pseudonym",),
        doc="Identifiers to replace by keyed hashes, see [pseudonyms](how-to/pseudonyms.md). Equal values get equal "
        "pseudonyms in every table and release made with the same key. A pseudonym that occurs in several "
        "records links them; it is refused unless allowed.",
    )
    key_file: str | None = setting(
        None,
        "columns",
        kind="path",
        help="File with the key of the pseudonyms, made by `shoal key` (default: the key in SHOAL_KEY).",
        takes=Path,
        doc="The path of the file with the key of the pseudonyms, made by `shoal key`; by default, the key is read "
        "from the environment variable SHOAL_KEY. In a settings file, the path is relative to that file. Never "
        "put the key itself there.",
    )
    person: str | None = setting(
        None,
        "columns",
        kind="column",
        help="Column that identifies people who have several records; k then counts people instead of records.",
        metavar="COLUMN",
        ask=Question("Count people instead of records, identified by", pages=("requirement",)),
        doc="The column that identifies [people](how-to/several-records-per-person.md) who have several records: k "
        "and the requirements then count people instead of records. The column is removed, or replaced if it is "
        "among the pseudonyms.",
    )
    sensitive: tuple[str, ...] = _columns(
        init="released unchanged; others must not learn these values, which requirements (below) protect",
        help="Sensitive column, which others must not learn about a person; released unchanged; repeatable.",
        flags=("-s", "--sensitive"),
        doc="Columns with sensitive values, which requirements protect. They are released unchanged, unless they "
        "are coarsened.",
    )
    keep: tuple[str, ...] = _columns(
        init="released unchanged; nothing protects these columns",
        help="Other column to release unchanged, without protection; repeatable.",
        flags=("-x", "--keep"),
        doc="Other columns to release. Nothing protects them, and they are unchanged unless they are coarsened. "
        "Columns that reveal a quasi-identifier, contain free text or identify people together with the "
        "released quasi-identifiers are refused unless allowed.",
    )
    others: Others = setting(
        "refuse",
        "columns",
        check=one_of(*get_args(Others)),
        always=True,
        help="What to do with columns without a role: refuse the table (default), drop or keep them.",
        metavar="WHAT",
        doc='What to do with columns without a role: "refuse" the table (default), "drop" or "keep" them.',
    )
    allow: Mapping[str, tuple[str, ...]] = setting(  # reasons by column
        dict,
        "columns",
        kind="reasons",
        help="Release a column although shoal refused it, with the reason that shoal gave, for example "
        "salary:unique; repeatable.",
        metavar="COLUMN:REASON",
        doc='What to release although shoal refused it: reasons by column, like `{"salary": "unique"}`. A '
        '[refusal](explanation/verdict.md#what-is-refused) names the reason. "unique": the column identifies people, '
        'alone or with other columns (a list of names means this, too); "reveals": it reveals a quasi-identifier; '
        '"identifier": it contains names, addresses or numbers of people; "text": it contains free text; '
        '"person": a group may contain a single one of its values; "links": its pseudonyms link records; '
        '"formula": a spreadsheet would run its texts. The verdict lists what was allowed.',
    )
    identified_limit: float = setting(
        0.0,
        "columns",
        check=Check(
            f"a share from 0 to {MOST_IDENTIFIED}, which is at most {MOST_IDENTIFIED:.0%} of all records",
            lambda value: is_number(value) and 0 <= value <= MOST_IDENTIFIED,
        ),
        help="Share of people whom kept columns may identify without being allowed (default 0, at most 0.05).",
        metavar="SHARE",
        doc="The share of people whom kept columns may identify, together with the released quasi-identifiers, "
        "without being allowed (default 0, at most 0.05).",
    )
    coarsen: Mapping[str, Model] = setting(  # kept and sensitive columns
        dict,
        "columns",
        kind="coarsening",
        help="Kept or sensitive column to coarsen in all records, for example salary:interval:step=1000, "
        "admitted:calendar:finest=month or zip:prefix:finest=3; repeatable.",
        metavar="COLUMN:MODEL[:FILE]:KEY=VALUE",
        doc="Models that coarsen kept and sensitive columns in all records, before anything else is done: bins, a "
        "highest value, months or prefixes. Requirements, checks and measures see only the coarsened values.",
        in_python='For example, `{"salary": shoal.Interval(step=1000, high=200_000)}`.',
    )
    k: int = setting(
        0,
        "requirement",
        check=Check("a whole number of at least 1", lambda value: is_whole(value, 1)),
        init="smallest group: this many records, or people if `person` is set; larger is safer but loses more detail",
        help="Least number of records that must look the same; larger is safer but loses more detail.",
        flags=("-k",),
        ask=Question("k", "records that look the same", pages=("requirement", "run")),
        doc="The least number of records that must look the same, or of people if they are counted. Larger is safer "
        "but loses more detail.",
    )
    suppression_limit: float = setting(
        0.0,
        "requirement",
        check=SHARE,
        always=True,
        help="Largest share of records that may be left out, for example 0.01.",
        metavar="SHARE",
        ask=Question(
            "Leave out at most this share of records, in percent",
            "A few unusual records make everyone else's data coarser.",
            pages=("requirement",),
        ),
        doc="The largest share of records that may be left out of the release (default 0). A record is left out if "
        "it costs the others more than itself, measured by the values of the whole table. Such records count as "
        "fully suppressed in every measure, and measures use the values of released records only.",
    )
    series: bool = setting(
        False,
        "requirement",
        check=FLAG,
        is_keyword=False,
        doc="Whether this is one of several releases about the same people, see [run it "
        "nightly](how-to/run-it-nightly.md). Such settings need `previous` (`--previous` or `--save-history`).",
    )
    requirements: tuple[Requirement, ...] = setting(
        (),
        "requirement",
        kind="requirements",
        help="Requirement beyond k, for example diversity:l=3:kind=entropy; see `shoal requirements`; repeatable.",
        flags=("--require",),
        metavar="NAME:KEY=VALUE",
        doc="What sensitive values in every group must satisfy in addition to k, like `[shoal.LDiversity(2)]`; see "
        "`shoal.list_requirements()`. Without a requirement, all records of a group may share a sensitive value.",
    )
    objective: ObjectiveName = setting(
        "lm",
        "objective",
        key="measure",
        init="what to lose least: lm is detail, from 0 (exact) to 1 (hidden); see `shoal measures`",
        kind="objective",
        help="Measure of loss to minimize, see `shoal measures`; wmi:0.3 sets the share of mi.",
        metavar="NAME",
        ask=Question("Optimize for", usual="lm", is_wide=True),
        doc='The [measure](reference/measures.md) of loss to minimize (default "lm").',
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
        help="Weight of a quasi-identifier (default 1); a higher weight keeps more of its detail.",
        flags=("--weight",),
        metavar="COLUMN=NUMBER",
        doc="The weight of each quasi-identifier (default 1). A higher weight keeps more of its detail.",
    )
    method: Method = setting(
        _auto,
        "method",
        key="name",
        kind="method",
        init="see `shoal methods`",
        help="Method that makes groups, see `shoal methods` (default: auto).",
        ask=Question("Method", "how groups are made", usual="auto", is_wide=True),
        doc='The name of a [method](explanation/methods.md) (default "auto").',
        in_python="Or a method with options, like `shoal.Mondrian(strict=False)`.",
    )
    refine: Refining = setting(
        Refine,
        "method",
        kind="refine",
        init='how long to improve the groups: "quick" takes seconds, 60.0 a minute, false no time',
        help="How long to improve the groups: quick (default, a few seconds), off, a number of seconds, or "
        "steps=NUMBER.",
        metavar="HOW_LONG",
        ask=Question("Time to improve", usual="quick"),
        doc='How long to improve the groups by local search: "quick" (default) for a few seconds, false for not at '
        "all, a number of seconds, or a number of steps: `{ steps = 50 }`, in Python `shoal.Refine(steps=50)`. "
        "With seconds, two runs may differ. Only methods of local recoding are improved, and neither "
        "`enhanced_pk` nor the optimum of a very small table.",
    )
    seed: int = setting(
        0,
        "method",
        check=Check(
            "a whole number from 0 to 2^64 - 1",
            lambda value: is_whole(value, 0) and value < 2**64,
        ),
        init="",
        help="Seed of the random numbers; the same seed gives the same groups.",
        doc="Makes the groups repeatable (default 0). The order of records is always random, and so is what "
        "`loosen` and `non_homogeneous` draw. In a series, who is left out also depends on a secret in its "
        "history.",
    )
    keep_order: bool = setting(
        False,
        "output",
        check=FLAG,
        init="true keeps the order of records, which can identify people",
        help="Keep the order of records, which can identify people (default: shuffle).",
        flags=("--keep-order/--shuffle",),
        ask=Question(
            "Keep the order of records",
            "(it can identify people; by default, records are shuffled)",
            is_wide=True,
        ),
        doc="Keep the order of records, which can itself identify people. By default, records are shuffled. The "
        "index of a pandas frame is never released, because it may contain names.",
    )
    loosen: float = setting(
        0.0,
        "output",
        check=SHARE,
        help="Share of values to coarsen further at random, so that range ends reveal less.",
        metavar="SHARE",
        doc="About what share of the generalized values to make more general than their group needs, from 0 "
        "(default) to below 1. Nobody can then conclude that the ends of a range occur in the group; see "
        "[downcoding](explanation/threat-model.md#downcoding) in the threat model. The values are drawn at random in "
        "every run: publish only one of these releases.",
    )
    render: Style = setting(
        "text",
        "output",
        check=Check("'text', 'bounds', 'midpoint' or 'mean'", _is_style),
        init='"bounds": two columns per interval; "midpoint": one number',
        help="text (default); bounds: two columns per interval or order; midpoint or mean: one number per interval.",
        metavar="HOW",
        doc='"text" (default); "bounds": two columns per interval or order; or a [single '
        'number](how-to/compute-with-a-release.md) per interval: "midpoint", the middle of its bounds (also for '
        'dates), or "mean", the rounded mean of the group\'s own numbers, which reveals a little more; see '
        '"Means" in the threat model.',
    )
    title: str = setting(
        "",
        "output",
        check=TEXT,
        help="Title of the report.",
        ask=Question("Title of the report", is_wide=True),
        doc="The title of the report.",
    )
    reading: Input = setting(
        Input,
        "input",
        kind="input",
        doc='How to read the table\'s file, like `{"encoding": "cp1252", "missing": ["?"]}`; see `shoal.Input`.',
    )

    @property
    def removed(self) -> tuple[str, ...]:
        """Columns that must not be in a release: identifiers, and the person column unless it is replaced."""
        if self.person and self.person not in (*self.identifiers, *self.pseudonyms):
            return (*self.identifiers, self.person)
        return self.identifiers

    def allows(self, column: str, reason: Reason) -> bool:
        """Whether releasing a column was allowed in spite of a reason against it."""
        return reason in self.allow.get(column, ())

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Columns whose values are released unchanged: sensitive and kept ones, unless they are coarsened."""
        return tuple(name for name in (*self.sensitive, *self.keep) if name not in self.coarsen)

    def problems(self) -> list[str]:
        """Return all problems with these settings that can be found without the table."""
        from shoal.settings.problems import settings_problems

        return settings_problems(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Settings:
        """Read settings from a TOML file; paths of hierarchies are relative to it."""
        from shoal.settings.toml import read_toml

        return cls._of(read_toml(path), Path(path).parent)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write these settings to a TOML file that `load` can read; the file is written whole or not at all."""
        from shoal.settings.toml import content_of, write_toml

        write_toml(content_of(self._normalized(), Path(path).parent), path)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Settings:
        """Make settings from what `to_dict` returns, the content of a settings file; paths are relative to `folder`."""
        return cls._of(content, Path())

    @classmethod
    def _of(cls, content: Mapping[str, Any], folder: Path) -> Settings:
        from shoal.settings.toml import fields_of

        problems: list[str] = []
        settings = cls(**fields_of(content, folder, problems))
        raise_problems(problems)
        return settings

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a settings file as dicts, lists, texts and numbers, ready for JSON.

        Hierarchies are included as `rows` and dates as ISO texts, so no other file is needed.

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
    """Settings as keywords of `shoal.anonymize`, for editors and type checkers; None means "not given"."""

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
    """Return settings from a file, an object or nothing, with everything else that was given replacing theirs.

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
        is_kept = settings.others == "keep"  # whether unnamed columns are kept or refused
        left = {n: m for n, m in settings.coarsen.items() if is_kept or n in named}
        settings = replace(settings, coarsen=left)
    raise_problems(problems + settings.problems())
    return settings
