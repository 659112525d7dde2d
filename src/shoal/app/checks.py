"""Checks of finished releases, which need no original: upload, state what to check, see what fails, get a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from shoal.app import forms
from shoal.app.changes import form_of, path_given
from shoal.app.context import AppContext, navigated, with_problem
from shoal.app.projects import Project, read_json
from shoal.app.security import REPORT_POLICY
from shoal.app.uploads import with_upload

ROLES = {
    "quasi-identifier": "quasi-identifier: others may know it",
    "sensitive": "sensitive: nobody should learn it",
    "keep": "neither: unprotected",
    "identifier": "identifier: must not be there",
}


def check_settings(form: FormData, look: Mapping[str, Any], reading: Mapping[str, Any]) -> Any:
    """The settings that a release is checked with, from a form."""
    names = [column["name"] for column in look["columns"]]
    roles = {name: forms.text(form, f"role-{number}") for number, name in enumerate(names)}
    chosen = [name for name in names if roles[name] == "quasi-identifier"]
    columns = {
        key: [name for name in names if roles[name] == role] for role, key in forms.LISTS.items()
    }
    k = forms.whole(forms.text(form, "k"), "k", 2)
    required: dict[str, Any] = {"k": k}
    several, share = forms.text(form, "distinct"), forms.text(form, "share")
    if (several or share) and not columns["sensitive"]:
        raise forms.InvalidEntry(
            "A limit for sensitive values needs a sensitive column. Choose one, or leave the limit empty."
        )
    if several:
        least = forms.whole(several, "The number of different sensitive values", 2)
        required["diversity"] = [{"kind": "distinct", "l": least}]
    if share:
        most = forms.number(share, "The largest share", 1, 99)
        required["alpha"] = [{"alpha": most / 100}]
    if not chosen:
        raise forms.InvalidEntry(
            "Choose at least one column that others may know: these must look the same in a group."
        )
    found = {"columns": columns, "quasi_identifiers": {name: {} for name in chosen}}
    return {**found, "requirement": required, **({"input": dict(reading)} if reading else {})}


class CheckPages:
    """The routes of checks. A check is a project whose table is the finished release."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        post = {
            "/checks/upload": self.upload,
            "/checks/open": self.open,
            "/p/{project}/check": self.start,
        }
        return [
            Route("/check", self.first),
            Route("/p/{project}/check", self.show, methods=["GET"]),
            Route("/p/{project}/part/check", self.part),
            Route("/p/{project}/part/failing", self.failing),
            Route("/p/{project}/check/report", self.report),
            *(Route(path, end, methods=["POST"]) for path, end in post.items()),
        ]

    def first(self, request: Request) -> Response:
        """The page that takes a finished release."""
        return self.office.draw("check_new.html", problems=[])

    def _refused(self, problem: str, status: int = 422) -> Response:
        answer = self.office.draw("check_new.html", status, problems=[problem])
        return with_problem(answer, problem)

    async def upload(self, request: Request) -> Response:
        async def use(path: Path) -> Response:
            return self._opened(request, self.office.projects.adopt(path))

        return await with_upload(request, self.office.projects, use, self._refused)

    async def open(self, request: Request) -> Response:
        path = path_given(await form_of(request))
        if path is None:
            return self._refused(
                "There is no such file. Enter the full path, like /home/me/release.csv."
            )
        return self._opened(request, self.office.projects.new(path, path.name))

    def _opened(self, request: Request, project: Project) -> Response:
        project.note_facts(is_check=True)
        self.office.jobs.look(project)
        return navigated(request, f"/p/{project.id}/check")

    def show(self, request: Request) -> Response:
        project = self.office.project(request)
        return self._page(project, now="now" in request.query_params)

    def _page(
        self, project: Project, status: int = 200, now: bool = False, **more: Any
    ) -> Response:
        context: dict[str, Any] = {"asked": ROLES, "found": self._found(project), "unread": []}
        context["is_asked"] = (project.folder / "asked").exists()
        if now and context["is_asked"] and not context["found"]:
            context["found"], context["unread"] = self.office.ask(project, "check")
        return self.office.page("check", project, status, **{**context, **more})

    def _found(self, project: Project) -> dict[str, Any]:
        """The result of the last check, empty if the settings were changed since."""
        found = read_json(project.folder / "check.json") or {}
        return found if found.get("asked") == project.settings_text else {}

    async def start(self, request: Request) -> Response:
        """Save what to check; the page then shows the result."""
        project, form = self.office.project(request), await form_of(request)
        look = project.look
        if look is not None:
            try:
                reading = project.settings.get("input", {})
                project.change(check_settings(form, look, reading))
            except forms.InvalidEntry as error:
                return self._page(project, 422, problems=[str(error)])
            (project.folder / "asked").touch(mode=0o600)
        return RedirectResponse(f"/p/{project.id}/check", 303)

    def part(self, request: Request) -> Response:
        """The result of the check, which is made now unless it is known."""
        project = self.office.project(request)
        found, problems = self._found(project), list[str]()
        if not found:
            found, problems = self.office.ask(project, "check")
        return self.office.draw("part_check.html", project=project, found=found, unread=problems)

    async def failing(self, request: Request) -> Response:
        """The records in groups that are too small, which only their owner sees and nothing keeps."""
        project = self.office.project(request)
        found, problems = await run_in_threadpool(self.office.ask, project, "failing")
        return self.office.draw("part_failing.html", rows=found, problems=problems)

    def report(self, request: Request) -> Response:
        """The report as a page or, with `download` in the address, as a file."""
        project = self.office.project(request)
        path = project.folder / "report.html"
        if not self._found(project) or not path.is_file():
            what = "There is no report yet. Go back and check the release first."
            return self.office.draw("missing.html", 404, what=what)
        headers = {"content-security-policy": REPORT_POLICY}
        name = "check.html" if "download" in request.query_params else None
        return FileResponse(Path(path), media_type="text/html", filename=name, headers=headers)
