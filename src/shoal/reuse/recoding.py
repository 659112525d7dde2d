"""`shoal.Recoding`: the closures of a release with their counts and settings, and the file that stores them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.audits.groups import audit_texts
from shoal.audits.texts import visible_texts
from shoal.audits.verdict import Examination
from shoal.data.files.formats import OwnFile, path_problems, read_own, write_own
from shoal.encoding.frames import Frame
from shoal.encoding.source import Input
from shoal.errors import InputError, counted, raise_problems
from shoal.reuse.batch import Batch, make_batch
from shoal.settings.declaration import is_whole, read_input, wrong
from shoal.settings.settings import Settings

OWN = OwnFile(
    kind="recoding",
    version=1,
    name="Recoding",
    what="not a recoding. Give a file that release.recoding.save or --save-recoding wrote",
    remedy="Make it again from a release",
)
MOST = 10**12  # records that look the same: more are a mistake


def read_content(path: str | os.PathLike[str]) -> tuple[Settings, pa.Table, list[int], int]:
    """The settings, rows, counts and number of batches in the file of a recoding."""
    content = read_own(OWN, Path(path))
    entries = {"settings", "columns", "rows", "counts", "batches"}
    if not entries <= set(content) or not isinstance(content["settings"], dict):
        raise InputError(_spoilt(path))
    settings = Settings.from_dict(content["settings"])
    raise_problems(settings.problems())
    names = [*settings.quasi_identifiers, *settings.sensitive]
    rows, counts, batches = content["rows"], content["counts"], content["batches"]
    is_whole = (
        content["columns"] == names
        and isinstance(rows, list)
        and isinstance(counts, list)
        and len(rows) == len(counts) > 0
        and all(_is_count(count) for count in counts)
        and all(_is_row(row, len(names)) for row in rows)
        and (batches == 0 or _is_count(batches))
    )
    if not is_whole:
        raise InputError(_spoilt(path))
    columns = zip(*rows, strict=True)
    kind = pa.large_string()
    table = pa.table({n: pa.array(own, kind) for n, own in zip(names, columns, strict=True)})
    return settings, table, counts, batches


def _spoilt(path: str | os.PathLike[str]) -> str:
    return f"Recoding '{path}' is damaged. Make it again from a release."


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value <= MOST


def _is_row(row: Any, width: int) -> bool:
    texts = isinstance(row, list) and all(text is None or isinstance(text, str) for text in row)
    return texts and len(row) == width


@dataclass(frozen=True, repr=False)
class Recoding:
    """The closures of a release, ready for new records.

    It contains what the release shows and nothing else of its table: closures as texts, how many records have each,
    with which sensitive values, and the settings with their hierarchies.

    Attributes
    ----------
    settings
        The settings of the release.
    records
        Records in all releases that it covers.
    batches
        How many batches have been added to the first release.
    """

    settings: Settings
    rows: pa.Table = field(repr=False)  # distinct quasi-identifiers and sensitive values, as texts
    counts: Sequence[int] = field(repr=False)  # released records of each row
    batches: int = 0

    @property
    def records(self) -> int:
        return int(sum(self.counts))

    @cached_property
    def closures(self) -> dict[str, list[str | None]]:
        """The texts of all closures, by quasi-identifier."""
        names = list(self.settings.quasi_identifiers)
        distinct = self.rows.select(names).group_by(names).aggregate([])
        return {name: distinct[name].to_pylist() for name in names}

    def apply(
        self,
        table: Any,
        *,
        batch_k: int | None = None,
        held: Any = None,
        regroup: bool = True,
        reading: Input | Mapping[str, Any] | None = None,
    ) -> Batch[Any]:
        """Release new records under the closures of this release.

        Every record takes the least general closure that covers it, among those that at least `batch_k` new records
        take. So the batch alone meets k and all requirements, and so does the difference of the releases before and
        after it. The other records are grouped among themselves, or held back.

        The promise is about people who are in one batch only; see "Guarantee" on the page about new records.

        Parameters
        ----------
        table
            New records: a frame, or the path of a file, with the columns of the first table.
        batch_k
            How many new records a closure must take at least (default k; not less).
        held
            Records that an earlier batch held back, a frame or a path; they are tried again with the new ones.
        regroup
            Whether to group records that fit no closure among themselves (default), or to hold them all back.
        reading
            How to read the file, if that differs from the settings; see `shoal.Input`.

        Examples
        --------
        >>> import pandas as pd, shoal
        >>> people = pd.DataFrame({"age": [31, 33, 52, 58], "ill": list("abca")})
        >>> release = shoal.anonymize(people, quasi_identifiers=["age"], sensitive=["ill"], k=2)
        >>> new = pd.DataFrame({"age": [32, 33, 57, 71], "ill": list("bbac")})
        >>> batch = release.recoding.apply(new)
        >>> sorted(batch.data["age"])
        ['31–33', '31–33', '57–71', '57–71']
        """
        problems: list[str] = []
        least = self.settings.k if batch_k is None else batch_k
        if not is_whole(least, self.settings.k):
            problems.append(
                wrong("batch_k", f"a whole number of at least k = {self.settings.k}", batch_k)
            )
        if not isinstance(regroup, bool):
            problems.append(wrong("regroup", "true or false", regroup))
        settings = self.settings
        if reading is not None:
            settings = replace(settings, reading=read_input(reading, problems))
        raise_problems(problems)
        return make_batch(self, settings, table, least, held, regroup)

    def with_batch(self, released: Frame) -> Recoding:
        """This recoding together with a batch that has been released."""
        rows, counts = _counted(released, self.settings)
        joined = pa.concat_tables([self.rows, rows])
        return Recoding(self.settings, *_grouped(joined, [*self.counts, *counts]), self.batches + 1)

    def examine(self) -> Examination:
        """Audit everything that it covers together, as if it was one release."""
        every = np.repeat(np.arange(self.rows.num_rows), np.asarray(self.counts, dtype=np.int64))
        settings = self.settings
        return audit_texts(
            self.rows.take(pa.array(every)),
            list(settings.quasi_identifiers),
            settings.k,
            requirements=settings.requirements,
            sensitive=settings.sensitive,
        )

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the recoding to one file, whole or not at all."""
        target = Path(path)
        raise_problems(path_problems(target, overwrite))
        columns = self.rows.to_pydict()
        content = {
            "batches": self.batches,
            "settings": self.settings.to_dict(),
            "columns": list(columns),
            "rows": list(zip(*columns.values(), strict=True)),
            "counts": list(self.counts),
        }
        write_own(OWN, target, content, overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recoding:
        """Read a recoding that `save` has written, and audit what it covers.

        Raises
        ------
        InputError
            If the file is not a recoding.
        AuditFailed
            If its counts do not meet its own requirements: someone has changed it.
        """
        settings, rows, counts, batches = read_content(path)
        found = cls(settings, rows, counts, batches)
        found.examine().prove()
        return found

    def __repr__(self) -> str:
        closures = len(next(iter(self.closures.values())))
        return (
            f"Recoding({counted(self.records, 'record')}, {counted(closures, 'closure')}, "
            f"{counted(self.batches, 'batch', 'batches')} added)"
        )


def recoding_of(released: Frame, settings: Settings) -> Recoding:
    """Return the recoding of a released frame.

    Raises
    ------
    InputError
        If new records could not be released like those of the frame.
    """
    raise_problems(recoding_problems(settings))
    return Recoding(settings, *_counted(released, settings))


def recoding_problems(settings: Settings) -> list[str]:
    """Return reasons why releases with these settings cannot take new records."""
    obstacles = {
        f"With method '{settings.method.name}', records of a group do not look the same, so there are no groups "
        "for new records. Choose another method.": not settings.method.homogeneous,
        f"A release with render = '{settings.render}' does not show its groups as texts. Set render to "
        "'text'.": settings.render != "text",
        "A recoding counts records, so it cannot be used with 'person'. Aggregate the table to one record per "
        "person and leave 'person' out. If the same people come again, use previous= (--save-history) instead "
        "of a recoding.": settings.person,
    }
    return [sentence for sentence, applies in obstacles.items() if applies]


def _counted(released: Frame, settings: Settings) -> tuple[pa.Table, list[int]]:
    """The distinct rows of a release in its quasi-identifiers and sensitive columns, and how often each occurs."""
    names = [*settings.quasi_identifiers, *settings.sensitive]
    table = visible_texts(released, names)
    table = table.cast(pa.schema([(name, pa.large_string()) for name in names]))
    return _grouped(table, [1] * table.num_rows)


def _grouped(rows: pa.Table, counts: Sequence[int]) -> tuple[pa.Table, list[int]]:
    """Merge equal rows, in an order that reveals nothing about the order of records."""
    names = rows.column_names
    plain = [f"c{j:04}" for j in range(len(names))]
    table = rows.rename_columns(plain).append_column("n", pa.array(counts, pa.int64()))
    found = table.group_by(plain).aggregate([("n", "sum")])
    found = found.sort_by([(name, "ascending") for name in plain])
    return found.select(plain).rename_columns(names), found["n_sum"].to_pylist()
