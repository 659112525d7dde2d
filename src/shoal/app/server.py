"""Start the app: a free port of this machine only, a one-time address, the browser."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from shoal.app.invitation import Invitation
from shoal.app.security import Sessions
from shoal.app.site import make_site
from shoal.errors import InputError

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
    """Serve until stopped."""
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
