"""Methods and requirements by name: shoal's own, and those that the running program defines.

A settings file names a method or requirement. One of your own is found again once the module that defines it is
imported; settings never import anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import isabstract
from typing import TypeVar

from shoal.methods import METHODS, Method
from shoal.privacy import REQUIREMENTS, Requirement

Kind = TypeVar("Kind", Method, Requirement)


def method_kinds() -> dict[str, type[Method]]:
    """All methods by name."""
    return _with_own(Method, METHODS)  # type: ignore[type-abstract]


def requirement_kinds() -> dict[str, type[Requirement]]:
    """All requirements by name; those of the program are subclasses of shoal's, which tell methods what to keep."""
    found = dict(REQUIREMENTS)
    for kind in REQUIREMENTS.values():
        found |= _with_own(kind, REQUIREMENTS)
    return found


def clash_problems(item: Method | Requirement) -> list[str]:
    """A sentence if something has the name of something else, which a settings file would then make instead."""
    known = {**METHODS, **REQUIREMENTS}.get(item.name)
    if known in (None, type(item)):
        return []
    return [
        f"Class '{type(item).__name__}' has the name '{item.name}', which is that of shoal's own "
        f"{known.__name__}; give it a 'name' of its own."
    ]


def _with_own(base: type[Kind], known: Mapping[str, type[Kind]]) -> dict[str, type[Kind]]:
    """Known kinds, and all others that are derived from a base, the last one defined of each name."""
    own = {
        kind.name: kind
        for kind in _below(base)
        if isinstance(getattr(kind, "name", None), str) and not isabstract(kind)
    }
    return {**own, **known}


def _below(base: type[Kind]) -> Iterator[type[Kind]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _below(kind)
