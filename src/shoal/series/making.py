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
from shoal.errors import Infeasible, InputError
from shoal.generalization.forms import Ints, Records
from shoal.methods import Partition
from shoal.plan import Plan
from shoal.privacy import LDiversity
from shoal.progress import Progress
from shoal.series.buckets import OUT, place_people
from shoal.series.history import History, Night, Signature, history_of
from shoal.series.improving import improve_groups
from shoal.series.parting import part_signatures
from shoal.series.splitting import cells_of, split_people
from shoal.settings import Settings
from shoal.table.folding import fold, fold_all
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


def make_tonight(plan: Plan, previous: Any, progress: Progress) -> Tonight:
    """Group a table so that its release is safe beside the earlier ones of its series.

    Raises
    ------
    InputError
        Where a person has several records, or the earlier releases are no series.
    Infeasible
        Where more people would have to be left out than the settings allow.
    """
    settings, table = plan.settings, plan.problem.table
    assert settings.person is not None
    assert plan.people is not None
    if int(plan.people.person.max()) + 1 < table.records:
        raise InputError(
            f"Some persons have several records in column '{settings.person}', and a series promises something for one "
            "record of each; keep one record per person, or release the others without previous=."
        )
    name, m = settings.sensitive[0], promised(plan.settings)
    before = history_of(previous, settings.person, name, m)
    secret = table.sensitive[name]
    keys = [None if label is None else fold(label) for label in secret.all_labels]
    people = _people(plan, before)
    known = np.array([before.persons.get(who, OUT) for who in people], dtype=np.int32)
    signatures = [_codes(own, keys) for own in before.signatures]
    stays = known >= 0
    has_changed = np.zeros(table.records, dtype=np.bool_)
    for i in np.flatnonzero(stays).tolist():
        has_changed[i] = int(secret.codes[i]) not in signatures[known[i]]
    active = np.flatnonzero(~has_changed)
    rng = np.random.default_rng([settings.seed, len(before.nights)])
    cells = cells_of(plan.problem, active, CELL * settings.k)
    placed, extended = place_people(
        secret.codes[active],
        known[active],
        signatures,
        secret.size,
        m,
        settings.k,
        rng,
        [own[active] for own in cells],
    )
    signature = np.full(table.records, OUT, dtype=np.int32)
    signature[active] = placed
    width = np.array([len(own) for own in extended], dtype=np.int64)
    groups = split_people(plan.problem, signature, width, secret.codes, progress)
    groups = improve_groups(plan.problem, groups, signature, width, secret.codes, ~stays, progress)
    groups = part_signatures(plan, groups, signature)
    signature[groups < 0] = OUT
    _check_limit(plan, signature, has_changed)
    spelled = [*before.signatures, *(_spelled(own, keys) for own in extended[len(signatures) :])]
    newly = {
        people[i]: int(signature[i]) for i in np.flatnonzero((signature >= 0) & ~stays).tolist()
    }
    history = replace(before, m=m, signatures=tuple(spelled), persons={**before.persons, **newly})
    notes = (_note(signature, stays, has_changed),)
    return Tonight(Partition(groups, notes), before, history, signature, known)


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


def _check_limit(plan: Plan, signature: Ints, has_changed: Any) -> None:
    """Refuse to leave out more people than the settings allow."""
    out, records = int(np.count_nonzero(signature < 0)), signature.size
    if out == records:
        raise Infeasible(
            "Nobody can be released: the sensitive values of these people do not make groups in which each of at least "
            f"{promised(plan.settings)} values is as frequent as any other; lower l or k, or give more records."
        )
    if out <= plan.settings.suppression_limit * records:
        return
    changed = int(np.count_nonzero(has_changed))
    because = f", {changed:,} of them because their sensitive value has changed" if changed else ""
    raise Infeasible(
        f"{out:,} of {records:,} records must be left out of this release, so that nobody's set of sensitive values "
        f"changes{because}; allow it with suppression_limit = {np.ceil(1000 * out / records) / 1000:.3g}."
    )


def _note(signature: Ints, stays: Any, has_changed: Any) -> str:
    used = np.unique(signature[signature >= 0]).size
    parts = [
        f"{np.count_nonzero(stays & (signature >= 0)):,} people stay",
        f"{np.count_nonzero(~stays & (signature >= 0)):,} are new",
        f"{np.count_nonzero(signature < 0):,} are left out",
    ]
    changed = int(np.count_nonzero(has_changed))
    if changed:
        parts.append(f"{changed:,} of them for a sensitive value that has changed")
    return f"{', '.join(parts)}; {used:,} signatures"
