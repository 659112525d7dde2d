"""The command line: turns options into settings and prints results. It must not know how anything is done."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
from types import FrameType
from typing import NoReturn

from shoal.errors import ShoalError

STOPPED = 130  # exit code, as in shells
STOPPING = ("SIGTERM", "SIGINT", "SIGBREAK")  # the last is Ctrl+Break, on Windows only
USER = re.compile(r"(\b[a-z0-9+]+:/{1,3})[^\s/@]*:[^\s]*@", re.IGNORECASE)
PASSWORD = re.compile(
    r"((?:^|[?&\s'\"])(?:ssl)?password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^&\s'\"]*)", re.IGNORECASE
)
STOPS: list[int] = []  # signals that asked this run to stop
WRITTEN: list[object] = []  # files and database tables that this run has written


def main() -> NoReturn:
    """Run the command line and exit.

    Exit codes: 0 done, 2 invalid input, 3 requirement not met, 130 stopped from outside, 1 anything else.
    """
    WRITTEN.clear()
    STOPS.clear()
    for name in STOPPING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stop)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _unheard
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # if a terminal lacks a character, print the rest
    try:
        from typer.exceptions import TyperException
    except KeyboardInterrupt:
        _fail(_stopped(), STOPPED)
    code = None
    try:
        from shoal.cli.app import commands

        code = commands(prog_name="shoal", standalone_mode=False)
        if code == STOPPED:
            _fail(_stopped(), STOPPED)
        _flush()
    except TyperException as error:  # the command line could not be parsed
        context = getattr(error, "ctx", None)
        said = error.format_message().rstrip(".")
        stop = "" if said.endswith("?") else "."
        _fail(f"{said}{stop} See '{context.command_path if context else 'shoal'} -h'.", 2)
    except ShoalError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail(_stopped(), STOPPED)
    except BrokenPipeError:
        _close_output()
        sys.exit(0 if WRITTEN else 1)
    except MemoryError:
        _fail(
            "The table does not fit into memory. Close other programs, use a smaller table, or try --engine duckdb.",
            1,
        )
    except (
        Exception
    ) as error:  # the error's text may contain cell values, so only its type is shown
        _fail(f"shoal failed with an internal error ({type(error).__name__}). Please report it.", 1)
    sys.exit(code)


def visible(text: str) -> str:
    """Return a text without control characters and without the user and password of any address.

    Names of columns and files may contain both, because an address can be given where a file is expected.
    """
    text = USER.sub(r"\1…@", PASSWORD.sub(r"\1…", text))
    return "".join(sign if sign.isprintable() or sign == "\n" else _escaped(sign) for sign in text)


def say(text: str, error: bool = False) -> None:
    """Write a line; if the output is closed, results that are already written stay."""
    stream = sys.stderr if error else sys.stdout
    if stream is None:
        return
    try:
        stream.write(f"{visible(text)}\n")
    except (OSError, ValueError) as failure:
        if isinstance(failure, BrokenPipeError) and not WRITTEN:
            raise


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def _stop(signum: int, frame: FrameType | None) -> NoReturn:
    """Stop like an interrupt, so that unfinished files are removed.

    An exception raised inside a library's callback would be lost, so the signal is also recorded.
    """
    STOPS.append(signum)
    raise KeyboardInterrupt


def _unheard(failure: sys.UnraisableHookArgs) -> None:
    """Ignore a stop raised inside a callback, because `check_stop` handles it later; report anything else as usual."""
    if not (STOPS and failure.exc_type is KeyboardInterrupt):
        sys.__unraisablehook__(failure)


def check_stop() -> None:
    """Stop now if a stop was requested but its exception was lost."""
    if STOPS:
        raise KeyboardInterrupt


def _stopped() -> str:
    if not WRITTEN:
        return "Stopped; nothing was written."
    return f"Stopped. These outputs are complete: {', '.join(map(str, WRITTEN))}. Nothing else was written."


def _fail(message: str, code: int) -> NoReturn:
    if STOPS:  # some libraries report a stop as an error of their own
        message, code = _stopped(), STOPPED
    problems = message.splitlines()
    for line in problems:
        say(f"shoal: {line}", error=True)
    if "--json" in sys.argv:
        say(json.dumps({"error": {"exit_code": code, "problems": problems}}))
    _flush()
    sys.exit(code)


def _flush() -> None:
    """Flush the output now: at the end of the program, a closed output would change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _close_output()


def _close_output() -> None:
    """Redirect the streams to nowhere, so that the interpreter does not complain when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        try:
            os.dup2(nowhere, number)
        except OSError:
            continue
