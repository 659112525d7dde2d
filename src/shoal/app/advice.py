"""The pages More detail and Explore: changes of settings, measured by a job and taken over by a click."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from shoal import __version__
from shoal.app import forms
from shoal.app.changes import form_of
from shoal.app.context import AppContext
from shoal.app.pages import status_events, status_of
from shoal.app.projects import Project, read_json

NEXT = {"advice": "advice", "explore": "run"}  # the page after a change was taken over
GONE = "This change is no longer offered. Measure again to get new ones."
NO_COLUMNS = "No column is a quasi-identifier yet. Choose at least one on the page Columns."


def with_patch(settings: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Settings with changes: each has its place in the file and a value, None to remove what is there."""
    new = deepcopy(dict(settings))
    for own in patch:
        *sections, key = own["at"]
        section = new
        for name in sections:
            if not isinstance(section.get(name), dict):
                section[name] = {}
            section = section[name]
        if own["value"] is None:
            section.pop(key, None)
        else:
            section[key] = deepcopy(own["value"])
    return new


def state_of(settings: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> str:
    """Whether changes are "used" already, "offered", or "gone" because a column is no quasi-identifier any more."""
    if with_patch(settings, patch) == settings:
        return "used"
    models = settings.get("quasi_identifiers", {})
    changed = {own["at"][1] for own in patch if own["at"][0] == "quasi_identifiers"}
    return "offered" if changed <= models.keys() else "gone"


class AdvicePages:
    """The routes of both pages. The result of a job is a file of the project with the name of the page."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        found = []
        for kind in NEXT:
            base = f"/p/{{project}}/{kind}"
            post = {"start": self.start, "cancel": self.cancel, "use": self.use}
            found += [
                Route(base, partial(self.show, kind)),
                Route(f"{base}/status", partial(self.status, kind)),
                Route(f"{base}/events", partial(self.events, kind)),
                *(
                    Route(f"{base}/{deed}", partial(end, kind), methods=["POST"])
                    for deed, end in post.items()
                ),
            ]
        return found

    def show(self, kind: str, request: Request) -> Response:
        return self._page(kind, self.office.project(request))

    def _page(
        self, kind: str, project: Project, status: int = 200, problems: Sequence[str] = ()
    ) -> Response:
        settings, found = project.settings, self._found(kind, project)
        states = {name: state_of(settings, own) for name, own in found.get("patches", {}).items()}
        context = {
            "found": found,
            "states": states,
            "study": self.office.jobs.studying(project, kind),
            "is_old": bool(found) and found["asked"] != project.settings_text,
        }
        return self.office.page(kind, project, status, problems=problems, **context)

    def _found(self, kind: str, project: Project) -> dict[str, Any]:
        """What this version of shoal has measured; empty if nothing."""
        found = read_json(project.folder / f"{kind}.json") or {}
        return found if found.get("version") == __version__ else {}

    async def start(self, kind: str, request: Request) -> Response:
        """Start to measure, unless that is in progress."""
        project = self.office.project(request)
        if not project.settings.get("quasi_identifiers"):
            return self._page(kind, project, 422, [NO_COLUMNS])
        await asyncio.to_thread(self.office.jobs.study, project, kind)
        return RedirectResponse(f"/p/{project.id}/{kind}", 303)

    async def cancel(self, kind: str, request: Request) -> Response:
        project = self.office.project(request)
        await asyncio.to_thread(self.office.jobs.cancel, project, kind)
        return RedirectResponse(f"/p/{project.id}/{kind}", 303)

    async def use(self, kind: str, request: Request) -> Response:
        """Change the settings as it was offered; undo takes it back."""
        project = self.office.project(request)
        choice = forms.text(await form_of(request), "choice")
        patch = self._found(kind, project).get("patches", {}).get(choice)
        if patch is None or state_of(project.settings, patch) == "gone":
            return self._page(kind, project, 422, [GONE])
        self.office.change(project, with_patch(project.settings, patch))
        return RedirectResponse(f"/p/{project.id}/{NEXT[kind]}", 303)

    async def status(self, kind: str, request: Request) -> Response:
        project = self.office.project(request)
        return JSONResponse(status_of(self.office.jobs.running(project, kind)))

    async def events(self, kind: str, request: Request) -> Response:
        project = self.office.project(request)
        return status_events(request, lambda: self.office.jobs.running(project, kind))
