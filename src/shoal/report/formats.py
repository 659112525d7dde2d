"""How numbers and texts are written for people, and the environment of the templates that show them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

NAME = 40  # characters of a column's name
# What the class of a verdict gets for each of its states.
LOOKS = {"protected": "", "proved for some columns only": " doubtful", "not proved": " failed"}


def make_templates(folder: Path) -> Environment:
    """The templates of a folder: whatever they print is escaped, and a name that is unknown is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only a page needs it

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for written in (counted, percent, rounded, shorten, whole_percent):
        environment.filters[written.__name__] = written
    environment.globals["looks"] = LOOKS
    return environment


def shorten(text: str, most: int = NAME) -> str:
    """A text of at most so many characters, on one line; what does not print is replaced."""
    line = "".join(sign if sign.isprintable() else "�" for sign in text[: most + 1])
    return line if len(text) <= most else f"{line[: most - 1]}…"


def counted(number: int, noun: str = "") -> str:
    """A number, or a number of things.

    Examples
    --------
    >>> counted(1234), counted(1, "record"), counted(2, "record")
    ('1,234', '1 record', '2 records')
    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float, decimals: int = 1) -> str:
    """A share that reads as none or all only if it is.

    Examples
    --------
    >>> percent(0.5), percent(0.0), percent(0.0001), percent(0.9999)
    ('50.0 %', '0.0 %', '< 0.1 %', '> 99.9 %')
    """
    least = 10.0 ** -(decimals + 2)
    if 0 < share < least:
        return f"< {100 * least:.{decimals}f} %"
    if 1 - least < share < 1:
        return f"> {100 - 100 * least:.{decimals}f} %"
    return f"{100 * share:.{decimals}f} %"


def whole_percent(share: float) -> str:
    """A share of originals, which is never told finer than in whole percents."""
    return percent(share, 0)


def rounded(value: float, digits: int = 3) -> str:
    """A loss, of so many significant digits.

    Examples
    --------
    >>> rounded(123456.0), rounded(12.0), rounded(0.12345)
    ('123,000', '12', '0.123')
    """
    if abs(value) <= 1e-9:  # sums of rounding errors
        return "0"
    short = float(f"{value:.{digits}g}")
    return f"{short:,.0f}" if abs(short) >= 1000 else f"{short:.{digits}g}"
