"""Which column tells persons apart, decided by its values.

Somebody's records agree in birth, sex and origin. An identifier that repeats, and within whose values these agree, is
the person; one within whose values they differ is not: a family's e-mail address, a doctor, a name that several have.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.privacy.patterns import are_names_of_persons
from shoal.privacy.persons import agreement
from shoal.suggesting import words
from shoal.suggesting.profile import Profile
from shoal.suggesting.verdicts import A_PERSON, FEW, IDENTIFIER, QUASI, Verdict

REPEATED = 0.98  # distinct values per record, up to which an identifier repeats
KNOWN = 0.5  # share of records with a value
AGREED = (
    0.8  # how far records of one value agree in birth, sex and origin: 0 as strangers, 1 wholly
)
NAMED_AGREED = 0.5  # the same where the name says a person as well
LASTING = (words.BIRTH.plain, words.SEX.plain, words.RACE.plain)  # what a person's records agree in


def person_columns(profiles: Mapping[str, Profile], verdicts: Mapping[str, Verdict]) -> list[str]:
    """Identifiers that repeat like those of persons with several records, the most likely first."""
    lasting = [
        profiles[name].found.codes
        for name, verdict in verdicts.items()
        if verdict.role == QUASI and verdict.about in LASTING and profiles[name].distinct > 1
    ]
    found = []
    for name, profile in profiles.items():
        if verdicts[name].role != IDENTIFIER or not _repeats(profile) or _is_other(profile):
            continue
        agreed = [
            a for codes in lasting if (a := agreement(profile.found.codes, codes)) is not None
        ]
        if _is_person(profile, verdicts[name], float(np.mean(agreed)) if agreed else None):
            found.append(profile)
    return [p.name for p in sorted(found, key=lambda p: (p.distinct, not _is_named(p)))]


def _repeats(profile: Profile) -> bool:
    is_known = profile.known >= KNOWN * profile.records
    return is_known and FEW < profile.distinct < REPEATED * profile.known


def _is_other(profile: Profile) -> bool:
    """Whether a column is about somebody else, as a doctor or a parent."""
    return words.OTHER_PERSON.found_in(profile.words) or words.PARENT.found_in(profile.words)


def _is_named(profile: Profile) -> bool:
    """Whether a name says the number of a person, not the person's own name, which several may have."""
    return words.PERSON.found_in(profile.words) and not are_names_of_persons(profile.texts)


def _is_person(profile: Profile, verdict: Verdict, agreed: float | None) -> bool:
    if agreed is None:
        return verdict.about == A_PERSON and not are_names_of_persons(profile.texts)
    return agreed >= (NAMED_AGREED if _is_named(profile) else AGREED)
