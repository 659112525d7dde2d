"""The hierarchies of columns: built, uploaded, edited as a tree or as text, shown and downloaded."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from shoal.app import forms
from shoal.app.changes import form_of
from shoal.app.context import AppContext, is_part, quasi_identifier_at
from shoal.app.projects import Project, safe_name
from shoal.app.security import REPORT_POLICY
from shoal.app.uploads import with_upload


class TreePages:
    """The routes of the hierarchy of one quasi-identifier, whose number is in the path."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        base = "/p/{project}/tree/{number:int}"
        return [
            Route("/p/{project}/part/tree/{number:int}", self.show),
            Route(f"{base}/download", self.download),
            Route(base, self.make, methods=["POST"]),
            Route(f"{base}/upload", self.upload, methods=["POST"]),
        ]

    def show(self, request: Request) -> Response:
        """The hierarchy of a column: each level, the tree to edit, and its outline."""
        project, number = self.office.project(request), request.path_params["number"]
        name = quasi_identifier_at(project, number)
        found: dict[str, Any] = {}
        problems: list[str] = []
        if target := _tree_of(project, name):
            found, problems = self.office.ask(project, "tree", column=name, target=target)
        context = {"column": name, "number": number, "problems": problems}
        return self._draw("part_tree.html", project, name, found, **context)

    def download(self, request: Request) -> Response:
        """The CSV file of a hierarchy: value, level 1, …, root."""
        project = self.office.project(request)
        name = quasi_identifier_at(project, request.path_params["number"])
        path = project.folder / _tree_of(project, name)
        if not path.is_file():
            what = "This column has no tree yet. Build one on the page Generalization."
            return self.office.draw("missing.html", 404, what=what)
        headers = {"content-security-policy": REPORT_POLICY}
        kind, file = "text/csv; charset=utf-8", f"{safe_name(name)}.csv"
        return FileResponse(path, media_type=kind, filename=file, headers=headers)

    async def make(self, request: Request) -> Response:
        """Build a hierarchy from the table, or read it from an outline.

        The tree editor also sends `joins`, the file that it saved last, and gets the levels and the new file.
        """
        project, form = self.office.project(request), await form_of(request)
        given = {"outline": str(form.get("outline", ""))}
        how, joins = forms.text(form, "how"), forms.text(form, "joins")
        if how != "outline":
            given = {"how": how}
        task = "write" if how == "outline" else "build"
        return await run_in_threadpool(self._make, request, project, task, joins, **given)

    async def upload(self, request: Request) -> Response:
        """Read a hierarchy from an uploaded CSV file. Values that it lacks can be added in the editor."""
        project = self.office.project(request)

        async def use(path: Path) -> Response:
            return await run_in_threadpool(self._make, request, project, "tree", "", upload=path)

        def refused(problem: str, status: int) -> Response:
            return self._refused(request, project, [problem], status)

        return await with_upload(request, self.office.projects, use, refused)

    def _make(
        self, request: Request, project: Project, task: str, joins: str, **given: Any
    ) -> Response:
        """Make the file of a hierarchy by a task of the worker, and use it."""
        number = request.path_params["number"]
        name, target = quasi_identifier_at(project, number), project.new_tree(number)
        is_upload = "upload" in given
        if is_upload:
            shutil.move(given.pop("upload"), project.folder / target)
        found, problems = self.office.ask(project, task, column=name, target=target, **given)
        if found and (found["is_foreign"] if is_upload else not found["fits"]):
            problems = found["check"].splitlines()
        if problems:
            (project.folder / target).unlink(missing_ok=True)
            return self._refused(request, project, problems)
        old = _tree_of(project, name)
        is_same_step = bool(old) and joins == old and not project.needs_later(old)
        project.change(forms.with_tree(project.settings, name, target), is_same_step)
        if is_same_step:
            (project.folder / old).unlink(missing_ok=True)
        if is_part(request):
            answer = self._draw("part_levels.html", project, name, found)
            answer.headers["x-tree"] = target
            return answer
        return RedirectResponse(
            f"/p/{project.id}/generalization?open={number}#column-{number}", 303
        )

    def _draw(
        self, template: str, project: Project, name: str, tree: dict[str, Any], **context: Any
    ) -> Response:
        entry = project.settings["quasi_identifiers"][name]
        return self.office.draw(template, project=project, tree=tree, entry=entry, **context)

    def _refused(
        self, request: Request, project: Project, problems: list[str], status: int = 422
    ) -> Response:
        if is_part(request):
            return self.office.draw("part_problems.html", problems=problems)
        return self.office.page("generalization", project, status, problems=problems)


def _tree_of(project: Project, name: str) -> str:
    """The file of a column's hierarchy, relative to the project; empty if it has none."""
    return str(project.settings["quasi_identifiers"][name].get("hierarchy", ""))
