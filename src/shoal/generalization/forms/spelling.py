"""How ranges read, both ways.

`20–29` is from 20 to 29, both included, and `20–<30` from 20 to below 30. Unless both ends are plain numbers, spaces
stand around the dash: `-5 – 3`. The dash is an en dash: spreadsheets take no such text for a date, as they do with a
hyphen. `≥ 90` and `≤ 17` have one end. Files whose encoding lacks these signs get a plain spelling: `[20, 29]`,
`[20, 30)`, `>= 90`, `<= 17`.
"""

from __future__ import annotations

import re

DASH = "–"
AT_LEAST, AT_MOST = "≥ ", "≤ "
SIGNS = f"{DASH}{AT_LEAST}{AT_MOST}"
_SPACED = f" {DASH} "
_PLAIN = {AT_LEAST: ">= ", AT_MOST: "<= "}
_NUMBER = re.compile(r"<?[0-9]+(?:[.,][0-9]+)?")


def joined(low: str, high: str) -> str:
    """The range from one end to another.

    Examples
    --------
    >>> joined("20", "29"), joined("-5", "3"), joined("0.5", "<1")
    ('20–29', '-5 – 3', '0.5–<1')
    """
    is_plain = _NUMBER.fullmatch(low) and _NUMBER.fullmatch(high)
    return f"{low}{DASH if is_plain else _SPACED}{high}"


def ends_of(released: str) -> tuple[str, str] | None:
    """The two ends of a range in either spelling, None where a text is none.

    Examples
    --------
    >>> ends_of("20–29"), ends_of("[20, 29]"), ends_of("[20, 30)"), ends_of("20")
    (('20', '29'), ('20', '29'), ('20', '<30'), None)
    """
    if released[:1] in ("[", "(") and released[-1:] in ("]", ")"):
        low, comma, high = released[1:-1].partition(", ")
        above, below = "" if released[0] == "[" else ">", "" if released[-1] == "]" else "<"
        return (f"{above}{low}", f"{below}{high}") if comma else None
    for dash in (_SPACED, DASH):
        parts = released.split(dash)  # a date's own format may hold dashes: the middle one counts
        half, odd = divmod(len(parts), 2)
        if not odd:
            return dash.join(parts[:half]), dash.join(parts[half:])
    return None


def end_of(released: str, sign: str) -> str | None:
    """The end of `≥ 90` or `≤ 17` in either spelling, None where a text does not begin with the sign."""
    for written in (sign, _PLAIN[sign]):
        if released.startswith(written):
            return released[len(written) :]
    bare = _PLAIN[sign][0]  # without the end itself: `< 30`
    return f"{bare}{released[2:]}" if released.startswith(f"{bare} ") else None


def plainly(released: str) -> str:
    """The plain spelling of a range, or of a text with one end.

    Examples
    --------
    >>> plainly("20–29"), plainly("0.5–<1"), plainly("≥ 90"), plainly("a")
    ('[20, 29]', '[0.5, 1)', '>= 90', 'a')
    """
    for sign, written in _PLAIN.items():
        if released.startswith(sign) and DASH not in released:
            return written + released[len(sign) :]
    ends = ends_of(released) if DASH in released else None
    if ends is None:
        return released
    low, high = (plainly(end) for end in ends)
    begin = f"({low[1:]}" if low[:1] == ">" and low[1:2] != "=" else f"[{low}"
    return f"{begin}, {high[1:]})" if high[:1] == "<" and high[1:2] != "=" else f"{begin}, {high}]"
