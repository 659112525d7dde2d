"""A settings file (TOML) that replaces the settings of a project, uploaded or opened by its path."""

from __future__ import annotations

import tomllib
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from shoal.app.changes import form_of, path_given
from shoal.app.context import AppContext
from shoal.app.projects import Project, read_toml_file
from shoal.app.uploads import with_upload

LARGEST = 50 * 2**20  # bytes of a settings file
UPLOADED_TREES = (
    "An uploaded file cannot bring the hierarchy files that it names. Open it by its path instead, or use the settings "
    "that come with a release, which contain them."
)


class SettingsPages:
    """The routes of settings files."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        base = "/p/{project}/settings"
        return [
            Route(base, self.show),
            Route(f"{base}/upload", self.upload, methods=["POST"]),
            Route(f"{base}/open", self.open, methods=["POST"]),
        ]

    def show(self, request: Request) -> Response:
        return self.office.page("settings", self.office.project(request))

    async def upload(self, request: Request) -> Response:
        project = self.office.project(request)

        async def use(path: Path) -> Response:
            if _names_trees(path):
                return self._refused(project, [UPLOADED_TREES])
            return await self._take(project, path)

        def refused(problem: str, status: int) -> Response:
            return self._refused(project, [problem], status)

        return await with_upload(request, self.office.projects, use, refused)

    async def open(self, request: Request) -> Response:
        project = self.office.project(request)
        path = path_given(await form_of(request))
        if path is None:
            return self._refused(
                project,
                ["There is no such file. Enter the full path, like /home/me/people.toml."],
            )
        return await self._take(project, path)

    async def _take(self, project: Project, path: Path) -> Response:
        """Replace the settings, or list everything that does not fit and change nothing."""
        if path.stat().st_size > LARGEST:
            return self._refused(project, ["This is no settings file: it is too large."])
        found, problems = await run_in_threadpool(
            self.office.ask, project, "settings", path=str(path)
        )
        if problems:
            return self._refused(project, problems)
        self.office.change(project, found["content"])
        if project.is_check:
            (project.folder / "asked").touch(mode=0o600)
            return RedirectResponse(f"/p/{project.id}/check", 303)
        return RedirectResponse(f"/p/{project.id}/columns", 303)

    def _refused(self, project: Project, problems: list[str], status: int = 422) -> Response:
        """The page of settings files, with every problem."""
        return self.office.page("settings", project, status, problems=problems)


def _names_trees(path: Path) -> bool:
    """Whether a settings file names files with hierarchies. What is no settings file is reported elsewhere."""
    try:
        entries = read_toml_file(path).get("quasi_identifiers", {})
        return any("hierarchy" in entry for entry in entries.values() if isinstance(entry, dict))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError):
        return False
