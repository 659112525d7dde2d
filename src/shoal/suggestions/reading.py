"""How a table is written: date formats, decimal commas, codes for missing values, ordered categories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.models.base import is_ordered
from shoal.encoding.source import Input
from shoal.encoding.type_inference import all_match, date_format_in_words, date_formats, infer
from shoal.risk.patterns import word_set

Counts = npt.NDArray[np.int64]

LEAST = (
    10  # records that must have a number before it is suggested, or shown, as a code for "missing"
)
SPIKE = 10.0  # times more records than the neighbouring values have
GAP = 0.7  # the largest other value, as a share of a code that is far from all others

MARKERS = word_set("? ?? na n/a #n/a #na n.a. nan null #null! - -- --- . .. * ** k.a.") | {""}
_WORDS_FOR_MISSING = word_set(
    "unknown unbekannt inconnu desconocido sconosciuto onbekend desconhecido unk refused verweigert don't_know "
    "weiss_nicht weiß_nicht not_stated not_reported not_applicable n.z. ns/nr other/unknown tbd not_known none nil "
    "missing keine_angabe no_answer not_available k._a. sin_dato"
)  # only among numbers and dates: elsewhere they are a category
_NO_DATE = re.compile(
    r"(0000|9999)[-./]?(00|99)[-./]?(00|99)|(00|99)[-./](00|99)[-./](0000|9999)|"
    r"9999[-./]?12[-./]?31|31[-./]12[-./]9999|12/31/9999|[-./ ]+"
)
_MAY_BE_NO_DATE = r"^(0000|9999|[09]{2}[-./][09]{2}[-./]|31[-./]12[-./]9999|12/31/9999|[-./ ]+$)"
_MISSING_CODES = "9 8 7 99 98 97 96 95 94 88 77 999 998 997 996 888 777 9999 9998 9997 8888 7777"
_CODES = tuple(int(code) for code in _MISSING_CODES.split())
_FAMILY = frozenset(
    (*_CODES, 99999, 999999, 9999999, 99999999, *(-code for code in (1, *_CODES, 99999)))
)

_COMMA = r"^-?([0-9]+)(,[0-9]+)?$"
_THOUSANDS = r"^-?[0-9]{1,3}([.,' ][0-9]{3})+([.,][0-9]+)?$"


@dataclass(frozen=True)
class NumberedColumn:
    """A column's distinct values, in the order of appearance, with the records of each; −1 means null."""

    name: str
    values: pa.Array
    counts: Counts
    codes: Counts  # of every record

    @property
    def is_text(self) -> bool:
        return bool(pa.types.is_large_string(self.values.type))

    def as_text(self) -> NumberedColumn:
        """The same with texts instead of numbers or dates."""
        return replace(self, values=self.values.cast(pa.large_string()))

    def without(self, missing: Sequence[str]) -> NumberedColumn:
        """The same with some texts read as missing values."""
        if not missing or not len(self.values):
            return self
        texts = self.values if self.is_text else self.values.cast(pa.large_string())
        stays = np.asarray(pc.invert(pc.is_in(texts, pa.array(list(missing), pa.large_string()))))
        if stays.all():
            return self
        rank = np.append(np.where(stays, np.cumsum(stays) - 1, -1), -1)
        return NumberedColumn(
            self.name, self.values.filter(pa.array(stays)), self.counts[stays], rank[self.codes]
        )


def number_column(name: str, array: pa.ChunkedArray) -> NumberedColumn:
    """Number a column's values."""
    encoded = array.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = (
            pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], array.type)
        )
    encoded = encoded.dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(encoded.dictionary))
    return NumberedColumn(name, encoded.dictionary, counts, codes)


def text_markers(column: NumberedColumn) -> tuple[str, ...]:
    """Texts of a column that mean "missing": ?, NA, 99.99.9999; "unknown" among numbers and dates."""
    if not column.is_text or not len(column.values):
        return ()
    folded_values = pc.utf8_lower(pc.utf8_trim_whitespace(column.values))
    known = pa.array(sorted(MARKERS | _WORDS_FOR_MISSING), pa.large_string())
    may_be = pc.or_(
        pc.is_in(folded_values, known), pc.match_substring_regex(column.values, _MAY_BE_NO_DATE)
    )
    short = column.values.filter(may_be).to_pylist()
    folded = {text: text.strip().lower() for text in short}
    found = [text for text, plain in folded.items() if plain in MARKERS]
    has_na = "na" in folded.values() and len(column.values) > 3
    if has_na and share_of(column.values, "^[A-Z]{2}$") > 0.8:  # Namibia among countries
        found = [text for text in found if folded[text] != "na"]
    found += [text for text in short if _NO_DATE.fullmatch(text) and text not in found]
    words = [text for text in short if folded[text] in _WORDS_FOR_MISSING and text not in found]
    if words and _is_read(column.without([*found, *words])):
        found += words
    return tuple(sorted(found))


def share_of(texts: pa.Array, regex: str) -> float:
    """The share of texts that fit a regular expression; there must be any, and none may be null."""
    return float(pc.sum(pc.match_substring_regex(texts, regex)).as_py()) / len(texts)


def _is_read(column: NumberedColumn) -> bool:
    """Whether texts can be read as numbers or dates in any format."""
    if not len(column.values):
        return False
    return bool(
        is_ordered(value_type(column.values, Input()))
        or all_match(column.values, _COMMA)
        or date_formats(column.values)
    )


def number_codes(values: pa.Array, counts: Counts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Whole numbers that probably mean "missing": those far from all others, and spikes.

    99 among 1 to 5 is far from all others; 99 among ages is a spike if many more records have it than have 98. At least
    ten records have such a number.
    """
    numbers = np.asarray(values.cast(pa.int64(), safe=False))
    order = np.argsort(numbers)
    numbers, counts = numbers[order], counts[order]
    candidates = [
        place
        for place, number in enumerate(numbers.tolist())
        if number in _FAMILY and counts[place] >= LEAST
    ]
    plain = np.setdiff1d(np.arange(numbers.size), candidates)
    if plain.size < 2 and not (plain.size and len(candidates)):
        return (), ()
    apart, spikes = [], []
    low, high = int(numbers[plain].min()), int(numbers[plain].max())
    for place in candidates:
        number = int(numbers[place])
        neighbours = np.delete(counts[max(0, place - 5) : place + 6], min(place, 5))
        if number < 0 <= low or (number - high > 1 and high <= GAP * number):
            apart.append(str(number))
            continue
        usual = max(1.0, float(np.median(neighbours)))
        if number == numbers[-1] and counts[place] >= SPIKE * usual:
            spikes.append(str(number))
        high = max(high, number)  # one near the others is an ordinary value
    return tuple(apart), tuple(spikes)


def is_decimal_comma(values: pa.Array) -> bool:
    """Whether all texts are numbers and some have a decimal comma; 1,234 is more likely a thousand."""
    if not all_match(values, _COMMA):
        return False
    fractions = values.filter(pc.match_substring(values, ","))
    return len(fractions) > 0 and not all_match(fractions, r",[0-9]{3}$")


def has_thousands(values: pa.Array) -> bool:
    """Whether all texts are numbers, some of them with separators of thousands."""
    plain = r"^-?[0-9]+([.,][0-9]+)?$"
    some = pc.any(pc.match_substring_regex(values, _THOUSANDS)).as_py()
    return bool(some) and all_match(values, f"{_THOUSANDS}|{plain}")


def value_type(values: pa.Array, input: Input) -> pa.DataType:
    """The type of a column's values, of texts the one they can be read as; whole numbers may be dates: 20241231."""
    if not len(values):
        return values.type
    if pa.types.is_integer(values.type) and input.date_format is not None:
        read = infer(values.cast(pa.large_string()), input).type
        return read if pa.types.is_temporal(read) else values.type
    return infer(values, input).type if pa.types.is_large_string(values.type) else values.type


@dataclass(frozen=True)
class TableWriting:
    """How a table is written, as far as its values show, and what is unsure about it."""

    input: Input
    doubts: dict[str, str]  # about dates that are not ISO dates and may mean other days
    remarks: tuple[str, ...]


def writing_of(columns: Sequence[NumberedColumn], input: Input) -> TableWriting:
    """Detect decimal separator and date formats of a table from its columns, without their missing values.

    What `input` already says is not changed.
    """
    remarks: list[str] = []
    with_comma = [c.name for c in columns if c.is_text and is_decimal_comma(c.values)]
    with_point = [c.name for c in columns if pa.types.is_floating(value_type(c.values, Input()))]
    if input.decimal == "." and len(with_comma) > len(with_point):
        input = replace(input, decimal=",")
        remarks.append(f"Numbers have decimal commas ({_columns(with_comma)}).")
    formats = {column.name: forms for column in columns if (forms := _formats_of(column, input))}
    if not formats:
        return TableWriting(input, {}, tuple(remarks))
    votes = Counter(form for found in formats.values() for form in found)
    most = max(votes.values())
    best = next(form for form in votes if votes[form] == most)  # days come before months
    chosen = {name: best if best in found else found[0] for name, found in formats.items()}
    if input.date_format is None:
        input = replace(input, date_format=best)
        input = input.with_formats({n: form for n, form in chosen.items() if form != best})
    else:
        input = input.with_formats(chosen)
    for form in dict.fromkeys(chosen.values()):
        own = [name for name, taken in chosen.items() if taken == form]
        remarks.append(f"Dates are written {date_format_in_words(form)} ({_columns(own)}).")
    found = {name: _doubt(form, formats[name], votes) for name, form in chosen.items()}
    doubts = {name: doubt for name, doubt in found.items() if doubt}
    return TableWriting(input, doubts, tuple(remarks))


def _formats_of(column: NumberedColumn, input: Input) -> list[str]:
    """The formats of a column's dates that are not ISO dates, unless a given format fits."""
    if not len(column.values) or not (column.is_text or pa.types.is_integer(column.values.type)):
        return []
    said = input.of_column(column.name)
    is_known = said.date_format is not None and pa.types.is_temporal(
        value_type(column.values, said)
    )
    return [] if is_known else date_formats(column.values)


def _doubt(form: str, fitting: Sequence[str], votes: Counter[str]) -> str | None:
    """What is unsure about the format that was chosen for a column's dates."""
    swapped = form.replace("%m", "%").replace("%d", "%")
    others = [
        other
        for other in fitting
        if other != form and other.replace("%m", "%").replace("%d", "%") == swapped
    ]
    if others and votes[others[0]] == votes[form]:
        return f"dates could be {form} or {others[0]}: no day is above 12"
    return "years have two digits, so the century is a guess" if "%y" in form else None


def _columns(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")


MOST = 60  # categories of a scale
_BAND = re.compile(
    r"\s*(?P<before><=?|>=?|≤|≥|under|over|unter|über|bis|ab|below|above|up to|moins de|plus de|menos de|mas de)?"
    r"\s*[\[(]?(?P<low>\d+(?:[.,]\d+)?)\s*[kK%]?(?:\s*(?:-|–|to|bis|a|à|tot|,)\s*<?(?P<high>\d+(?:[.,]\d+)?)\s*[kK%]?)?[\])]?"
    r"\s*(?P<after>\+|years?( old)?|jahre|yrs|and over|or more|und älter|et plus|y más|e oltre|en ouder)?\s*",
    re.IGNORECASE,
)
_BELOW = ("<", "<=", "≤", "under", "unter", "bis", "below", "up to", "moins de", "menos de")
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
    """A number per text that puts them in order, or None if no order is known.

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
    if before in _BELOW:
        return low - 0.5
    return low + (0.25 if before else 0.0)


def in_order(values: pa.Array) -> list[str] | None:
    """Texts from the lowest to the highest, or None."""
    ranks = rank_of(values)
    if ranks is None:
        return None
    order = pc.array_sort_indices(pa.array(ranks)).to_pylist()
    return [values[place].as_py() for place in order]
