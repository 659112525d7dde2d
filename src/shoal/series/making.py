"""One release of a series: signatures for tonight's people, and groups that keep them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from hashlib import sha256
from json import dumps
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.auditing.series import Witness
from shoal.errors import Infeasible
from shoal.generalization.forms import Ints, Records
from shoal.methods import Partition
from shoal.plan import Plan
from shoal.privacy import LDiversity
from shoal.progress import Progress
from shoal.series.buckets import OUT, place_people
from shoal.series.drawing import NOBODY, draw_order, sets_of, turns_of
from shoal.series.history import History, Night, Signature, history_of
from shoal.series.improving import improve_groups
from shoal.series.parting import part_signatures
from shoal.series.spelling import Key, respelled, spellings_of
from shoal.series.splitting import cells_of, split_people
from shoal.settings import Settings
from shoal.table.encode import Sensitive
from shoal.table.folding import fold_all, value_key
from shoal.table.frames import Frame
from shoal.table.pseudonyms import canonical_texts

CELL = 3  # times k: the people of the smallest cells in which newcomers are placed, on average


@dataclass(frozen=True)
class Tonight:
    """The groups of a release of a series, and what it adds to the history."""

    partition: Partition  # −1 for those who are left out
    before: History
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

    def witness(self, order: Records) -> Witness:
        """What the audit must know of the released records, in their order."""
        kept = np.flatnonzero(self.signature >= 0)[order]
        return Witness(
            self.history.signatures,
            self.signature[kept].astype(np.int64),
            self.known[kept].astype(np.int64),
            self.history.m,
            self.history.sensitive,
            len(self.history.nights) + 1,
            self.history.spellings,
        )

    def remembered(self, texts: pa.Table, order: Records) -> History:
        """The history with this night, whose records read like this in their quasi-identifiers."""
        kept = self.signature[self.signature >= 0][order].tolist()
        groups: dict[str, dict[int, int]] = {}
        for *read, number in zip(*(own.to_pylist() for own in texts.columns), kept, strict=True):
            own = groups.setdefault(reading_key(read), {})
            own[number] = own.get(number, 0) + 1
        for own in groups.values():
            for number, people in own.items():
                own[number] = people // len(self.history.signatures[number])
        night = Night(secrets.token_hex(8), groups)
        return replace(self.history, nights=(*self.history.nights, night))


def reading_key(read: list[str | None]) -> str:
    """What stands for all that a group reads."""
    return sha256(dumps(read).encode()).hexdigest()[:32]


def make_tonight(
    plan: Plan, previous: Any, progress: Progress, order_seed: int | None = None
) -> Tonight:
    """Group a table so that its release is safe beside the earlier ones of its series.

    `order_seed` fixes the secret draws, for tests only.

    Raises
    ------
    InputError
        Where the earlier releases are no series.
    Infeasible
        Where more people would have to be left out than the settings allow.
    """
    settings, problem = plan.settings, plan.problem
    assert settings.person is not None
    name, m = settings.sensitive[0], promised(settings)
    before = history_of(previous, settings.person, name, m)
    secret = problem.table.sensitive[name]
    keys = [None if label is None else value_key(label) for label in secret.all_labels]
    people = _people(plan, before)
    known = np.array([before.persons.get(who, OUT) for who in people], dtype=np.int32)
    drawn = draw_order(before, settings.seed, order_seed, problem.table.records)
    sets = np.array([before.sets.get(who, NOBODY) for who in people], dtype=np.int64)
    signatures = [_codes(own, keys) for own in before.signatures]
    signature, signatures = _placed(plan, secret, known, signatures, sets, drawn)
    width = np.array([len(own) for own in signatures], dtype=np.int64)
    groups = split_people(problem, signature, width, secret.codes, progress)
    is_new = known == OUT
    groups = improve_groups(problem, groups, signature, width, secret.codes, is_new, progress)
    groups = part_signatures(plan, groups, signature)
    signature[groups < 0] = OUT
    _check_limit(plan, signature)
    kept = np.flatnonzero(groups >= 0)
    spelled = [_spelled(own, keys) for own in signatures[len(before.signatures) :]]
    together = sets_of(groups, secret.codes, drawn, 1 + max(before.sets.values(), default=NOBODY))
    released = plan.source.data.select(name)[kept.tolist()]
    history = replace(
        before,
        m=m,
        signatures=(*before.signatures, *spelled),
        persons={**before.persons, **{people[i]: int(signature[i]) for i in kept.tolist()}},
        sets={**before.sets, **{people[i]: int(together[i]) for i in kept.tolist()}},
        spellings=spellings_of(released, name, keys, secret.codes[kept], before.spellings),
    )
    partition = Partition(groups, (_note(before, signature),))
    return Tonight(partition, before, history, signature, known, keys, secret.codes)


def _placed(
    plan: Plan,
    secret: Sensitive,
    known: Ints,
    signatures: list[frozenset[int]],
    sets: Records,
    drawn: Records,
) -> tuple[Ints, list[frozenset[int]]]:
    """The signature of everybody tonight, −1 for those who are left out, and all signatures.

    Somebody whose sensitive value is not in their signature any more is left out.
    """
    fits = np.ones(known.size, dtype=np.bool_)
    for i in np.flatnonzero(known >= 0).tolist():
        fits[i] = int(secret.codes[i]) in signatures[known[i]]
    active, k = np.flatnonzero(fits), plan.settings.k
    width = np.array([*(len(own) for own in signatures), 0], dtype=np.int64)  # OUT is the last
    cells = cells_of(plan.problem, active, CELL * k)
    placed, extended = place_people(
        secret.codes[active],
        known[active],
        signatures,
        secret.size,
        promised(plan.settings),
        k,
        turns_of(sets[active], width[known[active]], drawn[active]),
        [own[active] for own in cells],
    )
    signature = np.full(known.size, OUT, dtype=np.int32)
    signature[active] = placed
    return signature, extended


def promised(settings: Settings) -> int:
    """How many sensitive values everybody may have at least."""
    asked = [item for item in settings.requirements if isinstance(item, LDiversity)]
    return max((ceil(item.l) for item in asked), default=1)


def _people(plan: Plan, history: History) -> list[str]:
    """What stands for the person of each record."""
    person, input = plan.settings.person, plan.settings.input
    assert person is not None
    texts = fold_all(canonical_texts(plan.source.data, person, input.missing_in(person)))
    return [history.key(text) for text in texts.to_pylist()]


def _codes(own: Signature, keys: list[str | None]) -> frozenset[int]:
    """A signature in tonight's codes; a value that nobody has tonight is a negative number."""
    place = {key: code for code, key in enumerate(keys)}
    return frozenset(place.get(key, -1 - at) for at, key in enumerate(own))


def _spelled(own: frozenset[int], keys: list[str | None]) -> Signature:
    found = [keys[code] for code in own]
    return tuple(sorted(found, key=lambda key: (key is None, key or "")))


def _check_limit(plan: Plan, signature: Ints) -> None:
    """Refuse to leave out more people than the settings allow.

    Nobody is told why somebody is left out, not even how many for the same reason: logs may be read by others.
    """
    out, records = int(np.count_nonzero(signature < 0)), signature.size
    if out == records:
        raise Infeasible(
            "Nobody can be released: the sensitive values of these people do not make groups in which each of at least "
            f"{promised(plan.settings)} values is as frequent as any other; lower l or k, or give more records."
        )
    if out > plan.settings.suppression_limit * records:
        raise Infeasible(
            f"{out:,} of {records:,} records must be left out of this release, so that nobody's set of sensitive "
            f"values changes; allow it with suppression_limit = {np.ceil(1000 * out / records) / 1000:.3g}."
        )


def _note(before: History, signature: Ints) -> str:
    """What can be told of a release: nothing about the people who are left out but their number, told elsewhere."""
    used = np.unique(signature[signature >= 0]).size
    sets = f"{used:,} different sets" if used > 1 else "one set"
    return f"release {len(before.nights) + 1:,} of a series, with {sets} of sensitive values"
