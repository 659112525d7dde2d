"""The addresses that change something, all by POST: projects, settings, hierarchies."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from shoal.app import forms
from shoal.app.context import AppContext, changed_response, is_part
from shoal.app.jobs import TaskFailed
from shoal.app.projects import OWN_KEY, Project
from shoal.app.uploads import UploadRejected, receive_file

MOST_FIELDS = 20_000  # of a form: a table may have thousands of columns


class FormHandlers:
    """The forms of all pages but those of runs."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        post = {
            "/projects/upload": self.upload,
            "/projects/open": self.open,
            "/projects/sample": self.sample,
            "/p/{project}/delete": self.delete,
            "/p/{project}/undo": self.undo,
            "/p/{project}/input": self.input,
            "/p/{project}/input/cancel": self.cancel_look,
            "/p/{project}/types": self.types,
            "/p/{project}/columns": self.columns,
            "/p/{project}/key": self.key,
            "/p/{project}/model/{number:int}": self.model,
            "/p/{project}/tree/{number:int}": self.tree,
            "/p/{project}/tree/{number:int}/upload": self.upload_tree,
            "/p/{project}/requirement": self.requirement,
        }
        return [Route(path, end, methods=["POST"]) for path, end in post.items()]

    async def upload(self, request: Request) -> Response:
        """A file that was dropped or chosen."""
        folder = self.office.projects.incoming()
        try:
            path = await receive_file(request, folder)
        except UploadRejected as error:
            shutil.rmtree(folder, ignore_errors=True)
            return self._home(request, str(error), error.status)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            return self._home(request, f"The file could not be copied: {error.strerror}.")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if path is None:
            shutil.rmtree(folder, ignore_errors=True)
            return self._home(request, "There was no file, or it was empty; choose one.")
        return self._opened(request, self.office.projects.adopt(path))

    async def open(self, request: Request) -> Response:
        """A file of this machine, read where it lies."""
        path = Path(forms.text(await _form(request), "path").strip("'\"")).expanduser()
        if not path.is_absolute() or not path.is_file():
            said = "There is no such file; give the whole path, like /home/me/people.csv."
            return self._home(request, said)
        return self._opened(request, self.office.projects.new(path, path.name))

    async def sample(self, request: Request) -> Response:
        from shoal import samples

        path = Path(samples.__file__).with_name("adult.parquet")
        project = self.office.projects.new(path, "Sample: US census of 1994", is_sample=True)
        return self._opened(request, project)

    def _home(self, request: Request, problem: str, status: int = 422) -> Response:
        found = self.office.projects.all()
        answer = self.office.draw("home.html", status, projects=found, problems=[problem])
        answer.headers["x-problem"] = problem.encode("ascii", "replace").decode("ascii")
        return answer

    def _opened(self, request: Request, project: Project) -> Response:
        self.office.jobs.look(project)
        address = f"/p/{project.id}/table"
        if request.headers.get("x-upload"):  # a script sent the file and goes on itself
            return HTMLResponse("", headers={"x-location": address})
        return RedirectResponse(address, 303)

    async def delete(self, request: Request) -> Response:
        project = self.office.project(request)
        await asyncio.to_thread(self.office.jobs.forget, project)
        project.delete()
        return RedirectResponse("/", 303)

    async def undo(self, request: Request) -> Response:
        """Take the last change back and show the page where it was asked."""
        project = self.office.project(request)
        before = project.settings.get("input")
        project.undo()
        if project.settings.get("input") != before:
            self._look_again(project)
        back = forms.text(await _form(request), "step")
        known = [step for step, _ in self.office.templates.globals["words"].STEPS]  # type: ignore[attr-defined]
        return RedirectResponse(f"/p/{project.id}/{back if back in known else 'table'}", 303)

    def _look_again(self, project: Project) -> None:
        (project.folder / "look.json").unlink(missing_ok=True)
        self.office.jobs.look(project)

    async def input(self, request: Request) -> Response:
        """How the file is read; it is read anew."""
        project, form = self.office.project(request), await _form(request)
        is_new = project.change(forms.with_answers(project.settings, form, "table"))
        if is_new or project.look is None:
            self._look_again(project)
        return RedirectResponse(f"/p/{project.id}/table", 303)

    async def cancel_look(self, request: Request) -> Response:
        project = self.office.project(request)
        await asyncio.to_thread(self.office.jobs.cancel_look, project)
        return RedirectResponse(f"/p/{project.id}/table", 303)

    async def types(self, request: Request) -> Response:
        """What columns hold; what does not fit is said, and nothing changes."""
        project, form = self.office.project(request), await _form(request)
        look = project.look
        if look is not None:
            new = forms.with_types(project.settings, form, look)
            types = new.get("input", {}).get("types", {})
            try:
                await asyncio.to_thread(self.office.jobs.ask, project, "types", types=types)
            except TaskFailed as error:
                return self.office.page("table", project, 422, problems=error.problems)
            if project.change(forms.with_types(project.settings, form, look)):
                self._look_again(project)
        return RedirectResponse(f"/p/{project.id}/table", 303)

    async def columns(self, request: Request) -> Response:
        project, form = self.office.project(request), await _form(request)
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
            problems = await self._key_problems(project)
            if problems:
                return self._refused(request, project, "columns", problems)
        return self._change(
            request, project, "columns", lambda settings: forms.with_roles(settings, form, look)
        )

    def _suggested(self, request: Request, project: Project, look: dict[str, Any]) -> Response:
        """All roles as suggested."""
        pairs = [(f"role-{i}", column["role"]) for i, column in enumerate(look["columns"])]
        project.change(forms.with_roles(project.settings, FormData(pairs), look))
        return RedirectResponse(f"/p/{project.id}/columns", 303)

    async def key(self, request: Request) -> Response:
        """The key of the pseudonyms: that of a file on this machine, or the project's own."""
        project, form = self.office.project(request), await _form(request)
        path = Path(forms.text(form, "path").strip("'\"")).expanduser()
        if "own" in form:
            path = Path(OWN_KEY)
            problems = await self._key_problems(project)
        elif not path.is_absolute() or not path.is_file():  # never shown: it may be a key
            problems = [
                "There is no such file; give the whole path of the file that holds the key."
            ]
        else:
            problems = await self._key_problems(project, str(path))
        if problems:
            return self.office.page("columns", project, 422, problems=problems)
        return self._change(request, project, "columns", lambda s: forms.with_key(s, str(path)))

    async def _key_problems(self, project: Project, path: str = "") -> list[str]:
        """What is wrong with a key; the project's own is made where there is none yet."""
        try:
            await asyncio.to_thread(self.office.jobs.ask, project, "key", path=path)
        except TaskFailed as error:
            return error.problems
        return []

    async def model(self, request: Request) -> Response:
        project, form = self.office.project(request), await _form(request)
        name = self._column(request, project)
        return self._change(
            request, project, "generalization", lambda s: forms.with_model(s, name, form)
        )

    async def tree(self, request: Request) -> Response:
        """A hierarchy built from the table, or written as an outline."""
        project, form = self.office.project(request), await _form(request)
        name, target = self._column(request, project), self._new_tree(request, project)
        how = forms.text(form, "how")
        outline = form.get("outline", "")
        task = {"outline": str(outline)} if how == "outline" else {"how": how}
        kind = "write" if how == "outline" else "build"
        return await self._tree(request, project, name, target, kind, task)

    async def upload_tree(self, request: Request) -> Response:
        """A hierarchy from a CSV file."""
        project = self.office.project(request)
        name, target = self._column(request, project), self._new_tree(request, project)
        folder = self.office.projects.incoming()
        try:
            path = await receive_file(request, folder)
            if path is None:
                said = ["There was no file, or it was empty; choose one."]
                return self.office.page("generalization", project, 422, problems=said)
            shutil.move(path, project.folder / target)
        except UploadRejected as error:
            said = [str(error)]
            return self.office.page("generalization", project, error.status, problems=said)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return await self._tree(request, project, name, target, "tree", {})

    async def _tree(
        self, request: Request, project: Project, name: str, target: str, kind: str, task: Any
    ) -> Response:
        try:
            found = await asyncio.to_thread(
                self.office.jobs.ask, project, kind, column=name, target=target, **task
            )
            problems = [] if found["fits"] else found["check"].splitlines()
        except TaskFailed as error:
            problems = error.problems
        if problems:
            (project.folder / target).unlink(missing_ok=True)
            return self.office.page("generalization", project, 422, problems=problems)
        project.change(forms.with_tree(project.settings, name, target))
        number = request.path_params["number"]
        return RedirectResponse(
            f"/p/{project.id}/generalization?open={number}#column-{number}", 303
        )

    def _new_tree(self, request: Request, project: Project) -> str:
        return project.new_tree(request.path_params["number"])

    def _column(self, request: Request, project: Project) -> str:
        """The name of the quasi-identifier that an address numbers."""
        look, number = project.look, request.path_params["number"]
        names = [column["name"] for column in look["columns"]] if look else []
        if number >= len(names) or names[number] not in project.settings["quasi_identifiers"]:
            raise KeyError(number)
        return str(names[number])

    async def requirement(self, request: Request) -> Response:
        project, form = self.office.project(request), await _form(request)
        return self._change(
            request, project, "requirement", lambda s: forms.with_requirement(s, form)
        )

    def _change(
        self,
        request: Request,
        project: Project,
        step: str,
        make: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> Response:
        """Take a form, or say what is wrong with it where it stands."""
        try:
            project.change(make(project.settings))
        except forms.InvalidEntry as error:
            return self._refused(request, project, step, [str(error)])
        return changed_response(request, f"/p/{project.id}/{step}")

    def _refused(
        self, request: Request, project: Project, step: str, problems: list[str]
    ) -> Response:
        """Say what is wrong with a form where it stands; nothing changes."""
        if is_part(request):
            return self.office.draw("part_problems.html", problems=problems)
        return self.office.page(step, project, 422, problems=problems)


async def _form(request: Request) -> FormData:
    """The fields of a form without files."""
    return await request.form(max_files=0, max_fields=MOST_FIELDS)
