"""Fill pages while the site is built: the command line from its commands, the settings file from its settings.

What screen readers stumble over in pages that Material makes is repaired, too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PLACE = "<!-- commands -->"
SECTION = re.compile(r"<!-- settings of \[(\w+)\] -->")
NOT_RUN = re.compile(r"^<!-- not run by the tests: .* -->\n", re.M)  # for docs/make_outputs.py


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    markdown = NOT_RUN.sub("", markdown)
    markdown = SECTION.sub(lambda found: settings(found[1]), markdown)
    return markdown.replace(PLACE, commands()) if PLACE in markdown else markdown


def on_post_template(output_content: str, **_: Any) -> str:
    """Called by MkDocs for the page that says that there is no such page."""
    return on_post_page(output_content)


def on_post_page(output: str, **_: Any) -> str:
    """Called by MkDocs for every page that it has made."""
    output = re.sub(
        r"<th([^>]*)></th>", r"<td\1></td>", output
    )  # a corner of a table is no heading
    return output.replace('class="md-search"', 'class="md-search" aria-label="Search"')


def settings(section: str) -> str:
    """The settings of a section of the settings file, as a table."""
    rows = _input() if section == "input" else _declared(section)
    lines = [
        f"| `{key}` | {default} | {meaning.replace('|', chr(92) + '|')} |"
        for key, default, meaning in rows
    ]
    return "\n".join(["| key | default | meaning |", "| --- | --- | --- |", *lines])


def _declared(section: str) -> list[tuple[str, str, str]]:
    from shoal.settings.settings import SETTINGS
    from shoal.settings.toml import written

    return [
        (own.key, "needed" if own.name == "k" else _shown(written(own)), own.page("../"))
        for own in SETTINGS.values()
        if own.section == section and own.is_single
    ]


def _input() -> list[tuple[str, str, str]]:
    """What the docstring of `Input` says of its fields."""
    import inspect

    from shoal import Input

    text = inspect.getdoc(Input) or ""
    said = re.findall(r"^(\w+)\n((?: {4}.*\n?)+)", text.partition("----------\n")[2], re.MULTILINE)
    default = Input()
    return [
        (name, _shown(getattr(default, name)), " ".join(meaning.split())) for name, meaning in said
    ]


def _shown(default: Any) -> str:
    """A default as a settings file writes it; nothing for one that it cannot write."""
    return "" if default is None else f"`{json.dumps(default)}`"


def commands() -> str:
    """Every command with its arguments and options, as Markdown."""
    import typer.main

    from shoal.cli.app import commands

    group = typer.main.get_command(commands)
    return "\n\n".join(
        f"## shoal {name}\n\n{command.help}\n\n{_table(command.params)}"
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    )


def _table(parameters: list[Any]) -> str:
    rows = [_row(parameter) for parameter in parameters if parameter.name != "help"]
    if not rows:
        return "No options."
    return "\n".join(["| argument or option | meaning |", "| --- | --- |", *rows])


def _row(parameter: Any) -> str:
    option = parameter.param_type_name == "option"
    names = [*parameter.opts, *parameter.secondary_opts] if option else []
    takes = "" if getattr(parameter, "is_flag", False) else _takes(parameter)
    label = " ".join([", ".join(names), takes]).strip() if option else takes
    default = parameter.default
    notes = [
        *(["needed"] if parameter.required else []),
        *([f"default {default}"] if _is_telling(default) else []),
    ]
    meaning = (parameter.help or "").replace("|", "\\|")
    aside = f" ({', '.join(notes)})" if notes else ""
    return f"| `{label}` | {meaning}{aside} |"


def _takes(parameter: Any) -> str:
    """What stands behind an option, or the name of an argument."""
    if parameter.metavar or parameter.param_type_name == "argument":
        return parameter.metavar or parameter.name.upper()
    return {Path: "FILE", str: "NAME"}.get(parameter.type_descriptor.annotation, "NUMBER")


def _is_telling(default: Any) -> bool:
    return default is not None and default != () and not isinstance(default, bool | list)
