"""Which changes may give a release more detail: for one column by what it contains, and for the whole release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.advice.changes import (
    LEAVE_OUT,
    MODEL,
    OTHER_K,
    REQUIREMENT,
    SUPPRESSION,
    WEIGHT,
    Change,
    described,
)
from shoal.audits.requirements.alpha import AlphaK
from shoal.audits.requirements.base import Requirement
from shoal.audits.requirements.closeness import TCloseness
from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.requirements.sensitivity import PSensitive
from shoal.encoding.encode import Column
from shoal.encoding.frames import arrow_column, arrow_table
from shoal.encoding.models import Calendar, Hierarchy, Interval, Model, Order, Point, Prefix, Subset
from shoal.encoding.models.base import is_ordered
from shoal.encoding.models.periods import UNITS
from shoal.encoding.source import Input, Source
from shoal.encoding.type_inference import date_format_in_words, found_dates
from shoal.errors import InputError
from shoal.settings.settings import Settings
from shoal.suggestions import words
from shoal.suggestions.models import options_of_codes, step_of
from shoal.suggestions.profile import DATE, NUMBER, Profile, profile_of
from shoal.suggestions.reading import LEAST, in_order, number_column, text_markers

STEPS = ("month", "year")  # of ranges of dates
WIDER = (1, 2, 5)  # times the usual width of bins
LARGEST_SET = 60  # categories of which sets are tried
FEWEST, MOST = 3, 200  # categories of which a hierarchy is made
FINEST = 4  # lengths of codes that are tried
HEAVIER = 3.0  # times the weight of now
LEFT_OUT = 0.01  # share of records
LEAST_K = 2
# Requirements that are tried in addition or compared, the strongest first.
DIVERSITIES = tuple(
    LDiversity(l, kind=kind)
    for kind, l in (("frequency", 3), ("frequency", 2), ("distinct", 3), ("distinct", 2))
)
CLOSE = 0.2  # t of closeness that is compared


def of_column(source: Source, settings: Settings, column: Column) -> Iterator[Change]:
    """Changes of one quasi-identifier: other models, other weights, leaving it out."""
    name = column.name
    profile, date_format = _profile(source, settings.reading, name)
    missing = profile.missing if date_format else ()
    read = f"read as {date_format_in_words(date_format)}, " if date_format else ""
    tried: list[Model] = []
    for model in _models(profile, column.model, source, settings):
        if model not in (column.model, *tried):
            tried.append(model)
            yield Change(
                MODEL,
                f"{read}{described(model)}",
                name,
                model=model,
                date_format=date_format,
                missing=missing,
            )
    if len(settings.quasi_identifiers) > 1:
        yield Change(LEAVE_OUT, "left out", name)
        now = settings.weights.get(name, 1.0)
        weight = HEAVIER * now
        yield Change(WEIGHT, f"weight {weight:g}", name, weight=weight)


def of_release(settings: Settings) -> Iterator[Change]:
    """Changes of the whole release: records left out, and a weaker promise."""
    if settings.suppression_limit < LEFT_OUT:
        yield Change(
            SUPPRESSION,
            f"leave out up to {LEFT_OUT:.0%} of the records",
            suppression_limit=LEFT_OUT,
        )
    k = settings.k // 2
    if k >= LEAST_K:
        yield Change(OTHER_K, f"k = {k} instead of {settings.k}", k=k, protects_less=True)
    for place, own in enumerate(settings.requirements):
        for weaker in _weaker(own):
            found = list(settings.requirements)
            found[place] = weaker
            what = f"{_named(weaker)} instead of {_named(own)}"
            yield Change(REQUIREMENT, what, requirements=tuple(found), protects_less=True)


def added_requirements(settings: Settings) -> Iterator[Change]:
    """Requirements that may be affordable in addition, the strongest first."""
    if not settings.sensitive or settings.requirements:
        return
    for required in DIVERSITIES:
        yield Change(REQUIREMENT, _named(required), requirements=(required,))


def compared_requirements(settings: Settings) -> Iterator[Change]:
    """Other requirements for all sensitive columns, from none to strong ones."""
    if not settings.sensitive:
        return
    offered = [(), *((own,) for own in reversed(DIVERSITIES)), (TCloseness(CLOSE),)]
    for required in offered:
        if required != settings.requirements:
            what = _named(required[0]) if required else "k alone"
            yield Change(REQUIREMENT, what, requirements=required)


def _named(required: Requirement) -> str:
    match required:
        case LDiversity():
            return f"{required.kind} diversity with l = {required.l:g}"
        case TCloseness():
            return f"closeness with t = {required.t:g}"
        case AlphaK():
            return f"a share of at most {required.alpha:g}"
        case PSensitive():
            return f"at least {required.p} values"
        case _:
            return required.name


def _weaker(required: Requirement) -> Iterator[Requirement]:
    """The same requirement with a weaker limit, and a weaker kind of it."""
    match required:
        case LDiversity():
            if required.l - 1 > 1:
                yield replace(required, l=required.l - 1)
            if required.kind != "distinct" and required.l >= 2:
                yield replace(required, kind="distinct", l=int(required.l), c=None)
        case TCloseness() if required.t < 1:
            yield replace(required, t=min(1.0, round(1.5 * required.t, 3)))
        case AlphaK() if required.alpha < 1:
            yield replace(required, alpha=min(1.0, round(1.5 * required.alpha, 3)))
        case PSensitive() if required.p > 2:
            yield replace(required, p=required.p - 1)


def _profile(source: Source, reading: Input, name: str) -> tuple[Profile, str | None]:
    """What a column contains, and the format of its dates if it is read as text so far."""
    found = number_column(name, arrow_column(source.data, name))
    found = found.as_text() if reading.is_text(name) else found
    found = found.without(reading.missing_in(name))
    markers = text_markers(found)
    in_words = words.names_in_words([name])[name]
    profile = profile_of(found, in_words, markers, reading, is_delimited=source.dialect is not None)
    is_date = profile.kind == DATE and not reading.is_text(name)
    if is_date or not profile.found.is_text or not profile.distinct:
        return profile, None
    try:
        dates = found_dates(name, profile.found.values)
    except InputError:  # several formats fit, and shoal does not guess
        return profile, None
    if dates is None:
        return profile, None
    return replace(profile, kind=DATE, typed=dates[1].type), dates[0]


def _models(profile: Profile, now: Model, source: Source, settings: Settings) -> Iterator[Model]:
    """Models for a column that may lose less than that of now."""
    if profile.distinct < 2 or isinstance(now, Point):
        return
    if pa.types.is_temporal(profile.typed):
        yield from _of_dates(now)
    elif profile.kind == NUMBER and is_ordered(profile.typed):
        yield from _of_numbers(profile, now)
    else:
        yield from _of_codes(profile, now)
        yield from _of_categories(profile, now, source, settings)


def _of_dates(now: Model) -> Iterator[Model]:
    coarse = getattr(now, "step" if isinstance(now, Interval) else "finest", None)
    units = [unit for unit in STEPS if coarse is None or UNITS.index(unit) > UNITS.index(coarse)]
    ends: dict[str, Any] = {
        key: getattr(now, key) for key in ("low", "high") if getattr(now, key, None) is not None
    }
    if not isinstance(now, Interval):
        yield Interval(step=coarse, **ends)
    for unit in units:
        yield Interval(step=unit, **ends)
        yield Calendar(finest=unit, **ends)


def _of_numbers(profile: Profile, now: Model) -> Iterator[Model]:
    ends: dict[str, Any] = {
        key: getattr(now, key) for key in ("low", "high") if getattr(now, key, None) is not None
    }
    given = getattr(now, "step", None)
    step = given or step_of(profile) or (1 if profile.is_whole else None)
    if step is None:
        if not isinstance(now, Interval):
            yield Interval(**ends)
        return
    for factor in WIDER:
        wider = round(step * factor, 12)
        if wider != given:
            yield Interval(step=None if wider == 1 and profile.is_whole else wider, **ends)


def _of_codes(profile: Profile, now: Model) -> Iterator[Model]:
    options = options_of_codes(profile)
    if options is None:
        return
    if not isinstance(now, Prefix):
        yield Prefix(**options)
    texts = profile.texts
    parts = pc.min_max(pc.count_substring(texts, " ")).as_py()
    if profile.is_text and parts["min"] == parts["max"] == 1:
        yield Prefix(separator=" ")
    if "separator" in options:
        return
    longest = pc.max(pc.utf8_length(texts)).as_py()
    cut = min(longest, getattr(now, "finest", None) or longest)
    for finest in range(cut - 1, max(0, cut - 1 - FINEST), -1):
        yield Prefix(finest=finest)


def _of_categories(
    profile: Profile, now: Model, source: Source, settings: Settings
) -> Iterator[Model]:
    """Orders, sets and hierarchies; those that name values only if at least ten records have each."""
    if isinstance(now, Order | Subset | Hierarchy) or profile.distinct < FEWEST:
        return
    values = in_order(profile.found.values) if profile.is_text else None
    if values is not None:
        if list(values) == sorted(values):
            yield Order("names")
        elif profile.rarest >= LEAST:
            yield Order(tuple(values))
    if profile.distinct <= LARGEST_SET:
        yield Subset()
    others = [name for name in settings.quasi_identifiers if name != profile.name]
    if profile.rarest >= LEAST and others and FEWEST < profile.distinct <= MOST:
        columns = [profile.name, *others]
        with suppress(InputError):
            yield Hierarchy.from_data(
                arrow_table(source.data).select(columns), profile.name, by=others
            )
