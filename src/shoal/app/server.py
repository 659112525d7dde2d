"""The server: an ASGI application on a free local port, opened in the browser at a one-time address."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import uvicorn
from python_multipart.exceptions import FormParserError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from shoal.app.advice import AdvicePages
from shoal.app.changes import FormHandlers
from shoal.app.checks import CheckPages
from shoal.app.context import HERE, AppContext, page_templates
from shoal.app.jobs import Jobs
from shoal.app.month import MonthPages
from shoal.app.pages import Pages, RunPages
from shoal.app.projects import Projects, write_text_file
from shoal.app.security import Gate, Sessions, new_path
from shoal.app.settings_file import SettingsPages
from shoal.app.trees import TreePages
from shoal.data.staging import process_runs
from shoal.errors import InputError

_NAME = "open-{process}.html"
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>shoal</title>'
    '<meta http-equiv="refresh" content="0; url={address}"></head>'
    '<body><main><h1>shoal</h1><p><a href="{address}">Continue to the app</a></p></main></body></html>'
)


FAILED = "Something went wrong"


class Invitation:
    """A file in the app's private folder that redirects to a one-time address."""

    def __init__(self, folder: Path) -> None:
        self.page = folder / _NAME.format(process=os.getpid())

    def write(self, address: str) -> None:
        """Write the page, and remove those of apps that were killed, whose addresses are void."""
        for old in self.page.parent.glob(_NAME.format(process="*")):
            if not process_runs(old.stem.rpartition("-")[2]):
                old.unlink(missing_ok=True)
        write_text_file(self.page, _PAGE.format(address=address))

    def remove(self) -> None:
        self.page.unlink(missing_ok=True)


def make_site(root: Path, host: str, sessions: Sessions) -> Gate:
    """The app for one host, `127.0.0.1:port`, and one folder of projects."""
    path = new_path()
    office = AppContext(Projects(root), Jobs(), page_templates(path))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        office.jobs.close()
        sessions.close()

    def missing(request: Request, error: Exception) -> Response:
        said = error.detail if isinstance(error, HTTPException) else "Not Found"
        said = "There is nothing at this address." if said == "Not Found" else said
        return office.draw("missing.html", 404, what=said)

    def broken(request: Request, error: Exception) -> Response:
        what = f"shoal ran into an error of its own ({type(error).__name__}). Please report it."
        return office.draw("missing.html", 500, what=what, title=FAILED)

    def garbled(request: Request, error: Exception) -> Response:
        what = "What the browser sent did not arrive completely. Go back and send it again."
        return office.draw("missing.html", 400, what=what, title=FAILED)

    site = Starlette(
        routes=[
            *Pages(office).routes(),
            *FormHandlers(office).routes(),
            *TreePages(office).routes(),
            *RunPages(office).routes(),
            *MonthPages(office).routes(),
            *CheckPages(office).routes(),
            *AdvicePages(office).routes(),
            *SettingsPages(office).routes(),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        exception_handlers={
            400: garbled,
            FormParserError: garbled,
            404: missing,
            KeyError: missing,
            500: broken,
        },
        lifespan=lifespan,
    )
    site.state.office = office
    return Gate(
        site, host=host, path=path, sessions=sessions
    )  # around everything, including error pages


ADDRESS = "127.0.0.1"


def default_folder() -> Path:
    """The folder for projects that is usual on this system."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "shoal" / "projects"


def serve(folder: Path | None, port: int, browser: bool, say: Callable[[str], None]) -> None:
    root = (folder or default_folder()).absolute()
    listening = _listening(port)
    host = f"{ADDRESS}:{listening.getsockname()[1]}"
    invitation = Invitation(root)
    sessions = Sessions(invitation.remove)
    try:
        site = make_site(root, host, sessions)
    except OSError as error:
        raise InputError(
            f"Folder '{root}' cannot be used: {error.strerror}. Choose another folder with --folder."
        ) from None

    def address() -> str:
        return f"http://{host}/open?token={sessions.new_token()}"

    _invite(address(), invitation if browser else None, say)
    say(
        f"The address works once, and only on this computer. Projects are in {root}. Stop the app with Ctrl+C."
    )
    if sys.stdin is not None and sys.stdin.isatty():
        say("To use another browser, press Enter for a new address.")
        threading.Thread(target=_addresses, args=(address, say), daemon=True).start()
    settings = uvicorn.Config(
        site,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    with suppress(KeyboardInterrupt):  # raised again after the server has ended its jobs
        uvicorn.Server(settings).run(sockets=[listening])
    say("The app has stopped. Your projects are kept.")


def _invite(address: str, invitation: Invitation | None, say: Callable[[str], None]) -> None:
    """Show the first address and open it in the browser.

    Others may be able to read the browser's command line and a file that our output is redirected to, so neither gets
    the address if there is another way.
    """
    is_shown = invitation is None or (sys.stdout is not None and sys.stdout.isatty())
    if is_shown:
        say(f"shoal app: open {address}")
    if invitation is None:
        return
    page = invitation.page
    try:
        invitation.write(address)
    except OSError:  # a full disk
        if not is_shown:
            say(f"shoal app: open {address}")
        return
    if not is_shown:
        say(f"shoal app: the browser opens {page}. If it cannot, start the app with --no-browser.")

    def open_page() -> None:
        if not webbrowser.open(page.as_uri()) and not is_shown:
            say(f"shoal app: no browser was found. Open {address}")

    threading.Timer(0.5, open_page).start()


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
        found.listen(128)  # a browser may connect as soon as it has the address
    except (OSError, OverflowError):
        found.close()
        raise InputError(
            f"Port {port} cannot be used. Leave out --port to use a free one."
        ) from None
    return found


def _addresses(address: Callable[[], str], say: Callable[[str], None]) -> None:
    """Show a new address each time the user presses Enter."""
    for _ in sys.stdin:
        say(f"shoal app: open {address()}")
