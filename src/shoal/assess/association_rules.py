"""Whether a release has the same association rules as the table.

An item is a value of a column (a range for numbers and dates). A rule says that records with one or two items also
have another one. In the release, the support of an item is the share of each record's closure that it covers, with
columns assumed to be independent within a closure. The order of records does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from shoal.assess import Result
from shoal.assess.comparison import Comparison
from shoal.assess.distributions import ComparedColumn, compared_columns
from shoal.encoding.forms import Floats, Ints, Records
from shoal.errors import raise_problems

RANGES, VALUES = 7, 64  # most parts into which a column is cut, if ordered and if not
SUPPORT, CONFIDENCE = 0.05, 0.6
MOST_COLUMNS = 15  # up to which all triples are mined, whose number grows with the cube


@dataclass(frozen=True)
class Agreement(Result):
    """Rules found in the table and in the release.

    Attributes
    ----------
    in_table, in_release, in_both
        The number of rules with enough support and confidence in the table, in the release, and in both.
    precision, recall, jaccard
        in_both / in_release, in_both / in_table, in_both / all rules found; None if nothing was found.
    confidence_difference
        Mean difference between a rule's confidence in the table and in the release, over the rules of the table.
    """

    in_table: int
    in_release: int
    in_both: int
    precision: float | None
    recall: float | None
    jaccard: float | None
    confidence_difference: float | None


@dataclass(frozen=True)
class AssociationRules(Result):
    """Agreement on all rules with at most `longest` items, and on those that predict a sensitive value."""

    support: float
    confidence: float
    longest: int
    all: Agreement
    sensitive: Agreement


def compare_rules(
    comparison: Comparison, *, support: float = SUPPORT, confidence: float = CONFIDENCE
) -> AssociationRules:
    """Mine rules of two or three items from the table and the release; only of two if there are more than 15 columns.

    `support` is the smallest share of records that have all items of a rule. `confidence` is the smallest share of them
    among the records that have its other items.
    """
    raise_problems(
        f"The '{name}' parameter must be above 0 and at most 1, like 0.05."
        for name, value in (("support", support), ("confidence", confidence))
        if not 0 < value <= 1
    )
    columns = [_Items(column, support) for column in compared_columns(comparison)]
    longest = 3 if len(columns) <= MOST_COLUMNS else 2
    mined = [rule for rule in _mine(columns, comparison, longest) if rule[1].size]
    sensitive = [rule for rule in mined if rule[0] in comparison.sensitive]
    return AssociationRules(
        support=support,
        confidence=confidence,
        longest=longest,
        all=_agree(mined, support, confidence),
        sensitive=_agree(sensitive, support, confidence),
    )


class _Items:
    """The items of a column that are frequent in the table or in the release."""

    def __init__(self, column: ComparedColumn, support: float) -> None:
        part = column.cut(VALUES if column.ordered is None else RANGES)
        before = np.bincount(part, weights=column.before) / column.before.sum()
        masses = column.masses(part)
        after = masses.sum(axis=0) / masses.sum()
        frequent = np.flatnonzero((before >= support) | (after >= support))
        place = np.full(
            before.size, frequent.size, dtype=np.int32
        )  # one more for all infrequent ones
        place[frequent] = np.arange(frequent.size)
        self.name, self.size = column.name, int(frequent.size)
        self.of_record: Ints = place[part][column.codes]
        self.shares: Floats = masses[:, frequent] / masses.sum(axis=1)[:, None]


Rule = tuple[str, Floats, Floats, Floats, Floats]
# predicted column; support and confidence in the table; support and confidence in the release


def _mine(columns: Sequence[_Items], comparison: Comparison, longest: int) -> Iterator[Rule]:
    """All rules of frequent items, with any support and confidence."""
    weight = comparison.sizes / comparison.records
    numbers = range(len(columns))

    def supports(chosen: Sequence[int]) -> tuple[Floats, Floats]:
        items = [columns[j] for j in chosen]
        return _count(items, comparison.table.counts), _expect(items, weight)

    single = {j: supports([j]) for j in numbers}
    pairs = {pair: supports(pair) for pair in combinations(numbers, 2)}
    for (a, b), both in pairs.items():
        yield _rule(columns[b].name, both, single[a], axis=1)
        yield _rule(columns[a].name, both, single[b], axis=0)
    for chosen in combinations(numbers, 3) if longest == 3 else ():
        all_three = supports(chosen)
        for axis in range(3):
            a, b = (j for j in chosen if j != chosen[axis])
            yield _rule(columns[chosen[axis]].name, all_three, pairs[a, b], axis)


def _count(items: Sequence[_Items], weights: Records | None) -> Floats:
    """The share of original records with each combination of items."""
    shape = [column.size + 1 for column in items]
    cells = np.ravel_multi_index([column.of_record for column in items], shape)
    counts = np.bincount(cells, weights, int(np.prod(shape))).reshape(shape)
    inner = tuple(slice(0, column.size) for column in items)
    return counts[inner] / (cells.size if weights is None else weights.sum())


def _expect(items: Sequence[_Items], weight: Floats) -> Floats:
    """The expected share of released records with each combination of items."""
    product = weight[:, None]
    for column in items[:-1]:
        product = (product[:, :, None] * column.shares[:, None, :]).reshape(weight.size, -1)
    return (product.T @ items[-1].shares).reshape([column.size for column in items])


def _rule(
    predicted: str, support: tuple[Floats, Floats], first: tuple[Floats, Floats], axis: int
) -> Rule:
    """Rules from the items of all other columns to those of the column at `axis`."""
    found = []
    for both, alone in zip(support, first, strict=True):
        given = np.broadcast_to(np.expand_dims(alone, axis), both.shape)
        sure = np.divide(both, given, out=np.zeros_like(both), where=given > 0)
        found += [both.ravel(), sure.ravel()]
    return (predicted, found[0], found[1], found[2], found[3])


def _agree(rules: Sequence[Rule], support: float, confidence: float) -> Agreement:
    columns = [np.concatenate([[], *(rule[i] for rule in rules)]) for i in range(1, 5)]
    before, sure_before, after, sure_after = columns
    in_table = _reaches(before, support) & _reaches(sure_before, confidence)
    in_release = _reaches(after, support) & _reaches(sure_after, confidence)
    both = int(np.count_nonzero(in_table & in_release))
    apart = np.abs(sure_before - sure_after)[in_table]
    return Agreement(
        in_table=int(np.count_nonzero(in_table)),
        in_release=int(np.count_nonzero(in_release)),
        in_both=both,
        precision=_ratio(both, int(np.count_nonzero(in_release))),
        recall=_ratio(both, int(np.count_nonzero(in_table))),
        jaccard=_ratio(both, int(np.count_nonzero(in_table | in_release))),
        confidence_difference=float(apart.mean()) if apart.size else None,
    )


def _reaches(values: Floats, least: float) -> npt.NDArray[np.bool_]:
    """Whether values are at least so large, apart from rounding errors."""
    return values >= least * (1 - 1e-12)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
