"""The shape of values: 99999 or Aaaa-aaaa, never a value, and never a shape that few records have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

LONGEST = 24  # characters of a shape that is shown
MOST = 2  # shapes of a column


def _steps(upper: str, lower: str, letters: str, digits: str) -> tuple[tuple[str, str], ...]:
    """Patterns and what replaces them: unusual signs all read alike, and runs of letters have one length."""
    return (
        (rf"[^{letters}{digits} .,;:/()<>=+*?_%&#@'\-]+", "·"),
        (rf"{upper}{lower}+", "Aaaa"),
        (rf"{upper}{{2,}}", "AAA"),
        (upper, "A"),
        (rf"{lower}{{2,}}", "aaa"),
        (lower, "a"),
        (r"[^\x00-\x7f·]", "a"),
        (rf"[{digits}]", "9"),
        (r"9{13,}", "99999999999…"),
        (r"((?:Aaaa|aaa)[ \-])((?:Aaaa|aaa)[ \-]){2,}", r"\1… "),
    )


_STEPS = _steps(r"\p{Lu}", r"\p{Ll}", r"\p{L}", r"\p{N}")
_PLAIN_STEPS = _steps("[A-Z]", "[a-z]", "A-Za-z", "0-9")  # the same in ASCII, compiled sooner


def shapes_of(texts: pa.Array, counts: npt.NDArray[np.int64], least: int) -> tuple[str, ...]:
    """The most frequent shapes of texts that at least so many records share, most frequent first.

    Examples
    --------
    >>> shapes_of(pa.array(["02139", "10001", "unknown"]), np.array([9, 5, 2]), 10)
    ('99999',)
    """
    if not len(texts):
        return ()
    shapes = texts.cast(pa.large_string())
    is_plain = pc.all(pc.string_is_ascii(shapes)).as_py()
    for regex, sketch in _PLAIN_STEPS if is_plain else _STEPS:
        shapes = pc.replace_substring_regex(shapes, regex, sketch)
    shapes = pc.utf8_slice_codeunits(shapes, 0, LONGEST)
    found = shapes.dictionary_encode()
    records = np.bincount(np.asarray(found.indices), weights=counts, minlength=1)
    frequent = [
        (-int(records[place]), shape)
        for place, shape in enumerate(found.dictionary.to_pylist())
        if records[place] >= least
    ]
    return tuple(shape for _, shape in sorted(frequent)[:MOST])
