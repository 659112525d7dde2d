"""The command that opens the app: `shoal app`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import say
from shoal.errors import InputError

NEEDED = ("jinja2", "python_multipart", "starlette", "uvicorn")


def app(
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the browser, or show the address only."),
    ] = True,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of this machine; 0 for a free one.")
    ] = 0,
    folder: Annotated[
        Path | None, typer.Option(help="Where projects are kept; usually in your own data folder.")
    ] = None,
) -> None:
    """Open the app in the browser: from a table to a release without a terminal."""
    if any(find_spec(name) is None for name in NEEDED):
        raise InputError("The app needs the extra 'app'; install it with: pip install 'shoal[app]'")
    from shoal.app.server import serve

    serve(folder, port, browser, say)
