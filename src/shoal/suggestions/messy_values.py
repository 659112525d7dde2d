"""Values that need cleaning before they can be compared: thousands separators, spaces at ends, several spellings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.files.cleaning import SPACES, number_pattern, spelling_key
from shoal.encoding.source import THOUSANDS, Input
from shoal.encoding.type_inference import all_match
from shoal.errors import listed
from shoal.suggestions.reading import NumberedColumn, is_decimal_comma, share_of, text_markers

MOST_SPELLINGS = 200  # distinct values above which a column is no category
ENOUGH_SPACES = 0.1  # share of distinct values with spaces at their ends that are worth removing
_PLAIN = {".": r"^[-+−]?[0-9]*(\.[0-9]+)?$", ",": r"^[-+−]?[0-9]*(,[0-9]+)?$"}
_LEAST_NAMES = 3  # columns that a remark names


def messy_values(
    columns: Mapping[str, NumberedColumn], given: Input
) -> tuple[Input, dict[str, str]]:
    """How a table must be cleaned, and remarks by the field that says so; what is given is not changed."""
    texts = {
        name: found.without(text_markers(found))
        for name, column in columns.items()
        if column.is_text and not given.is_text(name)
        for found in [column.without(given.missing_in(name))]
    }
    remarks: dict[str, str] = {}
    changes: dict[str, object] = {}
    spaced = [] if given.trim else [name for name, own in texts.items() if _has_spaces(own.values)]
    if spaced and all(name == name.strip(SPACES) for name in given.named_columns):
        changes["trim"] = True
        remarks["trim"] = (
            f"Texts have spaces at their ends ({some_names(spaced)}); these are removed (trim)."
        )
    is_trimmed = given.trim or "trim" in changes

    def named(name: str) -> str:
        return name.strip(SPACES) if is_trimmed else name  # headings are trimmed, too

    if given.thousands is None:
        decimal, signs = _thousands(texts, given)
        if signs:
            changes |= {
                "thousands": {named(name): sign for name, sign in signs.items()},
                "decimal": decimal,
            }
            remarks["thousands"] = (
                f"Numbers have thousands separators ({some_names(list(signs))}); these are removed (thousands)."
            )
    doubled = [
        name
        for name, own in texts.items()
        if name not in given.merge_spellings
        and _has_spellings([text.strip(SPACES) for text in _few(own.values)])
    ]
    if doubled:
        changes["merge_spellings"] = (*given.merge_spellings, *map(named, doubled))
        remarks["merge_spellings"] = (
            f"Values differ only in case or spaces ({some_names(doubled)}); they become one value (merge_spellings)."
        )
    return replace(given, **changes), remarks  # type: ignore[arg-type]


def _has_spaces(values: pa.Array) -> bool:
    """Whether values have spaces at their ends: many, or such that are equal without them."""
    if not len(values):
        return False
    trimmed = pc.utf8_trim(values, SPACES)
    changed = pc.sum(pc.not_equal(trimmed, values)).as_py() or 0
    is_double = len(pc.unique(trimmed)) < len(values)
    return changed > 0 and (is_double or changed >= ENOUGH_SPACES * len(values))


def _few(values: pa.Array) -> list[str]:
    return values.to_pylist() if len(values) <= MOST_SPELLINGS else []


def _has_spellings(texts: Sequence[str]) -> bool:
    """Whether some values differ only in case or spaces; those of two letters alone may be codes, like AA and Aa."""
    spellings: dict[str, set[str]] = {}
    for text in texts:
        spellings.setdefault(spelling_key(text), set()).add(text)
    doubled = [
        key for key, own in spellings.items() if len(own) > 1 and re.search(r"[^\W\d_]", key)
    ]
    return any(len(key) != 2 for key in doubled)


def _thousands(columns: Mapping[str, NumberedColumn], given: Input) -> tuple[str, dict[str, str]]:
    """The decimal separator, and the separator of thousands of each column that has one."""
    columns = {name: own for name, own in columns.items() if len(own.values)}
    likely = {
        name: {
            decimal: sign
            for decimal in _PLAIN
            for sign in THOUSANDS
            if sign != decimal and _is_grouped(own.values, sign, decimal)
        }
        for name, own in columns.items()
    }
    likely = {name: own for name, own in likely.items() if own}
    if not likely:
        return given.decimal, {}
    commas = sum(is_decimal_comma(own.values) for own in columns.values())
    for name, own in likely.items():
        if set(own) == {","} and _shows_decimals(columns[name].values, own[","]):
            commas += 1
    decimal = "," if given.decimal == "," or commas else "."
    found = {name: own[decimal] for name, own in likely.items() if decimal in own}
    if decimal == ".":  # 1.234 alone is a number with three decimals
        found = {name: sign for name, sign in found.items() if sign != "."}
    return decimal, found


def _shows_decimals(values: pa.Array, sign: str) -> bool:
    """Whether some value has several separators, or one of thousands and one of decimals."""
    escaped = re.escape(sign)
    several = rf"[0-9]{escaped}[0-9]{{3}}({escaped}[0-9]{{3}}|,[0-9])"
    return bool(pc.any(pc.match_substring_regex(values, several)).as_py())


def _is_grouped(values: pa.Array, sign: str, decimal: str) -> bool:
    """Whether all values are numbers, some of them with this separator of thousands."""
    grouped = number_pattern(sign, decimal)
    trimmed = pc.utf8_trim(values, SPACES)
    if not all_match(trimmed, f"{grouped}|{_PLAIN[decimal]}") or not share_of(trimmed, grouped):
        return False
    lengths = pc.unique(pc.utf8_length(trimmed))
    return sign != " " or len(lengths) > 1  # 555 123 and 555 124 are no quantities


def some_names(names: Sequence[str]) -> str:
    """The first names of a list, for a remark."""
    more = len(names) - _LEAST_NAMES
    return listed(names[:_LEAST_NAMES]) + (f" and {more} more" if more > 0 else "")
