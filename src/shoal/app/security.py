"""Access control: only browsers on this computer that have presented a one-time token may see pages.

Every request passes `Gate` first. Its Host, and its Origin if there is one, must be the server's own, and every address
except the first needs the session cookie. Browsers send the cookies of a host to all its ports. So all pages are below
a secret path, which only browsers that presented a token know, and the cookie is sent only with requests below that
path: another server on this computer never sees it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox"
SAFE = ("GET", "HEAD")
_WELCOME = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>shoal</title>'
    '<link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0; url={home}"></head>'
    '<body><main><h1>shoal</h1><p><a href="{home}">Continue to the app</a></p></main></body></html>'
)


class Sessions:
    """One-time tokens and the sessions they open; both are kept in memory only.

    `forget` removes anything that contains a token as soon as the token is used or void.
    """

    def __init__(self, forget: Callable[[], None] = lambda: None) -> None:
        self._tokens: list[str] = []
        self._sessions: list[str] = []
        self._forget = forget

    def new_token(self) -> str:
        """A token for one browser; an earlier token that nobody used becomes void."""
        self._forget()
        self._tokens = [secrets.token_urlsafe(32)]
        return self._tokens[0]

    def redeem(self, token: str) -> str | None:
        """Exchange a token for the secret of a new session; the token cannot be used again."""
        if not _among(token, self._tokens):
            return None
        self._tokens.clear()
        self._forget()
        self._sessions.append(secrets.token_urlsafe(32))
        return self._sessions[-1]

    def close(self) -> None:
        """End all sessions and void all tokens."""
        self._tokens.clear()
        self._sessions.clear()
        self._forget()

    def knows(self, session: str) -> bool:
        return _among(session, self._sessions)


def new_path() -> str:
    """An unguessable path for all pages of the app."""
    return f"/{secrets.token_urlsafe(24)}"


def _among(given: str, known: Iterable[str]) -> bool:
    """Whether a secret is one of those known, in constant time."""
    found = [hmac.compare_digest(given.encode(), secret.encode()) for secret in known]
    return any(found)


class Gate:
    """The middleware in front of all pages."""

    def __init__(self, app: ASGIApp, *, host: str, path: str, sessions: Sessions) -> None:
        self.app, self.host, self.path, self.sessions = app, host, path, sessions
        self.cookie = f"shoal-{host.rpartition(':')[2]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets
        refusal = self._refusal(scope)
        response = refusal or self._welcomed(scope)
        inside = {**scope, "root_path": self.path}
        await (response or self.app)(inside, receive, self._guarded(send, scope["path"]))

    def _refusal(self, scope: Scope) -> Response | None:
        """A short page for a request that is refused, None for others."""
        headers = Headers(scope=scope)
        if headers.getlist("host") != [self.host]:
            return _said(
                421,
                "This is not the address of the app. Open the address that 'shoal app' shows in the terminal.",
            )
        own, origin = f"http://{self.host}", headers.get("origin")
        site = headers.get("sec-fetch-site", "none")
        if scope["path"] == "/open" and headers.get("sec-fetch-dest") == "document":
            site = "none"  # a local file links there, and only the token counts
        is_foreign = origin not in (None, own) or (origin is None and scope["method"] not in SAFE)
        if is_foreign or site not in ("none", "same-origin"):
            return _said(
                403,
                "This request came from another website and was refused. Open the app itself and try again there.",
            )
        if scope["path"] == "/open":
            return None
        is_inside = hmac.compare_digest(
            f"{scope['path']}/".encode()[: len(self.path) + 1], f"{self.path}/".encode()
        )
        if not is_inside or not self.sessions.knows(self._session(headers)):
            return _said(
                403,
                "This browser has no access yet. Open the address that 'shoal app' shows in the terminal. "
                "Each address works once; press Enter there for a new one.",
            )
        return None

    def _session(self, headers: Headers) -> str:
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[self.cookie].value if self.cookie in cookies else ""

    def _welcomed(self, scope: Scope) -> Response | None:
        """The response to the one-time address: a cookie in exchange for the token."""
        if scope["path"] != "/open":
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        session = self.sessions.redeem(given) if scope["method"] == "GET" else None
        if session is None:
            return _said(
                403,
                "This address is wrong or was already used. Press Enter in the terminal of 'shoal app' for a new one.",
            )
        # A page, not a redirect: the cookie is sent only with requests that come from the app's own pages.
        response = HTMLResponse(_WELCOME.format(home=f"{self.path}/"))
        response.set_cookie(
            self.cookie, session, path=f"{self.path}/", httponly=True, samesite="strict"
        )
        return response

    def _guarded(self, send: Send, path: str) -> Send:
        """Add security headers to responses, and put redirects below the app's own path."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", POLICY)
                headers["x-content-type-options"] = "nosniff"
                headers["x-frame-options"] = "DENY"
                headers["referrer-policy"] = "same-origin"  # "no-referrer" would remove the Origin
                headers["cross-origin-opener-policy"] = "same-origin"
                headers["cross-origin-resource-policy"] = "same-origin"
                kept = path.startswith(f"{self.path}/static/")
                headers["cache-control"] = "no-cache" if kept else "no-store"
                for name in ("location", "x-location"):
                    if headers.get(name, "").startswith("/"):
                        headers[name] = self.path + headers[name]
            await send(message)

        return guarded


def _said(status: int, text: str) -> Response:
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>shoal: refused</title>'
        '<link rel="icon" href="data:,"></head>'
        f"<body><main><h1>Refused</h1><p>{text}</p></main></body></html>"
    )
    return HTMLResponse(page, status)
