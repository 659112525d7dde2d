"""The proof of a finished release, a frame or a file, and the verdict on it as a whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shoal.assess.singling_out import count_identified
from shoal.audits.coarsened import prove_coarsened
from shoal.audits.compatibility import Originals, audit_compatibility, read_originals
from shoal.audits.groups import audit_frame, audit_texts
from shoal.audits.persons import (
    PersonIds,
    ReplacedColumns,
    prove_replaced,
    read_person_ids,
    read_replaced,
)
from shoal.audits.series import SeriesEvidence, audit_series
from shoal.audits.texts import Reader, visible_texts
from shoal.audits.verdict import (
    Audit,
    Examination,
    Persons,
    Places,
    Unprotected,
    judge,
    refuse_identifiers,
)
from shoal.data.databases.address import is_address
from shoal.data.files.header import check_header
from shoal.data.files.table_file import read_file_texts
from shoal.data.open import input_of_release, texts_in
from shoal.encoding.frames import Frame, open_frame
from shoal.encoding.render import bound_names
from shoal.encoding.source import Dialect, Input
from shoal.errors import LONGEST, Refusal, counted
from shoal.risk.leaks import kept_leaks, value_leaks
from shoal.settings.settings import Settings

# Reasons why a sensitive column counts as known to outsiders.
IDENTIFYING = ("unique", "identifier", "text")


def original_columns(table: Frame, settings: Settings) -> Originals | None:
    """What the audit must know about the original table, None if the release is enough."""
    if settings.method.homogeneous:
        return None
    return read_originals(table, settings.quasi_identifiers, _reader(settings))


@dataclass(frozen=True)
class AuditEvidence:
    """What the audit must know about the original table besides the release."""

    originals: Originals | None = None  # if records do not look the same in groups
    replaced: ReplacedColumns | None = None  # if pseudonyms replace identifiers
    # If people are counted: those of the released records, in their order.
    crowd: PersonIds | None = None
    series: SeriesEvidence | None = None  # if the release is one of a series

    @property
    def is_nothing(self) -> bool:
        """Whether the release alone is enough to prove everything."""
        return all(value is None for value in vars(self).values())


def audit_evidence(table: Frame, settings: Settings, order: Places) -> AuditEvidence:
    """What the audit must know about a table whose records are released in this order."""
    crowd = None
    if settings.person:
        missing = settings.reading.missing_in(settings.person)
        crowd = read_person_ids(table, settings.person, missing).taken(order)
    return AuditEvidence(original_columns(table, settings), _replaced(table, settings), crowd)


def _replaced(table: Frame, settings: Settings) -> ReplacedColumns | None:
    """The columns of a table that pseudonyms replace, None if there are none."""
    if not settings.pseudonyms:
        return None
    return read_replaced(table, settings.pseudonyms, _linking(settings))


def audit_release(released: Frame, known: AuditEvidence, settings: Settings) -> Examination:
    """Audit a finished release, as a frame of the user's or of texts, by what its method promises."""
    if known.replaced is not None:
        prove_replaced(released, known.replaced)
    if settings.coarsen:
        audit_coarsened(released, settings)
    if known.originals is not None:
        return audit_compatibility(known.originals, released, settings.k, settings.removed)
    examination = audit_frame(released, **audit_options(settings), crowd=known.crowd)
    if known.series is None:
        return examination
    return _with_series(examination, released, known.series, settings)


def audit_file(known: AuditEvidence, settings: Settings, dialect: Dialect, path: Path) -> None:
    """Audit a file of this dialect that holds a release, as texts."""
    texts = open_frame(read_file_texts(path, Input(dialect.encoding, dialect.delimiter)))
    audit_release(texts, known, settings).prove()


def with_verdict(
    found: Examination,
    settings: Settings,
    unprotected: Unprotected,
    leaks: Sequence[Refusal],
    persons: Sequence[Persons] = (),
) -> Examination:
    """An examination with the verdict on the whole release; `leaks` are those that were allowed."""
    audit = replace(found.audit, persons=tuple(persons))
    named = set(unprotected.columns)
    verdict = judge(
        _promise(audit, settings),
        settings.k,
        found.failures,
        unprotected,
        [_said(own) for own in leaks if own.reason not in IDENTIFYING or own.column not in named],
        _uncounted(audit),
    )
    return replace(found, audit=replace(audit, verdict=verdict))


def _said(leak: Refusal) -> str:
    """What a verdict says of an allowed leak, without counts that include records left out."""
    if leak.reason != "links":
        return leak.sentence
    return (
        f"Pseudonyms of '{leak.column[:LONGEST]}' link the records of a person, whose groups together may "
        "identify them."
    )


def _promise(audit: Audit, settings: Settings) -> str:
    """What is proved about every record, without a full stop."""
    reached = audit.smallest
    if not settings.method.homogeneous:
        return f"Every released record may belong to any of at least {counted(reached, 'person', 'people')}"
    if audit.by_person is not None:
        others = counted(reached - 1, "other person", "other people")
        return f"Every record looks the same as those of at least {others} in the protected columns"
    others = counted(reached - 1, "other")
    return f"Every record looks the same as at least {others} in the protected columns"


def _uncounted(audit: Audit) -> list[str]:
    """Why nothing is proved for people who have several records."""
    if audit.person and audit.by_person is None:
        return [
            f"People could not be counted, because '{audit.person}' is not in this table. Only records were "
            "counted."
        ]
    return [person_sentence(found) for found in audit.persons]


def person_sentence(found: Persons) -> str:
    """Say that an identifier repeats, and what that means for one group."""
    return (
        f"'{found.identifier}' occurs in several records. If it identifies people, one group contains only "
        f"{found.smallest:,} of them. To count people instead of records, name it with person= (--person)."
    )


def unprotected_columns(
    columns: Sequence[str], settings: Settings, leaks: Sequence[Refusal]
) -> list[str]:
    """Released columns that nothing protects: kept, without a role, or sensitive but identifying."""
    known = {*bounds_or_names(settings), *settings.sensitive, *settings.pseudonyms}
    leaking = {own.column for own in leaks if own.reason in IDENTIFYING}
    return [name for name in columns if name not in known or name in leaking]


def judge_unprotected(
    released: Sequence[str],
    settings: Settings,
    leaks: Sequence[Refusal],
    people: int,
    identified_by: Callable[[Sequence[str]], int],
) -> tuple[Unprotected, list[Refusal]]:
    """The unprotected columns of a release, whom they identify, and why they may not be released.

    `identified_by` counts the people who are the only ones with their values in some columns.
    """
    limit = settings.identified_limit
    known = [name for name in bounds_or_names(settings) if name in released]
    columns = unprotected_columns(released, settings, leaks)
    asked = [own for own in columns if own in settings.keep and not settings.allows(own, "unique")]
    alone = identified_by([*known, *asked]) if asked else 0
    refusals = list(kept_leaks(asked, alone, people, True)) if alone > limit * people else []
    if asked != columns:
        alone = identified_by([*known, *columns])
    return Unprotected(tuple(columns), alone, people, limit), refusals


def single_person_refusals(persons: Sequence[Persons], settings: Settings) -> list[Refusal]:
    """Refusals for groups that belong to a single person, unless that is allowed."""
    return [
        Refusal(found.identifier, "person", person_sentence(found))
        for found in persons
        if found.smallest == 1 and not settings.allows(found.identifier, "person")
    ]


def counted_columns(names: Sequence[str], settings: Settings) -> list[str]:
    """The columns of a release whose combinations the audit counts: quasi-identifiers and columns of requirements."""
    refuse_identifiers(names, settings.removed)
    asked = [name for item in settings.requirements for name in item.over(settings.sensitive)]
    return list(dict.fromkeys(n for n in (*bounds_or_names(settings), *asked) if n in names))


def audit_coarsened(column: Frame, settings: Settings) -> None:
    """Audit columns of a release, or the distinct values of one, that were to be coarsened."""
    prove_coarsened(column, settings.coarsen, _reader(settings))


def audit_counted(counted: Frame, count: str, settings: Settings) -> Examination:
    """Audit a release by its combinations, each with its number of records in the column `count`."""
    counts = counted.get_column(count).to_numpy().astype(np.int64)
    return audit_frame(counted.drop(count), **audit_options(settings), counts=counts)


def _with_series(
    examination: Examination, released: Frame, witness: SeriesEvidence, settings: Settings
) -> Examination:
    """The examination with what is proved together with the earlier releases."""
    columns = released_columns(released, settings)
    texts = visible_texts(released, [*columns, witness.sensitive])
    missing = settings.reading.missing_in(witness.sensitive)
    proof, miss = audit_series(texts, columns, witness, missing)
    audit = replace(examination.audit, proofs=(*examination.audit.proofs, proof))
    return replace(examination, audit=audit, misses=(*examination.misses, miss))


def bounds_or_names(settings: Settings) -> list[str]:
    """Every column in which a quasi-identifier may be released: itself, or its bounds."""
    return [own for name in settings.quasi_identifiers for own in (name, *bound_names(name))]


def released_columns(released: Frame, settings: Settings) -> list[str]:
    """The columns in which quasi-identifiers are released."""
    return [name for name in bounds_or_names(settings) if name in released.columns]


def audit_unordered(released: Frame, table: Frame, settings: Settings) -> Examination:
    """Audit a release whose records may be in another order than its table: whose record is whose is not known."""
    replaced, crowd = _replaced(table, settings), _own_crowd(released, settings)
    known = AuditEvidence(original_columns(table, settings), replaced, crowd)
    found = audit_release(released, known, settings)
    found = replace(found, audit=replace(found.audit, person=settings.person or ""))
    return table_with_verdict(found, released, settings)


def audit_table(table: Any, settings: Settings, keeps_sheet: bool = True) -> Examination:
    """Audit any table, a frame or a file, by its texts; see `examine_table`."""
    return examine_table(table, settings, keeps_sheet)[1]


def examine_table(
    table: Any, settings: Settings, keeps_sheet: bool = True
) -> tuple[Frame, Examination]:
    """Any table, a frame or a file, as the audit reads it, and what the audit finds in it.

    Unless `keeps_sheet`, the settings' sheet or table is that of the original, and not used.
    """
    texts = texts_in(table, settings.reading if keeps_sheet else input_of_release(settings.reading))
    if texts is not None and isinstance(table, str | os.PathLike) and not is_address(table):
        check_header(Path(table), texts.column_names, texts.columns)
    frame = open_frame(table if texts is None else texts)
    asked = {**audit_options(settings), "crowd": _own_crowd(frame, settings)}
    examination = audit_frame(frame, **asked) if texts is None else audit_texts(texts, **asked)
    prove_replaced(frame, ReplacedColumns(settings.pseudonyms, _linking(settings)))
    if settings.coarsen:
        audit_coarsened(frame, settings)
    rest = unprotected_columns(frame.columns, settings, ())
    unnamed = tuple(name for name in rest if name not in settings.keep)
    audit = replace(examination.audit, unnamed=unnamed, person=settings.person or "")
    return frame, table_with_verdict(replace(examination, audit=audit), frame, settings)


def table_with_verdict(found: Examination, released: Frame, settings: Settings) -> Examination:
    """An examination with the verdict on a finished table that may have been made in any way."""
    plain = replace(settings, keep=())  # nothing is refused that is there already
    sensitive = [name for name in settings.sensitive if name in released.columns]
    rest = unprotected_columns(released.columns, settings, ())
    leaks = value_leaks(released, sensitive, rest)
    unprotected, _ = judge_unprotected(
        released.columns, plain, leaks, released.shape[0], partial(count_identified, released)
    )
    return with_verdict(found, settings, unprotected, leaks)


def _linking(settings: Settings) -> tuple[str, ...]:
    """Pseudonyms that may link records."""
    return tuple(name for name in settings.pseudonyms if settings.allows(name, "links"))


def _own_crowd(frame: Frame, settings: Settings) -> PersonIds | None:
    """The people of a finished table, if pseudonyms identify them; None otherwise."""
    if not settings.person or settings.person not in settings.pseudonyms:
        return None
    if settings.person not in frame.columns:
        return None
    return read_person_ids(frame, settings.person)


def audit_options(settings: Settings) -> dict[str, Any]:
    """What the audit proves, and how it reads values."""
    return {
        "quasi_identifiers": list(settings.quasi_identifiers),
        "k": settings.k,
        "identifiers": settings.removed,
        "requirements": settings.requirements,
        "sensitive": settings.sensitive,
        "reader": _reader(settings),
    }


def _reader(settings: Settings) -> Reader:
    how = settings.reading
    texts = tuple(name for name in how.types if how.is_text(name))
    return Reader(how.missing, how.decimal, how.date_format, texts)
