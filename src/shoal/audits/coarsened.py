"""The audit of coarsened columns: every value must belong to the declared grid, level or length.

It shares no code with the models that coarsen, and needs only the finished column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

import narwhals as nw

from shoal.audits.points import is_finest_cell
from shoal.audits.ranges import UNREADABLE
from shoal.audits.readings import OR_HIGHER, OR_LOWER, folds_of
from shoal.audits.ready import is_at_finest
from shoal.audits.text_ends import End, days_of, end_days, ends_of_text, unit_of
from shoal.audits.texts import ColumnReader, Reader, column_texts, moment
from shoal.errors import AuditFailed, counted

Check = Callable[[str], bool]  # whether a text is coarse enough


def prove_coarsened(
    frame: nw.DataFrame[Any], models: Mapping[str, Any], reader: Reader | None = None
) -> None:
    """Fail unless every value of the coarsened columns is coarse enough; missing values are ignored.

    Raises `AuditFailed` with a sentence for every column that is too fine.
    """
    found = []
    for name in (name for name in models if name in frame.columns):
        how = (reader or Reader()).of_column(name)
        texts = [text for text in column_texts(frame, name, how.missing).texts if text]
        is_coarse = _check(models[name], how)
        finer = sum(not is_coarse(text.removesuffix(" 00:00:00")) for text in texts)
        if finer:
            found.append(
                f"{finer:,} of the {counted(len(texts), 'value')} of column '{name}' "
                f"{'is' if finer == 1 else 'are'} not coarsened by its model '{models[name].name}'. Do not "
                "release this table."
            )
    if found:
        raise AuditFailed("\n".join(found))


def _check(model: Any, reader: ColumnReader) -> Check:
    """Return the check for texts of a column, by its model."""
    match getattr(model, "name", None):
        case "prefix":
            return lambda text: _is_prefix(text, model)
        case "ready":
            return lambda text: is_at_finest(text, model)
        case "point":
            return lambda text: is_finest_cell(text, model)
        case "hierarchy":
            known = _labels(model)
            return lambda text: text in known
        case "order":
            return lambda text: _is_inner(text, model)
        case "calendar":
            levels = tuple(model.levels)
            unit = model.finest or levels[0]
            return lambda text: _is_period(text, unit, model, "week" in levels)
        case "interval" if isinstance(model.step, str):
            return lambda text: _is_period(text, model.step, model, False)
        case "interval" if model.step is not None:
            return lambda text: _is_bin(text, model, reader)
        case "interval":
            return lambda text: _is_between(text, model, reader)
    return lambda text: False


def _is_prefix(text: str, model: Any) -> bool:
    """Whether a text shows at most the allowed number of characters or parts."""
    if model.separator is None:
        told = text.rstrip(model.fill)
        return 0 < len(told) <= model.finest and model.fill not in told
    told = text.removesuffix(f"{model.separator}{model.fill}")
    return model.fill not in told and len(told.split(model.separator)) <= model.finest


def _labels(tree: Any) -> set[str]:
    """The labels of a hierarchy's finest level, and the texts for values beyond its ends."""
    leaves, root = len(tree.leaves), len(tree.parent) - 1
    own: dict[int, list[str]] = {
        node: [label] for node, label in enumerate((*tree.leaves, *tree.inner))
    }
    for label, node in tree.aliases.items():  # further labels of the same set
        if label not in own[node]:
            own[node].append(label)
    folds = folds_of(tree, range(leaves))
    beyond = {leaf for _, folded in folds for leaf in folded}
    found = {text for texts, _ in folds for text in texts}
    for leaf in set(range(leaves)) - beyond:
        path, node = list(own[leaf]), tree.parent[leaf]
        while node != root:
            path, node = [*path, *own[node]], tree.parent[node]
        found.add(path[min(tree.finest, len(path) - 1)])
    return found


def _is_inner(text: str, model: Any) -> bool:
    """Whether a category lies between the ends of its order, or is the text for values beyond one of them."""
    low, high = model.low, model.high
    if text in (f"{low}{OR_LOWER}", f"{high}{OR_HIGHER}"):
        return (low if text.endswith(OR_LOWER) else high) is not None
    place: Callable[[str], Any] = str  # by name
    if isinstance(model.values, tuple):
        if text not in model.values:
            return False
        place = model.values.index
    return (low is None or place(text) > place(low)) and (high is None or place(text) < place(high))


def _is_period(text: str, unit: str, model: Any, by_weeks: bool) -> bool:
    """Whether a text is a period of one unit between the ends, or one of the given texts."""
    low, high = ends_of_text(text)
    ends = end_days(model.low, True, by_weeks), end_days(model.high, False, by_weeks)
    below, above = (end.toordinal() if isinstance(end, datetime) else end for end in ends)
    if low is None or high is None:
        days = days_of((high if low is None else low) or "", by_weeks)
        if days is None:
            return False
        return days[1] == below if low is None else days[0] == above
    first, last = days_of(low, by_weeks), days_of(high, by_weeks)
    if first is None or last is None or unit_of(text) != unit:
        return False
    return (below is None or first[0] > below) and (above is None or last[1] < above)


def _is_bin(text: str, model: Any, reader: ColumnReader) -> bool:
    """Whether a text is a bin of the grid between the ends, or one of the given texts."""
    with suppress(*UNREADABLE):
        low, high = ends_of_text(text)
        if low is None or high is None:
            return _is_end(low, high, model, reader)
        step, start = _exact(model.step), _exact(model.start or 0)
        begin = _exact(low.removeprefix(">"), reader)
        number = floor((begin - start) / step)
        first, after = start + number * step, start + (number + 1) * step
        if model.high is not None:
            after = min(after, _exact(model.high))
        is_cut = model.low is not None and _exact(model.low) >= first
        if high[:1] == "<":
            edge = f">{low.removeprefix('>')}" if is_cut else low.removeprefix(">")
            first = _exact(model.low) if is_cut else first
            return low == edge and begin == first and _exact(high[1:], reader) == after
        least = floor(_exact(model.low)) + 1 if is_cut else ceil(first)
        return begin == least and _exact(high, reader) == ceil(after) - 1
    return False


def _is_between(text: str, model: Any, reader: ColumnReader) -> bool:
    """Whether a text is a number or date between the ends, or the text for values beyond one of them."""
    low, high = ends_of_text(text)
    with suppress(*UNREADABLE):
        if low is None or high is None:
            return _is_end(low, high, model, reader)
        number = _exact(text, reader)
        return (model.low is None or number > _exact(model.low)) and (
            model.high is None or number < _exact(model.high)
        )
    with suppress(*UNREADABLE):
        found = _moment(text, reader)
        if found.tzinfo is None:
            return _is_inside(found, model)
        own, utc = (clock.replace(tzinfo=None) for clock in (found, found.astimezone(UTC)))
        return _is_inside(own, model) or _is_inside(utc, model)
    return False


def _is_end(low: End, high: End, model: Any, reader: ColumnReader) -> bool:
    """Whether a text with one end is one of the model's."""
    end, text = (model.low, high) if low is None else (model.high, low)
    if end is None or text is None or (low is None) == (high is None):
        return False
    with suppress(*UNREADABLE):
        return _exact(text, reader) == _exact(end)
    day = end_days(end, low is None, False)
    days = days_of(text)
    if days is not None and isinstance(day, int):
        return days[low is None] == day
    return isinstance(day, datetime) and _moment(text, reader).replace(tzinfo=None) == day


def _is_inside(clock: datetime, model: Any) -> bool:
    for end, is_low in ((model.low, True), (model.high, False)):
        if end is None:
            continue
        bound = end_days(end, is_low, False)
        own: Any = clock if isinstance(bound, datetime) else clock.toordinal()
        if bound is None or not (own > bound if is_low else own < bound):
            return False
    return True


def _moment(text: str, reader: ColumnReader) -> datetime:
    """Read a date or time in the reader's format, or as ISO."""
    with suppress(ValueError):
        return moment(text, reader.date_format)[0]
    return moment(text, None)[0]


def _exact(number: Any, reader: ColumnReader | None = None) -> Fraction:
    """Read a number exactly, as a fraction: 0.1 is one tenth."""
    text = str(number)
    return Fraction(Decimal(text.replace(reader.decimal, ".") if reader else text))
