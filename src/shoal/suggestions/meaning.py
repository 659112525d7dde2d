"""What a column is about: its name counts only if its values agree; similar columns (Q1 … Q40) are decided
together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from shoal.errors import counted
from shoal.report.formats import percent
from shoal.suggestions import words
from shoal.suggestions.findings import (
    DROP,
    FEW,
    IDENTIFIER,
    QUASI,
    SENSITIVE,
    Concept,
    RoleGuess,
    name_says,
)
from shoal.suggestions.models import coarse_options, numbers_of, widest_options
from shoal.suggestions.profile import BANDS, CATEGORY, CODE, DATE, FLAG, NUMBER, Profile, are_years
from shoal.suggestions.reading import share_of

MANY_ALONE = 0.05  # share of records with a unique value above which it is coarsened
YEARS, MONTHS, DAYS = 100, 12, 31  # how many parts of a date there can be
UNKNOWN_PARTS = 2  # more values, for an unknown part and for none
DUMMY = 3  # values of a column that says yes or no, with one for unknown
OLDEST = 130  # years of a person
# The median of weights of bodies in kilograms, pounds or, of newborns, in grams.
BODY_WEIGHTS = (20.0, 6000.0)
SURVEY_MEAN = 5.0  # mean up to which positive fractions named "weight" are those of a survey
MOST_KINDS = 500  # insurers, wards or sites
YES_OR_NO = words.word_set("0 1 y n yes no true false t f ja nein j oui non o si no s nao sim nee")
FEWEST_ILLNESSES = 5  # different ones before a column counts as one of diagnoses
ICD = r"^[A-TV-Z][0-9][0-9AB]\.[0-9A-Z]{1,4}$"  # codes of ICD-10 with their dot
ILLNESS = (
    r"(?i)(itis|osis|emia|ämie|algia|algie|pathy|pathie|patia|noma|carcinoma|cancer|infection|disorder|disease|syndrom|"
    r"fracture|hypertension|diabet|asthma|asma|epileps)"
)
DRUG = r"(?i)[0-9] ?(mg|mcg|ug|ml|iu)\b|\b(tablet|capsule|injection|vaccine|tablette|tabletten)\b"
UNITS_OF_AGE = words.word_set("day days month months week weeks tage monate jours mois")


def _middle(profile: Profile, low: float = 0.01, high: float = 0.99) -> tuple[float, float] | None:
    """Between which numbers most values lie, None if they are not numbers."""
    if profile.kind == DATE:
        return None
    numbers = numbers_of(profile)
    if numbers is None or not numbers.size:
        return None
    ends = np.quantile(numbers, (low, high))
    return float(ends[0]), float(ends[1])


def _ages(profile: Profile) -> bool:
    ends = _middle(profile)
    if ends is None or not UNITS_OF_AGE.isdisjoint(profile.words.split()):
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


def meant_concept(concepts: Iterable[Concept], profile: Profile) -> Concept | None:
    """The first concept that a column's name is about and that its values fit."""
    for concept in concepts:
        fits = FITS.get(concept)
        if concept.found_in(profile.words) and (fits is None or fits(profile)):
            return concept
    return None


def weight_of_a_survey(profile: Profile) -> RoleGuess | None:
    """Weights of records: named so, or fractions around 1 that are named "weight"."""
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
    reason = "it looks like a survey weight, which reveals the stratum and often the record"
    return RoleGuess(DROP, reason, is_sure=False)


def date(profile: Profile) -> RoleGuess | None:
    """Dates are known to outsiders, except when a record was written."""
    if profile.kind != DATE:
        return None
    if words.BIRTH.found_in(profile.words):
        return _outsiders_know(words.BIRTH)
    if words.WRITTEN.found_in(profile.words):
        return RoleGuess(DROP, "it looks like the time when the record was written", is_sure=False)
    return RoleGuess(QUASI, "dates of events, which others may know", about="a date")


def core(profile: Profile) -> RoleGuess | None:
    """Birth, age, sex, place, origin, and single values of them: male, black."""
    if words.PARENT.found_in(profile.words):
        return None
    concept = meant_concept(words.CORE, profile)
    return _dummy(profile) if concept is None else _outsiders_know(concept)


def _outsiders_know(concept: Concept, how: str = "know") -> RoleGuess:
    return RoleGuess(QUASI, f"{name_says(concept)}, which others {how}", about=concept.plain)


def _dummy(profile: Profile) -> RoleGuess | None:
    if profile.distinct > DUMMY:
        return None
    parts = frozenset(profile.words.split())
    for concept, values in words.DUMMIES:
        if parts & values:
            reason = f"the name suggests one kind of {concept.plain}, which others know"
            return RoleGuess(QUASI, reason, about=concept.plain)
    return None


def served(profile: Profile) -> RoleGuess | None:
    """Insurer and ward, whose names often contain a word for illness: Krankenkasse, Krankenhaus."""
    concept = meant_concept((words.INSURER, words.CARE), profile)
    return None if concept is None else _outsiders_know(concept, "may know")


def sensitive(profile: Profile) -> RoleGuess | None:
    """What others must not learn about a person; nearly unique numbers are coarsened."""
    concept = meant_concept(words.SENSITIVE, profile)
    return None if concept is None else secret(profile, name_says(concept))


def secret(profile: Profile, reason: str) -> RoleGuess:
    """Release a column as sensitive if its values repeat, else coarsened or not at all."""
    share = profile.alone / max(1, profile.records)
    if share < MANY_ALONE or profile.known <= FEW:
        return RoleGuess(SENSITIVE, reason)
    alone = f"{percent(share)} of the records have a unique value"
    coarse = coarse_options(profile)
    if coarse is None:
        is_number = profile.kind == NUMBER
        why = "and the values cannot be read as numbers" if is_number else "which may name people"
        return RoleGuess(DROP, f"{reason}, but {alone}, {why}", is_sure=False)
    return RoleGuess(SENSITIVE, f"{reason}; {alone}, so it is coarsened", coarsen=coarse)


def illness_or_drug(profile: Profile) -> RoleGuess | None:
    """Values that are diagnoses or drugs, whatever the column's name."""
    if profile.distinct < FEWEST_ILLNESSES or not profile.is_text or profile.kind == DATE:
        return None
    for regex, share in ((ICD, 0.9), (ILLNESS, 0.3), (DRUG, 0.3)):
        if share_of(profile.texts, regex) >= share:
            return secret(profile, "its values look like diagnoses or drugs")
    return None


def known_to_outsiders(profile: Profile) -> RoleGuess | None:
    """Work, family, body, and parts of dates."""
    concept = meant_concept(words.OUTSIDERS_KNOW, profile)
    return None if concept is None else _outsiders_know(concept, "may know")


def part_of_a_date(profile: Profile) -> RoleGuess | None:
    """A year, month or day of something: named so, with values that can be one."""
    for name, most in ((words.YEAR, YEARS), (words.MONTH, MONTHS), (words.DAY, DAYS)):
        if name.search(profile.words) and _are_parts(profile, most):
            reason = "a part of a date, which others may know"
            return RoleGuess(QUASI, reason, about="a date")
    return None


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


def open_answer(profile: Profile) -> RoleGuess | None:
    """Texts written when no answer fitted."""
    is_text = profile.is_text and profile.kind not in (FLAG, CODE, DATE, NUMBER)
    if is_text and words.OPEN_ANSWER.found_in(profile.words):
        return RoleGuess(
            DROP, "the name suggests an open answer, which may name or describe people"
        )
    return None


def is_floating(profile: Profile) -> bool:
    """Whether values are numbers with fractions."""
    return bool(pa.types.is_floating(profile.typed))


FEWEST = 3  # numbered columns that make a battery
FEWEST_ALIKE = 4  # columns with the same scale and no number that make one
LONGEST_SCALE = 15  # values of a scale of answers
SAME = 0.7  # share of values that two scales have in common

Verdicts = Mapping[str, RoleGuess | None]


@dataclass(frozen=True)
class Battery:
    """Columns that are decided together; `has_scale` says that they share a few values."""

    names: tuple[str, ...]
    has_scale: bool

    @property
    def label(self) -> str:
        """The name in lists: Q1 … Q40 (40 columns)."""
        return f"{_short(self.names[0])} … {_short(self.names[-1])} ({counted(len(self.names), 'column')})"


def with_batteries(
    profiles: Mapping[str, Profile], verdicts: Verdicts
) -> dict[str, RoleGuess | None]:
    """The verdicts of single columns, and for the columns of each battery the same one."""
    found = dict(verdicts)
    open_names = [name for name, verdict in verdicts.items() if _is_open(verdict)]
    for battery in _batteries({name: profiles[name] for name in open_names}, verdicts):
        found |= _decided(battery, [profiles[name] for name in battery.names])
    return found


def _is_open(verdict: RoleGuess | None) -> bool:
    """Whether a battery may change what a column's own name and values say."""
    if verdict is None or verdict.role == SENSITIVE:
        return True
    return verdict.role in (IDENTIFIER, DROP) and not verdict.is_sure


def _batteries(profiles: Mapping[str, Profile], verdicts: Verdicts) -> list[Battery]:
    stems: dict[str, list[str]] = {}
    for name in profiles:
        stem = re.sub(r"\d+", "#", name)
        if stem != name:
            stems.setdefault(stem, []).append(name)
    found = [part for names in stems.values() for part in _alike(names, profiles)]
    taken = {name for battery in found for name in battery.names}
    scales: dict[frozenset[str], list[str]] = {}
    for name, profile in profiles.items():
        is_answer = verdicts[name] is None and profile.kind in (BANDS, CATEGORY)
        if is_answer and name not in taken and 2 < profile.distinct <= LONGEST_SCALE:
            scales.setdefault(_scale(profile), []).append(name)
    return found + [Battery(tuple(n), True) for n in scales.values() if len(n) >= FEWEST_ALIKE]


def _scale(profile: Profile) -> frozenset[str]:
    return frozenset(profile.texts.to_pylist())


def _alike(names: Sequence[str], profiles: Mapping[str, Profile]) -> list[Battery]:
    """Columns with the same stem, those with few values apart by their scales."""
    short = [name for name in names if profiles[name].distinct <= LONGEST_SCALE]
    long = [name for name in names if name not in short]
    found = [Battery(tuple(long), False)] if len(long) >= FEWEST else []
    scales = {name: _scale(profiles[name]) for name in short}
    while len(scales) >= FEWEST:
        usual = Counter(scales.values()).most_common(1)[0][0]
        fits = [name for name, scale in scales.items() if _is_same(scale, usual)]
        if len(fits) >= FEWEST:
            found.append(Battery(tuple(fits), True))
        scales = {name: scale for name, scale in scales.items() if name not in fits}
    return found


def _is_same(one: frozenset[str], two: frozenset[str]) -> bool:
    return len(one & two) > SAME * len(one | two) or one == two


def _decided(battery: Battery, columns: Sequence[Profile]) -> dict[str, RoleGuess | None]:
    """One verdict for all columns: sensitive if a word says what they contain, else left out."""
    concept = next((c for column in columns if (c := meant_concept(words.SENSITIVE, column))), None)
    is_answer = battery.has_scale and (
        words.ANSWER.found_in(columns[0].words) or columns[0].kind in (BANDS, CATEGORY)
    )
    if concept is None and not is_answer:
        reason = f"{len(columns)} similar unknown columns"
        unknown = RoleGuess(DROP, reason, is_sure=False, is_unknown=True, battery=battery.label)
        return dict.fromkeys(battery.names, unknown)
    reason = name_says(concept) if concept else "answers on one scale"
    single = [secret(column, reason) for column in columns]
    usual = next((v for v in single if v.role == DROP), single[0])
    if usual.role == SENSITIVE:
        coarse = [verdict.coarsen for verdict in single if verdict.coarsen]
        how = widest_options(coarse) if coarse else {}
        reason += f"; decided together for {counted(len(columns), 'column')}, assuming that outsiders do not know them"
        if how:
            reason += " and coarsened, because most values would be unique"
        usual = RoleGuess(SENSITIVE, reason, is_sure=concept is not None, coarsen=how)
    return dict.fromkeys(battery.names, replace(usual, battery=battery.label))


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def names_with_batteries(names: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Names for a list, with one entry for each battery."""
    return list(dict.fromkeys(labels.get(name) or name for name in names))
