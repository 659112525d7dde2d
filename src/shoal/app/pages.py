"""The pages that show something: the projects, the six steps and the runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from shoal.app import forms
from shoal.app.context import (
    AppContext,
    changed_response,
    column_at,
    command_line,
    is_part,
)
from shoal.app.jobs import Job, TaskFailed
from shoal.app.projects import FORMATS, Project
from shoal.app.security import REPORT_POLICY
from shoal.app.words import STEPS
from shoal.errors import counted
from shoal.progress import STEP_WORDS, stage_in_words, step_of
from shoal.report.formats import sentence

SEVERAL_K = (2, 3, 5, 10, 20, 50)


class Pages:
    """The pages and parts of pages that browsers GET; these requests change nothing."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        parts = {
            "rows": self.rows,
            "single": self.single,
            "key": self.key,
            "estimate": self.estimate,
            "several": self.several,
            "state": self.state,
            "history": self.history,
            "looking": self.looking,
        }
        return [
            Route("/", self.home),
            *(Route(f"/p/{{project}}/{step}", self.step, name=step) for step, _ in STEPS),
            *(Route(f"/p/{{project}}/part/{name}", part) for name, part in parts.items()),
            Route("/p/{project}/part/column/{number:int}", self.column),
            Route("/p/{project}/part/effect/{number:int}", self.column),
            Route("/p/{project}/part/reading/{number:int}", self.column),
            Route("/p/{project}/part/preview/{run}", self.preview),
            Route("/p/{project}/part/excel/{run}", self.excel),
            Route("/p/{project}/runs/{run}/report", self.report),
            Route("/p/{project}/runs/{run}/download/{format}", self.download),
        ]

    def home(self, request: Request) -> Response:
        return self.office.home(search=request.query_params.get("search", "").strip()[:100])

    def step(self, request: Request) -> Response:
        """One of the six steps; `?now` in the address shows the estimate at once instead of loading it later."""
        project = self.office.project(request)
        step = request.url.path.rpartition("/")[2]
        if step == "release":
            return self.release(request, project)
        context: dict[str, Any] = {"request_open": request.query_params.get("open", "")}
        context["is_previewed"] = "rows" in request.query_params
        if "now" in request.query_params:
            context["estimate"], context["ask"] = self._estimate(project), False
        return self.office.page(step, project, **context)

    def release(self, request: Request, project: Project) -> Response:
        """The release of one run, by default of the newest finished one."""
        runs = self.office.runs(project)
        done = [run for run in runs if run["status"] == "done"]
        wanted = request.query_params.get("run")
        run = next((run for run in done if run["number"] == wanted), done[0] if done else None)
        files, command = [], ""
        if run is not None:
            files = [name for name in FORMATS if project.file_of(run["number"], name)]
            settings = project.run_folder(run["number"]) / "settings.toml"
            command = command_line(Path(run.get("table", project.table)), settings)
        context: dict[str, Any] = {"run": run, "done": done, "files": files, "run_command": command}
        context["under_way"] = next((own for own in runs if own["job"] and own not in done), None)
        if run is not None and "rows" in request.query_params:
            originals = request.query_params["rows"] == "originals"
            context |= self._preview(project, run["number"], originals)
        return self.office.page("release", project, **context)

    def preview(self, request: Request) -> Response:
        """The first rows of a release; with `originals` in the address, records of the table that fit them."""
        project = self.office.project(request)
        run = self.office.run(request, project)
        context = self._preview(project, run, "originals" in request.query_params)
        return self.office.draw("part_preview.html", project=project, number=run, **context)

    def _preview(self, project: Project, run: str, originals: bool) -> dict[str, Any]:
        given = {"run": str(project.run_folder(run)), "originals": originals}
        found, problems = self.office.ask(project, "preview", **given)
        return {"preview": found, "preview_problems": problems}

    def excel(self, request: Request) -> Response:
        """Whether the Excel file of a run is there; a page asks until it is."""
        project = self.office.project(request)
        number = self.office.run(request, project)
        run = next(run for run in self.office.runs(project) if run["number"] == number)
        ready = project.file_of(number, "xlsx") is not None and run.get("excel") != "writing"
        return self.office.draw("part_excel.html", project=project, run=run, ready=ready)

    def looking(self, request: Request) -> Response:
        """The status of reading a table, as JSON."""
        job = self.office.jobs.looking(self.office.project(request))
        return JSONResponse({"status": job.status if job else "done"})

    def state(self, request: Request) -> Response:
        project = self.office.project(request)
        return self.office.draw("part_state.html", **self.office.state(project))

    def history(self, request: Request) -> Response:
        """The buttons that undo and redo, with what each would change."""
        project, step = self.office.project(request), request.query_params.get("step", "table")
        return self.office.draw("part_history.html", project=project, step=step)

    def rows(self, request: Request) -> Response:
        """The first rows of the table. No other page shows records."""
        project = self.office.project(request)
        found, problems = self.office.ask(project, "rows")
        if is_part(request):
            state = self.office.state(project)
            return self.office.draw("part_rows.html", **state, rows=found, problems=problems)
        return self.office.page("table", project, rows=found, row_problems=problems)

    def single(self, request: Request) -> Response:
        """How many records the chosen columns identify."""
        project = self.office.project(request)
        chosen = list(project.settings.get("quasi_identifiers", {}))
        found, problems = self.office.ask(project, "single", columns=chosen)
        return self.office.draw("part_single.html", single=found, problems=problems)

    def column(self, request: Request) -> Response:
        """The chart and details of one column, what its role means for it, or how it is read."""
        project = self.office.project(request)
        part, number = request.url.path.split("/")[-2], request.path_params["number"]
        state, column = self.office.state(project), column_at(project, number)
        about = {"column": column, "n": number, "role": state["roles"][column["name"]]}
        return self.office.draw(f"part_{part}.html", **state, **about)

    def key(self, request: Request) -> Response:
        """The path of the pseudonyms' key, if there are any, but nothing of the key itself."""
        project = self.office.project(request)
        return self.office.draw("part_key.html", **self.office.state(project))

    def estimate(self, request: Request) -> Response:
        project = self.office.project(request)
        found = self._estimate(project)
        if found is None:
            return Response(status_code=204)  # a newer request replaces this one
        return self.office.draw("part_estimate.html", estimate=found, project=project)

    def _estimate(self, project: Project) -> dict[str, Any] | None:
        if not project.settings.get("quasi_identifiers"):
            said = "No column is a quasi-identifier yet. Choose at least one on the page Columns."
            return {"problems": [said], "infeasible": False}
        try:
            return self.office.jobs.ask_newest(project, "estimate")
        except TaskFailed as error:
            return {"problems": error.problems, "infeasible": error.infeasible}

    def several(self, request: Request) -> Response:
        """Estimates for several values of k, side by side."""
        project = self.office.project(request)
        found: list[dict[str, Any]] = []
        for k in SEVERAL_K:
            try:
                found.append({"k": k, **self.office.jobs.ask(project, "estimate", k=k)})
            except TaskFailed as error:
                if not error.infeasible:
                    return self.office.draw("part_problems.html", problems=error.problems)
                found.append({"k": k, "problems": error.problems})
        return self.office.draw("part_several.html", several=found)

    def report(self, request: Request) -> Response:
        project = self.office.project(request)
        found = project.file_of(self.office.run(request, project), "report")
        if found is None:
            return self.office.draw(
                "missing.html",
                404,
                what="This run has no report. Go back and start a new run to get one.",
            )
        headers = {"content-security-policy": REPORT_POLICY}
        return FileResponse(found[0], media_type=found[1], headers=headers)

    def download(self, request: Request) -> Response:
        project = self.office.project(request)
        run = self.office.run(request, project)
        found = project.file_of(run, request.path_params["format"])
        if found is None:
            return self.office.draw(
                "missing.html",
                404,
                what="This run has no such file. Go back and choose one of the downloads on the page Release.",
            )
        path, kind = found
        headers = {"content-security-policy": REPORT_POLICY}
        return FileResponse(path, media_type=kind, filename=path.name, headers=headers)


EVERY = 0.25  # seconds between two checks of a job


class RunPages:
    """The routes of runs."""

    def __init__(self, office: AppContext) -> None:
        self.office = office

    def routes(self) -> list[Route]:
        of_a_run = "/p/{project}/runs/{run}"
        return [
            Route("/p/{project}/way", self.way, methods=["POST"]),
            Route("/p/{project}/runs", self.start, methods=["POST"]),
            Route(f"{of_a_run}/cancel", self.cancel, methods=["POST"]),
            Route(f"{of_a_run}/copy", self.copy, methods=["POST"]),
            Route(f"{of_a_run}/delete", self.delete, methods=["POST"]),
            Route(f"{of_a_run}/allow", self.allow, methods=["POST"]),
            Route(f"{of_a_run}/status", self.status),
            Route(f"{of_a_run}/events", self.events),
        ]

    async def way(self, request: Request) -> Response:
        """Save the settings of a run without starting one."""
        project = self.office.project(request)
        form = await request.form(max_files=0)
        try:
            project.change(forms.with_run(project.settings, form))
        except forms.InvalidEntry as error:
            return self.office.draw("part_problems.html", problems=[str(error)])
        return changed_response(request, f"/p/{project.id}/run")

    async def start(self, request: Request) -> Response:
        """Start a run with the settings from the form."""
        project = self.office.project(request)
        form = await request.form(max_files=0)
        problems = []
        try:
            project.change(forms.with_run(project.settings, form))
        except forms.InvalidEntry as error:
            problems.append(str(error))
        if not project.settings.get("quasi_identifiers"):
            problems.append(
                "No column is a quasi-identifier yet. Choose at least one on the page Columns."
            )
        if problems:
            return self.office.page("run", project, 422, problems=problems)
        self.office.jobs.run(project, project.new_run())
        return RedirectResponse(f"/p/{project.id}/run", 303)

    async def cancel(self, request: Request) -> Response:
        project = self.office.project(request)
        run = self.office.run(request, project)
        await asyncio.to_thread(self.office.jobs.cancel, project, run)
        return RedirectResponse(f"/p/{project.id}/run", 303)

    async def copy(self, request: Request) -> Response:
        project = self.office.project(request)
        project.copy_run(self.office.run(request, project))
        return RedirectResponse(f"/p/{project.id}/run", 303)

    async def delete(self, request: Request) -> Response:
        project = self.office.project(request)
        run = self.office.run(request, project)
        await asyncio.to_thread(self.office.jobs.cancel, project, run)
        project.delete_run(run)
        return RedirectResponse(f"/p/{project.id}/run", 303)

    async def allow(self, request: Request) -> Response:
        """Allow the columns a run was refused for, if the user typed the number, and run again."""
        project = self.office.project(request)
        number = self.office.run(request, project)
        form = await request.form(max_files=0)
        refusals = project.run(number).get("refusals", [])
        try:
            project.change(forms.with_allowed(project.settings, refusals, form.get("typed")))
        except forms.InvalidEntry as error:
            return self.office.page("run", project, 422, problems=[str(error)])
        self.office.jobs.run(project, project.new_run())
        return RedirectResponse(f"/p/{project.id}/run", 303)

    async def status(self, request: Request) -> Response:
        """The status of a run, for pages that poll."""
        project = self.office.project(request)
        run = self.office.run(request, project)
        return JSONResponse(status_of(self.office.jobs.running(project, run)))

    async def events(self, request: Request) -> Response:
        """The status of a run as server-sent events, until it ends."""
        project = self.office.project(request)
        run = self.office.run(request, project)
        return status_events(request, lambda: self.office.jobs.running(project, run))


def status_of(job: Job | None) -> dict[str, Any]:
    """How far a job is, as pages show it."""
    if job is None or job.is_ready:
        return {"status": "over"}
    number = step_of(job.stage) if job.kind == "run" else 0
    step = f"Step {number} of {len(STEP_WORDS)}: " if number else ""
    rows = f"{counted(job.records, 'record')}. " if job.records else ""
    so_far = f"{job.elapsed:.0f} s so far{', ' + job.left if job.left else ''}"
    return {
        "status": "running",
        "text": f"{sentence(step + stage_in_words(job.stage))} {rows}{so_far}.",
        "stage": job.stage,
        "share": job.done / job.total if job.total > 1 else None,
    }


def status_events(request: Request, running: Callable[[], Job | None]) -> Response:
    """The status of a job as server-sent events, until it ends."""

    async def stream() -> AsyncIterator[str]:
        last = None
        while not await request.is_disconnected():
            now = status_of(running())
            if now != last:
                yield f"data: {json.dumps(now)}\n\n"
                last = now
            if now["status"] != "running":
                return
            await asyncio.sleep(EVERY)

    return StreamingResponse(stream(), media_type="text/event-stream")
