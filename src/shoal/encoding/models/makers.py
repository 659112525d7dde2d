"""Hierarchies made without a file: of numbers, dates, codes and ordered categories, or from the records of a
table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.encoding.forms import STAR
from shoal.encoding.forms.base import DASH
from shoal.encoding.models.base import CountedValues, is_numeric, labels_of, own_order
from shoal.encoding.models.calendar import Calendar
from shoal.encoding.models.ends import is_finite_number, local_days
from shoal.encoding.models.order import BETWEEN, Order
from shoal.encoding.models.periods import days_of_label
from shoal.encoding.models.prefix import Prefix
from shoal.errors import InputError, counted, near_miss, raise_problems

if TYPE_CHECKING:
    from datetime import date

    import pyarrow as pa


MOST_BINS = 20  # of the narrowest bins that are chosen without widths
MOST_LEVELS = 20  # above categories, for people to read

Rows = list[list[str]]


def number_rows(found: CountedValues, widths: Sequence[float] | None) -> Rows:
    """Rows of numbers in bins of ever larger widths, which start at multiples of the width."""

    problems = [] if widths is None else width_problems(widths)
    if not is_numeric(found.values.type):
        problems.append(
            "The values are not numbers. Convert them, or choose another kind of hierarchy."
        )
    elif not all(Decimal(text).is_finite() for text in labels_of(found.values)):
        problems.append("The values contain NaN or infinite numbers. Make them missing.")
    raise_problems(problems)
    numbers = [Decimal(text) for text in labels_of(found.values)]
    sizes = _round_widths(numbers) if widths is None else [Decimal(str(w)) for w in widths]
    is_whole = all(number == number.to_integral_value() for number in [*numbers, *sizes])
    levels = [[_bin(number, size, is_whole) for number in numbers] for size in sizes]
    return _rows(found.labels, levels)


def width_problems(widths: Sequence[float]) -> list[str]:
    """Return reasons why widths of bins are not levels of a tree."""
    is_list = isinstance(widths, Sequence) and not isinstance(widths, str) and len(widths) > 0
    if not (is_list and all(is_finite_number(width) and width > 0 for width in widths)):
        return ["Widths of bins must be numbers above 0, like (5, 10, 20)."]
    sizes = [Decimal(str(width)) for width in widths]
    if any(large <= small or large % small for small, large in pairwise(sizes)):
        return ["Widths of bins must each be a multiple of the one before, like (5, 10, 20)."]
    return []


def _round_widths(numbers: Sequence[Decimal]) -> list[Decimal]:
    """A round width of which few bins cover the numbers, and its doubles up to the whole."""
    span = max(numbers, default=Decimal(0)) - min(numbers, default=Decimal(0))
    if not span:
        return []
    exponent = span.adjusted() - 3
    steps = (Decimal(f"{digit}e{exponent + more}") for more in range(5) for digit in (1, 2, 5))
    width = next(step for step in steps if step * MOST_BINS >= span)
    if all(number == number.to_integral_value() for number in numbers):
        width = max(width, Decimal(2))  # a bin of one whole number is the number itself
    widths = []
    while width < 2 * span:
        widths.append(width)
        width *= 2
    return widths


def _bin(number: Decimal, width: Decimal, is_whole: bool) -> str:
    count = number // width  # cut towards zero
    low = width * (count - (number < count * width))
    high = low + width - 1 if is_whole else low + width
    dash = f" {DASH} " if low < 0 else DASH  # a minus next to the dash is hard to read
    return f"{_plain(low)}{dash}{'' if is_whole else '<'}{_plain(high)}"


def _plain(number: Decimal) -> str:
    return format(number.normalize() + 0, "f")


def date_rows(found: CountedValues, calendar: Calendar) -> Rows:
    """Rows of dates in ever longer periods."""
    return _rows(found.labels, list(zip(*map(calendar.path, _days(found)), strict=True)))


def _days(found: CountedValues) -> list[date]:
    import pyarrow as pa

    kind = found.values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return local_days(found.values)
    spans = [days_of_label(label) for label in found.labels]
    days = [span[0] for span in spans if span is not None and span[0] == span[1]]
    other = len(spans) - len(days)
    if other:
        raise InputError(
            f"{other:,} of the {counted(len(spans), 'distinct value')} "
            f"{'is not a date' if other == 1 else 'are not dates'} like 2020-03-14. Convert all to dates, or "
            'give their format (--date-format) and the texts that mean "missing" (--missing).'
        )
    return days


def code_rows(codes: Sequence[str], prefix: Prefix) -> Rows:
    """Rows of codes by ever shorter beginnings."""
    stars = sum(prefix.fill in code for code in codes)
    if stars:
        raise InputError(
            f"{stars:,} of the {counted(len(codes), 'distinct code')} {'contains' if stars == 1 else 'contain'} "
            f"the character '{prefix.fill}', which means the rest of a code. Rename "
            f"{'it' if stars == 1 else 'them'}."
        )
    paths = prefix.paths(codes) if codes else []
    depth = max(map(len, paths), default=0)
    # Short codes fill the levels that they skip.
    even = [[path[0]] * (depth - len(path)) + path for path in paths]
    return _rows(codes, list(zip(*even, strict=True)))


def order_tree(order: Any, levels: int | None) -> dict[str, Any]:
    """Nested dicts of an order cut into runs of about equal length, and these again.

    The order is a list of categories, a model that names them, or a column that has an order itself.
    """
    raise_problems(level_problems(levels))
    given = order if isinstance(order, Order) else Order(own_order(order) or order)
    if not isinstance(given.values, tuple):
        raise InputError("The order names no categories. List them from the lowest to the highest.")
    branches = 2
    while levels is not None and branches**levels < len(given.values):
        branches += 1
    return {STAR: _runs(given.values, branches)}


def level_problems(levels: int | None) -> list[str]:
    """Say in a sentence why there cannot be so many levels above ordered categories."""
    is_whole = isinstance(levels, int) and not isinstance(levels, bool)
    if levels is None or (is_whole and 1 <= levels <= MOST_LEVELS):
        return []
    return [f"The 'levels' parameter must be a whole number from 1 to {MOST_LEVELS}."]


def _runs(order: Sequence[str], branches: int) -> dict[str, Any]:
    """The parts of a run, by their labels."""
    parts = min(branches, len(order))
    ends = [round(part * len(order) / parts) for part in range(parts + 1)]
    found: dict[str, Any] = {}
    for start, stop in pairwise(ends):
        part = order[start:stop]
        if len(part) == 1:
            found[part[0]] = None
        else:
            found[f"{part[0]}{BETWEEN}{part[-1]}"] = _runs(part, branches)
    return found


def _rows(labels: Sequence[str], levels: Sequence[Sequence[str]]) -> Rows:
    """Value, level 1, …, root; levels that join nothing more, or everything, are left out."""
    if not labels:
        raise InputError("There are no values to make a hierarchy of. Give at least one.")
    used, known = [], len(labels)
    for level in levels:
        sets = len(set(level))
        if 1 < sets < known:
            used.append(level)
            known = sets
    return [list(row) for row in zip(labels, *used, [STAR] * len(labels), strict=True)]


MOST_CATEGORIES = 2000  # joining takes memory that grows with its square, and time with its cube
MOST_VALUES = 50  # of another column; rarer ones count as one
BINS = 10  # into which numbers and dates are cut, with about equal records
LABEL = 40  # characters of a label above which its members are shortened to the most frequent

Floats = npt.NDArray[np.float64]


def tree_of_table(table: Any, column: str, by: Sequence[str] | None, levels: int) -> dict[str, Any]:
    """The tree of a frame's column as nested dicts; see `join_categories`."""
    import narwhals as nw
    import pyarrow as pa

    frame = nw.from_native(table, eager_only=True)
    raise_problems(data_problems(frame.columns, column, by, levels))
    chosen = [name for name in frame.columns if name != column] if by is None else list(by)
    arrows = {name: frame.get_column(name).to_arrow() for name in [column, *chosen]}
    chunked = {
        name: array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        for name, array in arrows.items()
    }
    own = chunked.pop(column)
    return join_categories(column, own, chunked, levels)


def data_problems(
    columns: Sequence[str], column: str, by: Sequence[str] | None, levels: int
) -> list[str]:
    """Return problems with the columns that a hierarchy is to be made of."""
    problems = [
        f"Column '{name}' is not in the table{near_miss(name, columns) or '.'}"
        for name in (column, *(by or ()))
        if name not in columns
    ]
    if column in (by or ()):
        problems.append(f"Column '{column}' cannot be compared with itself. Leave it out of 'by'.")
    if len(columns) < 2 or (by is not None and not by):
        problems.append("Categories are compared by other columns. Give at least one.")
    if not 1 <= levels <= MOST_LEVELS:
        problems.append(
            f"The 'levels' parameter must be from 1 to {MOST_LEVELS}. Got {levels} instead."
        )
    return problems


def join_categories(
    column: str, values: pa.ChunkedArray, others: Mapping[str, pa.ChunkedArray], levels: int
) -> dict[str, Any]:
    """The tree of a column's categories as nested dicts, the root among at most `levels` levels above them."""
    labels, codes = _coded(values)
    if not 2 <= len(labels) <= MOST_CATEGORIES:
        raise InputError(
            f"Column '{column}' has {counted(len(labels), 'category', 'categories')}, but a hierarchy needs 2 to "
            f"{MOST_CATEGORIES:,}. Choose another column, or join rare categories first."
        )
    known = codes >= 0
    frequency = np.bincount(codes[known], minlength=len(labels)).astype(np.float64)
    blocks = [_counts(codes[known], len(labels), _classes(one)[known]) for one in others.values()]
    merges = _merges(np.concatenate(blocks, axis=1), len(blocks), frequency)
    return _tree(labels, frequency, merges, levels)


def _coded(values: pa.ChunkedArray) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Categories sorted by name, and the place of each record's among them, −1 for none."""
    encoded = values.combine_chunks().dictionary_encode()
    texts = labels_of(encoded.dictionary)
    labels = tuple(sorted(set(texts)))
    place = {label: code for code, label in enumerate(labels)}
    code_of = np.array([place[text] for text in texts] + [-1])
    return labels, code_of[np.asarray(encoded.indices.fill_null(len(texts)))]


def _classes(values: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A number per record for its value in another column: few, whatever the column holds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_temporal(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = values.cast(pa.int64()) if pa.types.is_timestamp(kind) else values
        if pa.types.is_date(kind) or pa.types.is_time(kind):
            numbers = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        found = np.asarray(pc.fill_null(pc.cast(numbers, pa.float64()), np.nan))
        edges = np.unique(np.nanquantile(found, np.linspace(0, 1, BINS + 1)[1:-1]))
        return np.where(np.isnan(found), len(edges) + 1, np.searchsorted(edges, found, "right"))
    encoded = values.combine_chunks().dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(len(encoded.dictionary)))
    rank = np.empty(len(encoded.dictionary) + 1, np.int64)
    counts = np.bincount(codes, minlength=rank.size)
    rank[np.argsort(-counts, kind="stable")] = np.arange(rank.size)
    return np.minimum(rank, MOST_VALUES)[codes]


def _counts(
    codes: npt.NDArray[np.int64], categories: int, classes: npt.NDArray[np.int64]
) -> Floats:
    """Records of each category by their value in another column."""
    width = int(classes.max()) + 1
    flat = np.bincount(codes * width + classes, minlength=categories * width)
    return flat.reshape(categories, width).astype(np.float64)


def _merges(counts: Floats, columns: int, frequency: Floats) -> list[tuple[int, int]]:
    """Which two clusters are joined, in turn: categories are 0 … m − 1, each join makes the next number."""
    m = frequency.size
    rows, weight, number = counts.copy(), frequency.copy(), np.arange(m)
    own = columns * _phi(weight) - _phi(rows).sum(axis=1)
    cost = np.full((m, m), np.inf)
    for a in range(m - 1):
        cost[a, a + 1 :] = _cost(rows, weight, own, columns, a)[a + 1 :]
    merges = []
    for made in range(m, 2 * m - 1):
        a, b = divmod(int(cost.argmin()), m)
        merges.append((int(number[a]), int(number[b])))
        rows[a] += rows[b]
        weight[a] += weight[b]
        own[a] = columns * _phi(weight[a]) - _phi(rows[a]).sum()
        number[a] = made
        weight[b] = np.nan  # gone: whatever is compared with it is no candidate
        cost[b, :] = cost[:, b] = np.inf
        fresh = _cost(rows, weight, own, columns, a)
        fresh[a] = np.inf
        cost[a, a + 1 :] = fresh[a + 1 :]
        cost[:a, a] = fresh[:a]
    return merges


def _cost(rows: Floats, weight: Floats, own: Floats, columns: int, a: int) -> Floats:
    """What is lost by joining cluster a with each other; infinite for clusters that no longer exist."""
    together = columns * _phi(weight + weight[a]) - _phi(rows + rows[a]).sum(axis=1)
    found = together - own - own[a]
    return np.where(np.isnan(weight), np.inf, np.round(found, 9))


def _phi(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def _tree(
    labels: Sequence[str], frequency: Floats, merges: Sequence[tuple[int, int]], levels: int
) -> dict[str, Any]:
    """Nested dicts of the clusters at a few moments of joining, each with the same share of those before."""
    m = len(labels)
    moments = {round(m ** (1 - level / levels)) for level in range(1, levels)} | {1}
    used = {*labels, STAR}
    names = dict(enumerate(labels))
    below: dict[int, dict[str, Any] | None] = dict.fromkeys(range(m))
    members = {code: [code] for code in range(m)}
    parts = {code: [code] for code in range(m)}  # the clusters of the last moment in each of now
    for made, (a, b) in enumerate(merges, start=m):
        members[made] = members.pop(a) + members.pop(b)
        parts[made] = parts.pop(a) + parts.pop(b)
        if len(members) not in moments:
            continue
        for one in members:
            if len(parts[one]) > 1:
                is_whole = len(members) == 1
                names[one] = STAR if is_whole else _name(members[one], labels, frequency, used)
                below[one] = {names[part]: below[part] for part in parts[one]}
                parts[one] = [one]
    return {STAR: below[made]}


def _name(members: Sequence[int], labels: Sequence[str], frequency: Floats, used: set[str]) -> str:
    """The members, most frequent first, shortened to the first few; no two names are the same."""
    order = [labels[code] for code in sorted(members, key=lambda code: (-frequency[code], code))]
    shown = len(order)
    while shown > 1 and len(", ".join(order[:shown])) > LABEL:
        shown -= 1
    for few in range(shown, len(order) + 1):
        rest = f" and {len(order) - few} more" if few < len(order) else ""
        name = ", ".join(order[:few]) + rest
        if name not in used:
            break
    while name in used:
        name += "…"
    used.add(name)
    return name
