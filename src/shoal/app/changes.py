"""The routes that change something, all by POST: projects and settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from shoal.app import forms, reading
from shoal.app.context import (
    AppContext,
    changed_response,
    column_at,
    is_part,
    navigated,
    quasi_identifier_at,
    with_problem,
)
from shoal.app.projects import OWN_KEY, Project
from shoal.app.uploads import with_upload
from shoal.app.words import STEPS

MOST_FIELDS = 20_000  # of one form: a table may have thousands of columns


class FormHandlers:
    """The forms of all pages except those of runs."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        post = {
            "/projects/upload": self.upload,
            "/projects/open": self.open,
            "/projects/sample": self.sample,
            "/p/{project}/name": self.name,
            "/p/{project}/delete": self.delete,
            "/p/{project}/undo": self.undo,
            "/p/{project}/redo": self.undo,
            "/p/{project}/input": self.input,
            "/p/{project}/input/cancel": self.cancel_look,
            "/p/{project}/rows": self.rows,
            "/p/{project}/reading/{number:int}": self.reading,
            "/p/{project}/types": self.types,
            "/p/{project}/columns": self.columns,
            "/p/{project}/key": self.key,
            "/p/{project}/model/{number:int}": self.model,
            "/p/{project}/requirement": self.requirement,
            "/p/{project}/requirement/own": self.own_requirement,
            "/p/{project}/requirement/remove": self.remove_requirement,
        }
        return [Route(path, end, methods=["POST"]) for path, end in post.items()]

    async def upload(self, request: Request) -> Response:
        """Open a file that was dropped or chosen."""

        async def use(path: Path) -> Response:
            return self._opened(request, self.office.projects.adopt(path))

        return await with_upload(request, self.office.projects, use, self._home)

    async def open(self, request: Request) -> Response:
        """Open a file on this computer without copying it."""
        path = path_given(await form_of(request))
        if path is None:
            return self._home(
                "There is no such file. Enter the full path, like /home/me/people.csv."
            )
        return self._opened(request, self.office.projects.new(path, path.name))

    async def sample(self, request: Request) -> Response:
        from shoal import samples

        path = Path(samples.__file__).with_name("adult.parquet")
        project = self.office.projects.new(path, "Sample: 1994 US census", is_sample=True)
        return self._opened(request, project)

    def _home(self, problem: str, status: int = 422) -> Response:
        return with_problem(self.office.home(status, problems=[problem]), problem)

    def _opened(self, request: Request, project: Project) -> Response:
        self.office.jobs.look(project)
        return navigated(request, f"/p/{project.id}/table")

    async def name(self, request: Request) -> Response:
        """Save the name and the note of a project."""
        project, form = self.office.project(request), await form_of(request)
        name, note = (forms.text(form, key) for key in ("name", "note"))
        if not name:
            return self.office.home(422, problems=["A project needs a name. Enter one."])
        project.note_facts(name=name[:100], note=note[:2000])
        return RedirectResponse("/", 303)

    async def delete(self, request: Request) -> Response:
        project = self.office.project(request)
        await asyncio.to_thread(self.office.jobs.forget, project)
        project.delete()
        return RedirectResponse("/", 303)

    async def undo(self, request: Request) -> Response:
        """Undo the last change, or redo it, and show the page that asked for it."""
        project = self.office.project(request)
        before = project.settings.get("input")
        if request.url.path.endswith("/redo"):
            project.redo()
        else:
            project.undo()
        if project.settings.get("input") != before:
            self.office.look_again(project)
        back = forms.text(await form_of(request), "step")
        return RedirectResponse(f"/p/{project.id}/{back if back in dict(STEPS) else 'table'}", 303)

    async def input(self, request: Request) -> Response:
        """Save how the file is read, and read it again."""
        project, form = self.office.project(request), await form_of(request)
        is_new = project.change(forms.with_answers(project.settings, form, "table"))
        if is_new or project.look is None:
            self.office.look_again(project)
        return RedirectResponse(f"/p/{project.id}/table", 303)

    async def rows(self, request: Request) -> Response:
        """Save the row or sheet that was clicked in the preview, and read the table again."""
        project, form = self.office.project(request), await form_of(request)
        return self._read_again(project, lambda settings: reading.with_rows(settings, form))

    async def reading(self, request: Request) -> Response:
        """Save how one column is read, unless its values do not fit, and read the table again."""
        project, form = self.office.project(request), await form_of(request)
        name = column_at(project, request.path_params["number"])["name"]
        new = reading.with_column(project.settings, form, name)
        kind = new.get("input", {}).get("types", {}).get(name)
        if kind:
            problems = await self._problems(project, "types", types={name: kind})
            if problems:
                return self.office.page("table", project, 422, problems=problems)
        return self._read_again(project, lambda settings: reading.with_column(settings, form, name))

    def _read_again(
        self, project: Project, make: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Response:
        try:
            is_new = project.change(make(project.settings))
        except forms.InvalidEntry as error:
            return self.office.page("table", project, 422, problems=[str(error)])
        if is_new:
            self.office.look_again(project)
        return RedirectResponse(f"/p/{project.id}/table?rows#preview", 303)

    async def cancel_look(self, request: Request) -> Response:
        project = self.office.project(request)
        await asyncio.to_thread(self.office.jobs.cancel_look, project)
        return RedirectResponse(f"/p/{project.id}/table", 303)

    async def types(self, request: Request) -> Response:
        """Save the types of columns. If values do not fit a type, report that and change nothing."""
        project, form = self.office.project(request), await form_of(request)
        look = project.look
        if look is not None:
            new = reading.with_types(project.settings, form, look)
            types = new.get("input", {}).get("types", {})
            problems = await self._problems(project, "types", types=types)
            if problems:
                return self.office.page("table", project, 422, problems=problems)
            if project.change(reading.with_types(project.settings, form, look)):
                self.office.look_again(project)
        return RedirectResponse(f"/p/{project.id}/table", 303)

    async def columns(self, request: Request) -> Response:
        project, form = self.office.project(request), await form_of(request)
        look = project.look
        if look is None:
            return RedirectResponse(f"/p/{project.id}/columns", 303)
        if "suggested" in form:
            return self._suggested(request, project, look)
        try:
            wanted = forms.with_roles(project.settings, form, look)
        except forms.InvalidEntry as error:
            return self._refused(request, project, "columns", [str(error)])
        if forms.needs_own_key(wanted):
            problems = await self._problems(project, "key")
            if problems:
                return self._refused(request, project, "columns", problems)
        return self._change(
            request, project, "columns", lambda settings: forms.with_roles(settings, form, look)
        )

    def _suggested(self, request: Request, project: Project, look: dict[str, Any]) -> Response:
        pairs = [(f"role-{i}", column["role"]) for i, column in enumerate(look["columns"])]
        project.change(forms.with_roles(project.settings, FormData(pairs), look))
        return RedirectResponse(f"/p/{project.id}/columns", 303)

    async def key(self, request: Request) -> Response:
        """Use the key in a file on this computer, or the project's own, for pseudonyms."""
        project, form = self.office.project(request), await form_of(request)
        path = Path(OWN_KEY) if "own" in form else path_given(form)
        if path is None:  # never show what was typed: it may be a key
            problems = [
                "There is no such file. Enter the full path of the key file, like /home/me/secret.key."
            ]
        else:
            given = "" if "own" in form else str(path)
            problems = await self._problems(project, "key", path=given)
        if problems:
            return self.office.page("columns", project, 422, problems=problems)
        return self._change(request, project, "columns", lambda s: forms.with_key(s, str(path)))

    async def _problems(self, project: Project, task: str, **given: Any) -> list[str]:
        """The problems that a worker's check finds; the check "key" also makes the project's own key if needed."""
        _, problems = await asyncio.to_thread(self.office.ask, project, task, **given)
        return problems

    async def model(self, request: Request) -> Response:
        project, form = self.office.project(request), await form_of(request)
        name = quasi_identifier_at(project, request.path_params["number"])
        return self._change(
            request, project, "generalization", lambda s: forms.with_model(s, name, form)
        )

    async def requirement(self, request: Request) -> Response:
        project, form = self.office.project(request), await form_of(request)
        return self._change(
            request, project, "requirement", lambda s: forms.with_requirement(s, form)
        )

    async def own_requirement(self, request: Request) -> Response:
        """Give one sensitive column a requirement of its own."""
        project, form = self.office.project(request), await form_of(request)
        return self._change(
            request, project, "requirement", lambda s: forms.with_own_requirement(s, form)
        )

    async def remove_requirement(self, request: Request) -> Response:
        project, form = self.office.project(request), await form_of(request)
        column, name = forms.text(form, "column"), forms.text(form, "name")
        return self._change(
            request,
            project,
            "requirement",
            lambda s: forms.without_own_requirement(s, column, name),
        )

    def _change(
        self,
        request: Request,
        project: Project,
        step: str,
        make: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> Response:
        """Save a form, or show its page with the problems."""
        try:
            project.change(make(project.settings))
        except forms.InvalidEntry as error:
            return self._refused(request, project, step, [str(error)])
        return changed_response(request, f"/p/{project.id}/{step}")

    def _refused(
        self, request: Request, project: Project, step: str, problems: list[str]
    ) -> Response:
        """Show the problems of a form on its page; nothing changes."""
        if is_part(request):
            return self.office.draw("part_problems.html", problems=problems)
        return self.office.page(step, project, 422, problems=problems)


def path_given(form: FormData) -> Path | None:
    """The full path that was typed, perhaps in quotes; None if there is no such file."""
    path = Path(forms.text(form, "path").strip("'\"")).expanduser()
    return path if path.is_absolute() and path.is_file() else None


async def form_of(request: Request) -> FormData:
    """The fields of a form that has no files."""
    return await request.form(max_files=0, max_fields=MOST_FIELDS)
