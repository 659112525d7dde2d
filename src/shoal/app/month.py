"""A new month: the same settings for a new file, after a page has shown what is new in it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from shoal.app import forms
from shoal.app.changes import form_of, path_given
from shoal.app.context import AppContext, navigated, with_problem
from shoal.app.projects import Project
from shoal.app.uploads import with_upload


class MonthPages:
    """The routes of a new file for a project that has settings."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        base = "/p/{project}/month"
        post = {
            f"{base}/upload": self.upload,
            f"{base}/open": self.open,
            f"{base}/discard": self.discard,
            f"{base}/use": self.use,
        }
        return [
            Route(base, self.show),
            Route("/p/{project}/part/month", self.compared),
            *(Route(path, end, methods=["POST"]) for path, end in post.items()),
        ]

    def show(self, request: Request) -> Response:
        """The page; `?now` in the address compares at once instead of later."""
        project = self.office.project(request)
        context = self._compared(project) if "now" in request.query_params else {}
        return self._page(project, **context)

    def compared(self, request: Request) -> Response:
        """What is new in the waiting file."""
        project = self.office.project(request)
        context = {"project": project, **self._compared(project)}
        return self.office.draw("part_month.html", **context)

    def _compared(self, project: Project) -> dict[str, Any]:
        if not project.waiting:
            return {"found": {}, "unread": ["No file is waiting any more. Choose one again."]}
        found, problems = self.office.ask(project, "month")
        return {"found": found, "unread": problems}

    def _page(self, project: Project, status: int = 200, **context: Any) -> Response:
        shown = {"waiting": project.waiting, "found": {}, "unread": [], **context}
        return self.office.page("month", project, status, **shown)

    def _refused(self, project: Project, problem: str, status: int = 422) -> Response:
        return with_problem(self._page(project, status, problems=[problem]), problem)

    async def upload(self, request: Request) -> Response:
        """Take a file that was dropped or chosen."""
        project = self.office.project(request)

        async def use(path: Path) -> Response:
            project.offer(path, upload=True)
            return navigated(request, f"/p/{project.id}/month")

        return await with_upload(
            request, self.office.projects, use, partial(self._refused, project)
        )

    async def open(self, request: Request) -> Response:
        """Take a file on this computer without copying it."""
        project = self.office.project(request)
        path = path_given(await form_of(request))
        if path is None:
            problem = "There is no such file. Enter the full path, like /home/me/people.csv."
            return self._refused(project, problem)
        project.offer(path)
        return RedirectResponse(f"/p/{project.id}/month", 303)

    async def discard(self, request: Request) -> Response:
        project = self.office.project(request)
        project.discard()
        return RedirectResponse(f"/p/{project.id}/month", 303)

    async def use(self, request: Request) -> Response:
        """Put the waiting file in the place of the table and start a run, unless it cannot succeed."""
        project = self.office.project(request)
        found = project.waiting.get("found")
        if found is None:
            context = await run_in_threadpool(self._compared, project)
            if context["unread"]:
                return self._page(project, 422, problems=context["unread"])
            found = context["found"]
        if found["problems"]:
            return self._page(project, 422, found=found, problems=found["problems"])
        project.change(forms.with_month(project.settings, found["before"], found["added"]))
        project.use_waiting()
        self.office.jobs.look(project)
        self.office.jobs.run(project, project.new_run())
        return RedirectResponse(f"/p/{project.id}/run", 303)
