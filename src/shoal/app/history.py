"""What a change of settings changed, in words, so that undo and redo can name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shoal.app.forms import roles_by_column
from shoal.settings.declaration import READING
from shoal.settings.settings import SETTINGS

_WORDS = {
    "k": "k",
    "header_row": "row with the column names",
    "skip_last": "rows to skip at the end",
    "missing": "missing values",
    "types": "type",
    "date_format": "format of dates",
    "pseudonyms": "key of the pseudonyms",
    "key_file": "key of the pseudonyms",
}  # for settings whose name or label is not a noun that follows "Undo:"


def change_in_words(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What is different between two settings, such as "role of ‘zip’" or "k"; empty if nothing is."""
    found = list(dict.fromkeys(_changes(before, after)))
    if len(found) > 2:
        return f"{found[0]} and {len(found) - 1} other changes"
    return " and ".join(found)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    names = {**_columns(before), **_columns(after)}
    old, new = (roles_by_column(own, list(names)) for own in (before, after))
    changed = [name for name in names if old[name] != new[name]]
    yield from _of("role", changed)
    models = [own.get("quasi_identifiers", {}) for own in (before, after)]
    both = [name for name in names if name in models[0] and name in models[1]]
    trees = [n for n in both if models[0][n].get("hierarchy") != models[1][n].get("hierarchy")]
    yield from _of("tree", trees)
    different = [n for n in both if models[0][n] != models[1][n] and n not in trees]
    yield from _of("model", different)
    columns = [dict(own.get("columns", {})) for own in (before, after)]
    coarse = [own.get("coarsen", {}) for own in columns]
    yield from _of(
        "precision", [n for n in names if n not in changed and coarse[0].get(n) != coarse[1].get(n)]
    )
    if columns[0].get("allow") != columns[1].get("allow"):
        yield "allowed columns"
    if not changed and columns[0].get("key_file") != columns[1].get("key_file"):
        yield _WORDS["key_file"]
    if columns[0].get("person") != columns[1].get("person"):
        yield "column that identifies people"
    for section in ("input", "requirement", "objective", "method", "output"):
        yield from _keys(section, before.get(section, {}), after.get(section, {}))


def _of(what: str, names: list[str]) -> Iterator[str]:
    """One change of one column or of several."""
    if names:
        yield f"{what} of ‘{names[0]}’" if len(names) == 1 else f"{what} of {len(names)} columns"


def _keys(section: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """The settings of a section that changed; those given by column name their column."""
    known = READING if section == "input" else SETTINGS
    labels = {own.key: own.name for own in known.values() if own.section == section}
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        name = labels.get(key, key)
        word = _WORDS.get(key, name.replace("_", " "))
        if isinstance(old or new, Mapping) and isinstance(new or old, Mapping) and name != "refine":
            old, new = old or {}, new or {}
            yield from _of(word, [n for n in (*old, *new) if old.get(n) != new.get(n)][:1])
        else:
            yield word


def _columns(settings: Mapping[str, Any]) -> dict[str, None]:
    """All columns that settings name, in their order."""
    given = settings.get("columns", {})
    lists = [given.get(key, ()) for key in ("sensitive", "identifiers", "keep", "pseudonyms")]
    found = [name for names in (settings.get("quasi_identifiers", {}), *lists) for name in names]
    return dict.fromkeys((*found, *given.get("coarsen", {})))
