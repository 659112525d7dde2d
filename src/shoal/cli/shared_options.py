"""Options that several commands share, gathered by one function for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import typer

from shoal.cli import options
from shoal.settings.declaration import Setting
from shoal.settings.reading import READING
from shoal.settings.settings import SETTINGS


class GivenSettings(NamedTuple):
    """What the options of a command say about the settings, None where they say nothing."""

    settings: dict[str, Any]  # by the name of the parameter of `make_settings`
    problems: list[str]  # sentences for what cannot be read


def shares_options(
    **groups: Callable[..., Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
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


def taking(known: Iterable[Setting], gather: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    """A function that takes the options of some settings, for `shares_options`."""

    parameters = {own.name: _parameter(own) for own in known}

    def given(**values: Any) -> Any:
        return gather({name: values[own.name] for name, own in parameters.items()})

    given.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return given


def _parameter(own: Setting) -> inspect.Parameter:
    """The option of a setting as a parameter, whose name no other parameter of a command has."""
    flags = own.flags or (f"--{own.name.replace('_', '-')}",)
    kind = list[str] if own.takes is list else own.takes
    return inspect.Parameter(
        f"{own.section}_{own.name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(*flags, metavar=own.metavar, help=own.help)],
    )


def _settings(values: dict[str, Any]) -> GivenSettings:
    """What the options say about the settings."""
    problems: list[str] = []
    known = {**SETTINGS, METHOD_OPTIONS.name: METHOD_OPTIONS}
    settings = {
        name: options.read(known[name].kind, value, problems) for name, value in values.items()
    }
    return GivenSettings(settings, problems)


def _reading(values: dict[str, Any]) -> dict[str, Any]:
    """How to read a file or a database, as far as the options say."""
    said = {name: options.read(READING[name].kind, value, []) for name, value in values.items()}
    found = {name: value for name, value in said.items() if value is not None}
    if "table" in found or "query" in found:  # one takes the place of the other
        found |= {name: said[name] for name in ("table", "query")}
    return found


METHOD_OPTIONS = Setting(
    "method",
    name="method_options",
    kind="method_options",
    help="Option of the method: of --method, of the settings file's, or else of cover.",
    flags=("--option",),
    metavar="NAME=VALUE",
    takes=list,
)
PROMISE = ("quasi_identifiers", "sensitive", "k", "requirements")  # what a release is said to keep

promise_given = taking([SETTINGS[name] for name in PROMISE], _settings)
release_given = taking([*(own for own in SETTINGS.values() if own.help), METHOD_OPTIONS], _settings)
reading_given = taking([replace(own, name=name) for name, own in READING.items()], _reading)
