"""Turns what is given on the command line into models, weights, requirements and methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from shoal.encoding.source import read_by_column, read_formats, read_missing
from shoal.errors import REASONS, InputError, near_miss
from shoal.settings.settings import WMI
from shoal.solve.local_search.budget import Refine


def parse_coarsening(given: Sequence[str] | None, problems: list[str]) -> dict[str, Any] | None:
    """Read models that coarsen columns, written like those of quasi-identifiers."""
    found = parse_models(given, problems, "--coarsen", "Column")
    return found and {name: model for name, model in found.items() if model is not None}


def parse_models(
    given: Sequence[str] | None,
    problems: list[str],
    flag: str = "-q",
    what: str = "Quasi-identifier",
) -> dict[str, Any] | None:
    """Read models from `COLUMN[:MODEL[:FILE][:KEY=VALUE…]]`; a colon in a column's name is written `\\:`.

    `COLUMN:order:names` sorts alphabetically; a file called "names" is written `./names`. `COLUMN:ready:countries`
    names a ready-made hierarchy.
    """
    if not given:
        return None
    from shoal.encoding.models import MODELS
    from shoal.settings.registry import known_name

    found: dict[str, Any] = {}
    for text in given:
        parts = re.split(r"(?<!\\):", text)
        column, *named = (part.replace("\\:", ":") for part in parts[:2])
        kind = known_name("model", named[0], problems) if named else None
        if column in found:
            problems.append(f"{what} '{column}' is named twice. Name it once.")
        found[column] = None
        if kind is None:
            if not named and flag != "-q":
                problems.append(
                    f"{flag} {text} needs a model. Write {flag} {text}:MODEL:KEY=VALUE, for example "
                    f"{text}:interval:step=5."
                )
            continue
        if kind not in MODELS:
            close = near_miss(kind, MODELS) or "."
            problems.append(
                f"Unknown model '{kind}' for column '{column}'{close} Models: {', '.join(MODELS)}. If the colon "
                "belongs to the column's name, write \\:."
            )
        else:
            found[column] = _model(column, kind, parts[2:], problems, flag)
    return found


def _model(column: str, kind: str, parts: Sequence[str], problems: list[str], flag: str) -> Any:
    """Make a model from its name, an optional file and options; the file's path may contain colons."""
    from shoal.encoding.models import MODELS, Hierarchy, Order
    from shoal.encoding.models.order import NAMES
    from shoal.settings.toml import make_model, model_keys

    apart = ("hierarchy", "rows", "values", "domain")  # given before options, or only in files
    keys = [key for key in model_keys(kind) if key not in apart]
    named = len(parts)
    while named and parts[named - 1].partition("=")[0] in keys and "=" in parts[named - 1]:
        named -= 1
    path = ":".join(parts[:named]) if named else None
    options: dict[str, Any] = {}
    if kind == "ready" and path is not None and "=" not in path:
        options["which"], path = path, None
    if path is not None and kind not in ("hierarchy", "order") and "=" in path:
        problems.append(f"Column '{column}': unknown option of {kind}. Options: {', '.join(keys)}.")
        return None
    if kind != "order" and (kind == "hierarchy") != (path is not None):
        problems.append(
            f"Column '{column}': only hierarchy and order take a file. Write {column}:hierarchy:FILE or "
            f"{column}:order:FILE, or use another model without a file."
        )
        return None
    for part in parts[named:]:
        key, _, value = part.partition("=")
        options[key] = _option(MODELS[kind], key, value.replace("\\:", ":"))
    tree = None
    try:
        if kind == "hierarchy":
            tree = Hierarchy.from_csv(str(path))
        elif path is not None:
            options["values"] = NAMES if path == NAMES else list(Order.from_file(path).values or ())
    except InputError as error:
        problems.extend(error.problems)
        return None
    return make_model(kind, options, f"{flag} {column}:{kind}", problems, tree)


def _option(owner: type | None, key: str, text: str) -> Any:
    """Read an option by its declared type: a list, a text, a date, a number, true or false."""
    kind = getattr(owner, "__dataclass_fields__", {}).get(key)
    kind = str(kind.type) if kind is not None else ""
    if kind.startswith("Sequence["):
        parts = _listed(text)
        return [_value(part) for part in parts] if kind.startswith("Sequence[int]") else parts
    if kind.removesuffix(" | None") in ("str", "Tree"):
        return text
    if key in ("low", "high") and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return _day(text)
    return _value(text)


def _day(text: str) -> Any:
    """Read a text as a date; return it unchanged if there is no such day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


def parse_allowed(given: Sequence[str] | None, problems: list[str]) -> dict[str, list[str]] | None:
    """Read reasons from `COLUMN:REASON`; without a reason, "unique"."""
    found: dict[str, list[str]] = {}
    for text in given or ():
        column, _, reason = text.rpartition(":")
        if column and reason not in REASONS:
            close = near_miss(reason, REASONS) or "."
            problems.append(
                f"Unknown reason '{reason}' for --allow{close} Reasons: {', '.join(REASONS)}."
            )
        found.setdefault(column or text, []).append(reason if column else "unique")
    return found or None


def parse_weights(given: Sequence[str] | None, problems: list[str]) -> dict[str, float] | None:
    """Read weights from `COLUMN=NUMBER`."""
    found = {}
    for name, text in _pairs("--weight", given, problems):
        try:
            found[name] = float(text)
        except ValueError:
            problems.append(
                f"The weight of '{name}' must be a number, for example --weight {name}=2."
            )
    return found or None


def parse_requirements(given: Sequence[str] | None, problems: list[str]) -> list[Any] | None:
    """Read requirements from `NAME:KEY=VALUE[:KEY=VALUE…]`; commas separate items of lists; `\\:` and `\\,` are
    literal.
    """
    if not given:
        return None
    from shoal.audits.requirements import REQUIREMENTS
    from shoal.settings.registry import known_name
    from shoal.settings.toml import read_requirement

    found = []
    for text in given:
        name, *pairs = re.split(r"(?<!\\):", text)
        name = known_name("requirement", name.replace("\\:", ":"), problems)
        if name is None:
            continue
        where = f"--require {name}"
        entry: dict[str, Any] = {}
        for pair in pairs:
            key, sign, value = pair.replace("\\:", ":").partition("=")
            if not sign:
                problems.append(
                    f"Write {where}:KEY=VALUE. If the colon belongs to a value, write \\:."
                )
                continue
            if key in entry:
                problems.append(f"{where} sets '{key}' twice. Set it once.")
            entry[key] = _option(REQUIREMENTS.get(name), key, value)
        found.append(read_requirement(name, entry, where, Path(), problems))
    return [requirement for requirement in found if requirement is not None]


def parse_method_options(given: Sequence[str] | None, problems: list[str]) -> dict[str, Any] | None:
    """Read options of a method from `NAME=VALUE`, or from `NAME.PART=VALUE` if an option has parts."""
    values: dict[str, Any] = {}
    for key, text in _pairs("--option", given, problems):
        name, dot, part = key.partition(".")
        if dot and isinstance(values.setdefault(name, {}), dict):
            values[name][part] = _value(text)
        else:
            values[name] = _value(text)
    return values or None


def parse_refine(text: str | None, problems: list[str]) -> Any:
    """Read how long to refine: `quick`, `off`, a number of seconds or `steps=NUMBER`."""
    if text is None:
        return None
    if text.startswith("steps="):
        return Refine(steps=_value(text.removeprefix("steps=")))
    value = {"quick": "quick", "off": False}.get(text.lower(), _value(text))
    if isinstance(value, str) and value != "quick":
        problems.append("--refine must be quick, off, a number of seconds or steps=NUMBER.")
        return None
    return value


def objective(text: str | None, problems: list[str]) -> Any:
    """Read a measure, or `wmi:SHARE` with the share of `mi`."""
    name, sign, share = (text or "").partition(":")
    return WMI(parse_number(share)) if sign and name == "wmi" else text


def read(kind: str, given: Any, problems: list[str]) -> Any:
    """Read the value of a setting by its kind, None if it is not given; problems are added to `problems`."""
    reader = READERS.get(kind)
    return given if reader is None else reader(given, problems)


READERS: dict[str, Callable[[Any, list[str]], Any]] = {
    "names": lambda given, problems: given or None,
    "models": parse_models,
    "coarsening": parse_coarsening,
    "reasons": parse_allowed,
    "requirements": parse_requirements,
    "objective": objective,
    "weights": parse_weights,
    "method_options": parse_method_options,
    "refine": parse_refine,
    "formats": lambda given, problems: read_formats(given or []),
    "missing": lambda given, problems: read_missing(given or []),
    "by_column": lambda given, problems: read_by_column(given or []),
    "renamed": lambda given, problems: (
        dict(text.rpartition(":")[::2] for text in given or ()) or None
    ),
    "types": lambda given, problems: (
        dict(text.rpartition(":")[::2] for text in given or ()) or None
    ),
}


def _listed(text: str) -> list[str]:
    """Split a list at commas; `\\,` is a literal comma."""
    return [part.replace("\\,", ",") for part in re.split(r"(?<!\\),", text)]


def _pairs(flag: str, given: Sequence[str] | None, problems: list[str]) -> list[tuple[str, str]]:
    found = []
    for text in given or ():
        name, sign, value = text.rpartition("=")
        if sign:
            found.append((name, value))
        else:
            problems.append(f"{flag} needs a name and a value. Write {flag} NAME=VALUE.")
    return found


def _value(text: str) -> Any:
    """Read a number, true, false, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return parse_number(text)


def parse_number(text: str) -> Any:
    """Read a number; return the text itself if it is none, so that later checks reject it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
