"""The prefix model: codes whose first characters or parts name a larger unit, a tree that needs no file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.encoding.forms import STAR, Form, Ints
from shoal.encoding.models.base import Model, describe_type, labels_of, refuse_star
from shoal.encoding.models.trees import form_of_paths
from shoal.errors import InputError, raise_problems

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Prefix(Model):
    """Release the longest beginning that all codes of a group share: `02139`, `0213*`, `021**` … `*`.

    `021**` means all codes that begin with 021. Codes may have different lengths; texts are filled to the length of the
    longest code in the table. Losses are measured from `finest` on; the domain is what occurs.

    Parameters
    ----------
    lengths
        How many first characters may be released besides whole codes, like (3, 2); by default any number that makes a
        difference. With a separator, how many first parts.
    separator
        The separator between the parts of a code: with ".", the code `A01.1` becomes `A01.*`, and `192.168.1.7` becomes
        `192.168.1.*`, `192.168.*` and `192.*`. The code `A01` itself belongs to `A01.*`.
    fill
        The character for the part that is not released.
    finest
        The most first characters, or parts, that are released; by default whole codes.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"zip": ["02139", "02138", "02215", "90210", "90211"]})
    >>> release = shoal.anonymize(
    ...     people, quasi_identifiers={"zip": shoal.Prefix()}, k=2, keep_order=True
    ... )
    >>> list(release.data["zip"])
    ['02***', '02***', '02***', '9021*', '9021*']
    """

    lengths: Sequence[int] | None = None
    separator: str | None = None
    fill: str = STAR
    finest: int | None = None

    name = "prefix"
    proper = True
    coarsened_by = ("finest",)

    def __post_init__(self) -> None:
        problems = []
        given = self.lengths
        if given is not None:
            is_list = isinstance(given, Iterable) and not isinstance(given, str)
            lengths = tuple(given) if is_list else ()
            if not lengths or not all(_is_length(length) for length in lengths):
                problems.append("Prefix: 'lengths' must be a list of whole numbers of at least 1.")
            else:
                object.__setattr__(self, "lengths", tuple(sorted(set(lengths), reverse=True)))
        if self.separator is not None and not (isinstance(self.separator, str) and self.separator):
            problems.append("Prefix: 'separator' must be the text between the parts of codes.")
        fill = self.fill
        if not (isinstance(fill, str) and len(fill) == 1 and fill.isprintable() and fill != " "):
            problems.append("Prefix: 'fill' must be one character.")
        elif isinstance(self.separator, str) and fill in self.separator:
            problems.append("Prefix: 'fill' must not be in 'separator'.")
        if self.finest is not None and not _is_length(self.finest):
            problems.append("Prefix: 'finest' must be a whole number of at least 1.")
        raise_problems(problems)

    def grid(self) -> str:
        what = "character" if self.separator is None else "part"
        return f"the first {what}" if self.finest == 1 else f"the first {self.finest} {what}s"

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        labels = _codes(column, values)
        refuse_star(column, labels)
        if any(self.fill in label for label in labels):
            raise InputError(
                f"Column '{column}' contains texts with '{self.fill}', which means the part that is not "
                "released. Choose another 'fill'."
            )
        found = self.paths(labels)
        paths = {path[0]: path for path in found}
        place = {leaf: code for code, leaf in enumerate(paths)}
        codes = np.array([place[path[0]] for path in found], dtype=np.int32)
        heights, top = self._heights(labels, list(paths))
        return form_of_paths(column, paths, has_null, heights, top, own_words=False), codes

    def paths(self, codes: Sequence[str]) -> list[list[str]]:
        """For each code, itself and the ever shorter beginnings under which it may be released."""
        width = max(self._length(code) for code in codes)
        return [self._path(code, width) for code in codes]

    def _heights(self, codes: Sequence[str], leaves: Sequence[str]) -> tuple[dict[str, int], int]:
        """The height of each label that may be released, and of the whole: levels above the longest codes."""
        width = max(self._length(code) for code in codes)
        cut = width if self.finest is None else min(self.finest, width)
        wanted = range(width, 0, -1) if self.lengths is None else self.lengths
        levels = [kept for kept in wanted if kept < cut]
        heights = dict.fromkeys(leaves, 0)
        for code in codes:
            for height, kept in enumerate(levels, start=1):
                if kept <= self._length(code):
                    heights[self._beginning(code, kept, width)] = height
        return heights, 1 + len(levels)

    def _length(self, code: str) -> int:
        return len(code) if self.separator is None else len(code.split(self.separator))

    def _path(self, code: str, width: int) -> list[str]:
        length = self._length(code)
        finest = width if self.finest is None else self.finest
        is_cut = finest < width and length >= finest
        path = [self._beginning(code, finest, width) if is_cut else code]
        wanted = range(length, 0, -1) if self.lengths is None else self.lengths
        shorter = [n for n in wanted if n <= length and n < (finest if is_cut else width)]
        return path + [self._beginning(code, kept, width) for kept in shorter]

    def _beginning(self, code: str, kept: int, width: int) -> str:
        if self.separator is None:
            return code[:kept] + self.fill * (width - kept)
        head = self.separator.join(code.split(self.separator)[:kept])
        return f"{head}{self.separator}{self.fill}"


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _codes(column: str, values: pa.Array) -> tuple[str, ...]:
    """The codes of a column as text; numbers only if no leading zeros can be lost."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_integer(kind):
        labels = labels_of(values)
        if len({len(label) for label in labels}) > 1 or any(label[0] == "-" for label in labels):
            raise InputError(
                f"Column '{column}' contains numbers of different lengths, so its codes may have lost leading "
                "zeros. Read it as text."
            )
        return labels
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise InputError(
            f"Column '{column}' contains {describe_type(kind)}, but a prefix needs codes. Convert it to text or "
            "choose another model."
        )
    return labels_of(values)
