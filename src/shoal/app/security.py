"""Who may ask for a page: only this machine, this address, and a browser that has shown a one-time token.

Every request passes `Gate` before anything else: the Host must be the server's own, an Origin must be too, and all but
the first address need the cookie of a session. Browsers send the cookies of a host to all its ports, so all pages lie
below a path that nobody knows who has not shown a token, and the cookie is sent with requests below that path only:
another server on this machine never sees it.
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
    '<body><main><h1>shoal</h1><p><a href="{home}">Go on to the app</a></p></main></body></html>'
)


class Sessions:
    """One-time tokens and the sessions that they open; both live in memory only.

    `forget` removes whatever leads to a token, as soon as that is used or void.
    """

    def __init__(self, forget: Callable[[], None] = lambda: None) -> None:
        self._tokens: list[str] = []
        self._sessions: list[str] = []
        self._forget = forget

    def new_token(self) -> str:
        """A token for one browser; the one before, if nobody used it, is void."""
        self._forget()
        self._tokens = [secrets.token_urlsafe(32)]
        return self._tokens[0]

    def redeem(self, token: str) -> str | None:
        """The secret of a new session for a token, which is used up by it."""
        if not _among(token, self._tokens):
            return None
        self._tokens.clear()
        self._forget()
        self._sessions.append(secrets.token_urlsafe(32))
        return self._sessions[-1]

    def close(self) -> None:
        """Let nobody in any more."""
        self._tokens.clear()
        self._sessions.clear()
        self._forget()

    def knows(self, session: str) -> bool:
        return _among(session, self._sessions)


def new_path() -> str:
    """A path that cannot be guessed, for all pages of the app."""
    return f"/{secrets.token_urlsafe(24)}"


def _among(given: str, known: Iterable[str]) -> bool:
    """Whether a secret is one of those known, in a time that does not depend on which."""
    found = [hmac.compare_digest(given.encode(), secret.encode()) for secret in known]
    return any(found)


class Gate:
    """The middleware before all pages."""

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
        """A short page for a request that is not let in, None for others."""
        headers = Headers(scope=scope)
        if headers.getlist("host") != [self.host]:
            return _said(421, "This address is not the app's own.")
        own, origin = f"http://{self.host}", headers.get("origin")
        site = headers.get("sec-fetch-site", "none")
        if scope["path"] == "/open" and headers.get("sec-fetch-dest") == "document":
            site = "none"  # a file leads there, and only the token counts
        is_foreign = origin not in (None, own) or (origin is None and scope["method"] not in SAFE)
        if is_foreign or site not in ("none", "same-origin"):
            return _said(403, "This request comes from another page and was refused.")
        if scope["path"] == "/open":
            return None
        is_inside = hmac.compare_digest(
            f"{scope['path']}/".encode()[: len(self.path) + 1], f"{self.path}/".encode()
        )
        if not is_inside or not self.sessions.knows(self._session(headers)):
            return _said(
                403,
                "This browser has not been let in. Open the address that 'shoal app' shows in the terminal; "
                "each works once, and pressing Enter there shows a fresh one.",
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
        """The answer to the first address: a cookie in exchange for the token."""
        if scope["path"] != "/open":
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        session = self.sessions.redeem(given) if scope["method"] == "GET" else None
        if session is None:
            return _said(403, "This address has been used already, or never was one.")
        # A page, not a redirect: the cookie is sent only with requests that come from the app's own pages.
        response = HTMLResponse(_WELCOME.format(home=f"{self.path}/"))
        response.set_cookie(
            self.cookie, session, path=f"{self.path}/", httponly=True, samesite="strict"
        )
        return response

    def _guarded(self, send: Send, path: str) -> Send:
        """Answers with the headers that keep a page to itself, and addresses below the app's own path."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", POLICY)
                headers["x-content-type-options"] = "nosniff"
                headers["x-frame-options"] = "DENY"
                headers["referrer-policy"] = "same-origin"  # "no-referrer" takes the Origin away
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
