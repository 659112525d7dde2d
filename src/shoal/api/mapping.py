"""The mapping of a release: which original values became which released texts, with counts, and as SQL."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from shoal.data.files.table_file import write_file
from shoal.encoding.closed import Closed
from shoal.encoding.models import Calendar, Model
from shoal.errors import InputError, counted, near_miss


@dataclass(frozen=True, repr=False)
class Mapping:
    """What became of each value of each quasi-identifier.

    It shows original values next to what was released for them: protect it like the original table.

    Attributes
    ----------
    table
        An Arrow table with the columns `column`, `value`, `released` and `records`; null is a missing value. If a
        model folds values before it groups records, like `Interval(step=5)`, `value` is the folded one.
    """

    table: pa.Table = field(repr=False)
    folded: frozenset[str] = frozenset()  # columns whose values are folded

    @property
    def columns(self) -> list[str]:
        """The quasi-identifiers."""
        return list(dict.fromkeys(self.table["column"].to_pylist()))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the mapping to a file in the format of its suffix, readable by its owner only, whole or not at all."""
        write_file(self.table, path, overwrite, private=True)

    def to_sql(self, column: str) -> str:
        """Return a `CASE` expression that does to a column what the release did.

        Values that the release does not know become null. Such an expression exists only for a column in which every
        value became one text; with local recoding, the default, most values become several.

        Raises
        ------
        InputError
            If a value became several texts, or the column is not a quasi-identifier.

        Examples
        --------
        >>> import pandas as pd, shoal
        >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "sex": list("ffmm")})
        >>> release = shoal.anonymize(people, quasi_identifiers=["age", "sex"], k=2, method="incognito")
        >>> print(release.mapping.to_sql("sex"))
        CASE
          WHEN "sex" = 'f' THEN 'f'
          WHEN "sex" = 'm' THEN 'm'
        END
        """
        if column not in self.columns:
            close = near_miss(column, self.columns) or "."
            raise InputError(
                f"Column '{column}' is not a quasi-identifier of the release{close} Quasi-identifiers: "
                f"{', '.join(self.columns)}."
            )
        if column in self.folded:
            raise InputError(
                f"The model of column '{column}' folds values before records are grouped, so the mapping does "
                "not list the original ones. Release the column by a model without step, low, high or finest."
            )
        rows = [row for row in self.table.to_pylist() if row["column"] == column]
        became = {row["value"]: row["released"] for row in rows}
        if len(became) < len(rows):
            raise InputError(
                f"Equal values of column '{column}' became different texts in different groups, so no expression "
                "of this column alone does the same. Use a method of global recoding, such as incognito, or "
                "release.recoding for new records."
            )
        name = '"' + column.replace('"', '""') + '"'
        lines = [
            f"  WHEN {name} {'IS NULL' if value is None else f'= {_literal(value)}'} THEN {_literal(text)}"
            for value, text in became.items()
        ]
        return "\n".join(["CASE", *lines, "END"])

    def __repr__(self) -> str:
        return (
            f"Mapping({counted(self.table.num_rows, 'pair')} of value and text in "
            f"{counted(len(self.columns), 'column')})"
        )


def mapping_of(closed: Closed) -> Mapping:
    found: dict[str, list[object]] = {"column": [], "value": [], "released": [], "records": []}
    for j, column in enumerate(closed.table.columns):
        texts = column.form.text(closed.of_column(j))
        known: dict[str | None, int] = {}
        place = np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)
        key = closed.table.codes[:, j].astype(np.int64) * len(known) + place[closed.groups]
        pairs, rows = np.unique(key, return_inverse=True)
        values, written = [*column.form.labels, None], list(known)
        codes, texts_of = np.divmod(pairs, len(known))
        found["column"] += [column.name] * pairs.size
        found["value"] += [values[code] for code in codes]
        found["released"] += [written[text] for text in texts_of]
        found["records"] += np.bincount(rows, closed.table.counts).astype(np.int64).tolist()
    folded = frozenset(column.name for column in closed.table.columns if _folds(column.model))
    kinds = [pa.string(), pa.string(), pa.string(), pa.int64()]
    return Mapping(pa.table(found, schema=pa.schema(zip(found, kinds, strict=True))), folded)


def _folds(model: Model) -> bool:
    """Whether a model folds several values into one before records are grouped."""
    given = [getattr(model, name, None) is not None for name in ("step", "low", "high")]
    coarse = isinstance(model, Calendar) and "day" not in model.levels
    return any(given) or coarse or bool(getattr(model, "finest", None))


def _literal(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"
