"""A finished table as one release of a series: proved from its texts and the history."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from shoal.audits.series import is_night, misspelled, value_keys
from shoal.audits.texts import texts_of
from shoal.audits.verdict import Examination, Proof, judge
from shoal.data.open import texts_in
from shoal.encoding.frames import open_frame
from shoal.errors import InputError
from shoal.pipeline.prove import released_columns
from shoal.pipeline.series.history import History, history_of
from shoal.pipeline.series.next_release import promised, reading_key
from shoal.settings.settings import Settings


def examine_night(
    table: Any, examination: Examination, previous: Any, settings: Settings
) -> Examination:
    """Add to an examination whether a table is one of the releases that a history knows.

    The history says of which signatures each group is made, and everybody has one signature in it. The table must
    have just the groups and values of one of its nights.
    """
    if len(settings.sensitive) != 1 or not settings.person:
        raise InputError(
            "To prove a series, the settings must name one sensitive column and the person column; give those of the "
            "release (--settings)."
        )
    m = promised(settings)
    history = history_of(previous, settings.person, settings.sensitive[0], m)
    read = texts_in(table, settings.reading.of_written())
    frame = open_frame(table if read is None else read)
    columns = released_columns(frame, settings)
    texts = texts_of(frame, [*columns, history.sensitive])
    written = texts[history.sensitive].to_pylist()
    values = value_keys(written, history.signatures, settings.reading.missing_in(history.sensitive))
    groups: dict[str, Counter[str | None]] = {}
    rows = zip(*(texts[name].to_pylist() for name in columns), strict=True)
    for own, value in zip(rows, values, strict=True):
        groups.setdefault(reading_key(list(own)), Counter())[value] += 1
    is_known = any(is_night(groups, history.signatures, night.groups) for night in history.nights)
    least = _least(history)
    count = len(history.nights)
    what = (
        f"{m}-invariance of '{history.sensitive}' over {count} release{'s' if count != 1 else ''}"
    )
    proof = Proof(what, float(m), float(least))
    miss = ""
    if not is_known:
        miss = "This table is none of the releases that the history knows of"
    elif least < m:
        miss = f"A signature has {least} values and {m} are promised"
    else:
        miss = misspelled(written, values, history.spellings)
    audit = replace(examination.audit, proofs=(*examination.audit.proofs, proof))
    found = replace(examination, audit=audit, misses=(*examination.misses, miss))
    if audit.verdict is None or not miss:
        return found
    verdict = judge("", settings.k, found.failures, audit.verdict.unprotected)
    return replace(found, audit=replace(audit, verdict=verdict))


def _least(history: History) -> int:
    """The number of values in the smallest signature that a release uses."""
    used = {number for night in history.nights for own in night.groups.values() for number in own}
    return min((len(history.signatures[number]) for number in used), default=0)
