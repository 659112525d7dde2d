"""Users' own methods, models, measures and requirements; `register` adds them, and settings store import paths."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from inspect import isabstract
from typing import Any, Literal, TypeVar, overload

from shoal.audits.requirements import REQUIREMENTS
from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import MODELS, Model
from shoal.errors import InputError, listed, raise_problems, shown
from shoal.settings.declaration import wrong
from shoal.solve.measures.additive import Additive
from shoal.solve.measures.catalogue import MEASURES, ReleaseMeasure, add_measure
from shoal.solve.methods import METHODS, Method

Thing = TypeVar("Thing", bound=Callable[..., Any])
Kind = Literal["method", "model", "requirement", "measure"]

_CLASSES: dict[Kind, tuple[type, dict[str, Any]]] = {
    "method": (Method, METHODS),
    "model": (Model, MODELS),
    "requirement": (Requirement, REQUIREMENTS),
}
_NAME = re.compile(r"[^\W\d][\w-]*")
_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")  # package.module:Class
_OWN_REQUIREMENTS = tuple(REQUIREMENTS.values())  # shoal's

_imports = {"allowed": True}


@overload
def register(thing: Thing, /) -> Thing: ...


@overload
def register(
    thing: None = None,
    /,
    *,
    measure: Literal["additive", "whole"],
    meaning: str,
    aggregate: Literal["mean", "sum"] = "mean",
    monotone: bool = False,
    needs_sensitive: bool = False,
) -> Callable[[Thing], Thing]: ...


def register(
    thing: Any = None,
    /,
    *,
    measure: Literal["additive", "whole"] | None = None,
    meaning: str = "",
    aggregate: Literal["mean", "sum"] = "mean",
    monotone: bool = False,
    needs_sensitive: bool = False,
) -> Any:
    """Register a method, model, requirement or measure of your own, so that it can be used by name like shoal's own.

    Use it as a decorator of a class or, for a measure, of a function. Settings refer to it by its import path, such as
    "mypackage.methods:Halves", and import that module when they are loaded in another program.

    Parameters
    ----------
    thing
        A dataclass derived from `shoal.extend.Method`, `Model` or `Requirement`. A model must say what its texts cover
        (`covers`), and a requirement must give limits for methods (`limits`): a release passes only if the audit can
        prove it.
    measure
        What a function computes. "additive": a `shoal.extend.Feature` from the form of a column and the records of
        each value, so that methods can minimize it. "whole": a number from a closed release and k.
    meaning
        One line about the measure, for `shoal.list_measures()`.
    aggregate
        Whether an additive measure is a "mean" over cells or a "sum".
    monotone
        Whether a set of values never costs less when it grows. Refinement and certificates can then do more.
    needs_sensitive
        Whether the measure needs a sensitive column.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import shoal
    >>> @shoal.register
    ... @dataclass(frozen=True)
    ... class Halves(shoal.Mondrian):
    ...     name = "halves"
    ...     summary = "Mondrian under another name"
    >>> shoal.list_methods()["halves"]
    'Mondrian under another name'
    """
    if measure is not None:
        facts = {"meaning": meaning, "source": "own", "needs_sensitive": needs_sensitive}

        def enter(function: Thing) -> Thing:
            raise_problems(_measure_problems(function, measure, meaning))
            made: Additive | ReleaseMeasure = (
                Additive(feature=function, aggregate=aggregate, monotone=monotone, **facts)  # type: ignore[arg-type]
                if measure == "additive"
                else ReleaseMeasure(compute=function, **facts)  # type: ignore[arg-type]
            )
            add_measure(function.__name__, made)
            return function

        return enter if thing is None else enter(thing)
    if not (isinstance(thing, type) and issubclass(thing, (Method, Model, Requirement))):
        raise InputError(
            "Only classes derived from shoal.extend.Method, Model or Requirement can be registered, and "
            f"functions with measure= and meaning=. Got {shown(thing)} instead."
        )
    raise_problems(entry_problems(thing))
    return thing


def entry_problems(kind: type) -> list[str]:
    """Register a class by its name unless it is registered already; return problems."""
    registry = next(own for base, own in _CLASSES.values() if issubclass(kind, base))
    if kind in registry.values():
        return []
    found = [*_name_problems(kind, registry), *_class_problems(kind)]
    if not found:
        registry[kind.name] = kind  # type: ignore[attr-defined]
    return found


def _name_problems(kind: type, registry: Mapping[str, type]) -> list[str]:
    name = getattr(kind, "name", None)
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        return [f"Class '{kind.__name__}' needs a 'name' of letters, digits, _ and -. Give it one."]
    known = registry.get(name)
    if known is None or _path(known) == _path(
        kind
    ):  # a notebook defines a class again whenever its cell runs
        return []
    whose = f"shoal's own {known.__name__}" if _is_ours(known) else _path(known)
    return [
        f"Class '{kind.__name__}' has the name '{name}', which belongs to {whose}. Choose another 'name'."
    ]


def _class_problems(kind: type) -> Iterator[str]:
    """Return what a class lacks."""
    if isabstract(kind):
        missing = sorted(kind.__abstractmethods__)  # type: ignore[attr-defined]
        yield f"Class '{kind.__name__}' does not define {listed(missing)}. Add the definition."
    if not is_dataclass(kind):
        yield f"Class '{kind.__name__}' must be a dataclass. Decorate it with @dataclass(frozen=True)."
    needed = {Method: ("summary", "recoding"), Requirement: ("summary",), Model: ()}
    for name in next(names for base, names in needed.items() if issubclass(kind, base)):
        if not isinstance(getattr(kind, name, None), str):
            yield f"Class '{kind.__name__}' has no '{name}'. Add one, as in shoal's own classes."
    if issubclass(kind, Model) and kind.covers is Model.covers:
        yield (
            f"The audit cannot read what model '{kind.__name__}' releases. Add 'covers', which says whether a "
            "released text may mean a value."
        )
    own = issubclass(kind, Requirement) and kind.limits is Requirement.limits
    if own and not issubclass(kind, _OWN_REQUIREMENTS):
        yield (
            f"Methods cannot meet requirement '{kind.__name__}'. Add 'limits', or derive it from one of shoal's "
            "own requirements."
        )


def _measure_problems(function: Any, measure: str, meaning: str) -> Iterator[str]:
    if not callable(function) or isinstance(function, type):
        yield f"A measure must be a function. Got {shown(function)} instead."
        return
    name = function.__name__
    if measure not in ("additive", "whole"):
        yield wrong("measure", "'additive' or 'whole'", measure)
    if not meaning:
        yield f"Measure '{name}' needs a 'meaning': one line about it."
    known = _function(MEASURES.get(name))
    if name in MEASURES and (known is None or _path(known) != _path(function)):
        yield f"There is already a measure '{name}'. Give the function another name."


def _function(measure: Any) -> Callable[..., Any] | None:
    """The function that a measure is made of; None if there is more than one or none."""
    return getattr(measure, "feature", None) or getattr(measure, "compute", None)


def _path(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


def _is_ours(thing: Any) -> bool:
    return thing.__module__.partition(".")[0] == __name__.partition(".")[0]


def refuse_imports() -> None:
    """Forbid settings of this process to import anything."""
    _imports["allowed"] = False


def known_name(kind: Kind, given: Any, problems: list[str]) -> Any:
    """Return the registered name for an import path; None if it cannot be used, with reasons in `problems`.

    The module is imported, which runs its code. Anything but an import path is returned unchanged.
    """
    if not (isinstance(given, str) and _PATH.fullmatch(given)):
        return given
    place, _, attribute = given.partition(":")
    if not _imports["allowed"] and place not in sys.modules:
        problems.append(
            f"'{given}' is code outside of shoal, which does not run here. Use the command line or Python."
        )
        return None
    try:
        found = getattr(import_module(place), attribute, None)
    except ImportError:
        problems.append(
            f"'{given}' cannot be imported. Install its package, or run shoal in a folder where Python finds it."
        )
        return None
    except Exception as error:
        problems.append(
            f"Module '{place}' fails when it is imported ({type(error).__name__}). Import it in Python to see why."
        )
        return None
    if kind == "measure":
        for name, measure in MEASURES.items():
            if found is not None and _function(measure) is found:
                return name
    elif isinstance(found, type) and issubclass(found, _CLASSES[kind][0]):
        wrong = entry_problems(found)
        problems.extend(wrong)
        return None if wrong else found.name  # type: ignore[attr-defined]
    problems.append(
        f"'{given}' is not a {kind} that shoal can use. See the documentation of shoal.register."
    )
    return None


def stored_name(kind: Kind, name: Any) -> Any:
    """Return the name that settings store: the import path of anything that is not shoal's own.

    A class that no other program could import, for example one from a notebook, keeps its name.
    """
    registry = MEASURES if kind == "measure" else _CLASSES[kind][1]
    thing: Any = registry.get(name) if isinstance(name, str) else None
    if kind == "measure":
        thing = _function(thing)
    if thing is None or _is_ours(thing) or thing.__module__ == "__main__":
        return name
    importable = getattr(sys.modules.get(thing.__module__), thing.__qualname__, None) is thing
    return _path(thing) if importable else name


def with_names(content: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Return the content of a settings file with names instead of import paths, whose modules are imported."""
    return _renamed(content, lambda kind, name: known_name(kind, name, problems))


def with_paths(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a settings file with import paths instead of the names of users' own things."""
    return _renamed(content, stored_name)


def _renamed(content: Mapping[str, Any], rename: Callable[[Kind, Any], Any]) -> dict[str, Any]:
    """Rename everything in the content that may be a user's own; what becomes None is left out."""
    found = dict(content)

    def entry(kind: Kind, key: str, own: Any) -> Any:
        if not isinstance(own, Mapping) or key not in own:
            return own
        name = rename(kind, own[key])
        return {} if name is None else {**own, key: name}

    for section, kind, key in (("method", "method", "name"), ("objective", "measure", "measure")):
        if section in found:
            found[section] = entry(kind, key, found[section])  # type: ignore[arg-type]
    models = found.get("quasi_identifiers")
    if isinstance(models, Mapping):
        found["quasi_identifiers"] = {n: entry("model", "model", own) for n, own in models.items()}
    required = found.get("requirement")
    if isinstance(required, Mapping):
        named = {rename("requirement", key): own for key, own in required.items()}
        found["requirement"] = {key: own for key, own in named.items() if key is not None}
    return found
