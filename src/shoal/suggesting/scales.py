"""Categories with an order: bands of numbers like 18-24, and scales like low, medium, high in several languages."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

MOST = 60  # categories of a scale
_BAND = re.compile(
    r"\s*(?P<before><=?|>=?|≤|≥|under|over|unter|über|bis|ab|below|above|up to|moins de|plus de|menos de|mas de)?"
    r"\s*[\[(]?(?P<low>\d+(?:[.,]\d+)?)\s*[kK%]?(?:\s*(?:-|–|to|bis|a|à|tot|,)\s*<?(?P<high>\d+(?:[.,]\d+)?)\s*[kK%]?)?[\])]?"
    r"\s*(?P<after>\+|years?( old)?|jahre|yrs|and over|or more|und älter|et plus|y más|e oltre|en ouder)?\s*",
    re.IGNORECASE,
)
_SCALES = tuple(
    tuple(step.split("|") for step in scale.split())
    for scale in (
        "very_low low medium|moderate|middle|average|normal high|elevated very_high",
        "sehr_niedrig niedrig|gering mittel|normal hoch sehr_hoch",
        "tres_faible faible|bas moyen|moyenne eleve|fort|haut tres_eleve",
        "muy_bajo bajo|baja medio|media alto|alta muy_alto",
        "molto_basso basso|bassa medio|media alto|alta molto_alto",
        "zeer_laag laag midden|gemiddeld hoog zeer_hoog",
        "muito_baixo baixo|baixa medio|media alto|alta muito_alto",
        "never rarely|seldom sometimes often|frequently always",
        "nie selten manchmal oft|haufig immer",
        "very_poor poor|bad fair|average good very_good excellent",
        "sehr_schlecht schlecht mittel gut sehr_gut",
        "strongly_disagree disagree neutral|neither agree strongly_agree",
        "mild|minor|light moderate severe|serious critical",
        "none primary|elementary secondary tertiary|university",
        "small medium large",
    )
)
_PLACES = tuple(
    {word.replace("_", " "): place for place, step in enumerate(scale) for word in step}
    for scale in _SCALES
)


def rank_of(values: pa.Array) -> list[float] | None:
    """A number per text that puts them in order, or None where they have none that is known.

    Examples
    --------
    >>> rank_of(pa.array(["25-34", "<25", "35+"], pa.large_string()))
    [25.0, 24.5, 35.0]
    >>> rank_of(pa.array(["High", "Low", "Medium"], pa.large_string()))
    [3.0, 1.0, 2.0]
    """
    if not (pa.types.is_large_string(values.type) and 2 < len(values) <= MOST):
        return None
    texts = values.to_pylist()
    bands = [_BAND.fullmatch(text) for text in texts]
    if all(bands) and any(b["high"] or b["before"] or b["after"] for b in bands if b):
        ranks = [_rank(band) for band in bands if band]
        return ranks if len(set(ranks)) == len(ranks) else None
    plain = [" ".join(re.split(r"[\s_\-]+", text.strip().lower())) for text in texts]
    for places in _PLACES:
        ranks = [float(places.get(text, -1)) for text in plain]
        if min(ranks) >= 0 and len(set(ranks)) == len(ranks):
            return ranks
    return None


def _rank(band: re.Match[str]) -> float:
    low = float(band["low"].replace(",", "."))
    before = (band["before"] or "").lower()
    if before in (
        "<",
        "<=",
        "≤",
        "under",
        "unter",
        "bis",
        "below",
        "up to",
        "moins de",
        "menos de",
    ):
        return low - 0.5
    return low + (0.25 if before else 0.0)


def in_order(values: pa.Array) -> list[str] | None:
    """Texts from the lowest to the highest, or None."""
    ranks = rank_of(values)
    if ranks is None:
        return None
    order = pc.array_sort_indices(pa.array(ranks)).to_pylist()
    return [values[place].as_py() for place in order]
