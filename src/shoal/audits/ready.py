"""Ready-made hierarchies as the audit reads them: which values a label such as Western Europe or E08-E13 covers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from shoal.audits.ranges import Line, Stretches, Texts

_AND_OVER = " and over"
_FIRST_AGES = {  # the first age of each group, by level
    "band": range(0, 90, 5),
    "broad": (0, 15, 25, 45, 65),
    "stage": (0, 15, 65),
}
_STARRED = {"isco-08": 4, "plz": 5, "us-zip": 5}  # the length of labels like 24**
_KEPT = {
    "minor": 3,
    "sub-major": 2,
    "major": 1,
    "plz3": 3,
    "plz2": 2,
    "plz1": 1,
    "zip3": 3,
}  # characters before the stars


class ReadyLine(Line):
    """A column released as labels of a ready-made hierarchy."""

    def __init__(self, known: Texts, model: Any) -> None:
        super().__init__(known)
        above = reader_of(model)
        self.below: dict[str, set[int]] = {}
        for at, text in enumerate(known):
            for label in above(text) if text is not None else ():
                self.below.setdefault(label, set()).add(at)

    def several(self, released: str) -> Stretches:
        return tuple((at, at + 1) for at in sorted(self.below.get(released, ())))


def reader_of(model: Any) -> Callable[[str], Iterable[str]]:
    """Return what lists the labels that cover a value, by the hierarchy's name."""
    rows = model.rows
    match model.which:
        case "ages":
            return _age_labels
        case "countries":
            regions: dict[str, tuple[str, str]] = {}
            for two, three, small, large, names in rows:
                for name in [two, three, *names.split("|")]:
                    regions[_spelling(name)] = (small, large)
            return lambda text: regions.get(_spelling(text), ())
        case "icd-10-cm":
            return _diagnosis_reader(rows)
        case "nace-2":
            return _activity_labels
        case "uk-postcodes":
            return _postcode_labels
        case "us-zip":
            state_of = dict(rows)
            return lambda text: _zip_labels(text.strip()[:3], state_of)
    length = _STARRED[model.which]
    return lambda text: _cut(text.strip().upper().removeprefix("D").removeprefix("-"), length)


def _cut(code: str, length: int) -> Iterator[str]:
    """A code with its last characters replaced by stars."""
    if code.isdigit() and len(code) <= length:
        for kept in range(1, min(len(code), 3) + 1):
            yield code[:kept].ljust(length, "*")


def _zip_labels(start: str, state_of: Mapping[str, str]) -> tuple[str, ...]:
    return (f"{start}**", state_of[start]) if start in state_of else ()


def _age_labels(text: str) -> Iterator[str]:
    if text.isdigit():
        for starts in _FIRST_AGES.values():
            labels = _age_groups(starts)
            yield labels[max(at for at, start in enumerate(starts) if start <= int(text))]


def _age_groups(starts: Iterable[int]) -> list[str]:
    """The labels of a level of ages: 0–4, 5–9 …, and the last without an end."""
    first = list(starts)
    closed = [f"{low}–{after - 1}" for low, after in pairwise(first)]
    return [*closed, f"{first[-1]}{_AND_OVER}"]


def _spelling(name: str) -> str:
    """What spellings of a country's name have in common."""
    text = unicodedata.normalize("NFKD", name).casefold().replace("&", " and ")
    words = re.findall(r"[^\W_]+", "".join(c for c in text if unicodedata.category(c) != "Mn"))
    return " ".join({"st": "saint"}.get(word, word) for word in words if word != "the")


def _diagnosis_reader(rows: Iterable[tuple[str, ...]]) -> Callable[[str], Iterable[str]]:
    blocks = [(first, last, set(more.split())) for first, last, _, _, more in rows]
    chapters = sorted({(begin, end) for _, _, begin, end, _ in rows})

    @cache
    def above(category: str) -> tuple[str, ...]:
        held = [(a, b) for a, b, more in blocks if a <= category <= b or category in more]
        inside = [
            f"{a}-{b}" for a, b in sorted(held)[-1:]
        ]  # C76-C80 is without C7A, a block itself
        within = [f"{a}-{b}" for a, b in chapters if a <= category <= b]
        return (f"{category}.*", *(inside or [f"{category}-{category}"]), *within)

    return lambda text: above(text.strip().upper()[:3])


def _activity_labels(text: str) -> Iterator[str]:
    digits = re.sub(r"[^0-9]", "", text)
    if len(digits) >= 2:
        yield f"{digits[:2]}.*"
    if len(digits) >= 3:
        yield f"{digits[:2]}.{digits[2]}*"


def _postcode_labels(text: str) -> Iterator[str]:
    spaced = text.upper().split() or [""]
    whole = "".join(spaced)
    if re.search(r"\d[A-Z]{2}$", whole):
        spaced = [whole[:-3], whole[-3:]]
    outward = spaced[0]
    yield f"{re.split('[0-9]', outward)[0]} area"
    yield f"{outward} ***"
    if len(spaced) == 2:
        yield f"{outward} {spaced[1][0]}**"


def is_at_finest(text: str, model: Any) -> bool:
    """Whether a released text tells no more than the finest level of a ready-made hierarchy."""
    level, rows = model.finest, model.rows
    match model.which:
        case "ages":
            return text in _age_groups(_FIRST_AGES[level])
        case "countries":
            return text in {row[2 if level == "subregion" else 3] for row in rows}
        case "icd-10-cm" if level == "category":
            return re.fullmatch(r"[A-Z][0-9][0-9A-Z]\.\*", text) is not None
        case "icd-10-cm":
            at = 0 if level == "block" else 2
            first, _, last = text.partition("-")
            inside = level == "block" and first == last and len(first) == 3
            return inside or (first, last) in {(row[at], row[at + 1]) for row in rows}
        case "nace-2":
            shape = r"\d\d\.\*" if level == "division" else r"\d\d\.\d\*|([A-U]\.?)?\d\d"
            return re.fullmatch(shape, text) is not None
        case "uk-postcodes":
            shapes = {
                "sector": r"[A-Z]{1,2}\d[A-Z\d]? (\d\*\*)|[A-Z]{1,2}\d[A-Z\d]?",
                "district": r"[A-Z]{1,2}\d[A-Z\d]? \*\*\*",
                "area": r"[A-Z]{1,2} area",
            }
            return (
                re.fullmatch(shapes[level], text.upper() if level == "sector" else text) is not None
            )
        case "us-zip" if level == "state":
            return text in {state for _, state in rows}
    told = text.rstrip("*")
    if not told.isdigit():
        return False
    is_short = model.which == "isco-08" and text == told.strip()
    length = _STARRED[model.which]
    return (
        len(told) < _KEPT[level] if is_short else len(told) == _KEPT[level] and len(text) == length
    )
