"""(α,k)-anonymity: no sensitive value has too large a share of a group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from shoal.audits.requirements.base import (
    Floats,
    Labels,
    Requirement,
    is_finite,
    is_list_of,
    must_be,
    round_up_to_four,
    share_above,
)
from shoal.audits.texts import moment, released_text, same_value
from shoal.errors import counted

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ t][0-9]{2}:")
VALUES = (str, bool, int, float, Decimal, date)  # a datetime is a date


@dataclass(frozen=True)
class AlphaK(Requirement):
    """No sensitive value, or none of those listed, has more than a share alpha of a group: (α,k)-anonymity.

    Parameters
    ----------
    alpha
        The largest share, above 0 and at most 1. Smaller is safer but loses more detail.
    values
        The values to limit, by default all.
    columns
        Sensitive columns, by default all.
    """

    alpha: float
    values: Sequence[Any] | None = None

    name = "alpha"
    summary = "no sensitive value, or none of those listed, has more than a share alpha of a group"
    rising = False

    @property
    def required(self) -> float:
        return float(self.alpha)

    def problems(self) -> list[str]:
        found = super().problems()
        if not (is_finite(self.alpha) and 0 < self.alpha <= 1):
            found.append(must_be("'alpha'", "a number above 0 and at most 1", self.alpha))
        if self.values is not None and not is_list_of(VALUES, self.values):
            found.append(
                "'values' of alpha must be a list of sensitive values. Leave it out to limit all values."
            )
        return found

    def value_problems(self, column: str, labels: Sequence[str], ordered: bool) -> list[str]:
        unknown = self._absent(labels)
        if not unknown:
            return []
        return [
            f"{unknown:,} of the {counted(len(self.values or ()), 'value')} of alpha "
            f"{'does' if unknown == 1 else 'do'} not occur in column '{column}'. List values of that column."
        ]

    def reading_problems(self, column: str, labels: Sequence[str], ordered: bool) -> list[str]:
        return []  # records with a named value may all have been left out

    def remark(self, labels: Labels) -> str:
        absent = self._absent([label for label in labels if label is not None])
        return (
            f", of which {absent:,} {'does' if absent == 1 else 'do'} not occur" if absent else ""
        )

    def levels(
        self, counts: Floats, labels: Labels, shares: Floats, heads: Floats | None = None
    ) -> Floats:
        share = counts / (counts.sum(axis=1) if heads is None else heads)[:, None]
        if self.values is not None:
            meant = {_meaning(released_text(value)) for value in self.values}
            share = share[:, [label is not None and _meaning(label) in meant for label in labels]]
        return np.asarray(share.max(axis=1, initial=0.0))

    def _absent(self, labels: Sequence[str]) -> int:
        """The number of listed values that no label means."""
        known = set(map(_meaning, labels))
        return len({_meaning(released_text(value)) for value in self.values or ()} - known)

    def promise(self) -> str:
        what = "share a value" if self.values is None else "have the same one of the listed values"
        return f"No more than {100 * self.alpha:.4g} % of a group's records {what}."

    def missed_in_sql(self) -> str | None:
        return share_above(float(self.alpha)) if self.values is None else None

    def describe(self, column: str) -> str:
        which = "any value" if self.values is None else "each listed value"
        return f"a share of at most {self.alpha:g} for {which} of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        least = round_up_to_four(reached)
        return (
            f"one value has a share of {reached:.4f} of the table; choose alpha of at least {least}"
        )


def _meaning(text: str) -> str | tuple[datetime, str]:
    """The key that all spellings of a value share; a time is the same in every zone."""
    plain = same_value(text)
    if _TIME.match(plain):
        with suppress(ValueError):
            return moment(plain.upper(), None)
    return plain
