"""Batteries of similar columns, such as Q1 … Q40 or Lab01 … Lab24, which are decided together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.suggestions import words
from shoal.suggestions.findings import DROP, IDENTIFIER, SENSITIVE, Verdict, says
from shoal.suggestions.meaning import meant, secret
from shoal.suggestions.models import widest
from shoal.suggestions.profile import BANDS, CATEGORY, Profile

FEWEST = 3  # numbered columns that make a battery
FEWEST_ALIKE = 4  # columns with the same scale and no number that make one
LONGEST_SCALE = 15  # values of a scale of answers
SAME = 0.7  # share of values that two scales have in common

Verdicts = Mapping[str, Verdict | None]


@dataclass(frozen=True)
class Battery:
    """Columns that are decided together; `has_scale` says that they share a few values."""

    names: tuple[str, ...]
    has_scale: bool

    @property
    def label(self) -> str:
        """How lists name it: Q1 … Q40 (40 columns)."""
        return f"{_short(self.names[0])} … {_short(self.names[-1])} ({len(self.names)} columns)"


def with_batteries(
    profiles: Mapping[str, Profile], verdicts: Verdicts
) -> dict[str, Verdict | None]:
    """The verdicts of single columns, and for the columns of each battery the same one."""
    found = dict(verdicts)
    open_names = [name for name, verdict in verdicts.items() if _is_open(verdict)]
    for battery in _batteries({name: profiles[name] for name in open_names}, verdicts):
        found |= _decided(battery, [profiles[name] for name in battery.names])
    return found


def _is_open(verdict: Verdict | None) -> bool:
    """Whether a battery may change what a column's own name and values say."""
    if verdict is None or verdict.role == SENSITIVE:
        return True
    return verdict.role in (IDENTIFIER, DROP) and not verdict.is_sure


def _batteries(profiles: Mapping[str, Profile], verdicts: Verdicts) -> list[Battery]:
    stems: dict[str, list[str]] = {}
    for name in profiles:
        stem = re.sub(r"\d+", "#", name)
        if stem != name:
            stems.setdefault(stem, []).append(name)
    found = [part for names in stems.values() for part in _alike(names, profiles)]
    taken = {name for battery in found for name in battery.names}
    scales: dict[frozenset[str], list[str]] = {}
    for name, profile in profiles.items():
        is_answer = verdicts[name] is None and profile.kind in (BANDS, CATEGORY)
        if is_answer and name not in taken and 2 < profile.distinct <= LONGEST_SCALE:
            scales.setdefault(_scale(profile), []).append(name)
    return found + [Battery(tuple(n), True) for n in scales.values() if len(n) >= FEWEST_ALIKE]


def _scale(profile: Profile) -> frozenset[str]:
    return frozenset(profile.texts.to_pylist())


def _alike(names: Sequence[str], profiles: Mapping[str, Profile]) -> list[Battery]:
    """Columns with the same stem, those with few values apart by their scales."""
    short = [name for name in names if profiles[name].distinct <= LONGEST_SCALE]
    long = [name for name in names if name not in short]
    found = [Battery(tuple(long), False)] if len(long) >= FEWEST else []
    scales = {name: _scale(profiles[name]) for name in short}
    while len(scales) >= FEWEST:
        usual = Counter(scales.values()).most_common(1)[0][0]
        fits = [name for name, scale in scales.items() if _is_same(scale, usual)]
        if len(fits) >= FEWEST:
            found.append(Battery(tuple(fits), True))
        scales = {name: scale for name, scale in scales.items() if name not in fits}
    return found


def _is_same(one: frozenset[str], two: frozenset[str]) -> bool:
    return len(one & two) > SAME * len(one | two) or one == two


def _decided(battery: Battery, columns: Sequence[Profile]) -> dict[str, Verdict | None]:
    """One verdict for all columns: sensitive where a word says what they hold, else left out."""
    concept = next((c for column in columns if (c := meant(words.SENSITIVE, column))), None)
    is_answer = battery.has_scale and (
        words.ANSWER.found_in(columns[0].words) or columns[0].kind in (BANDS, CATEGORY)
    )
    if concept is None and not is_answer:
        reason = f"{len(columns)} similar columns of unknown meaning"
        unknown = Verdict(DROP, reason, is_sure=False, is_unknown=True, battery=battery.label)
        return dict.fromkeys(battery.names, unknown)
    reason = says(concept) if concept else "answers on one scale"
    single = [secret(column, reason) for column in columns]
    usual = next((v for v in single if v.role == DROP), single[0])
    if usual.role == SENSITIVE:
        coarse = [verdict.coarsen for verdict in single if verdict.coarsen]
        how = widest(coarse) if coarse else {}
        reason += f"; decided together for {len(columns)} columns, taken as unknown to outsiders"
        if how:
            reason += " and coarsened, because most values would occur once"
        usual = Verdict(SENSITIVE, reason, is_sure=concept is not None, coarsen=how)
    return dict.fromkeys(battery.names, replace(usual, battery=battery.label))


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def in_short(names: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Names for a list, with one entry for each battery."""
    return list(dict.fromkeys(labels.get(name) or name for name in names))
