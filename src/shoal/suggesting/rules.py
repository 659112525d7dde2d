"""What a column probably is, by its name and its values: rules in order, of which the first that fits decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from shoal.privacy.patterns import (
    are_names_of_persons,
    are_titled,
    have_given_names,
    identifier_pattern,
    part_of_texts,
    words_per_text,
)
from shoal.suggesting import words
from shoal.suggesting.profile import (
    CODE,
    DATE,
    FLAG,
    NUMBER,
    Profile,
    are_years,
    digits_are_alike,
    is_row_number,
)
from shoal.suggesting.reading import LEAST

IDENTIFIER, QUASI, SENSITIVE, KEEP, DROP = (
    "identifier",
    "quasi-identifier",
    "sensitive",
    "keep",
    "drop",
)
A_PERSON = "a person"
ROLES = (IDENTIFIER, QUASI, SENSITIVE, KEEP, DROP)
FEW = 20  # records or values, from which on numbers tell something
ALL_DIFFERENT = 0.9  # distinct values per record of an identifier
MOST_RECORDS = 50  # of a person, on average, as for `shoal.privacy.persons`
WORDS, DISTINCT = 4, 0.3  # of free text: words in most values, and distinct values per record
MANY_ALONE = 0.2  # share of records with a sensitive value of their own, from which on it is told
RARE_TEXTS = 0.05  # share of records with a text of their own that makes long texts suspicious
FEW_DAYS = 32  # values of a column of days, with one for unknown
FEW_KINDS = (
    5  # values, each of many records, up to which a column named like an address is of another kind
)


@dataclass(frozen=True)
class Verdict:
    """What a column probably is, and why.

    `about` says what a quasi-identifier tells of a person, and which identifiers stand for one.
    """

    role: str
    reason: str
    is_sure: bool = True
    about: str = ""


Rule = Callable[[Profile], Verdict | None]


def verdict_of(profile: Profile) -> Verdict | None:
    """The verdict of the first rule that fits, None where a column is undecided."""
    for rule in RULES:
        found = rule(profile)
        if found is not None:
            return found
    return None


def percent(share: float) -> str:
    """A share for people; one that is nearly all or nothing is not rounded to it."""
    shown = f"{100 * share:.1f}"
    if shown == "0.0" and share > 0:
        return "below 0.1 %"
    return "above 99.9 %" if shown == "100.0" and share < 1 else f"{shown} %"


def _says(concept: words.Concept) -> str:
    return f"its name says {concept.plain}"


def _differ(profile: Profile) -> str:
    return f"{percent(profile.distinct / max(1, profile.known))} of its values differ"


def _empty(profile: Profile) -> Verdict | None:
    return None if profile.known else Verdict(DROP, "it is empty")


def _pattern(profile: Profile) -> Verdict | None:
    pattern = identifier_pattern(profile.texts, profile.words) if profile.kind != DATE else None
    if pattern is not None:
        return Verdict(IDENTIFIER, f"its values look like {pattern.plain}", about=A_PERSON)
    inside = part_of_texts(profile.texts) if profile.is_text else None
    return Verdict(IDENTIFIER, f"some of its texts hold {inside.plain}") if inside else None


def _name_of_a_person(profile: Profile) -> Verdict | None:
    if profile.kind in (FLAG, DATE) and profile.rarest >= LEAST:
        return None
    is_count = not profile.is_text and (
        words.NUMBER_OF.search(profile.words) or profile.words in words.PERSON_NAME.alone
    )
    if words.PERSON_NAME.found_in(profile.words) and not is_count:
        if not words.THING.found_in(profile.words):
            return Verdict(IDENTIFIER, _says(words.PERSON_NAME))
        if profile.is_text and are_names_of_persons(profile.texts) and profile.distinct > FEW:
            reason = "its values have the shape of persons' names"
            return Verdict(IDENTIFIER, reason, is_sure=False)
    if words.OTHER_PERSON.found_in(profile.words) and profile.distinct > 2:
        named = profile.is_text and (
            are_names_of_persons(profile.texts) or are_titled(profile.texts)
        )
        if named or profile.distinct > FEW:
            return Verdict(IDENTIFIER, _says(words.OTHER_PERSON), named)
    if profile.is_text and (are_titled(profile.texts) or have_given_names(profile.texts)):
        return Verdict(IDENTIFIER, "its values look like names of persons")
    return None


def _contact(profile: Profile) -> Verdict | None:
    if profile.distinct <= FEW_KINDS and profile.rarest >= LEAST:
        return None
    for concept in (words.CONTACT, words.OFFICIAL):
        if concept.found_in(profile.words):
            about = A_PERSON if concept is words.OFFICIAL else ""
            return Verdict(IDENTIFIER, _says(concept), about=about)
    return None


def _free_text(profile: Profile) -> Verdict | None:
    if not profile.is_text or profile.kind == DATE:
        return None
    long = words_per_text(profile.texts) >= WORDS
    if long and profile.distinct >= max(LEAST, DISTINCT * profile.records):
        return Verdict(DROP, "it holds free text, which may name or describe persons")
    rare = profile.alone > RARE_TEXTS * profile.records and profile.distinct >= LEAST
    many = profile.distinct > FEW or profile.records <= FEW
    if words.FREE_TEXT.found_in(profile.words) and (many or rare):
        return Verdict(DROP, "its name says free text, which may name or describe persons")
    if long and rare:
        reason = "it holds long texts, some of one record only, which may describe persons"
        return Verdict(DROP, reason, is_sure=False)
    return None


def _number_of_a_person(profile: Profile) -> Verdict | None:
    """Named like an identifier, with values that tell records or persons apart."""
    if profile.kind in (FLAG, DATE):
        return None
    name = profile.words
    is_count = bool(words.NUMBER_OF.search(name))
    named = (words.IDENTIFIER.found_in(name) or name.endswith(" no")) and not is_count
    if not named and not (words.PERSON.found_in(name) and " " not in name):
        return None
    few = profile.records <= FEW
    tells = (
        profile.distinct == profile.known
        if few
        else (profile.distinct > max(FEW, profile.known / MOST_RECORDS))
    )
    if not tells or pa.types.is_floating(profile.typed):
        return None
    concept = words.IDENTIFIER if named else words.PERSON
    if profile.distinct >= ALL_DIFFERENT * profile.known:
        reason = f"{_says(concept)}, and {_differ(profile)}"
        return Verdict(IDENTIFIER, reason, about=A_PERSON)
    if words.THING.found_in(name) or words.PLACE.found_in(name):
        return None
    each = profile.known / profile.distinct
    reason = f"{_says(concept)}, and each value has {each:.1f} records on average"
    return Verdict(IDENTIFIER, reason, about=A_PERSON)


def _row_number(profile: Profile) -> Verdict | None:
    if profile.records > FEW and is_row_number(profile):
        return Verdict(IDENTIFIER, "its numbers count the records")
    return None


def _weight_of_a_survey(profile: Profile) -> Verdict | None:
    if not words.SURVEY_WEIGHT.search(profile.words) or profile.distinct <= FEW:
        return None
    if profile.words == "weight" and profile.distinct < 0.5 * profile.known:
        return None
    reason = "it looks like the weight of a survey, which tells the stratum and often the record"
    return Verdict(DROP, reason, is_sure=False)


def _date(profile: Profile) -> Verdict | None:
    if profile.kind != DATE:
        return None
    if words.BIRTH.found_in(profile.words):
        return Verdict(QUASI, f"{_says(words.BIRTH)}: outsiders know it", about=words.BIRTH.plain)
    if words.WRITTEN.found_in(profile.words):
        return Verdict(DROP, "it says when the record was written, as logs do", is_sure=False)
    return Verdict(QUASI, "dates of events, which outsiders may know", about="a date")


def _core(profile: Profile) -> Verdict | None:
    concept = words.first_of(words.CORE, profile.words)
    if concept is None or words.PARENT.found_in(profile.words):
        return None
    return Verdict(QUASI, f"{_says(concept)}: outsiders know it", about=concept.plain)


def _constant(profile: Profile) -> Verdict | None:
    if profile.distinct == 1 and profile.known == profile.records >= LEAST:
        return Verdict(KEEP, "all records have the same value")
    return None


def _unique_text(profile: Profile) -> Verdict | None:
    if profile.kind in (NUMBER, DATE) or profile.known <= FEW or profile.is_whole:
        return None
    if profile.distinct < ALL_DIFFERENT * profile.known:
        return None
    concept = words.first_of((*words.CORE, *words.SENSITIVE), profile.words)
    return Verdict(IDENTIFIER, _differ(profile), is_sure=concept is None)


def _sensitive(profile: Profile) -> Verdict | None:
    concept = words.first_of(words.SENSITIVE, profile.words)
    if concept is None:
        return None
    share = profile.alone / profile.records
    if share < MANY_ALONE or profile.known <= FEW:
        return Verdict(SENSITIVE, _says(concept))
    alone = f"{percent(share)} of the records have a value of their own"
    if profile.is_text and profile.kind != NUMBER:
        return Verdict(
            DROP, f"{_says(concept)}, but {alone}, which may name persons", is_sure=False
        )
    return Verdict(SENSITIVE, f"{_says(concept)}; {alone}: rounding would hide it")


def _unique_number(profile: Profile) -> Verdict | None:
    if not profile.is_whole or profile.known <= FEW:
        return None
    if profile.distinct < ALL_DIFFERENT * profile.known:
        return None
    sure = digits_are_alike(profile) or profile.kind == CODE
    return Verdict(IDENTIFIER, f"whole numbers, and {_differ(profile)}", sure)


def _known_to_outsiders(profile: Profile) -> Verdict | None:
    concept = words.first_of(words.OUTSIDERS_KNOW, profile.words)
    if concept is not None:
        return Verdict(QUASI, f"{_says(concept)}: outsiders may know it", about=concept.plain)
    part = words.YEAR_MONTH_DAY.search(profile.words)
    if part and (are_years(profile) or profile.distinct <= FEW_DAYS):
        return Verdict(QUASI, "a part of a date, which outsiders may know", about="a date")
    return None


def _perhaps_a_person(profile: Profile) -> Verdict | None:
    """Values that repeat like the numbers of persons with several records, of which nothing tells what they are."""
    if profile.kind in (FLAG, DATE) or pa.types.is_floating(profile.typed):
        return None
    if profile.known <= FEW or profile.distinct <= max(FEW, profile.known / MOST_RECORDS):
        return None
    if words.QUANTITY.search(profile.words) or words.NUMBER_OF.search(profile.words):
        return None
    reason = "of unknown meaning, and its values repeat as seldom as those of persons"
    return Verdict(IDENTIFIER, reason, is_sure=False)


RULES: tuple[Rule, ...] = (
    _empty,
    _pattern,
    _name_of_a_person,
    _contact,
    _free_text,
    _number_of_a_person,
    _row_number,
    _weight_of_a_survey,
    _constant,
    _date,
    _unique_text,
    _core,
    _sensitive,
    _unique_number,
    _known_to_outsiders,
    _perhaps_a_person,
)
