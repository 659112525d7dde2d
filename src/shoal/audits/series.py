"""The audit of releases over time: nobody's set of possible sensitive values ever has fewer than m values.

Everybody has one set of values, their *signature*, in all releases. The people of every group of every release have
one signature, and each of its values is as frequent as any other among them. Exchanging these values among all people
of the signature, in all releases at once, changes nothing that is released. So an attacker who has all releases and
knows who is in which group still finds every value of the signature equally likely (m-invariance; Xiao & Tao 2007,
there with each value once).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from shoal.audits.texts import combined, decimal_of, moment, numbered, same_value
from shoal.audits.verdict import Places, Proof
from shoal.errors import counted

Signature = Sequence[str | None]


@dataclass(frozen=True)
class SeriesEvidence:
    """Whose records a release contains, as far as the audit of a series must know: signatures, now and before."""

    signatures: Sequence[Signature]
    signature: Places  # of each released record
    before: Places  # the signature that its person already had, −1 for none
    m: int
    sensitive: str
    releases: int
    spellings: Mapping[str, str] = field(default_factory=dict)  # of values that are texts


def audit_series(
    table: pa.Table, columns: Sequence[str], witness: SeriesEvidence, missing: Sequence[str] = ()
) -> tuple[Proof, str]:
    """Return what is proved of a release as one of a series, and how it fails, empty if it does not.

    `table` has the texts of the released quasi-identifiers in `columns`, and of the sensitive column.
    """
    texts = table[witness.sensitive].to_pylist()
    values = signature_values(texts, witness.signatures, missing)
    if len(values) != witness.signature.size:
        return _proof(0, witness), "The release has other records than its series"
    group, _ = combined((numbered(table[name]) for name in columns), table.num_rows)
    counts: dict[tuple[int, int], Counter[str | None]] = {}
    keys = zip(group.tolist(), witness.signature.tolist(), values, strict=True)
    for place, number, value in keys:
        counts.setdefault((place, number), Counter())[value] += 1
    unlike = sum(
        set(own) != set(witness.signatures[number]) or len(set(own.values())) > 1
        for (_, number), own in counts.items()
    )
    mixed = len(counts) - len({place for place, _ in counts})
    used = np.unique(witness.signature).tolist()
    least = min(len(set(witness.signatures[number])) for number in used)
    moved = int(np.count_nonzero((witness.before >= 0) & (witness.before != witness.signature)))
    misses = []
    if mixed:
        misses.append(
            f"{counted(mixed, 'group')} {'contains' if mixed == 1 else 'contain'} people with several signatures"
        )
    if unlike:
        misses.append(
            f"in {counted(unlike, 'group')} the values of a signature are not equally frequent"
        )
    if moved:
        misses.append(
            f"{counted(moved, 'person', 'people')} {'has' if moved == 1 else 'have'} a different signature than "
            "before"
        )
    if least < witness.m:
        misses.append(f"a signature has {counted(least, 'value')} instead of {witness.m:,}")
    if links := misspelled(texts, values, witness.spellings):
        misses.append(links)
    return _proof(least, witness), ", and ".join(misses)


def _proof(least: int, witness: SeriesEvidence) -> Proof:
    count = counted(witness.releases, "release")
    what = f"{witness.m}-invariance of '{witness.sensitive}' over {count}"
    return Proof(what, float(witness.m), float(least))


def signature_values(
    texts: Sequence[str | None], signatures: Sequence[Signature], missing: Sequence[str] = ()
) -> list[str | None]:
    """Texts of a sensitive column as the values of signatures, None for missing ones.

    Files and frames write numbers and dates in different ways, so texts count as the value with the same meaning.
    """
    named = {value for own in signatures for value in own if value is not None}
    meant = {_meaning(value): value for value in named}
    known: dict[str | None, str | None] = {None: None}
    for text in set(texts):
        if text is not None and text not in missing:
            value = same_value(text)
            known[text] = (value if value in named else meant.get(_meaning(value), value)) or None
    return [known.get(text) for text in texts]


def _meaning(value: str) -> Decimal | tuple[datetime, str] | str:
    """The number or date that a text may mean, or the text itself."""
    with suppress(InvalidOperation, ValueError):
        return decimal_of(value)
    with suppress(ValueError, OverflowError):
        return moment(value.upper(), None)
    return value


def misspelled(
    texts: Sequence[str | None], values: Sequence[str | None], spellings: Mapping[str, str]
) -> str:
    """Say how many values are not spelled the same in all releases; empty if all are.

    A person with a unique spelling could be followed from release to release.
    """
    found: dict[str | None, set[str | None]] = {}
    for value, text in set(zip(values, texts, strict=True)):
        found.setdefault(value, set()).add(text)
    wrong = sum(
        len(own) > 1 or (value is not None and own != {spellings.get(value, *own)})
        for value, own in found.items()
    )
    return (
        f"{counted(wrong, 'sensitive value')} {'is' if wrong == 1 else 'are'} not spelled as in all releases"
        if wrong
        else ""
    )


def is_earlier_release(
    groups: Mapping[str, Counter[str | None]],
    signatures: Sequence[Signature],
    night: Mapping[str, Mapping[int, int]],
) -> bool:
    """Whether a finished table, as counts of values by group, consists of the signatures of one release."""
    expected: dict[str, Counter[str | None]] = {read: Counter() for read in night}
    for read, copies in night.items():
        for number, times in copies.items():
            for value in signatures[number]:
                expected[read][value] += times
    return expected == groups
