"""Everything that can be wrong with settings, the table aside, in sentences that say the remedy."""

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
    """Sentences for everything wrong with settings, those about roles and requirements first."""
    alone = plain_problems(settings, SETTINGS)
    # What must fit together is asked of values that are possible on their own.
    sound = replace(settings, **{name: SETTINGS[name].default() for name in alone})
    found = list(_role_problems(sound))
    if not settings.quasi_identifiers:
        found.append("There are no quasi-identifiers; name the columns to generalize.")
    if not settings.k:
        found.append("k is missing or 0; say how many records at least must read the same.")
    for name in SETTINGS:
        found += [alone[name]] if name in alone else []
        found += _RULES[name](sound) if name in _RULES else []
    return found


def _objective_problems(settings: Settings) -> Iterator[str]:
    """What is wrong with the measure to minimize and the weights of columns."""
    if not isinstance(settings.objective, str):
        yield wrong("objective", "the name of a measure", settings.objective)
    else:
        yield from check_measure(settings.objective, objectives())
        measure = MEASURES.get(settings.objective)
        if measure is not None and measure.needs_sensitive and not settings.sensitive:
            yield f"Measure '{settings.objective}' needs a sensitive column; name one."
    for name, weight in settings.weights.items():
        if name not in settings.quasi_identifiers:
            known = near_miss(name, settings.quasi_identifiers) or "; leave it out."
            yield f"Weight for '{name}', which is no quasi-identifier{known}"
        if not is_weight(weight):
            yield (
                f"The weight of '{name}' must be a finite number above 0. Got {shown(weight)} instead."
            )


def _method_problems(settings: Settings) -> Iterator[str]:
    """What is wrong with the method: the requirements it cannot keep, its options, then its columns."""
    method = settings.method
    if settings.requirements and not method.honours_requirements():
        which = " with these options" if type(method)().honours_requirements() else ""
        yield (
            f"Method '{method.name}'{which} can keep k only; "
            "choose another method or drop the requirements."
        )
    options = option_type_problems(method) or method.problems()
    yield from options or method.column_problems(settings.sensitive)


def _role_problems(settings: Settings) -> Iterator[str]:
    """Columns with two roles, and bounds that would overwrite a column."""
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
                yield f"Column '{name}' is named twice as {role}; name it once."
            elif name in seen:
                yield f"Column '{name}' is both {seen[name]} and {role}; give it one role."
            seen[name] = role
    if seen.get(settings.person or "") in ("quasi-identifier", "sensitive", "kept"):
        yield (
            f"Column '{settings.person}' tells persons apart and is {seen[settings.person or '']}; a column that does "
            "is removed (identifiers, -i) or replaced (pseudonyms, --pseudonym)."
        )
    if settings.key_file and not settings.pseudonyms:
        yield (
            "There is a key file but no column to replace; name one in pseudonyms (--pseudonym), or leave it out."
        )
    if settings.render == "bounds":
        for name in settings.quasi_identifiers:
            for taken in set(bound_names(name)) & set(seen):
                yield f"Column '{taken}' is in the way of the bounds of '{name}'; rename it."


def _coarsen_problems(settings: Settings) -> Iterator[str]:
    """Columns that cannot be coarsened, and models that coarsen nothing."""
    roles = {
        **dict.fromkeys(settings.removed, "is removed; leave it out of 'coarsen' (--coarsen)."),
        **dict.fromkeys(settings.pseudonyms, "is replaced; leave it out of 'coarsen' (--coarsen)."),
        **dict.fromkeys(
            settings.quasi_identifiers,
            "is a quasi-identifier; give its own model a finest level, and leave it out of 'coarsen' (--coarsen).",
        ),
    }
    unchanged = (*settings.sensitive, *settings.keep)
    for name, model in settings.coarsen.items():
        if name not in unchanged and (name in roles or settings.others != "keep"):
            why = roles.get(name, "is neither sensitive (-s) nor kept (-x); name it as one.")
            yield f"Column '{name}' is to be coarsened and {why}"
        if not model.coarsened_by:
            yield (
                f"The model '{model.name}' of column '{name}' has no finest level; coarsen it by interval, calendar, "
                "prefix, order or hierarchy."
            )
        elif isinstance(model, Order) and model.values is None:  # no audit could know it
            yield (
                f"The order that coarsens column '{name}' must be given; list its 'values', the lowest first."
            )
        elif not model.is_coarse:
            *others, last = (f"'{option}'" for option in model.coarsened_by)
            options = f"{', '.join(others)} or {last}" if others else last
            yield (
                f"The model '{model.name}' of column '{name}' coarsens nothing as it is; give it {options}."
            )


def _suppression_problems(settings: Settings) -> Iterator[str]:
    if not settings.suppression_limit:
        return
    if not settings.method.homogeneous:
        yield (
            f"Method '{settings.method.name}' cannot leave records out; set suppression_limit to 0."
        )
    compared = [item.name for item in settings.requirements if item.compares_with_table]
    for name in compared[:1]:
        yield (
            f"Leaving records out changes the distribution that {name} compares groups with; "
            f"set suppression_limit to 0 or drop {name}."
        )


def _loosen_problems(settings: Settings) -> Iterator[str]:
    if settings.loosen and not settings.method.may_be_loosened():
        yield (
            f"The closures of method '{settings.method.name}' cannot be loosened: it is chosen for how they fit "
            "together; set loosen to 0 or choose a method of local recoding."
        )


def _render_problems(settings: Settings) -> Iterator[str]:
    """Single numbers where they would undo or hide something."""
    if settings.render in SINGLE and not settings.method.homogeneous:
        yield (
            f"The audit of method '{settings.method.name}' reads ranges; set render to 'text' or 'bounds'."
        )
    if settings.render == "mean" and settings.loosen:
        yield (
            "The mean of a group tells where its values lie in a loosened range; "
            "set loosen to 0, or render to 'midpoint', 'text' or 'bounds'."
        )


def _person_problems(settings: Settings) -> Iterator[str]:
    """What cannot be had where persons are counted."""
    if not settings.person:
        return
    if not settings.method.homogeneous:
        yield (
            f"Records of method '{settings.method.name}' do not read the same in groups, so that no persons can be "
            "counted in them; choose another method or leave 'person' out."
        )
    beyond = [
        "this kind of diversity" if isinstance(item, LDiversity) else item.name
        for item in settings.requirements
        if not item.counts_kinds  # then what holds for the persons of two groups may not hold for all of them
    ]
    for name, doing in (("loosen", "loosening"), ("suppression_limit", "leaving records out")):
        if getattr(settings, name) and beyond and settings.series is not True:
            yield (
                f"If people have several records, {doing} cannot be combined with "
                f"{' and '.join(dict.fromkeys(beyond))}; set {name} to 0, or require diversity of kind 'distinct' "
                "(--require diversity:l=2:kind=distinct) or sensitivity instead."
            )


def _series_problems(settings: Settings) -> Iterator[str]:
    """What cannot be had of a release that is one of several over time."""
    if not settings.series:
        return
    if not settings.person:
        yield (
            "A release of a series must know who stays; name the column that tells persons apart with person "
            "(--person)."
        )
    if len(settings.sensitive) != 1:
        yield (
            f"A series is about one sensitive column, and {len(settings.sensitive)} are named; name one, and remove or "
            "generalize the others."
        )
    kinds = [item for item in settings.requirements if isinstance(item, LDiversity)]
    others = [item for item in settings.requirements if item not in kinds]
    if not kinds or others or any(item.kind == "recursive" for item in kinds):
        yield (
            "A series promises how many sensitive values everybody may have; require diversity by frequency, distinct "
            "or entropy, like shoal.LDiversity(3) (--require diversity:l=3), and nothing else beyond k."
        )
    if not isinstance(settings.method, Auto):
        yield (
            f"Method '{settings.method.name}' knows nothing of earlier releases; a series has a method of its own, so "
            "leave 'method' out."
        )
    if settings.loosen:
        yield (
            "A series cannot be loosened: the draws differ from night to night; set loosen to 0."
        )
    yield from _linking_problems(settings)


def _linking_problems(settings: Settings) -> Iterator[str]:
    """What would tell which records of two releases of a series are one person's."""
    if settings.pseudonyms:
        yield (
            "Pseudonyms link the releases of a series, which reveals sensitive values; leave 'pseudonyms' "
            "(--pseudonym) out."
        )
    if settings.keep:
        yield (
            f"Kept columns link the releases of a series, which reveals sensitive values: {listed(settings.keep)}; "
            "make each a quasi-identifier (-q) or remove it (-i)."
        )
    if settings.others == "keep":
        yield (
            "Kept columns link the releases of a series, which reveals sensitive values; set others to 'drop' or "
            "'refuse'."
        )
    if settings.keep_order is True:
        yield (
            "The order of records links the releases of a series, which reveals sensitive values; set keep_order to "
            "false."
        )
    if settings.render in SINGLE:
        yield (
            f"In a series, groups with different sensitive values must read differently, and with render = "
            f"'{settings.render}' they may show the same number; set render to 'text' or 'bounds'."
        )


def _requirement_problems(settings: Settings) -> Iterator[str]:
    """Parameters that cannot be, and columns that are not sensitive."""
    for item in settings.requirements:
        yield from item.problems()
    if settings.requirements and not settings.sensitive:
        yield "Requirements are about sensitive columns; name at least one."
        return
    for item in settings.requirements:
        named = item.columns if isinstance(item.columns, tuple) else ()
        for name in named:
            if isinstance(name, str) and name not in settings.sensitive:
                close = near_miss(name, settings.sensitive)
                remedy = close or f". Sensitive columns: {', '.join(settings.sensitive)}."
                yield f"Column '{name}' of {item.name} is not a sensitive column{remedy}"


# What one setting asks of the others, told in the place of that setting.
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
