"""Settings as people give them, brought into one way of writing: tuples, objects and plain numbers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.audits.requirements import REQUIREMENTS
from shoal.audits.requirements.base import Requirement
from shoal.encoding.models import Hierarchy, Model
from shoal.errors import shown
from shoal.settings.input import read_input
from shoal.settings.kinds import (
    make_method,
    plain,
    read_allowed,
    read_names,
    wrong,
)
from shoal.settings.registry import entry_problems, known_name
from shoal.solve.local_search.budget import Refine, read_refine
from shoal.solve.methods import Auto

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
        sensitive=read_names("sensitive", settings.sensitive, problems),
        identifiers=read_names("identifiers", settings.identifiers, problems),
        pseudonyms=read_names("pseudonyms", settings.pseudonyms, problems),
        keep=read_names("keep", settings.keep, problems),
        allow=read_allowed(settings.allow, problems),
        identified_limit=plain(settings.identified_limit),
        coarsen=_coarsening(settings.coarsen, problems),
        person=_person(settings.person, problems),
        key_file=_path("key_file", settings.key_file, problems),
        input=read_input(settings.input, problems),
        k=plain(settings.k),
        requirements=_requirements(settings.requirements, problems),
        suppression_limit=plain(settings.suppression_limit),
        objective=known_name("measure", settings.objective, problems) or Settings.objective,
        w=plain(settings.w),
        weights={name: plain(weight) for name, weight in weights.items()},
        method=make_method(settings.method, {}, problems) or Auto(),
        refine=_refinement(settings.refine, problems),
        seed=plain(settings.seed),
        keep_order=plain(settings.keep_order),
        loosen=plain(settings.loosen),
    )


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
    for name in read_names("quasi_identifiers", given, problems):
        if name in found:
            problems.append(f"Quasi-identifier '{name}' is named twice; name it once.")
        model = _made(models.get(name))
        if model is not None and not isinstance(model, Model):
            problems.append(
                f"The model of quasi-identifier '{name}' must be shoal.Suppression(), Interval(), Order(), "
                f"Calendar(), Prefix(), Subset() or a Hierarchy. Got {shown(model)} instead."
            )
            model = None
        elif model is not None:
            problems.extend(entry_problems(type(model)))
        found[name] = model
    return found


def _coarsening(given: Any, problems: list[str]) -> dict[str, Model]:
    """The models that coarsen unprotected columns, by column."""
    if not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
        expected = "a dict of columns and models, like {'salary': shoal.Interval(step=1000)}"
        problems.append(wrong("coarsen", expected, given))
        return {}
    models = {name: _made(model) for name, model in given.items()}
    problems.extend(
        f"The model that coarsens '{name}' must be shoal.Interval(step=…), Calendar(finest=…), Prefix(finest=…), "
        f"Order(…) or a Hierarchy. Got {shown(model)} instead."
        for name, model in models.items()
        if not isinstance(model, Model)
    )
    return {name: model for name, model in models.items() if isinstance(model, Model)}


def _made(model: Any) -> Any:
    """A model of which only the class was given."""
    is_class = isinstance(model, type) and issubclass(model, Model) and model is not Hierarchy
    return model() if is_class else model


def _requirements(given: Any, problems: list[str]) -> tuple[Requirement, ...]:
    """Requirements in the order of a settings file, which keeps those of a kind together."""
    if not isinstance(given, list | tuple):
        problems.append(
            wrong("requirements", "a list of requirements, like [shoal.LDiversity(2)]", given)
        )
        return ()
    strange = [item for item in given if not isinstance(item, Requirement)]
    if strange:
        problems.append(
            "Each of the requirements must be a shoal.LDiversity(…), PSensitive(…), AlphaK(…) or "
            f"TCloseness(…). Got {shown(strange[0])} instead."
        )
    known = [item for item in given if isinstance(item, Requirement)]
    wrong_kinds = [sentence for item in known for sentence in entry_problems(type(item))]
    problems.extend(dict.fromkeys(wrong_kinds))
    order = list(REQUIREMENTS)
    return () if wrong_kinds else tuple(sorted(known, key=lambda item: order.index(item.name)))


def _refinement(given: Any, problems: list[str]) -> Refine | bool:
    """How long to refine, False for not at all."""
    found = read_refine(plain(given))
    if found is None:
        expected = "'quick', false, a number of seconds or shoal.Refine(…)"
        problems.append(wrong("refine", expected, given))
        return False
    return found
