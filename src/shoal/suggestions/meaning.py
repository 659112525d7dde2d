"""What a column is about: a word in its name counts only if its values fit the word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.report.formats import percent
from shoal.suggestions import words
from shoal.suggestions.findings import DROP, FEW, QUASI, SENSITIVE, Concept, Verdict, says
from shoal.suggestions.models import coarse_options, numbers_of
from shoal.suggestions.profile import CODE, DATE, FLAG, NUMBER, Profile, are_years

MANY_ALONE = (
    0.05  # share of records with a sensitive value of their own, from which on it is coarsened
)
YEARS, MONTHS, DAYS = 100, 12, 31  # how many parts of a date there can be
UNKNOWN_PARTS = 2  # more values, for an unknown part and for none
DUMMY = 3  # values of a column that says yes or no, with one for unknown
OLDEST = 130  # years of a person
BODY_WEIGHTS = (
    20.0,
    6000.0,
)  # median of weights of bodies in kilograms, pounds or, of newborns, in grams
SURVEY_MEAN = 5.0  # mean up to which positive fractions named weight are those of a survey
MOST_KINDS = 500  # insurers, wards or sites
YES_OR_NO = words.word_set("0 1 y n yes no true false t f ja nein j oui non o si no s nao sim nee")
FEWEST_ILLNESSES = 5  # different ones, before a column is taken for one of diagnoses
ICD = r"^[A-TV-Z][0-9][0-9AB]\.[0-9A-Z]{1,4}$"  # codes of ICD-10 with their dot
ILLNESS = (
    r"(?i)(itis|osis|emia|ämie|algia|algie|pathy|pathie|patia|noma|carcinoma|cancer|infection|disorder|disease|syndrom|"
    r"fracture|hypertension|diabet|asthma|asma|epileps)"
)
DRUG = r"(?i)[0-9] ?(mg|mcg|ug|ml|iu)\b|\b(tablet|capsule|injection|vaccine|tablette|tabletten)\b"
UNITS_OF_AGE = (
    "day",
    "days",
    "month",
    "months",
    "week",
    "weeks",
    "tage",
    "monate",
    "jours",
    "mois",
)


def _middle(profile: Profile, low: float = 0.01, high: float = 0.99) -> tuple[float, float] | None:
    """Between which numbers most values lie, None where they are no numbers."""
    if profile.kind == DATE:
        return None
    numbers = numbers_of(profile)
    if numbers is None or not numbers.size:
        return None
    ends = np.quantile(numbers, (low, high))
    return float(ends[0]), float(ends[1])


def _ages(profile: Profile) -> bool:
    ends = _middle(profile)
    if ends is None or any(unit in profile.words.split() for unit in UNITS_OF_AGE):
        return profile.distinct <= OLDEST or ends is not None
    return ends[0] >= 0 and (ends[1] <= OLDEST or are_years(profile))


def _body(profile: Profile) -> bool:
    ends = _middle(profile, 0.5, 0.5)
    if ends is None or not words.WEIGHT.search(profile.words):
        return True
    return BODY_WEIGHTS[0] <= ends[0] <= BODY_WEIGHTS[1]


def _at_most(values: int) -> Callable[[Profile], bool]:
    return lambda profile: profile.distinct <= values


def _no_measurement(profile: Profile) -> bool:
    """Not numbers with fractions, of which most occur once."""
    is_fraction = profile.kind == NUMBER and not profile.is_whole
    return not (is_fraction and profile.alone > 0.5 * profile.known)


def _are_kinds(profile: Profile) -> bool:
    return profile.kind != NUMBER and profile.distinct <= MOST_KINDS


def _says_yes_or_no(profile: Profile) -> bool:
    texts = {text.strip().lower() for text in profile.texts.slice(0, 3).to_pylist()}
    return profile.kind == FLAG and texts <= YES_OR_NO


FITS: Mapping[Concept, Callable[[Profile], bool]] = {
    words.AGE: _ages,
    words.SEX: _at_most(15),
    words.MARITAL: _at_most(60),
    words.RACE: _at_most(300),
    words.BODY: _body,
    words.HOUSEHOLD: _no_measurement,
    words.SCHOOL: _no_measurement,
    words.CARE: lambda profile: _are_kinds(profile) and not _says_yes_or_no(profile),
    words.INSURER: lambda profile: _are_kinds(profile),
}  # what values must be like for a name to be believed; other concepts hold for any


def meant(concepts: Iterable[Concept], profile: Profile) -> Concept | None:
    """The first concept that a column's name is about and that its values fit."""
    for concept in concepts:
        fits = FITS.get(concept)
        if concept.found_in(profile.words) and (fits is None or fits(profile)):
            return concept
    return None


def weight_of_a_survey(profile: Profile) -> Verdict | None:
    """Weights of records: named so, or fractions around 1 that are named weight."""
    if profile.distinct <= FEW or profile.kind == DATE:
        return None
    by_name = words.SURVEY_WEIGHT.search(profile.words)
    if not by_name and not words.WEIGHT.search(profile.words):
        return None
    numbers = numbers_of(profile)
    if numbers is None or bool((numbers < 0).any()):
        return None
    around_one = not profile.is_whole and numbers.mean() <= SURVEY_MEAN
    if not by_name and not around_one:
        return None
    reason = "it looks like the weight of a survey, which tells the stratum and often the record"
    return Verdict(DROP, reason, is_sure=False)


def date(profile: Profile) -> Verdict | None:
    """Dates are known to outsiders, except when a record was written."""
    if profile.kind != DATE:
        return None
    if words.BIRTH.found_in(profile.words):
        return Verdict(QUASI, f"{says(words.BIRTH)}: outsiders know it", about=words.BIRTH.plain)
    if words.WRITTEN.found_in(profile.words):
        return Verdict(DROP, "it says when the record was written, as logs do", is_sure=False)
    return Verdict(QUASI, "dates of events, which outsiders may know", about="a date")


def core(profile: Profile) -> Verdict | None:
    """Birth, age, sex, place, origin, and what stands for one value of them: male, black."""
    if words.PARENT.found_in(profile.words):
        return None
    concept = meant(words.CORE, profile)
    if concept is not None:
        return Verdict(QUASI, f"{says(concept)}: outsiders know it", about=concept.plain)
    return _dummy(profile)


def _dummy(profile: Profile) -> Verdict | None:
    if profile.distinct > DUMMY:
        return None
    parts = frozenset(profile.words.split())
    for concept, values in words.DUMMIES:
        if parts & values:
            reason = f"its name says one kind of {concept.plain}: outsiders know it"
            return Verdict(QUASI, reason, about=concept.plain)
    return None


def served(profile: Profile) -> Verdict | None:
    """Insurer and ward, whose names often have a word for illness: Krankenkasse, Krankenhaus."""
    concept = meant((words.INSURER, words.CARE), profile)
    if concept is None:
        return None
    return Verdict(QUASI, f"{says(concept)}: outsiders may know it", about=concept.plain)


def sensitive(profile: Profile) -> Verdict | None:
    """What must not be learned about a person; nearly unique numbers are coarsened."""
    concept = meant(words.SENSITIVE, profile)
    return None if concept is None else secret(profile, says(concept))


def secret(profile: Profile, reason: str) -> Verdict:
    """Release a column as sensitive where its values repeat, else coarsened or not at all."""
    share = profile.alone / max(1, profile.records)
    if share < MANY_ALONE or profile.known <= FEW:
        return Verdict(SENSITIVE, reason)
    alone = f"{percent(share)} of the records have a value of their own"
    coarse = coarse_options(profile)
    if coarse is None:
        why = (
            "and the values cannot be read as numbers"
            if profile.kind == NUMBER
            else "which may name persons"
        )
        return Verdict(DROP, f"{reason}, but {alone}, {why}", is_sure=False)
    return Verdict(SENSITIVE, f"{reason}; {alone}, so it is coarsened", coarsen=coarse)


def illness_or_drug(profile: Profile) -> Verdict | None:
    """Values that are diagnoses or drugs, whatever their column is called."""
    if profile.distinct < FEWEST_ILLNESSES or not profile.is_text or profile.kind == DATE:
        return None
    texts = profile.texts
    for regex, share in ((ICD, 0.9), (ILLNESS, 0.3), (DRUG, 0.3)):
        if pc.mean(pc.match_substring_regex(texts, regex).cast(pa.int8())).as_py() >= share:
            return secret(profile, "its values look like diagnoses or drugs")
    return None


def known_to_outsiders(profile: Profile) -> Verdict | None:
    """Work, family, body, and parts of dates."""
    concept = meant(words.OUTSIDERS_KNOW, profile)
    if concept is not None:
        return Verdict(QUASI, f"{says(concept)}: outsiders may know it", about=concept.plain)
    return None


def part_of_a_date(profile: Profile) -> Verdict | None:
    """A year, month or day of something: named so, with values that can be one."""
    is_part = (
        (words.YEAR.search(profile.words) and _are_parts(profile, YEARS))
        or (words.MONTH.search(profile.words) and _are_parts(profile, MONTHS))
        or (words.DAY.search(profile.words) and _are_parts(profile, DAYS))
    )
    if not is_part:
        return None
    return Verdict(QUASI, "a part of a date, which outsiders may know", about="a date")


def _are_parts(profile: Profile, most: int) -> bool:
    """Whether values are years, or as many months or days as there can be."""
    if most == YEARS:
        return are_years(profile) or profile.distinct <= FEW
    ends = _middle(profile, 0, 1)
    if profile.distinct <= 2:  # yes or no
        return False
    if ends is None:
        return profile.distinct <= most + UNKNOWN_PARTS
    return ends[0] >= 0 and (ends[1] <= most or profile.distinct <= most + UNKNOWN_PARTS)


def open_answer(profile: Profile) -> Verdict | None:
    """Texts that somebody wrote because no answer fitted."""
    is_text = profile.is_text and profile.kind not in (FLAG, CODE, DATE, NUMBER)
    if is_text and words.OPEN_ANSWER.found_in(profile.words):
        return Verdict(DROP, "its name says an open answer, which may name or describe persons")
    return None


def is_floating(profile: Profile) -> bool:
    """Whether values are numbers with fractions."""
    return bool(pa.types.is_floating(profile.typed))
