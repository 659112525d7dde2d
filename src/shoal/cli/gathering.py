"""Options that several commands share, gathered by one function for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from shoal.cli import arguments as a
from shoal.cli import options


class Given(NamedTuple):
    """What the options of a command say about the settings, None where they say nothing."""

    settings: dict[str, Any]  # by the name of the parameter of `make_settings`
    problems: list[str]  # sentences for what cannot be read


def gathers(**groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command takes the options of a function in place of one parameter, and gets what it returns there.

    For example, `gathers(reading=reading_given)` turns the parameter `reading` of a command into the
    options --encoding, --delimiter and so on, and hands the command what `reading_given` makes of them.
    """
    own = {name: inspect.signature(f, eval_str=True).parameters for name, f in groups.items()}

    def widened(command: Callable[..., None]) -> Callable[..., None]:
        parameters = []
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
            parameters += list(own[name].values()) if name in own else [parameter]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]

        def run(**values: Any) -> None:
            for name, gather in groups.items():
                values[name] = gather(**{option: values.pop(option) for option in own[name]})
            command(**values)

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return widened


def reading_given(
    encoding: a.Encoding = None,
    delimiter: a.Delimiter = None,
    decimal: a.Decimal = None,
    date_format: a.DateFormat = None,
    sheet: a.Sheet = None,
    missing: a.Missing = None,
    types: a.Types = None,
    stored_table: a.StoredTable = None,
    query: a.Query = None,
    header_row: a.HeaderRow = None,
    skip_last: a.SkipLast = None,
) -> dict[str, Any]:
    """How to read a file or a database, as far as the options say."""
    return options.reading(
        encoding,
        delimiter,
        decimal,
        date_format,
        sheet,
        missing,
        types,
        stored_table,
        query,
        header_row,
        skip_last,
    )


def promise_given(
    quasi_identifier: a.Columns = None,
    sensitive: a.Sensitive = None,
    k: a.K = None,
    require: a.Require = None,
) -> Given:
    """What a finished release is said to keep."""
    problems: list[str] = []
    settings = {
        "quasi_identifiers": options.models(quasi_identifier, problems),
        "sensitive": sensitive or None,
        "k": k,
        "requirements": options.requirements(require, problems),
    }
    return Given(settings, problems)


def release_given(
    quasi_identifier: a.Columns = None,
    sensitive: a.Sensitive = None,
    identifier: a.Identifiers = None,
    keep: a.Keep = None,
    others: a.Others = None,
    allow: a.Allow = None,
    identified_limit: a.IdentifiedLimit = None,
    coarsen: a.Coarsen = None,
    pseudonym: a.Pseudonyms = None,
    key_file: a.KeyFile = None,
    person: a.Person = None,
    k: a.K = None,
    require: a.Require = None,
    suppression_limit: a.SuppressionLimit = None,
    objective: a.Objective = None,
    w: a.MiShare = None,
    weight: a.Weights = None,
    method: a.MethodName = None,
    option: a.MethodOptions = None,
    refine: a.Refinement = None,
    seed: a.Seed = None,
    keep_order: a.KeepOrder = None,
    loosen: a.Loosen = None,
    render: a.Render = None,
) -> Given:
    """How a release is to be made."""
    settings, problems = promise_given(quasi_identifier, sensitive, k, require)
    settings |= {
        "identifiers": identifier or None,
        "keep": keep or None,
        "others": others,
        "allow": options.allowed(allow, problems),
        "identified_limit": identified_limit,
        "coarsen": options.coarsening(coarsen, problems),
        "pseudonyms": pseudonym or None,
        "key_file": key_file,
        "person": person,
        "suppression_limit": suppression_limit,
        "objective": objective,
        "w": w,
        "weights": options.weights(weight, problems),
        "method": method,
        "method_options": options.method_options(option, problems),
        "refine": options.refine(refine, problems),
        "seed": seed,
        "keep_order": keep_order,
        "loosen": loosen,
        "render": render,
    }
    return Given(settings, problems)
