"""Turn forms into settings: dicts with the structure of a settings file, which the worker that uses them checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from starlette.datastructures import FormData

from shoal.app import words
from shoal.app.jobs import time_in_words
from shoal.app.projects import OWN_KEY
from shoal.encoding.source import (
    read_by_column,
    read_formats,
    read_missing,
    written_by_column,
    written_formats,
    written_missing,
)
from shoal.settings.declaration import READING, SHARE, Setting
from shoal.settings.settings import SETTINGS

LISTS = {"sensitive": "sensitive", "identifier": "identifiers", "keep": "keep"}
PSEUDONYM = "pseudonym"
UNPROTECTED = ("sensitive", "keep")  # roles whose columns may be coarsened
OPTIONS = {
    "interval": ("step", "low", "high"),
    "hierarchy": ("finest", "low", "high"),
    "suppression": ("low", "high"),
    "subset": ("low", "high"),
    "order": ("values", "low", "high"),
    "calendar": ("levels", "finest", "low", "high"),
    "prefix": ("lengths", "finest"),
    "ready": ("which", "finest", "unlisted"),
    "point": ("finest",),
}  # of each model, that the form asks for
Settings = dict[str, Any]
STEPS = (30, 120, 600)  # refinement steps to choose from
RECORDS_A_SECOND = 50_000  # that one step of refinement handles


class InvalidEntry(Exception):
    """An invalid entry in a form; its message is a sentence that says what to enter instead."""


def roles_by_column(settings: Mapping[str, Any], columns: list[str]) -> dict[str, str]:
    given = settings.get("columns", {})
    found = {}
    for name in columns:
        found[name] = "drop" if given.get("others", "refuse") != "keep" else "keep"
        if name in settings.get("quasi_identifiers", {}):
            found[name] = "quasi-identifier"
        for role, key in (*LISTS.items(), (PSEUDONYM, "pseudonyms")):
            if name in given.get(key, []):
                found[name] = role
    return found


def with_roles(settings: Settings, form: FormData, look: Mapping[str, Any]) -> Settings:
    """Settings with the roles from a form: `role-N` for each column, or `all` for the ticked ones in `column`.

    Ticked quasi-identifiers also get the model `all_model`.
    """
    names = [column["name"] for column in look["columns"]]
    roles = roles_by_column(settings, names)
    for number, name in enumerate(names):
        given = form.get(f"role-{number}")
        if isinstance(given, str) and given in words.ROLES:
            roles[name] = given
    many, ticked = text(form, "all"), _numbered(form, "column", names)
    if many in words.ROLES:
        roles.update(dict.fromkeys(ticked, many))
    new = deepcopy(settings)
    columns = new.setdefault("columns", {})
    for role, key in LISTS.items():
        columns[key] = [name for name in names if roles[name] == role]
    replaced = [name for name in names if roles[name] == PSEUDONYM]
    key_file = columns.pop("key_file", OWN_KEY)
    columns.pop("pseudonyms", None)
    if replaced:
        columns.update(pseudonyms=replaced, key_file=key_file)
    columns["others"] = "drop" if "drop" in roles.values() else "refuse"
    if "roles" in form:  # the whole form, with its checkboxes
        before, kept = columns.pop("allow", {}), _numbered(form, "allow", names)
        allowed = {name: before[name] for name in kept if name in before}
        if allowed:
            columns["allow"] = allowed
    coarse = _coarsened(settings, form, look, roles)
    columns.pop("coarsen", None)
    if coarse:
        columns["coarsen"] = coarse
    old = settings.get("quasi_identifiers", {})
    suggested = {column["name"]: column for column in look["columns"]}
    new["quasi_identifiers"] = {
        name: old[name] if name in old else first_model(suggested[name])
        for name in names
        if roles[name] == "quasi-identifier"
    }
    for column, *_ in own_requirements(new):
        if roles.get(column) != "sensitive":
            new = without_own_requirement(new, column)
    if text(form, "all_model"):
        _give_model(new, text(form, "all_model"), [suggested[name] for name in ticked])
    return new


def with_month(settings: Settings, before: Sequence[str], added: Sequence[str]) -> Settings:
    """Settings for a new file of the table: columns that it adds are left out until they get a role."""
    if not added:
        return settings
    new = deepcopy(settings)
    columns = new.setdefault("columns", {})
    if columns.get("others") == "keep":  # which was said of the columns there were
        roles = roles_by_column(settings, list(before))
        columns["keep"] = [name for name in before if roles[name] == "keep"]
    columns["others"] = "drop"
    return new


def _give_model(new: Settings, kind: str, columns: Sequence[Mapping[str, Any]]) -> None:
    """Give ticked quasi-identifiers a model, or the suggested one of each; all of them must fit it."""
    entries = new["quasi_identifiers"]
    chosen = [column for column in columns if column["name"] in entries]
    if not chosen:
        raise InvalidEntry(
            "A model is for quasi-identifiers. Tick at least one, or also choose that role."
        )
    if kind != words.SUGGESTED and kind not in words.MANY_MODELS:
        raise InvalidEntry("Choose a model from the list.")
    unfit = [column["name"] for column in chosen if not _fits(kind, column["type"])]
    if unfit:
        raise InvalidEntry(
            f"{words.MANY_MODELS[kind][1]} Untick {', '.join(unfit)}, or choose another model."
        )
    for column in chosen:
        old = entries[column["name"]]
        entry = first_model(column) if kind == words.SUGGESTED else {"model": kind} if kind else {}
        kept = old if kind == old.get("model") else {k: v for k, v in old.items() if k == "weight"}
        entries[column["name"]] = {**entry, **kept}


def _fits(kind: str, type: str) -> bool:
    """Whether a model can generalize columns of a type, in the words of `look.json`."""
    is_date = type.startswith("dates")
    if kind == "calendar":
        return is_date
    if kind == "interval":
        return is_date or "numbers" in type
    return kind != "prefix" or not is_date


def confirmation_text(refusals: Sequence[Mapping[str, Any]]) -> str:
    """What the user types to allow refused columns: the number of people they identify, or a word if it is unknown."""
    most = max((own.get("identified", 0) for own in refusals), default=0)
    return str(most) if most else "release"


def with_allowed(settings: Settings, refusals: Sequence[Mapping[str, Any]], typed: Any) -> Settings:
    """Settings that allow the columns a run was refused for, if the user typed the confirmation."""
    wanted = confirmation_text(refusals)
    if not refusals or str(typed or "").strip().replace(",", "") != wanted:
        raise InvalidEntry(f"To release these columns anyway, type {wanted}.")
    new = deepcopy(settings)
    allow = new.setdefault("columns", {}).setdefault("allow", {})
    for own in refusals:
        reasons = allow.setdefault(own["column"], [])
        if own["reason"] not in reasons:
            reasons.append(own["reason"])
    return new


def _coarsened(
    settings: Settings, form: FormData, look: Mapping[str, Any], roles: Mapping[str, str]
) -> dict[str, Any]:
    """The entries of coarsened columns: `coarse-N`, `low-N` and `high-N` for each unprotected column."""
    before = roles_by_column(settings, list(roles))
    old = settings.get("columns", {}).get("coarsen", {})
    found = {}
    for number, column in enumerate(look["columns"]):
        name = column["name"]
        if roles[name] not in UNPROTECTED:
            continue
        entry = old.get(name, {})
        if f"coarse-{number}" in form:
            asked = [key for key in ("coarse", "low", "high") if f"{key}-{number}" in form]
            given = {key: text(form, f"{key}-{number}") for key in asked}
            entry = _coarse_entry(column, entry, given)
        elif before[name] not in UNPROTECTED and column.get("role") == roles[name]:
            entry = first_model(column)
        if entry:
            found[name] = entry
    return found


def _coarse_entry(
    column: Mapping[str, Any], old: Mapping[str, Any], given: Mapping[str, str]
) -> Mapping[str, Any]:
    """How a column is coarsened, depending on its type; entries that the form did not change stay as they are."""
    shown = {"coarse": coarse_of(old), "low": old.get("low", ""), "high": old.get("high", "")}
    if old and all(value == str(shown[key]) for key, value in given.items()):
        return old
    name, wanted = column["name"], given["coarse"]
    ends = {key: number_or_text(given[key]) for key in ("low", "high") if given.get(key)}
    if column.get("type", "text") in words.TEXTS:
        if wanted and not (wanted.isdigit() and 0 < int(wanted) < 1000):
            raise InvalidEntry(
                f"The number of first characters of '{name}' to keep must be a whole number from 1 to 999, like 3."
            )
        return {"model": "prefix", "finest": int(wanted)} if wanted else {}
    if not wanted and not ends:
        return {}
    step = number_or_text(wanted)
    is_date = column["type"].startswith("dates")
    if wanted and (step not in words.PERIODS if is_date else isinstance(step, str) or step <= 0):
        expected = (
            f"one of {', '.join(words.PERIODS)}" if is_date else "a number above 0, like 1000"
        )
        raise InvalidEntry(f"The width of ranges of '{name}' must be {expected}.")
    return {"model": "interval", **({"step": step} if wanted else {}), **ends}


def coarse_of(entry: Mapping[str, Any]) -> Any:
    """How precise a coarsened column is, as a form shows it: the step, level or length of its entry."""
    return entry.get("step", entry.get("finest", ""))


def with_key(settings: Settings, path: str) -> Settings:
    """Settings whose pseudonyms are made with the key in a file."""
    new = deepcopy(settings)
    if not new.get("columns", {}).get("pseudonyms"):
        raise InvalidEntry(
            "No column has pseudonyms yet. On the page Columns, give an identifier the role with pseudonyms first."
        )
    new["columns"]["key_file"] = path
    return new


def needs_own_key(settings: Mapping[str, Any]) -> bool:
    """Whether pseudonyms are made with the project's own key."""
    return bool(settings.get("columns", {}).get("key_file") == OWN_KEY)


def _numbered(form: FormData, key: str, names: list[str]) -> list[str]:
    """The columns whose numbers were ticked."""
    given = [int(n) for n in form.getlist(key) if isinstance(n, str) and n.isdigit()]
    return [names[number] for number in given if number < len(names)]


def first_model(column: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a column that becomes a quasi-identifier: the suggested model, or the default."""
    if not column.get("model") or column["model"] == "hierarchy":
        return {}
    return {"model": column["model"], **column.get("options", {})}


def with_model(settings: Settings, name: str, form: FormData) -> Settings:
    """Settings with the model of one column and its options."""
    new = deepcopy(settings)
    old = new["quasi_identifiers"].get(name, {})
    kind = text(form, "model")
    if kind not in words.MODELS:
        raise InvalidEntry("Choose a model from the list.")
    entry: dict[str, Any] = {"model": kind} if kind else {}
    asked = (*OPTIONS.get(kind, ()), "weight")
    if kind == old.get("model", ""):  # keep what the form does not ask for
        entry.update({key: v for key, v in old.items() if key not in asked or key not in form})
    if kind == "hierarchy" and "hierarchy" not in entry:
        raise InvalidEntry(
            "A hierarchy needs a tree. Build or upload one below; that also selects the model."
        )
    if kind == "ready" and not text(form, "which"):
        raise InvalidEntry("Choose one of the ready-made hierarchies.")
    same = old if kind == old.get("model") else {}
    for key in asked[:-1]:
        if text(form, key):
            is_old = text(form, key) == str(same.get(key))
            entry[key] = same[key] if is_old else _option(key, kind, form)
    if text(form, "weight") and text(form, "weight") != "1":
        entry["weight"] = number(text(form, "weight"), "The weight", 0.0, 1e6)
    new["quasi_identifiers"][name] = entry
    return new


def _option(key: str, kind: str, form: FormData) -> Any:
    given = text(form, key)
    if key == "finest" and kind == "point":
        return number(given, "The width of the smallest cells", 1e-6, 90)
    if key == "finest" and kind not in ("calendar", "ready"):
        return whole(given, "The finest level", 0 if kind == "hierarchy" else 1)
    if key == "levels":
        return [part.strip() for part in given.split(",") if part.strip()]
    if key == "lengths":
        parts = [part.strip() for part in given.split(",")]
        if not all(part.isdigit() for part in parts):
            raise InvalidEntry(
                "The numbers of characters to keep must be separated by commas, like 4, 3, 2."
            )
        return [int(part) for part in parts]
    if key == "values":
        return [line.strip() for line in given.splitlines() if line.strip()]
    return given if key in ("finest", "which", "unlisted") else number_or_text(given)


def with_tree(settings: Settings, name: str, path: str) -> Settings:
    """Settings in which a column has the hierarchy from a file."""
    new = deepcopy(settings)
    old = new["quasi_identifiers"].get(name, {})
    stay = ("weight", "low", "high", "finest") if old.get("model") == "hierarchy" else ("weight",)
    kept = {key: value for key, value in old.items() if key in stay}
    new["quasi_identifiers"][name] = {"model": "hierarchy", "hierarchy": path, **kept}
    return new


def asked(page: str) -> list[Setting]:
    """The settings that a page asks for; those that need a full line come last."""
    known = [*SETTINGS.values(), *READING.values()]
    here = [own for own in known if own.ask and page in own.ask.pages]
    return sorted(here, key=lambda own: own.ask is not None and own.ask.is_wide)


def answer_shown(own: Setting, settings: Mapping[str, Any]) -> Any:
    """The value of a setting, as a form shows it."""
    assert own.ask is not None
    value = settings.get(own.section, {}).get(own.key)
    if value is None:
        return own.ask.usual
    if own.kind == "refine":
        return str(value["steps"]) if isinstance(value, Mapping) else value or "off"
    if own.kind in _WRITTEN:
        return "; ".join(_WRITTEN[own.kind](value))
    return f"{100 * value:g}" if own.check is SHARE else value


# Answers that are lists, separated by semicolons, by the kind of the setting.
_WRITTEN: dict[str, Callable[[Any], Iterable[str]]] = {
    "formats": written_formats,
    "missing": written_missing,
    "by_column": written_by_column,
    "renamed": lambda value: [f"{old}:{new}" for old, new in value.items()],
    "names": list,
    "rows": lambda value: [
        str(value) if isinstance(value, str) else ",".join(map(str, value)) or "0"
    ],
}
_READ: dict[str, Callable[[list[str]], Any]] = {
    "formats": read_formats,
    "missing": lambda parts: read_missing([_without_spaces(part) for part in parts]),
    "by_column": read_by_column,
    "renamed": lambda parts: dict(part.rpartition(":")[::2] for part in parts) or None,
    "names": lambda parts: parts or None,
    "rows": lambda parts: ",".join(parts) or None,
}


def choices(own: Setting, look: Mapping[str, Any] | None, value: Any) -> Mapping[str, str]:
    """The options of a setting with their labels; empty if the user types the answer."""
    assert own.ask is not None
    found = dict(own.ask.choices)
    if look and own.kind in ("method", "objective"):
        found = {name: f"{name} – {title}" for name, title in look[f"{own.kind}s"].items()}
    if look and own.kind == "refine":
        times = {n: time_in_words(n * look["records"] / RECORDS_A_SECOND) for n in STEPS}
        found = {"quick": "a few seconds", "off": "none"}
        found |= {str(n): f"{n} more steps, about {time}" for n, time in times.items()}
    return {**found, value: found.get(value, value)} if found else {}


def with_answers(settings: Settings, form: FormData, page: str) -> Settings:
    """Settings with the answers of a page. Fields not in the form keep their value; checkboxes not in it are off."""
    new = deepcopy(settings)
    for own in asked(page):
        section = new.setdefault(own.section, {})
        if own.takes is bool:
            section[own.key] = own.name in form
            if own.name in READING and not section[own.key]:
                del section[own.key]
        elif own.name in form:
            value = _answer(own, text(form, own.name))
            section[own.key] = value
            if value is None or value == "":
                del section[own.key]
        if not section:
            del new[own.section]
    return new


def _answer(own: Setting, given: str) -> Any:
    """The value of a setting from an answer. Values that the file reader checks are not checked here."""
    assert own.ask is not None
    given = given or own.ask.usual
    if own.kind == "refine":
        if given in ("quick", "off"):
            return "quick" if given == "quick" else False
        return {"steps": whole(given, "The number of steps", 1)}  # repeatable
    if own.kind in _WRITTEN:
        parts = [part.strip() for part in given.split(";") if part.strip()]
        return _READ[own.kind](parts)
    if own.takes not in (int, float):
        return given
    if own.check is SHARE:
        return number(given or "0", own.ask.label, 0, 99) / 100
    value = int(given) if given.isdecimal() and len(given) < 10 else given
    if own.check and not own.check.fits(value):
        raise InvalidEntry(f"{own.ask.label} must be {own.check.expected}.")
    return value


def with_requirement(settings: Settings, form: FormData) -> Settings:
    """Settings with k and the requirements that hold for all sensitive columns; those of single ones stay."""
    new = with_answers(settings, form, "requirement")
    required = new.setdefault("requirement", {})
    for name in words.REQUIRED:
        kept = required.pop(name, [])
        own = [entry for entry in kept if entry.get("columns")]
        general = [entry for entry in kept if not entry.get("columns")]
        if f"use_{name}" in form:
            before = general[0] if len(general) == 1 else {}  # keeps what the form does not show
            own = [_required(name, before, form), *own]
        if own:
            required[name] = own
    return new


def general_requirement(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The requirement of a kind that holds for all sensitive columns; empty if there is none."""
    entries = settings.get("requirement", {}).get(name, [])
    return next((entry for entry in entries if not entry.get("columns")), {})


def own_requirements(settings: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """The requirements of single columns: the column, the kind, and its options."""
    required = settings.get("requirement", {})
    found = [(name, entry) for name in words.REQUIRED for entry in required.get(name, [])]
    return [(column, name, own) for name, own in found for column in own.get("columns") or ()]


def options_in_words(name: str, entry: Mapping[str, Any]) -> str:
    """The options of a requirement, such as "l = 3, frequency"."""
    parts = []
    for key, option in words.REQUIRED[name][1].items():
        value = entry.get(key, option.usual)
        if option.is_percent:
            parts.append(f"at most {100 * value:g} %")
        else:
            parts.append(str(value) if option.choices else f"{key} = {value}")
    return ", ".join(parts)


def with_own_requirement(settings: Settings, form: FormData) -> Settings:
    """Settings in which one sensitive column has a requirement of its own, in addition to those for all."""
    column, name = text(form, "column"), text(form, "name")
    if column not in settings.get("columns", {}).get("sensitive", []):
        raise InvalidEntry("Choose a sensitive column from the list.")
    if name not in words.REQUIRED:
        raise InvalidEntry("Choose a requirement from the list.")
    new = without_own_requirement(settings, column, name)
    entry = {**_required(name, {}, form), "columns": [column]}
    new.setdefault("requirement", {}).setdefault(name, []).append(entry)
    return new


def without_own_requirement(settings: Settings, column: str, name: str = "") -> Settings:
    """Settings in which a column has no requirement of its own, or none of one kind."""
    new = deepcopy(settings)
    required = new.get("requirement", {})
    for kind in [name] if name else list(words.REQUIRED):
        left = []
        for entry in required.pop(kind, []):
            if entry.get("columns"):
                others = [other for other in entry["columns"] if other != column]
                if not others:
                    continue
                entry = {**entry, "columns": others}
            left.append(entry)
        if left:
            required[kind] = left
    return new


def _required(name: str, before: Mapping[str, Any], form: FormData) -> dict[str, Any]:
    """The entry of a requirement with the options from a form."""
    options = words.REQUIRED[name][1].items()
    answers = {
        key: _option_answer(name, key, option, text(form, f"{name}_{key}"))
        for key, option in options
    }
    return {**before, **answers}


def _option_answer(name: str, key: str, option: words.Option, given: str) -> Any:
    """The value of a requirement's option; shares are entered in percent."""
    given = given or str(option.usual)
    if option.choices:
        return given
    title = option.label if option.is_percent else f"The value of {key} for {name}"
    value = number(given, title, option.least, option.most)
    if option.is_percent:
        return value / 100
    return int(value) if value == int(value) else value


def with_run(settings: Settings, form: FormData) -> Settings:
    """Settings of how a run is made; choosing another method drops the options of the old one."""
    new = with_answers(settings, form, "run")
    if new["method"].get("name") != settings.get("method", {}).get("name", "auto"):
        shared = [own.key for own in SETTINGS.values() if own.section == "method"]
        new["method"] = {key: value for key, value in new["method"].items() if key in shared}
    return new


def _without_spaces(part: str) -> str:
    """A comma-separated list without spaces around the commas or empty parts at its ends."""
    return re.sub(r"\s*(?<!\\)([,:])\s*", r"\1", part).strip(",")


def text(form: FormData, key: str) -> str:
    value = form.get(key, "")
    return value.strip() if isinstance(value, str) else ""


def whole(given: str, name: str, least: int) -> int:
    if not given.isdigit() or len(given) > 9 or int(given) < least:
        raise InvalidEntry(f"{name} must be a whole number of at least {least}.")
    return int(given)


def number(given: str, name: str, least: float, most: float) -> float:
    value = number_or_text(given)
    if isinstance(value, str) or not least <= value <= most:
        raise InvalidEntry(f"{name} must be a number from {least:g} to {most:g}.")
    return float(value)


def number_or_text(given: str) -> Any:
    """The text as a number if it is one, else the text itself, which may be a date or a calendar unit."""
    try:
        number = float(given.replace(",", "."))
    except ValueError:
        return given
    return int(number) if number.is_integer() else number
