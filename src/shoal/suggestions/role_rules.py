"""The rules that guess a column's role from its name and values; the first rule that fits decides."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow.compute as pc

from shoal.report.formats import percent
from shoal.risk.patterns import (
    are_names_of_persons,
    are_titled,
    have_given_names,
    identifier_pattern,
    part_of_texts,
    words_per_text,
)
from shoal.suggestions import meaning, words
from shoal.suggestions.findings import (
    A_PERSON,
    DROP,
    FEW,
    IDENTIFIER,
    KEEP,
    QUASI,
    RoleGuess,
    name_says,
)
from shoal.suggestions.profile import (
    CODE,
    DATE,
    FLAG,
    NUMBER,
    POINT,
    Profile,
    digits_are_alike,
    is_row_number,
)
from shoal.suggestions.reading import LEAST

ALL_DIFFERENT = 0.9  # distinct values per record of an identifier
MOST_RECORDS = 50  # of a person, on average, as for `shoal.risk.persons`
WORDS, DISTINCT = 4, 0.3  # of free text: words in most values, and distinct values per record
RARE_TEXTS = 0.05  # share of records with a unique text that makes long texts suspicious
SHORTEST_NUMBER = 4  # digits of numbers that are assigned to people
# Values, each of many records, up to which a column named like an address is of another kind.
FEW_KINDS = 5


Rule = Callable[[Profile], RoleGuess | None]


def guess_role(profile: Profile) -> RoleGuess | None:
    """The verdict of the first rule that fits, None if no rule does."""
    found = (rule(profile) for rule in RULES)
    return next((verdict for verdict in found if verdict is not None), None)


def _differ(profile: Profile) -> str:
    return f"{percent(profile.distinct / max(1, profile.known))} of its values are distinct"


def _empty(profile: Profile) -> RoleGuess | None:
    return None if profile.known else RoleGuess(DROP, "it is empty")


def _point(profile: Profile) -> RoleGuess | None:
    if profile.kind != POINT:
        return None
    reason = "it contains latitudes and longitudes, which others know"
    return RoleGuess(QUASI, reason, about=words.PLACE.plain)


def _pattern(profile: Profile) -> RoleGuess | None:
    pattern = identifier_pattern(profile.texts, profile.words) if profile.kind != DATE else None
    if pattern is not None:
        return RoleGuess(IDENTIFIER, f"its values look like {pattern.plain}", about=A_PERSON)
    inside = part_of_texts(profile.texts) if profile.is_text else None
    return RoleGuess(IDENTIFIER, f"some of its texts contain {inside.plain}") if inside else None


def _name_of_a_person(profile: Profile) -> RoleGuess | None:
    if profile.kind in (FLAG, DATE) and profile.rarest >= LEAST:
        return None
    is_count = not profile.is_text and (
        words.NUMBER_OF.search(profile.words) or profile.words in words.PERSON_NAME.alone
    )
    if words.PERSON_NAME.found_in(profile.words) and not is_count:
        if not words.THING.found_in(profile.words):
            return RoleGuess(IDENTIFIER, name_says(words.PERSON_NAME))
        if profile.is_text and are_names_of_persons(profile.texts) and profile.distinct > FEW:
            reason = "its values look like people's names"
            return RoleGuess(IDENTIFIER, reason, is_sure=False)
    if words.OTHER_PERSON.found_in(profile.words) and profile.distinct > 2:
        named = profile.is_text and (
            are_names_of_persons(profile.texts) or are_titled(profile.texts)
        )
        if named or profile.distinct > FEW:
            return RoleGuess(IDENTIFIER, name_says(words.OTHER_PERSON), named)
    if profile.is_text and (are_titled(profile.texts) or have_given_names(profile.texts)):
        return RoleGuess(IDENTIFIER, "its values look like names of people")
    return None


def _contact(profile: Profile) -> RoleGuess | None:
    if profile.distinct <= FEW_KINDS and profile.rarest >= LEAST:
        return None
    for concept in (words.CONTACT, words.OFFICIAL):
        if concept.found_in(profile.words):
            about = A_PERSON if concept is words.OFFICIAL else ""
            return RoleGuess(IDENTIFIER, name_says(concept), about=about)
    return None


def _free_text(profile: Profile) -> RoleGuess | None:
    if not profile.is_text or profile.kind == DATE:
        return None
    long = words_per_text(profile.texts) >= WORDS
    if long and profile.distinct >= max(LEAST, DISTINCT * profile.records):
        return RoleGuess(DROP, "it contains free text, which may name or describe people")
    rare = profile.alone > RARE_TEXTS * profile.records and profile.distinct >= LEAST
    many = profile.distinct > FEW or profile.records <= FEW
    if words.FREE_TEXT.found_in(profile.words) and (many or rare):
        return RoleGuess(DROP, "the name suggests free text, which may name or describe people")
    if long and rare:
        reason = "it contains long texts, some of which occur only once, which may describe people"
        return RoleGuess(DROP, reason, is_sure=False)
    return None


def _number_of_a_person(profile: Profile) -> RoleGuess | None:
    """Named like an identifier, with values that distinguish records or people."""
    if profile.kind in (FLAG, DATE):
        return None
    name = profile.words
    is_count = bool(words.NUMBER_OF.search(name)) and not _are_long_numbers(profile)
    named = (words.IDENTIFIER.found_in(name) or name.endswith(" no")) and not is_count
    if not named and not (words.PERSON.found_in(name) and " " not in name):
        return None
    tells = profile.distinct > max(FEW, profile.known / MOST_RECORDS)
    if profile.records <= FEW:
        tells = profile.distinct == profile.known
    if not tells or meaning.is_floating(profile):
        return None
    concept = words.IDENTIFIER if named else words.PERSON
    if profile.distinct >= ALL_DIFFERENT * profile.known:
        reason = f"{name_says(concept)}, and {_differ(profile)}"
        return RoleGuess(IDENTIFIER, reason, about=A_PERSON)
    if words.THING.found_in(name) or words.PLACE.found_in(name):
        return None
    each = profile.known / profile.distinct
    reason = f"{name_says(concept)}, and each value has {each:.1f} records on average"
    return RoleGuess(IDENTIFIER, reason, about=A_PERSON)


def _are_long_numbers(profile: Profile) -> bool:
    """Whether whole numbers have as many digits as those that are assigned to people."""
    lengths = pc.utf8_length(profile.texts)
    return profile.is_whole and bool(pc.quantile(lengths, 0.5)[0].as_py() >= SHORTEST_NUMBER)


def _row_number(profile: Profile) -> RoleGuess | None:
    if profile.records > FEW and is_row_number(profile):
        return RoleGuess(IDENTIFIER, "it looks like a row number")
    return None


def _constant(profile: Profile) -> RoleGuess | None:
    if profile.distinct == 1 and profile.known == profile.records >= LEAST:
        return RoleGuess(KEEP, "all records have the same value")
    return None


def _unique_text(profile: Profile) -> RoleGuess | None:
    if profile.kind in (NUMBER, DATE) or profile.known <= FEW or profile.is_whole:
        return None
    if profile.distinct < ALL_DIFFERENT * profile.known:
        return None
    if profile.kind == CODE and words.PLACE.found_in(profile.words):
        return None  # a postcode of a few houses, whose beginning is a town
    concept = words.first_concept((*words.CORE, *words.SENSITIVE), profile.words)
    return RoleGuess(IDENTIFIER, _differ(profile), is_sure=concept is None)


def _unique_number(profile: Profile) -> RoleGuess | None:
    if not profile.is_whole or profile.known <= FEW:
        return None
    if profile.distinct < ALL_DIFFERENT * profile.known:
        return None
    sure = digits_are_alike(profile) or profile.kind == CODE
    return RoleGuess(IDENTIFIER, f"whole numbers, and {_differ(profile)}", sure)


def _perhaps_a_person(profile: Profile) -> RoleGuess | None:
    """Values that repeat like the numbers of people with several records, with unknown meaning."""
    if profile.kind in (FLAG, DATE) or meaning.is_floating(profile):
        return None
    if profile.known <= FEW or profile.distinct <= max(FEW, profile.known / MOST_RECORDS):
        return None
    if words.QUANTITY.search(profile.words) or words.NUMBER_OF.search(profile.words):
        return None
    if profile.is_whole and not _are_long_numbers(profile):
        return None
    reason = "unknown column with so many different values that it may identify people"
    return RoleGuess(IDENTIFIER, reason, is_sure=False)


RULES: tuple[Rule, ...] = (
    _empty,
    _point,
    _pattern,
    _name_of_a_person,
    _contact,
    _free_text,
    meaning.open_answer,
    _number_of_a_person,
    _row_number,
    meaning.weight_of_a_survey,
    _constant,
    meaning.date,
    _unique_text,
    meaning.core,
    meaning.part_of_a_date,
    meaning.served,
    meaning.sensitive,
    _unique_number,
    meaning.known_to_outsiders,
    meaning.illness_or_drug,
    _perhaps_a_person,
)
