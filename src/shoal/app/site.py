"""The app as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from python_multipart.exceptions import FormParserError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from shoal.app.changes import Changes
from shoal.app.jobs import Jobs
from shoal.app.office import HERE, Office, make_templates
from shoal.app.pages import Pages
from shoal.app.projects import Projects
from shoal.app.running import Running
from shoal.app.security import Gate, Sessions, new_path


def make_site(root: Path, host: str, sessions: Sessions) -> Gate:
    """The app for one address, `127.0.0.1:port`, and one folder of projects."""
    path = new_path()
    office = Office(Projects(root), Jobs(), make_templates(path))

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
            *Changes(office).routes(),
            *Running(office).routes(),
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
