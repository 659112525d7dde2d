"""How numbers and texts are formatted for readers, and the Jinja environment of the templates that show them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import counted

if TYPE_CHECKING:
    from jinja2 import Environment

NAME = 40  # characters of a column's name
# CSS classes that the box of a verdict gets in addition, by the state of the verdict.
LOOKS = {"protected": "", "proved for some columns only": " doubtful", "not proved": " failed"}


def make_templates(folder: Path) -> Environment:
    """Load the templates of a folder. Everything they print is escaped, and an unknown name is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only a page needs it

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for written in (counted, percent, rounded, sentence, shorten, whole_percent):
        environment.filters[written.__name__] = written
    environment.globals["looks"] = LOOKS
    return environment


def shorten(text: str, most: int = NAME) -> str:
    """Cut a text to one line of at most `most` characters; characters that do not print are replaced."""
    line = "".join(char if char.isprintable() else "�" for char in text[: most + 1])
    return line if len(text) <= most else f"{line[: most - 1]}…"


def sentence(text: str) -> str:
    """A text with a capital first letter and a full stop.

    Examples
    --------
    >>> sentence("its values are unique"), sentence("Unknown column.")
    ('Its values are unique.', 'Unknown column.')
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def percent(share: float, decimals: int = 1) -> str:
    """A share in percent. It shows 0 or 100 % only if it is exactly that.

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
    """A share of the original table, which is only ever shown in whole percents."""
    return percent(share, 0)


def rounded(value: float, digits: int = 3) -> str:
    """A loss, rounded to `digits` significant digits.

    Examples
    --------
    >>> rounded(123456.0), rounded(12.0), rounded(0.12345)
    ('123,000', '12', '0.123')
    """
    if abs(value) <= 1e-9:  # sums of rounding errors
        return "0"
    short = float(f"{value:.{digits}g}")
    return f"{short:,.0f}" if abs(short) >= 1000 else f"{short:.{digits}g}"
