"""Fill the page of the command line from the commands themselves while the site is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PLACE = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    return markdown.replace(PLACE, commands()) if PLACE in markdown else markdown


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
