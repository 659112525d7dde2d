"""One release of a series: signatures for the people in it, groups that keep them, one spelling for each value."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from json import dumps
from math import ceil
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.audits.requirements.diversity import LDiversity
from shoal.audits.series import SeriesEvidence, is_earlier_release, misspelled, signature_values
from shoal.audits.texts import visible_texts
from shoal.audits.verdict import Examination, Proof, judge
from shoal.data.open import texts_in
from shoal.encoding.encode import Sensitive, fold_all, value_key
from shoal.encoding.forms import Ints, Records
from shoal.encoding.frames import Frame, arrow_column, open_frame
from shoal.encoding.other_columns import canonical_texts
from shoal.errors import Infeasible, InputError, counted
from shoal.kernels.refining.series import exchange_people, regroup_near
from shoal.pipeline.plan import Plan
from shoal.pipeline.prove import released_columns
from shoal.pipeline.series.buckets import OUT, Buckets
from shoal.pipeline.series.history import EarlierRelease, History, Signature, history_of
from shoal.pipeline.series.split import (
    NOBODY,
    draw_order,
    nested_cells,
    separate_signatures,
    sets_of,
    split_people,
    turns_of,
)
from shoal.progress import Progress
from shoal.settings.settings import Settings
from shoal.solve.local_search.state import SearchState
from shoal.solve.methods import Partition
from shoal.solve.problem import Problem

if TYPE_CHECKING:
    from shoal.pipeline.carriers.memory import Memory


NEAR = 5  # nearest groups whose people one tries to swap places with
# Groups that are remade together with one, and beginnings that are tried: 8 and 12 took three times as long on 5,000
# census records and gained nothing.
BESIDE, TRIES = 4, 4
PASSES = 20  # at most
SMALLEST_GAIN = 1e-3  # share of the cost: a pass that gains less is the last


def improve_groups(
    problem: Problem,
    groups: Ints,
    signature: Ints,
    width: Any,
    value: Ints,
    is_new: Any,
    progress: Progress,
) -> Ints:
    """Make groups that cost less, each of one signature with the same number of people of each of its values.

    Newcomers may swap signatures with each other on the way; `signature` is updated.
    """
    if not (groups >= 0).any():
        return groups
    refined = SearchState.of(problem, groups)
    search = refined.search
    holds = np.zeros((int(signature.max()) + 1, int(value.max()) + 1), dtype=np.bool_)
    placed = signature >= 0
    holds[signature[placed], value[placed]] = True
    for done in range(PASSES):
        progress("refining", done, PASSES)
        before = refined.cost
        order = np.argsort(-search.s.cost, kind="stable")
        regroup_near(search, order, BESIDE, TRIES, value, signature, width)
        exchange_people(search, refined.dearest(), NEAR, value, signature, is_new, holds)
        if before - refined.cost <= SMALLEST_GAIN * before:
            break
    return refined.groups


Key = str | None  # of a value: its folded text, None for a missing one


def spellings_of(
    frame: Frame, name: str, keys: Sequence[Key], codes: Ints, known: Mapping[str, str]
) -> dict[str, str]:
    """The spelling of every value of a text column: the known one, or the most frequent of a new value.

    `frame` has only the released records, so that no spelling reveals a person who is left out; `codes` are the
    places of their values in `keys`. A column of numbers or dates has no spellings.
    """
    column = arrow_column(frame, name)
    if not pa.types.is_large_string(column.type):
        return {}
    texts: dict[str, Counter[str]] = {}
    for text, code in zip(column.to_pylist(), codes.tolist(), strict=True):
        key = keys[code]
        if key is not None and key not in known:
            texts.setdefault(key, Counter())[" ".join(text.split())] += 1
    found = dict(known)
    for key, own in texts.items():
        fitting = sorted(text for text in own if value_key(text) == key)
        found[key] = max(fitting, key=own.__getitem__, default=key)
    return found


def respelled(
    frame: Frame, name: str, keys: Sequence[Key], codes: Ints, spellings: Mapping[str, str]
) -> Frame:
    """The frame with one spelling of each value in a sensitive column, and null for every missing one."""
    column, dtype = arrow_column(frame, name), frame.get_column(name).dtype
    if pa.types.is_floating(column.type):
        return frame.with_columns((nw.col(name) + 0.0).cast(dtype))  # -0.0 is 0.0
    if not pa.types.is_large_string(column.type):
        # Objects may be written in several ways, like Decimal("1.0") and Decimal("1.00").
        return _with_column(frame, name, column.combine_chunks()) if dtype == nw.Object else frame
    by_code = pa.array([key and spellings.get(key) for key in keys], type=pa.large_string())
    texts = by_code.take(pa.array(codes.astype(np.int64)))
    is_same = column.combine_chunks().equals(texts)
    if is_same and not (texts.null_count and frame.implementation.is_pandas()):  # None or NaN
        return frame
    return _with_column(frame, name, texts)


def _with_column(frame: Frame, name: str, array: pa.Array) -> Frame:
    """The frame with another content of a column, of the same type where that is text or categories."""
    native = frame.to_native()
    if isinstance(native, pa.Table):
        place = native.column_names.index(name)
        field = native.schema.field(place)
        fresh = array.dictionary_encode() if pa.types.is_dictionary(field.type) else array
        native = native.set_column(place, field.with_type(fresh.type), fresh)
        return nw.from_native(native, eager_only=True)
    column = nw.from_arrow(pa.table({name: array}), backend=frame.implementation).get_column(name)
    if frame.get_column(name).dtype == nw.Categorical:
        column = column.cast(nw.Categorical)
    return frame.with_columns(column)


CELL = 3  # times k: the people of the smallest cells in which newcomers are placed, on average


@dataclass(frozen=True)
class NextRelease:
    """The groups of a release of a series, and what it adds to the history."""

    partition: Partition  # −1 for those who are left out
    history: History  # with everybody's signature, without this night
    signature: Ints  # of each record, −1 for those who are left out
    known: Ints  # the signature that each record had before, −1 for newcomers
    keys: list[Key]  # of the sensitive values
    codes: Ints  # the place of each record's value in `keys`

    @property
    def is_released(self) -> Any:
        return self.signature >= 0

    def respelled(self, frame: Frame) -> Frame:
        """The released records, in their input order, with one spelling of each sensitive value."""
        name, spellings = self.history.sensitive, self.history.spellings
        return respelled(frame, name, self.keys, self.codes[self.is_released], spellings)

    def witness(self, order: Records) -> SeriesEvidence:
        """What the audit must know of the released records, in their order."""
        kept = np.flatnonzero(self.signature >= 0)[order]
        return SeriesEvidence(
            self.history.signatures,
            self.signature[kept].astype(np.int64),
            self.known[kept].astype(np.int64),
            self.history.m,
            self.history.sensitive,
            len(self.history.nights) + 1,
            self.history.spellings,
        )

    def remembered(self, texts: pa.Table, order: Records) -> History:
        """The history with this night, whose records have these texts in their quasi-identifiers."""
        kept = self.signature[self.signature >= 0][order].tolist()
        groups: dict[str, dict[int, int]] = {}
        for *read, number in zip(*(own.to_pylist() for own in texts.columns), kept, strict=True):
            own = groups.setdefault(reading_key(read), {})
            own[number] = own.get(number, 0) + 1
        for own in groups.values():
            for number, people in own.items():
                own[number] = people // len(self.history.signatures[number])
        night = EarlierRelease(secrets.token_hex(8), groups)
        return replace(self.history, nights=(*self.history.nights, night))


def reading_key(read: list[str | None]) -> str:
    """The hash of all that a group's texts say."""
    return sha256(dumps(read).encode()).hexdigest()[:32]


def make_next_release(plan: Plan[Memory], previous: Any, progress: Progress) -> NextRelease:
    """Group a table so that its release is safe together with the earlier ones of its series.

    Raises
    ------
    InputError
        If the earlier releases are not a series.
    Infeasible
        If more people would have to be left out than the settings allow.
    """
    settings, problem = plan.settings, plan.problem
    assert settings.person is not None
    name, m = settings.sensitive[0], promised_values(settings)
    before = history_of(previous, settings.person, name, m)
    secret = problem.table.sensitive[name]
    keys = [None if label is None else value_key(label) for label in secret.all_labels]
    people = _people(plan, before)
    known = np.array([before.persons.get(who, OUT) for who in people], dtype=np.int32)
    drawn = draw_order(before, settings.seed, problem.table.records)
    sets = np.array([before.sets.get(who, NOBODY) for who in people], dtype=np.int64)
    signatures = [_codes(own, keys) for own in before.signatures]
    signature, signatures = _placed(plan, secret, known, signatures, sets, drawn)
    width = np.array([len(own) for own in signatures], dtype=np.int64)
    groups = split_people(problem, signature, width, secret.codes, progress)
    is_new = known == OUT
    groups = improve_groups(problem, groups, signature, width, secret.codes, is_new, progress)
    groups = separate_signatures(plan, groups, signature)
    signature[groups < 0] = OUT
    _check_limit(plan, signature)
    kept = np.flatnonzero(groups >= 0)
    spelled = [_spelled(own, keys) for own in signatures[len(before.signatures) :]]
    together = sets_of(groups, secret.codes, drawn, 1 + max(before.sets.values(), default=NOBODY))
    released = plan.carrier.source.data.select(name)[kept.tolist()]
    history = replace(
        before,
        m=m,
        signatures=(*before.signatures, *spelled),
        persons={**before.persons, **{people[i]: int(signature[i]) for i in kept.tolist()}},
        sets={**before.sets, **{people[i]: int(together[i]) for i in kept.tolist()}},
        spellings=spellings_of(released, name, keys, secret.codes[kept], before.spellings),
    )
    partition = Partition(groups, (_note(before, signature),))
    return NextRelease(partition, history, signature, known, keys, secret.codes)


def _placed(
    plan: Plan[Memory],
    secret: Sensitive,
    known: Ints,
    signatures: list[frozenset[int]],
    sets: Records,
    drawn: Records,
) -> tuple[Ints, list[frozenset[int]]]:
    """Everyone's signature tonight, −1 for those who are left out, and all signatures.

    A person whose sensitive value is no longer in their signature is left out.
    """
    fits = np.ones(known.size, dtype=np.bool_)
    for i in np.flatnonzero(known >= 0).tolist():
        fits[i] = int(secret.codes[i]) in signatures[known[i]]
    active, k = np.flatnonzero(fits), plan.settings.k
    width = np.array([*(len(own) for own in signatures), 0], dtype=np.int64)  # OUT is the last
    cells = nested_cells(plan.problem, active, CELL * k)
    turn = turns_of(sets[active], width[known[active]], drawn[active])
    buckets = Buckets(
        secret.codes[active],
        list(signatures),
        promised_values(plan.settings),
        k,
        turn,
        [own[active] for own in cells],
    )
    signature = np.full(known.size, OUT, dtype=np.int32)
    signature[active] = buckets.place(known[active], secret.size)
    return signature, buckets.signatures


def promised_values(settings: Settings) -> int:
    """The least number of possible sensitive values for each person."""
    asked = [item for item in settings.requirements if isinstance(item, LDiversity)]
    return max((ceil(item.l) for item in asked), default=1)


def _people(plan: Plan[Memory], history: History) -> list[str]:
    """The hash of the person of each record."""
    person, input = plan.settings.person, plan.settings.reading
    assert person is not None
    texts = fold_all(canonical_texts(plan.carrier.source.data, person, input.missing_in(person)))
    return [history.key(text) for text in texts.to_pylist()]


def _codes(own: Signature, keys: list[str | None]) -> frozenset[int]:
    """A signature in tonight's codes; a value that nobody has tonight is a negative number."""
    place = {key: code for code, key in enumerate(keys)}
    return frozenset(place.get(key, -1 - at) for at, key in enumerate(own))


def _spelled(own: frozenset[int], keys: list[str | None]) -> Signature:
    found = [keys[code] for code in own]
    return tuple(sorted(found, key=lambda key: (key is None, key or "")))


def _check_limit(plan: Plan[Memory], signature: Ints) -> None:
    """Refuse to leave out more people than the settings allow.

    The message gives no reasons for leaving people out, not even counts by reason: others may read logs.
    """
    out, records = int(np.count_nonzero(signature < 0)), signature.size
    if out == records:
        raise Infeasible(
            "No record can be released: no groups exist in which each of at least "
            f"{promised_values(plan.settings)} sensitive values is as frequent as any other. Lower l or k, or "
            "give more records."
        )
    if out > plan.settings.suppression_limit * records:
        raise Infeasible(
            f"{out:,} of {counted(records, 'record')} must be left out of this release, so that nobody's set of "
            "possible sensitive values changes. Allow it with suppression_limit = "
            f"{np.ceil(1000 * out / records) / 1000:.3g}."
        )


def _note(before: History, signature: Ints) -> str:
    """What may be said of a release: nothing about people who are left out (their number is reported elsewhere)."""
    used = np.unique(signature[signature >= 0]).size
    sets = counted(used, "different set") if used > 1 else "one set"
    return f"release {len(before.nights) + 1:,} of a series, with {sets} of sensitive values"


def audit_earlier_release(
    table: Any, examination: Examination, previous: Any, settings: Settings
) -> Examination:
    """Add to an examination whether a table is one of the releases in a history.

    The history says which signatures each group consists of, and everyone has one signature in it. The table must
    have exactly the groups and values of one of its nights.
    """
    if len(settings.sensitive) != 1 or not settings.person:
        raise InputError(
            "To check a series, the settings must name one sensitive column and the person column. Give the "
            "settings of the release (--settings)."
        )
    m = promised_values(settings)
    history = history_of(previous, settings.person, settings.sensitive[0], m)
    read = texts_in(table, settings.reading.of_written())
    frame = open_frame(table if read is None else read)
    columns = released_columns(frame, settings)
    texts = visible_texts(frame, [*columns, history.sensitive])
    written = texts[history.sensitive].to_pylist()
    missing = settings.reading.missing_in(history.sensitive)
    values = signature_values(written, history.signatures, missing)
    groups: dict[str, Counter[str | None]] = {}
    rows = zip(*(texts[name].to_pylist() for name in columns), strict=True)
    for own, value in zip(rows, values, strict=True):
        groups.setdefault(reading_key(list(own)), Counter())[value] += 1
    is_known = any(
        is_earlier_release(groups, history.signatures, night.groups) for night in history.nights
    )
    least, count = _least(history), len(history.nights)
    releases = counted(count, "release")
    what = f"{m}-invariance of '{history.sensitive}' over {releases}"
    proof = Proof(what, float(m), float(least))
    if not is_known:
        miss = "This table is none of the releases in the history"
    elif least < m:
        miss = f"A signature has {counted(least, 'value')} instead of {m:,}"
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
