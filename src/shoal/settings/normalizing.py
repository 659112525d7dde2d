"""Settings as people give them, brought into one way of writing: tuples, objects and plain numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from shoal.errors import shown
from shoal.generalization import Hierarchy, Model
from shoal.methods import Auto
from shoal.privacy import REQUIREMENTS, Requirement
from shoal.refine import Refine, read_refine
from shoal.settings.checks import make_method, plain, wrong
from shoal.settings.kinds import clash_problems, requirement_kinds
from shoal.settings.reading import read_input

if TYPE_CHECKING:
    from shoal.settings.settings import Settings


def normalized(settings: Settings, problems: list[str]) -> Settings:
    """The same settings with names as tuples, models and methods as objects, and plain numbers."""
    weights = settings.weights
    if not isinstance(weights, Mapping):
        problems.append(wrong("weights", "a dict of columns and numbers", weights))
        weights = {}
    return replace(
        settings,
        quasi_identifiers=_models(settings.quasi_identifiers, problems),
        sensitive=_names("sensitive", settings.sensitive, problems),
        identifiers=_names("identifiers", settings.identifiers, problems),
        pseudonyms=_names("pseudonyms", settings.pseudonyms, problems),
        keep=_names("keep", settings.keep, problems),
        allow=_names("allow", settings.allow, problems),
        person=_person(settings.person, problems),
        key_file=_path("key_file", settings.key_file, problems),
        input=read_input(settings.input, problems),
        k=plain(settings.k),
        requirements=_requirements(settings.requirements, problems),
        suppression_limit=plain(settings.suppression_limit),
        w=plain(settings.w),
        weights={name: plain(weight) for name, weight in weights.items()},
        method=make_method(settings.method, {}, problems) or Auto(),
        refine=_refinement(settings.refine, problems),
        seed=plain(settings.seed),
        keep_order=plain(settings.keep_order),
        loosen=plain(settings.loosen),
    )


def _names(role: str, given: Any, problems: list[str]) -> tuple[str, ...]:
    """Column names from a list of them; a column of a table in their place would show its cells."""
    names = (given,) if isinstance(given, str) else given
    is_column = isinstance(nw.from_native(given, series_only=True, pass_through=True), nw.Series)
    if is_column or not isinstance(names, Iterable):
        problems.append(wrong(role, "a list of column names", given))
        return ()
    names = tuple(names)
    if not all(isinstance(name, str) for name in names):
        problems.append(f"The '{role}' parameter must be a list of column names, all of them text.")
        return ()
    return names


def _person(given: Any, problems: list[str]) -> str | None:
    """The name of the column that tells persons apart; an empty one means none."""
    if given is None or isinstance(given, str):
        return given or None
    problems.append(wrong("person", "the name of a column", given))
    return None


def _path(name: str, given: Any, problems: list[str]) -> str | None:
    """A path as text; an empty one means none. What was given is not shown: it might be a key."""
    if given is None or isinstance(given, str | os.PathLike):
        return os.fspath(given) or None if given is not None else None
    problems.append(f"The '{name}' parameter must be the path of a file.")
    return None


def _models(given: Any, problems: list[str]) -> dict[str, Model | None]:
    """Models by column, from a mapping or a list of names."""
    models = given if isinstance(given, Mapping) else {}
    found: dict[str, Model | None] = {}
    for name in _names("quasi_identifiers", given, problems):
        if name in found:
            problems.append(f"Quasi-identifier '{name}' is named twice; name it once.")
        model = models.get(name)
        if isinstance(model, type) and issubclass(model, Model) and model is not Hierarchy:
            model = model()
        if model is not None and not isinstance(model, Model):
            problems.append(
                f"The model of quasi-identifier '{name}' must be shoal.Suppression(), Interval(), Order(), "
                f"Calendar(), Prefix(), Subset() or a Hierarchy. Got {shown(model)} instead."
            )
            model = None
        found[name] = model
    return found


def _requirements(given: Any, problems: list[str]) -> tuple[Requirement, ...]:
    """Requirements in the order of a settings file, which keeps those of a kind together."""
    if not isinstance(given, list | tuple):
        problems.append(
            wrong("requirements", "a list of requirements, like [shoal.LDiversity(2)]", given)
        )
        return ()
    kinds = tuple(REQUIREMENTS.values())
    strange = [item for item in given if not isinstance(item, kinds)]
    if strange:
        problems.append(
            "Each of the requirements must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) or "
            f"TCloseness(…). Got {shown(strange[0])} instead."
        )
    known = [item for item in given if isinstance(item, kinds)]
    problems.extend(sentence for item in known for sentence in clash_problems(item))
    order = list(requirement_kinds())
    return tuple(sorted(known, key=lambda item: order.index(item.name)))


def _refinement(given: Any, problems: list[str]) -> Refine | bool:
    """How long to refine, False for not at all."""
    found = read_refine(plain(given))
    if found is None:
        expected = "'quick', false, a number of seconds or shoal.Refine(…)"
        problems.append(wrong("refine", expected, given))
        return False
    return found
