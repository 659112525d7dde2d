"""The command line: thin, everything is done by `shoal.anonymize` and its neighbours."""

from __future__ import annotations

import io
import signal
import sys
from types import FrameType
from typing import NoReturn

from shoal.errors import ShoalError


def main() -> NoReturn:
    """Run the command line and exit.

    0 done, 2 the user's input, 3 requirement not met, 130 stopped from outside, 1 anything else.
    """
    signal.signal(signal.SIGTERM, _stop)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign still gets the rest
    from typer.exceptions import TyperException

    from shoal.cli.app import app

    code = None
    try:
        code = app(prog_name="shoal", standalone_mode=False)
    except TyperException as error:  # what was typed is no command
        context = getattr(error, "ctx", None)
        said = error.format_message().rstrip(".")
        stop = "" if said.endswith("?") else "."
        _fail(f"{said}{stop} See '{context.command_path if context else 'shoal'} -h'.", 2)
    except ShoalError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except (
        Exception
    ) as error:  # nothing of the table may reach the screen, so only the kind is named
        _fail(f"shoal ran into an error of its own ({type(error).__name__}); please report it.", 1)
    sys.exit(code)


def _stop(signum: int, frame: FrameType | None) -> NoReturn:
    """End like an interrupt does, so that unfinished files are removed."""
    raise KeyboardInterrupt


def _fail(message: str, code: int) -> NoReturn:
    for line in message.splitlines():
        sys.stderr.write(f"shoal: {line}\n")
    sys.exit(code)
