"""The server: one ASGI application on a free port of this machine, opened in the browser at a one-time address."""

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

from shoal.app.changes import FormHandlers
from shoal.app.context import HERE, AppContext, page_templates
from shoal.app.jobs import Jobs
from shoal.app.pages import Pages, RunPages
from shoal.app.projects import Projects, write_text_file
from shoal.app.security import Gate, Sessions, new_path
from shoal.data.staging import process_runs
from shoal.errors import InputError

_NAME = "open-{process}.html"
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>shoal</title>'
    '<meta http-equiv="refresh" content="0; url={address}"></head>'
    '<body><main><h1>shoal</h1><p><a href="{address}">Go on to the app</a></p></main></body></html>'
)


class Invitation:
    """A file in the private folder of the app that leads to an address."""

    def __init__(self, folder: Path) -> None:
        self.page = folder / _NAME.format(process=os.getpid())

    def write(self, address: str) -> None:
        """Write the page, and remove those of apps that were killed; their addresses are void."""
        for old in self.page.parent.glob(_NAME.format(process="*")):
            if not process_runs(old.stem.rpartition("-")[2]):
                old.unlink(missing_ok=True)
        write_text_file(self.page, _PAGE.format(address=address))

    def remove(self) -> None:
        self.page.unlink(missing_ok=True)


def make_site(root: Path, host: str, sessions: Sessions) -> Gate:
    """The app for one address, `127.0.0.1:port`, and one folder of projects."""
    path = new_path()
    office = AppContext(Projects(root), Jobs(), page_templates(path))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        office.jobs.close()
        sessions.close()

    def missing(request: Request, error: Exception) -> Response:
        said = error.detail if isinstance(error, HTTPException) else "Not found"
        said = "There is nothing at this address." if said == "Not Found" else said
        return office.draw("missing.html", 404, what=said)

    def broken(request: Request, error: Exception) -> Response:
        what = f"shoal ran into an error of its own ({type(error).__name__}); please report it."
        return office.draw("missing.html", 500, what=what)

    def garbled(request: Request, error: Exception) -> Response:
        what = "What the browser sent did not arrive whole; go back and send it again."
        return office.draw("missing.html", 400, what=what)

    site = Starlette(
        routes=[
            *Pages(office).routes(),
            *FormHandlers(office).routes(),
            *RunPages(office).routes(),
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
    )  # around everything, the page of an error too


ADDRESS = "127.0.0.1"


def default_folder() -> Path:
    """Where projects are kept, by the customs of the system."""
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
            f"Folder '{root}' cannot be used: {error.strerror}; name another with --folder."
        ) from None

    def address() -> str:
        return f"http://{host}/open?token={sessions.new_token()}"

    _invite(address(), invitation if browser else None, say)
    say(
        f"The address works once and on this machine only. Projects are in {root}. Stop with Ctrl+C."
    )
    if sys.stdin is not None and sys.stdin.isatty():
        say("Press Enter for another address, for a second browser.")
        threading.Thread(target=_addresses, args=(address, say), daemon=True).start()
    settings = uvicorn.Config(
        site,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    with suppress(KeyboardInterrupt):  # raised once more after the server has ended its jobs
        uvicorn.Server(settings).run(sockets=[listening])
    say("The app has ended; projects are kept.")


def _invite(address: str, invitation: Invitation | None, say: Callable[[str], None]) -> None:
    """Show the first address and open it in the browser.

    The browser's command and a file that takes our output may be read by others: neither gets the address while there
    is another way.
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
        say(f"shoal app: the browser opens {page}; if it cannot, start with --no-browser.")

    def open_page() -> None:
        if not webbrowser.open(page.as_uri()) and not is_shown:
            say(f"shoal app: no browser was found; open {address}")

    threading.Timer(0.5, open_page).start()


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
        found.listen(128)  # whoever is told the address may come at once
    except (OSError, OverflowError):
        found.close()
        raise InputError(f"Port {port} cannot be used; leave --port out for a free one.") from None
    return found


def _addresses(address: Callable[[], str], say: Callable[[str], None]) -> None:
    """Show a fresh address for each Enter."""
    for _ in sys.stdin:
        say(f"shoal app: open {address()}")
