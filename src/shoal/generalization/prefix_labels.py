"""Codes as labels of ever shorter beginnings: 02139, 0213*, 021**; or by parts, C34.1.2, C34.1.*, C34.*.

The star stands for the rest of the code. Where all codes have one length, there is a star for every sign that is
hidden; otherwise there is one for all of them, since codes of any length may begin alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

REST = "*"


def code_parts(code: str, separator: str | None = None) -> list[str]:
    """The signs of a code, or what stands between its separators."""
    return list(code) if separator is None else code.split(separator)


def common_width(codes: Iterable[str], separator: str | None = None) -> int | None:
    """The number of parts that all codes have, None where they differ or there are none."""
    widths = {len(code_parts(code, separator)) for code in codes}
    return widths.pop() if len(widths) == 1 else None


def prefix_label(
    code: str, length: int, *, width: int | None = None, separator: str | None = None
) -> str:
    """The label of all codes that begin like this one.

    Parameters
    ----------
    code
        A code.
    length
        How many signs, or parts, are kept; 0 for none.
    width
        How many signs all codes have, None where that differs.
    separator
        What stands between the parts of a code, None where every sign is a part.

    Returns
    -------
    str
        The code itself where nothing is hidden, because it is shorter than `length` or no longer than `width`.

    Examples
    --------
    >>> [prefix_label("02139", length, width=5) for length in (5, 4, 3, 0)]
    ['02139', '0213*', '021**', '*']
    >>> [prefix_label("C34.1.2", length, separator=".") for length in (2, 1, 0)]
    ['C34.1.*', 'C34.*', '*']
    """
    parts = code_parts(code, separator)
    if length <= 0:
        return REST
    if len(parts) < length or (width is not None and length >= width):
        return code
    if separator is not None:
        return separator.join([*parts[:length], REST])
    return code[:length] + REST * (1 if width is None else width - length)


def prefix_of_label(label: str, separator: str | None = None) -> str | None:
    """The beginning that a label shows, None where the text hides nothing.

    Examples
    --------
    >>> prefix_of_label("021**"), prefix_of_label("C34.*", "."), prefix_of_label("02139")
    ('021', 'C34.', None)
    """
    if not label.endswith(REST):
        return None
    return label.rstrip(REST) if separator is None else label.removesuffix(REST)


def covers(
    label: str, code: str, *, width: int | None = None, separator: str | None = None
) -> bool:
    """Whether a code is among those that a label stands for.

    Examples
    --------
    >>> covers("021**", "02139", width=5), covers("021**", "02239", width=5)
    (True, False)
    """
    if label in (code, REST):
        return True
    prefix = prefix_of_label(label, separator)
    if prefix is None:
        return False
    kept = prefix if separator is None else prefix.removesuffix(separator)
    length = len(code_parts(kept, separator))
    return prefix_label(code, length, width=width, separator=separator) == label


def default_lengths(codes: Sequence[str], separator: str | None = None) -> tuple[int, ...]:
    """Every length at which something is hidden and something is left, from the longest to the shortest.

    Examples
    --------
    >>> default_lengths(["02139", "02144"])
    (4, 3, 2, 1)
    """
    longest = max((len(code_parts(code, separator)) for code in codes), default=0)
    return tuple(range(longest - 1, 0, -1))


def length_problems(lengths: Sequence[int]) -> list[str]:
    """Say in sentences why lengths cannot be the levels of a tree of codes."""
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in lengths)
    if lengths and whole and all(longer > shorter for longer, shorter in pairwise(lengths)):
        return []
    return ["Lengths of codes: give whole numbers above 0, from the longest to the shortest."]
