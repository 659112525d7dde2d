"""ℓ-diversity: sensitive values vary enough in every group (Machanavajjhala et al. 2007; GT10 §7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.audits.requirements.base import (
    TOLERANCE,
    Floats,
    Labels,
    Requirement,
    is_finite,
    must_be,
    next_above,
    round_down,
    share_above,
)
from shoal.errors import counted

KINDS = ("frequency", "distinct", "entropy", "recursive")


@dataclass(frozen=True)
class LDiversity(Requirement):
    """Sensitive values vary enough in every group.

    Parameters
    ----------
    l
        How much, at least 1. Larger is safer but loses more detail.
    kind
        "frequency": no value has more than 1/l of a group's records (GT10 §7). "distinct": a group has at
        least l values. "entropy": exp of a group's entropy, in nats, is at least l. "recursive": the most
        frequent value has fewer than c times the records of the l-th most frequent and all rarer ones
        together.
    c
        The factor of the recursive kind.
    columns
        Sensitive columns, by default all.

    Examples
    --------
    >>> import shoal
    >>> shoal.LDiversity(3, kind="entropy").describe("illness")
    "entropy 3-diversity of 'illness'"
    """

    l: float
    kind: str = "frequency"
    c: float | None = None

    name = "diversity"
    summary = "sensitive values vary enough in every group; kinds: frequency, distinct, entropy or recursive"

    @property
    def rising(self) -> bool:  # type: ignore[override]
        return self.kind != "recursive"

    @property
    def required(self) -> float:
        return float(self.l if self.c is None else self.c)

    def problems(self) -> list[str]:
        found = super().problems()
        if self.kind not in KINDS:
            found.append(must_be("'kind' of diversity", f"one of {', '.join(KINDS)}", self.kind))
        if not is_finite(self.l) or self.l < 1:
            found.append(must_be("'l' of diversity", "a number of at least 1", self.l))
        elif self.kind in ("distinct", "recursive") and self.l != int(self.l):
            found.append(
                f"'l' of {self.kind} diversity must be a whole number. Got {self.l} instead."
            )
        if self.kind == "recursive" and not (is_finite(self.c) and self.c > 0):  # type: ignore[operator]
            found.append(must_be("'c' of recursive diversity", "a number above 0", self.c))
        if self.kind != "recursive" and self.c is not None:
            found.append("'c' is for recursive diversity only. Leave it out or choose that kind.")
        return found

    def is_met(self, levels: Floats) -> npt.NDArray[np.bool_]:
        if self.kind == "recursive":
            return levels < self.required - TOLERANCE
        return super().is_met(levels)

    def kinds(self, labels: Labels) -> list[int] | None:
        return list(range(len(labels))) if self.kind == "distinct" else None

    def levels(
        self, counts: Floats, labels: Labels, shares: Floats, heads: Floats | None = None
    ) -> Floats:
        match self.kind:
            case "frequency":
                size = counts.sum(axis=1) if heads is None else heads
                return np.asarray(size / counts.max(axis=1))
            case "distinct":
                return np.count_nonzero(counts, axis=1).astype(np.float64)
            case "entropy":
                share = counts / counts.sum(axis=1, keepdims=True)
                logs = np.log(share, out=np.zeros_like(share), where=share > 0)
                return np.asarray(np.exp(-(share * logs).sum(axis=1)))
        falling = -np.sort(-counts, axis=1)
        tail = falling[:, int(self.l) - 1 :].sum(axis=1)
        return np.divide(falling[:, 0], tail, out=np.full(len(tail), np.inf), where=tail > 0)

    def promise(self) -> str:
        match self.kind:
            case "frequency":
                return f"No more than {100 / self.l:.4g} % of a group's records share a value."
            case "distinct":
                return f"Every group has at least {self.l:g} different values."
            case "entropy":
                return f"In every group, values are distributed at least as evenly as {self.l:g} equally frequent ones."
        return (
            f"In every group, the most frequent value has fewer than {self.c:g} times the records of number "
            f"{self.l:g} by frequency and all rarer ones together."
        )

    def missed_in_sql(self) -> str | None:
        if self.kind == "distinct":
            return f"COUNT(*) < {float(self.l)!r}"
        return share_above(1 / float(self.l)) if self.kind == "frequency" else None

    def describe(self, column: str) -> str:
        kind = f"recursive ({self.c:g}, {self.l:g})" if self.c else f"{self.kind} {self.l:g}"
        return f"{kind}-diversity of '{column}'"

    def remedy(self, column: str, table: Floats, reached: float) -> str:
        values = int(np.count_nonzero(table))
        match self.kind:
            case "frequency":
                if values == 1:
                    return "all records have the same value; choose l of at most 1"
                share = f"one value has a share of {100 / reached:.4g} %"
                if reached < 2:
                    return (
                        f"{share}, so groups cannot be balanced; protect the rare values instead (--require "
                        f"alpha:alpha=0.3:values=VALUE), or choose l of at most {round_down(reached)}"
                    )
                return f"{share}; choose l of at most {round_down(reached)}"
            case "distinct":
                return f"it has {counted(values, 'distinct value')}; choose l of at most {values}"
            case "entropy":
                return f"its values are too unevenly distributed; choose l of at most {round_down(reached)}"
        if values < self.l:
            return f"it has {counted(values, 'distinct value')}; choose l of at most {values}"
        return f"it allows only c above {reached:.4f}; choose c of at least {next_above(reached)}"
