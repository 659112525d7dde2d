"""The point model: latitude and longitude as one value, released as a cell of a quadtree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from shoal.encoding.forms import STAR, Form, Ints
from shoal.encoding.models.base import Model, labels_of
from shoal.encoding.models.ends import is_finite_number
from shoal.encoding.models.trees import Tree, form_of
from shoal.errors import InputError, counted, raise_problems

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_POINT = re.compile(rf"\s*({_NUMBER})(?:\s*[,;]\s*|\s+)({_NUMBER})\s*")
_LIMITS = (90, 180)  # degrees of latitude and longitude
_LEAST, _MOST = 1e-6, 90

Cell = tuple[int, int]  # counted from the South Pole and from longitude -180, in cells of its level


@dataclass(frozen=True, repr=False)
class Point(Model):
    """Release the smallest cell of a quadtree that contains all places of a group: `48.12..48.16, 11.56..11.60`.

    A cell is released as its latitudes, then its longitudes, in degrees; it begins with the first number and ends
    below the second. Each cell contains four cells of half its width. No exact place is released: a group that shares
    one place gets a cell of the finest size. A place without latitude or longitude is missing.

    Parameters
    ----------
    latitude, longitude
        The columns to join into one, which is named by the quasi-identifier. Without them, the quasi-identifier is a
        column of texts like "48.137, 11.575", latitude first.
    finest
        The width of the smallest cells in degrees (default 0.01, about 1.1 km from south to north). Larger cells are
        2, 4, 8 … times as wide.

    Examples
    --------
    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({"lat": [48.131, 48.135, 52.52, 52.54], "lon": [11.56, 11.57, 13.4, 13.41]})
    >>> place = shoal.Point("lat", "lon")
    >>> release = shoal.anonymize(people, quasi_identifiers={"place": place}, k=2, keep_order=True)
    >>> list(release.data["place"])[1:3]
    ['48.12..48.14, 11.56..11.58', '52.52..52.56, 13.40..13.44']
    """

    latitude: str | None = None
    longitude: str | None = None
    _: KW_ONLY
    finest: float = 0.01

    name = "point"
    proper = True
    coarsened_by = ("finest",)

    def __post_init__(self) -> None:
        problems = []
        names = (self.latitude, self.longitude)
        if names != (None, None) and not all(isinstance(name, str) and name for name in names):
            problems.append("Point: give the names of both columns, 'latitude' and 'longitude'.")
        if not (is_finite_number(self.finest) and _LEAST <= self.finest <= _MOST):
            problems.append("Point: 'finest' must be a number of degrees from 0.000001 to 90.")
        raise_problems(problems)

    def grid(self) -> str:
        return f"cells of {self.finest} degrees"

    def is_place(self, text: str) -> bool:
        """Whether a text is a place on Earth."""
        return self._cell(text) is not None

    def compile(self, column: str, values: pa.Array, has_null: bool) -> tuple[Form, Ints]:
        found = [self._cell(text) for text in labels_of(values)]
        wrong = found.count(None)
        if wrong:
            raise InputError(
                f"{wrong:,} of the {counted(len(found), 'distinct value')} of column '{column}' "
                f"{'is' if wrong == 1 else 'are'} no place on Earth. A place is a latitude from -90 to 90, then a "
                "longitude from -180 to 180, in degrees. Check the order of the two, and correct such values or "
                'list them as "missing" (--missing).'
            )
        cells = [cell for cell in dict.fromkeys(found) if cell is not None]
        place = {cell: code for code, cell in enumerate(cells)}
        codes = np.array([place[cell] for cell in found if cell is not None], dtype=np.int32)
        return self._form(cells, has_null), codes

    @property
    def _unit(self) -> Decimal:
        return Decimal(str(self.finest))

    def _number(self, limit: int) -> int:
        """How many finest cells there are from one limit to the other."""
        return ceil(2 * limit / self._unit)

    def _cell(self, text: str) -> Cell | None:
        """The finest cell of a place; the last one to the north or east also contains its end."""
        point = _POINT.fullmatch(text)
        numbers = [Decimal(part) for part in point.groups()] if point else []
        limits = list(zip(numbers, _LIMITS, strict=False))
        if not point or any(abs(number) > limit for number, limit in limits):
            return None
        row, column = (
            min(int((number + limit) // self._unit), self._number(limit) - 1)
            for number, limit in limits
        )
        return row, column

    def _form(self, cells: Sequence[Cell], has_null: bool) -> Form:
        """The tree of all cells that contain several of these, which are its leaves."""
        leaves = [self._label(cell, 0) for cell in cells]
        heights = dict.fromkeys(leaves, 0)
        inner: list[str] = []
        parent = [-1] * len(cells)
        aliases: dict[str, int] = {}  # cells that contain the same as a smaller one
        nodes = {cell: node for node, cell in enumerate(cells)}
        top = (self._number(_LIMITS[1]) - 1).bit_length()  # where one cell is the whole Earth
        for level in range(1, top):
            below: dict[Cell, list[int]] = {}
            for (row, column), node in nodes.items():
                below.setdefault((row >> 1, column >> 1), []).append(node)
            nodes = {}
            for cell, children in below.items():
                label = self._label(cell, level)
                heights[label] = level
                nodes[cell] = children[0]
                if len(children) == 1:
                    aliases[label] = children[0]
                    continue
                nodes[cell] = len(parent)
                for child in children:
                    parent[child] = len(parent)
                inner.append(label)
                parent.append(-1)
        if has_null or not inner or len(nodes) > 1:
            heights[STAR] = top
            for node in nodes.values():
                parent[node] = len(parent)
            inner.append(STAR)
            parent.append(-1)
        parent[-1] = len(parent) - 1
        tree = Tree(tuple(leaves), tuple(inner), tuple(parent), aliases)
        return form_of(tree, has_null, heights, top)

    def _label(self, cell: Cell, level: int) -> str:
        """The text of a cell: where its latitudes and longitudes begin and end."""
        width = self._unit * 2**level
        digits = max(0, -int(self._unit.normalize().as_tuple().exponent))
        ends = [
            (number * width - limit, min(Decimal(limit), (number + 1) * width - limit))
            for number, limit in zip(cell, _LIMITS, strict=True)
        ]
        return ", ".join(f"{low:.{digits}f}..{high:.{digits}f}" for low, high in ends)
