"""What there is to say about a table as a whole: missing codes, persons that repeat, what kept columns tell."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.by_column import ALL_COLUMNS
from shoal.suggesting.choice import Chooser
from shoal.suggesting.profile import Profile
from shoal.suggesting.singling import grouped
from shoal.suggesting.verdicts import KEEP, QUASI, SENSITIVE, Verdict, percent
from shoal.table.source import Input

Missing = tuple[str, ...] | Mapping[str, tuple[str, ...]]

TOLD = 0.001  # share of records that kept columns single out, from which on it is told
RELEASED = (QUASI, SENSITIVE)  # roles whose missing values are told


def missing_texts(
    profiles: Mapping[str, Profile],
    verdicts: Mapping[str, Verdict],
    given: Input,
) -> tuple[Missing, list[str]]:
    """Texts that stand for a missing value, added to those given, and remarks on those of some columns only.

    A text that is a value in another column is listed for its own columns alone.
    """
    released = {n: p for n, p in profiles.items() if verdicts[n].role in RELEASED}
    found: dict[str, list[str]] = {}
    for name, profile in released.items():
        for text in profile.missing:
            found.setdefault(text, []).append(name)
    said = given.missing
    texts = dict(said) if isinstance(said, Mapping) else {ALL_COLUMNS: said}
    remarks = []
    for text, where in found.items():
        others = [
            name
            for name, profile in released.items()
            if name not in where and text not in profile.maybe_missing and _holds(profile, text)
        ]
        for name in where if others else [ALL_COLUMNS]:
            texts[name] = tuple(dict.fromkeys((*texts.get(name, ()), text)))
        if others:
            remarks.append(
                f"{text} counts as missing in {_listed(where)} only: in {_listed(others)} it seems to be a value."
            )
    texts = {name: own for name, own in texts.items() if own}
    return (texts if texts.keys() - {ALL_COLUMNS} else texts.get(ALL_COLUMNS, ())), remarks


def _holds(profile: Profile, text: str) -> bool:
    return len(profile.found.without([text]).values) < profile.distinct


def _listed(names: list[str]) -> str:
    shown_names = ", ".join(f"'{name[:40]}'" for name in names[:3])
    return shown_names + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def about_persons(profiles: Mapping[str, Profile], persons: list[str]) -> list[str]:
    """That records are not persons, and what to do about it."""
    if not persons:
        return []
    profile = profiles[persons[0]]
    return [
        f"Persons repeat: column '{profile.name[:40]}' has {profile.distinct:,} values in {profile.known:,} records. "
        + (
            "It is named as 'person', so that k counts persons and not records."
            if profile.known == profile.records
            else "k counts records, and a group may be one person: give every record the number of its person and name "
            "the column as 'person'."
        )
    ]


def about_kept(chooser: Chooser, verdicts: Mapping[str, Verdict]) -> list[str]:
    """How much all columns that are released unchanged would tell somebody who knows them."""
    kept = [name for name, verdict in verdicts.items() if verdict.role == KEEP]
    if not kept:
        return []
    alone = grouped(chooser.codes, kept, chooser.compared).singled()
    if alone.unique < TOLD:
        return []
    return [
        f"The {len(kept)} kept columns single out {percent(alone.unique)} of the records to somebody who knows them "
        "all: keep only what nobody outside can know."
    ]
