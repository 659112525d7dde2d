"""What may be said about a file that is read: options that make no sense are refused at once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shoal.errors import shown
from shoal.io.text import encoding_problems
from shoal.table.source import Input

_TAB = ("tab", "\\t")
_DECIMAL_SIGNS = (".", ",")
_A_MOMENT = datetime(2001, 12, 31, 13, 14, 15)
_SAME_DAY_LATER = _A_MOMENT.replace(year=2029)  # the same weekday and week of the year


def option_problems(input: Input) -> list[str]:
    """Say in sentences which options of reading cannot be used."""
    found = encoding_problems(input.encoding)
    if input.delimiter is not None and not _is_delimiter(delimiter_of(input)):
        found.append(
            "The delimiter must be one character that is no letter, digit or quotation mark, like ; "
            f"or |, or the word tab; got {shown(input.delimiter)}."
        )
    if input.decimal not in _DECIMAL_SIGNS:
        found.append(f"The decimal sign must be . or , and not {shown(input.decimal)}.")
    formats = input.date_format
    for form in formats.values() if isinstance(formats, Mapping) else [formats]:
        if form is not None and not _is_date_format(form):
            found.append(
                "The date format must say day, month and year as Python's strptime does, like %d.%m.%Y; "
                f"got {shown(form)}."
            )
    return found


def delimiter_of(input: Input) -> str | None:
    """The delimiter that is asked for, as the character itself."""
    return "\t" if input.delimiter in _TAB else input.delimiter


def _is_delimiter(character: str | None) -> bool:
    return (
        isinstance(character, str)
        and len(character) == 1
        and character.isascii()
        and not character.isalnum()
        and character not in '"\r\n\0'
    )


def _is_date_format(date_format: str) -> bool:
    """Whether a moment that is written so is understood again, with its year."""
    try:
        written = _A_MOMENT.strftime(date_format)
        if written == _SAME_DAY_LATER.strftime(date_format):
            return False  # it has no year
        return datetime.strptime(written, date_format).year == _A_MOMENT.year
    except (ValueError, TypeError):
        return False
