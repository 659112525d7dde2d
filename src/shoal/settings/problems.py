"""Checks settings as far as possible without the table; every sentence names the remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from shoal.audits.requirements.diversity import LDiversity
from shoal.encoding.models import Order
from shoal.encoding.render import SINGLE, bound_names
from shoal.errors import listed, near_miss, shown
from shoal.settings.declaration import plain_problems, wrong
from shoal.settings.kinds import is_weight, option_type_problems
from shoal.settings.settings import SETTINGS, Settings
from shoal.solve.local_search.budget import Refine
from shoal.solve.measures.catalogue import MEASURES, check_measure, objectives
from shoal.solve.methods import Auto


def settings_problems(settings: Settings) -> list[str]:
    """Return all problems with settings, those about roles and requirements first."""
    alone = plain_problems(settings, SETTINGS)
    # Combinations are checked only for values that are valid on their own.
    sound = replace(settings, **{name: SETTINGS[name].default() for name in alone})
    found = list(_role_problems(sound))
    if not settings.quasi_identifiers:
        found.append("There are no quasi-identifiers. Name the columns to generalize.")
    if not settings.k:
        found.append(
            "k is missing or 0. Choose the smallest number of records that must look the same, for example k = 10."
        )
    for name in SETTINGS:
        found += [alone[name]] if name in alone else []
        found += _RULES[name](sound) if name in _RULES else []
    return found


def _objective_problems(settings: Settings) -> Iterator[str]:
    """Check the measure to minimize and the weights of columns."""
    if not isinstance(settings.objective, str):
        yield wrong("objective", "the name of a measure", settings.objective)
    else:
        yield from check_measure(settings.objective, objectives())
        measure = MEASURES.get(settings.objective)
        if measure is not None and measure.needs_sensitive and not settings.sensitive:
            yield f"Measure '{settings.objective}' needs a sensitive column. Name one."
    for name, weight in settings.weights.items():
        if name not in settings.quasi_identifiers:
            known = near_miss(name, settings.quasi_identifiers) or ". Leave it out."
            yield f"Weight for '{name}', which is not a quasi-identifier{known}"
        if not is_weight(weight):
            yield (
                f"The weight of '{name}' must be a finite number above 0. Got {shown(weight)} instead."
            )


def _method_problems(settings: Settings) -> Iterator[str]:
    """Check the method: the requirements that it cannot meet, its options, then its columns."""
    method = settings.method
    if settings.requirements and not method.honours_requirements():
        which = " with these options" if type(method)().honours_requirements() else ""
        yield (
            f"Method '{method.name}'{which} supports k only. Choose another method, or drop the requirements."
        )
    options = option_type_problems(method) or method.problems()
    yield from options or method.column_problems(settings.sensitive)


def _role_problems(settings: Settings) -> Iterator[str]:
    """Check for columns with two roles, and for columns that bounds would overwrite."""
    roles = {
        "quasi-identifier": tuple(settings.quasi_identifiers),
        "sensitive": settings.sensitive,
        "identifier": settings.identifiers,
        "pseudonym": settings.pseudonyms,
        "kept": settings.keep,
    }
    seen: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if seen.get(name) == role:
                yield f"Column '{name}' is named twice as {role}. Name it once."
            elif name in seen:
                yield f"Column '{name}' is both {seen[name]} and {role}. Give it one role."
            seen[name] = role
    if seen.get(settings.person or "") in ("quasi-identifier", "sensitive", "kept"):
        yield (
            f"Column '{settings.person}' identifies people, so it cannot also be {seen[settings.person or '']}. "
            "Remove it (identifiers, -i) or replace it (pseudonyms, --pseudonym)."
        )
    if settings.key_file and not settings.pseudonyms:
        yield (
            "There is a key file but no column to replace. Name one in pseudonyms (--pseudonym), or leave the "
            "key file out."
        )
    if settings.render == "bounds":
        for name in settings.quasi_identifiers:
            for taken in set(bound_names(name)) & set(seen):
                yield f"Column '{taken}' has the name that the bounds of '{name}' need. Rename it."


def _coarsen_problems(settings: Settings) -> Iterator[str]:
    """Check for columns that cannot be coarsened, and models that coarsen nothing."""
    roles = {
        **dict.fromkeys(settings.removed, "it is removed. Leave it out of 'coarsen' (--coarsen)."),
        **dict.fromkeys(
            settings.pseudonyms,
            "it is replaced by pseudonyms. Leave it out of 'coarsen' (--coarsen).",
        ),
        **dict.fromkeys(
            settings.quasi_identifiers,
            "it is a quasi-identifier. Give its own model a finest level, and leave it out of 'coarsen' "
            "(--coarsen).",
        ),
    }
    unchanged = (*settings.sensitive, *settings.keep)
    for name, model in settings.coarsen.items():
        if name not in unchanged and (name in roles or settings.others != "keep"):
            why = roles.get(
                name, "it is neither sensitive (-s) nor kept (-x). Name it as one of these."
            )
            yield f"Column '{name}' cannot be coarsened, because {why}"
        if not model.coarsened_by:
            yield (
                f"Model '{model.name}' of column '{name}' has no finest level. Coarsen the column by interval, "
                "calendar, prefix, order, ready or hierarchy."
            )
        elif isinstance(model, Order) and model.values is None:  # the audit could not know it
            yield (
                f"The order that coarsens column '{name}' must be given. List its 'values', lowest first."
            )
        elif not model.is_coarse:
            *others, last = (f"'{option}'" for option in model.coarsened_by)
            options = f"{', '.join(others)} or {last}" if others else last
            yield (
                f"Model '{model.name}' of column '{name}' coarsens nothing with these options. Give it {options}."
            )


def _suppression_problems(settings: Settings) -> Iterator[str]:
    if not settings.suppression_limit:
        return
    if not settings.method.homogeneous:
        yield (
            f"Method '{settings.method.name}' cannot leave records out. Set suppression_limit to 0, or choose "
            "another method."
        )
    compared = [item.name for item in settings.requirements if item.compares_with_table]
    for name in compared[:1]:
        yield (
            f"Leaving records out changes the distribution that {name} compares groups with. Set "
            f"suppression_limit to 0, or drop {name}."
        )


def _loosen_problems(settings: Settings) -> Iterator[str]:
    if settings.loosen and not settings.method.may_be_loosened():
        yield (
            f"Values of method '{settings.method.name}' cannot be loosened, because its groups must fit "
            "together. Set loosen to 0, or choose a method of local recoding."
        )


def _render_problems(settings: Settings) -> Iterator[str]:
    """Check single numbers (`render`) where they would undo or hide something."""
    if settings.render in SINGLE and not settings.method.homogeneous:
        yield (
            f"The audit of method '{settings.method.name}' needs ranges. Set render to 'text' or 'bounds'."
        )
    if settings.render == "mean" and settings.loosen:
        yield (
            "The mean of a group reveals where its values lie in a loosened range. Set loosen to 0, or render "
            "to 'midpoint', 'text' or 'bounds'."
        )


def _person_problems(settings: Settings) -> Iterator[str]:
    """Check for what cannot be combined with counting people."""
    if not settings.person:
        return
    if not settings.method.homogeneous:
        yield (
            f"With method '{settings.method.name}', records of a group do not look the same, so people cannot be "
            "counted. Choose another method, or leave 'person' out."
        )
    beyond = [
        "this kind of diversity" if isinstance(item, LDiversity) else item.name
        for item in settings.requirements
        if not item.counts_kinds  # uniting two groups may then break what each of them met
    ]
    for name, doing in (("loosen", "loosening"), ("suppression_limit", "leaving records out")):
        if getattr(settings, name) and beyond and settings.series is not True:
            yield (
                f"If people have several records, {doing} cannot be combined with "
                f"{' and '.join(dict.fromkeys(beyond))}. Set {name} to 0, or require diversity of kind "
                "'distinct' (--require diversity:l=2:kind=distinct) or sensitivity instead."
            )


def _series_problems(settings: Settings) -> Iterator[str]:
    """Check for what a series of releases does not support."""
    if not settings.series:
        return
    if not settings.person:
        yield (
            "A series must know which records belong to the same person in all releases. Name the column that "
            "identifies people with person (--person)."
        )
    if len(settings.sensitive) != 1:
        yield (
            f"A series needs exactly one sensitive column, and {len(settings.sensitive)} are named. Name one, "
            "and remove or generalize the others."
        )
    kinds = [item for item in settings.requirements if isinstance(item, LDiversity)]
    others = [item for item in settings.requirements if item not in kinds]
    if not kinds or others or any(item.kind == "recursive" for item in kinds):
        yield (
            "A series promises how many sensitive values are possible for each person. Require diversity by "
            "frequency, distinct or entropy, like shoal.LDiversity(3) (--require diversity:l=3), and nothing "
            "else beyond k."
        )
    if not isinstance(settings.method, Auto):
        yield (
            f"Method '{settings.method.name}' does not take earlier releases into account. A series has its own "
            "method: leave 'method' out."
        )
    if settings.loosen:
        yield (
            "A series cannot be loosened, because random draws would differ between releases. Set loosen to 0."
        )
    yield from _linking_problems(settings)


def _linking_problems(settings: Settings) -> Iterator[str]:
    """Check for what would reveal which records of two releases belong to one person."""
    if settings.pseudonyms:
        yield (
            "Pseudonyms link the releases of a series, which reveals sensitive values. Leave 'pseudonyms' "
            "(--pseudonym) out."
        )
    if settings.keep:
        yield (
            "Kept columns link the releases of a series, which reveals sensitive values. Make each a "
            f"quasi-identifier (-q) or remove it (-i): {listed(settings.keep)}."
        )
    if settings.others == "keep":
        yield (
            "Kept columns link the releases of a series, which reveals sensitive values. Set others to 'drop' "
            "or 'refuse'."
        )
    if settings.keep_order is True:
        yield (
            "The order of records links the releases of a series, which reveals sensitive values. Set "
            "keep_order to false."
        )
    if settings.render in SINGLE:
        yield (
            "In a series, groups with different sensitive values must look different, but with render = "
            f"'{settings.render}' they may show the same number. Set render to 'text' or 'bounds'."
        )


def _requirement_problems(settings: Settings) -> Iterator[str]:
    """Check the parameters of requirements and their columns."""
    for item in settings.requirements:
        yield from item.problems()
    if settings.requirements and not settings.sensitive:
        yield "Requirements are about sensitive columns. Name at least one (sensitive, -s)."
        return
    for item in settings.requirements:
        named = item.columns if isinstance(item.columns, tuple) else ()
        for name in named:
            if isinstance(name, str) and name not in settings.sensitive:
                close = near_miss(name, settings.sensitive)
                remedy = close or f". Sensitive columns: {', '.join(settings.sensitive)}."
                yield f"Column '{name}' of {item.name} is not a sensitive column{remedy}"


# Checks of combinations, by the setting that reports them.
_RULES: dict[str, Callable[[Settings], Iterable[str]]] = {
    "person": _person_problems,
    "coarsen": _coarsen_problems,
    "suppression_limit": _suppression_problems,
    "series": _series_problems,
    "requirements": _requirement_problems,
    "objective": _objective_problems,
    "method": _method_problems,
    "refine": lambda own: own.refine.problems() if isinstance(own.refine, Refine) else [],
    "loosen": _loosen_problems,
    "render": _render_problems,
}
