"""Which generalization model fits a kind of column, and how wide the bins of a sensitive number must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.forms import STAR, Floats
from shoal.encoding.models import MODELS, Model, Point
from shoal.encoding.models.base import is_ordered
from shoal.encoding.models.ready import READY
from shoal.suggestions import words
from shoal.suggestions.profile import BANDS, CATEGORY, CODE, DATE, FLAG, NUMBER, POINT, Profile
from shoal.suggestions.reading import LEAST, in_order

Options = Mapping[str, Any]
MOST_BINS = 40  # into which most values of a column of numbers fall
LONGEST_CODE = 12  # signs


def _always(profile: Profile) -> Options | None:
    return {}


def _is_read_in_order(profile: Profile) -> Options | None:
    """An interval needs values that can be read as numbers or dates."""
    return {} if is_ordered(profile.typed) else None


def _bands(profile: Profile) -> Options | None:
    """The order of categories that does not depend on rare ones: settings name them."""
    values = in_order(profile.found.values) if profile.rarest >= LEAST else None
    return None if values is None else {"values": tuple(values)}


def _are_dates(profile: Profile) -> Options | None:
    """A calendar needs values that can be read as dates."""
    return {} if pa.types.is_temporal(profile.typed) else None


def _are_places(profile: Profile) -> Options | None:
    """A point needs latitudes and longitudes that exist."""
    return {} if all(map(Point().is_place, profile.texts.to_pylist())) else None


def options_of_codes(profile: Profile) -> Options | None:
    """A prefix makes sense for codes of at least three characters; numbers must all have as many, or zeros are lost."""
    if profile.doubts:  # they are numbers that cannot be read
        return None
    values = profile.found.values
    texts = values.cast(pa.large_string())
    lengths = pc.min_max(pc.utf8_length(texts)).as_py()
    if (lengths["min"] or 0) < 3 or pc.any(pc.match_substring(texts, "*")).as_py():
        return None
    if profile.is_whole or not pa.types.is_large_string(values.type):
        are_digits = pc.all(pc.match_substring_regex(texts, "^[0-9]+$")).as_py()
        is_fit = are_digits and not pa.types.is_floating(values.type)
        return {} if is_fit and lengths["min"] == lengths["max"] else None
    dots = pc.min_max(pc.count_substring(texts, ".")).as_py()
    if dots["min"] == dots["max"] >= 1 and lengths["min"] < lengths["max"]:
        return {"separator": "."}
    return {} if lengths["max"] <= LONGEST_CODE else None


FEWEST_COUNTRIES = 3  # names; fewer may be something else, such as first names
FEWEST_CODES = 20  # diagnoses or postcodes; fewer may be other codes of the same shape
MOST_UNLISTED = 0.05  # share of the records with values that a ready-made hierarchy may lack
_COUNTRY_NAME, _UK_POSTCODE = (
    r"^\pL[\pL .,&'’()-]{3,}$",
    r"^[A-Za-z]{1,2}[0-9][0-9A-Za-z]? ?[0-9][A-Za-z]{2}$",
)


def _is_ready(profile: Profile) -> Options | None:
    """A ready-made hierarchy that nearly all values belong to, if the name or the shape of values says so, too."""
    has_names = profile.distinct >= FEWEST_COUNTRIES and _share(profile, _COUNTRY_NAME) > 1 / 2
    has_codes = profile.distinct >= FEWEST_CODES
    chosen = {
        "countries": has_names or words.COUNTRY.search(profile.words),
        "nace-2": words.ACTIVITY.search(profile.words),
        "icd-10-cm": has_codes and words.DIAGNOSIS.search(profile.words),
        "uk-postcodes": has_codes and _share(profile, _UK_POSTCODE) >= 1 - MOST_UNLISTED,
    }
    found = (_listed(profile, which) for which, fits in chosen.items() if fits)
    return next((options for options in found if options is not None), None)


def _share(profile: Profile, regex: str) -> float:
    """The share of the values looked at that a regular expression matches."""
    found = pc.match_substring_regex(profile.texts, regex)
    return float(pc.mean(found).as_py() or 0)


def _listed(profile: Profile, which: str) -> Options | None:
    """Options for a ready-made hierarchy; None if it lacks the values of too many records."""
    labels = READY[which].labels
    lacks = [text == STAR or labels(text) is None for text in profile.texts.to_pylist()]
    counts = profile.found.counts[profile.looked_at]
    unlisted = counts[np.array(lacks, dtype=np.bool_)].sum()
    is_known = 0 < counts.sum() * (1 - MOST_UNLISTED) <= counts.sum() - unlisted
    # Whatever the table holds: the option must not say that somebody has an odd value.
    return {"which": which, "unlisted": "keep"} if is_known else None


def _bins(profile: Profile) -> Options | None:
    """Bins, if the ends of ranges would show values that only one record has, and bins are wide enough to help."""
    if not is_ordered(profile.typed) or pa.types.is_temporal(profile.typed) or not profile.alone:
        return None
    step = step_of(profile)
    return None if step is None else {"step": step}


def step_of(profile: Profile) -> int | float | None:
    """A round number of which a few dozen cover most values; 5 for ages; None where values are so few or coarse."""
    numbers = numbers_of(profile)
    if numbers is None:
        return None
    if words.AGE.found_in(profile.words):
        return 5
    low, high = np.quantile(numbers, (0.05, 0.95))
    width = (high - low) / MOST_BINS
    if not (0 < width < np.inf):
        return None
    power = 10.0 ** np.floor(np.log10(width))
    step = float(next(m * power for m in (1, 2, 5, 10) if m * power >= width * (1 - 1e-9)))
    if step >= 1:
        return None if profile.is_whole and step < 2 else round(step)
    return None if profile.is_whole else float(f"{step:.0e}")


def numbers_of(profile: Profile) -> Floats | None:
    """The values as numbers, None where they cannot be read as such."""
    values = profile.found.values
    if pa.types.is_large_string(values.type):
        values = pc.replace_substring(values, ",", ".")
    try:
        numbers = np.asarray(values.cast(pa.float64(), safe=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return np.repeat(numbers, profile.found.counts)


@dataclass(frozen=True)
class ModelRule:
    """A model for a kind of column: its name, options for a column (None if it does not fit), and the reason."""

    model: str
    why: str
    options: Callable[[Profile], Options | None] = _always


_FINER = 'a value or *; for more detail: model = "hierarchy" and hierarchy = "FILE.csv"'
_IN_REGIONS = "a ready-made hierarchy contains nearly all values"
_SUPPRESSION = ModelRule("suppression", _FINER)
MODEL_RULES: Mapping[str, tuple[ModelRule, ...]] = {
    DATE: (
        ModelRule("calendar", "day, month, quarter, year, decade", _are_dates),
        ModelRule("interval", "from one day to another", _is_read_in_order),
        _SUPPRESSION,
    ),
    NUMBER: (
        ModelRule(
            "interval",
            "rounded to multiples of this number, so that no range ends at a single person's value",
            _bins,
        ),
        ModelRule("interval", "numbers have an order: 24–30", _is_read_in_order),
        _SUPPRESSION,
    ),
    CODE: (
        ModelRule("ready", _IN_REGIONS, _is_ready),
        ModelRule(
            "prefix", "the first characters name a larger area or class: 021**", options_of_codes
        ),
        ModelRule("suppression", f"codes have no order: {_FINER}"),
    ),
    BANDS: (ModelRule("order", "categories with an order", _bands), _SUPPRESSION),
    FLAG: (ModelRule("suppression", "a value or *"),),
    POINT: (
        ModelRule(
            "point", "cells of latitude and longitude, the smallest 0.01 degrees wide", _are_places
        ),
        _SUPPRESSION,
    ),
    CATEGORY: (ModelRule("ready", _IN_REGIONS, _is_ready), _SUPPRESSION),
}  # the first model that this version knows and that fits is taken


@dataclass(frozen=True)
class ChosenModel:
    """The model that was chosen for a column."""

    name: str
    options: Options
    why: str

    def make(self) -> Model:
        return MODELS[self.name](**self.options)


def model_for(profile: Profile, has_order: bool = False) -> ChosenModel:
    """Choose a model by the kind of a column; one whose categories have an order themselves keeps it."""
    if has_order:
        return ChosenModel(
            "order", {}, "low .. high, in the order that the categories have in the table"
        )
    for choice in MODEL_RULES[profile.kind]:
        options = choice.options(profile)
        if options is not None:
            return ChosenModel(choice.model, options, choice.why)
    raise AssertionError(f"no model for {profile.kind}")


RARE = 0.05  # share of records that may have a coarse value of fewer than LEAST records
MOST_STEPS = 200  # bins from which the search for a step begins
FEWEST_BINS = 3  # fewer are useless


def coarse_options(profile: Profile) -> Mapping[str, Any] | None:
    """Options of an interval whose bins nearly all have ten records, None if there is no useful one.

    The bins are the narrowest of 1, 2 or 5 times a power of ten. Large values that would be alone become one value.
    """
    if not is_ordered(profile.typed) or pa.types.is_temporal(profile.typed):
        return None
    numbers = numbers_of(profile)
    if numbers is None or numbers.size < FEWEST_BINS * LEAST or not np.isfinite(numbers).all():
        return None
    for step in _steps(numbers, profile.is_whole):
        high = _high(numbers, step)
        bins = np.floor(np.minimum(numbers, high) / step)
        counts = np.unique(bins, return_counts=True)[1]
        if counts.size < FEWEST_BINS:
            return None
        if counts[counts < LEAST].sum() <= RARE * numbers.size:
            has_top = bool((numbers > high).any())
            return {"step": step} | ({"high": high} if has_top else {})
    return None


def widest_options(options: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The options for columns that are coarsened alike: the widest bins, and the same end for all."""
    step = max(found["step"] for found in options)
    ends = [found["high"] for found in options if "high" in found]
    if not ends:
        return {"step": step}
    return {"step": step, "high": _plain(np.ceil(max(ends) / step) * step)}


def _steps(numbers: Floats, is_whole: bool) -> list[int | float]:
    low, high = np.quantile(numbers, (0.05, 0.95))
    width = (high - low) / MOST_STEPS
    if not (0 < width < np.inf):
        return []
    power = int(np.floor(np.log10(width)))
    found = [float(f"{m}e{power + p}") for p in range(5) for m in (1, 2, 5)]
    steps = [_plain(step) for step in found if step >= width]
    return [step for step in steps if step >= 2] if is_whole else steps


def _high(numbers: Floats, step: float) -> int | float:
    """The largest end of a bin that at least ten records reach or exceed."""
    reached = np.partition(numbers, -LEAST)[-LEAST]
    return _plain(np.floor(reached / step) * step)


def _plain(number: float) -> int | float:
    """A whole number as such, others without the rounding errors of binary fractions."""
    rounded = float(f"{number:.10g}")
    return int(rounded) if rounded == int(rounded) else rounded
