"""How a setting is declared: once, with its place in a settings file, its check, its option and its explanation.

Whatever reads, writes, checks or explains settings goes through these declarations: settings files, the command
line, `help(shoal.anonymize)`, the reference page and `shoal init`. This module loads nothing heavy.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from textwrap import fill, indent
from typing import Any, NamedTuple

from shoal.errors import shown

WIDTH, INDENT = 112, "    "  # of lines of a docstring

_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


class Check(NamedTuple):
    """Which values a setting can have: in words, and as a function."""

    expected: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Setting:
    """What is said of one setting.

    `kind` says how its value is read and written where that is not as it stands; there is a function for each kind in
    `kinds.py`, `toml.py` and `cli/options.py`.
    """

    section: str  # of a settings file
    doc: str = ""  # links are written as from the folder docs
    in_python: str = ""  # what else is to be said of it there
    key: str = ""  # in its section; the name of the setting if empty
    kind: str = "plain"
    check: Check | None = None
    default: Callable[[], Any] = lambda: None
    name: str = ""
    always: bool = False  # whether a settings file has it also where it is as by default
    init: str | None = None  # what `shoal init` writes beside it; None where it does not write it
    help: str = ""  # on the command line; without it there is no such option
    flags: tuple[str, ...] = ()  # by default made of the name
    metavar: str | None = None
    takes: Any = str  # the type of the option
    is_keyword: bool = True  # whether `anonymize` takes it by its name

    def problem(self, value: Any) -> str | None:
        """A sentence if the setting cannot have a value."""
        if self.check is None or self.check.fits(value):
            return None
        return wrong(self.name, self.check.expected, value)

    @property
    def explained(self) -> str:
        """The name and the explanation as in a docstring."""
        text = fill(_LINK.sub(r"\1", f"{self.doc} {self.in_python}"), WIDTH, break_on_hyphens=False)
        return indent(f"{self.name}\n{indent(text, INDENT)}", INDENT)

    @property
    def is_single(self) -> bool:
        """Whether it stands in a key of its own, and not in tables by column or by requirement."""
        return self.kind not in ("models", "weights", "requirements", "input")

    def page(self, folder: str) -> str:
        """The explanation for a page of the documentation, whose folder leads to the others by a path."""
        return _LINK.sub(rf"[\1]({folder}\2)", self.doc)


def setting(default: Any, section: str, *, doc: str, **more: Any) -> Any:
    """A field of a dataclass that is a setting; a default that is called makes a new value each time."""
    own = Setting(section, " ".join(doc.split()), **more)
    if callable(default):
        return field(default_factory=default, metadata={"setting": own})
    return field(default=default, metadata={"setting": own})


def declared(kind: Any) -> dict[str, Setting]:
    """The settings that a dataclass declares, by name."""
    found = {}
    for own in fields(kind):
        said = own.metadata["setting"]
        default = own.default_factory
        if default is dataclasses.MISSING:
            default = _always(own.default)
        found[own.name] = dataclasses.replace(
            said, name=own.name, key=said.key or own.name, default=default
        )
    return found


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def plain_problems(settings: Any, known: Mapping[str, Setting]) -> dict[str, str]:
    """Sentences for values that a setting cannot have, whatever the others are, by name."""
    found = {name: own.problem(getattr(settings, name)) for name, own in known.items()}
    return {name: problem for name, problem in found.items() if problem}


def wrong(parameter: str, expected: str, value: Any) -> str:
    return f"The '{parameter}' parameter must be {expected}. Got {shown(value)} instead."


def is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def one_of(*names: str) -> Check:
    """Any of some texts."""
    *first, last = (f"'{name}'" for name in names)
    return Check(f"{', '.join(first)} or {last}", lambda value: value in names)


SHARE = Check("a share from 0 to below 1", lambda value: is_number(value) and 0 <= value < 1)
FLAG = Check("true or false", lambda value: isinstance(value, bool))
TEXT = Check("text", lambda value: isinstance(value, str))
