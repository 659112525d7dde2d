"""Categories with an order on a line, named as far as the release, or a given order, names them.

The texts of cuts begin with a sign: `=` for a category that is in the bin, `<` and `>` for one that is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.evaluation.scales import MOST_BINS, Cut, Numbers, Scale
from shoal.generalization.forms import RangeForm
from shoal.generalization.order import OrderForm


@dataclass(frozen=True)
class OrderScale(Scale):
    """Places in an order; `public` says which categories may be named."""

    public: Numbers

    def around(self, codes: Numbers) -> list[Cut]:
        """Cuts before and after each of a few categories, so that every one has a bin of its own."""
        inner = range(1, self.public.size)
        return [self._cut(at) for at in inner if at in codes or at - 1 in codes]

    def round(self, low: int, high: int) -> list[Cut]:
        """Few enough cuts strictly between two categories, each before one that may be named."""
        possible = np.flatnonzero(self.public)
        possible = possible[(possible > low) & (possible <= high)]
        step = max(1, -(-possible.size // (MOST_BINS - 1)))
        return [self._cut(at) for at in possible[step - 1 :: step].tolist()]

    def _cut(self, at: int) -> Cut:
        """The cut before the category at a place; it or the one before may be named."""
        before, after = self.labels[at - 1], self.labels[at]
        begins = f"={after}" if self.public[at] else f">{before}"
        ends = f"={before}" if self.public[at - 1] else f"<{after}"
        return Cut(at, begins, ends)

    def label(self, left: Cut | None, right: Cut | None) -> str:
        """The name of the bin between two cuts; an end that may not be named stays open."""
        if left is None and right is None:
            return "all values"
        lowest, highest = (f"={self.labels[i]}" if self.public[i] else "" for i in (0, -1))
        begins, ends = left.begins if left else lowest, right.ends if right else highest
        if not begins:
            return f"{ends[1:]} or less" if ends[0] == "=" else f"less than {ends[1:]}"
        if not ends:
            return f"{begins[1:]} and more" if begins[0] == "=" else f"more than {begins[1:]}"
        if begins == ends:
            return begins[1:]
        if begins[0] == "=":
            return f"{begins[1:]} to {'' if ends[0] == '=' else 'less than '}{ends[1:]}"
        return f"more than {begins[1:]}, {'up to' if ends[0] == '=' else 'less than'} {ends[1:]}"


def scale_of_order(form: RangeForm, known: Numbers) -> OrderScale:
    """Place categories or bins on a line; those that are `known` may be named, and all of an order that was given."""
    public = np.full(len(form.labels), isinstance(form, OrderForm) and form.declared)
    public[known] = True
    return OrderScale(np.arange(len(form.labels)), "", form.labels, public)
