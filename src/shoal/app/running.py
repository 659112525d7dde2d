"""Runs: start, follow, cancel, copy, delete."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from shoal.app import forms
from shoal.app.office import Office, changed
from shoal.app.projects import Project
from shoal.app.words import ORDER, stage_in_words, stage_number

EVERY = 0.25  # seconds between two looks at a job


class Running:
    """The addresses of runs."""

    def __init__(self, office: Office) -> None:
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
        """Keep how a run shall be made, without one."""
        project = self.office.project(request)
        form = await request.form(max_files=0)
        try:
            project.change(forms.with_run(project.settings, form))
        except forms.Wrong as error:
            return self.office.draw("part_problems.html", problems=[str(error)])
        return changed(request, f"/p/{project.id}/run")

    async def start(self, request: Request) -> Response:
        """Begin a run with the settings of the form."""
        project = self.office.project(request)
        form = await request.form(max_files=0)
        problems = []
        try:
            project.change(forms.with_run(project.settings, form))
        except forms.Wrong as error:
            problems.append(str(error))
        if not project.settings.get("quasi_identifiers"):
            problems.append("No column is a quasi-identifier yet; choose at least one.")
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
        """Allow what a run was refused for, if the typed number shows that it was read, and run again."""
        project = self.office.project(request)
        number = self.office.run(request, project)
        form = await request.form(max_files=0)
        run = next((own for own in project.runs() if own["number"] == number), {})
        refusals = run.get("refusals", [])
        try:
            project.change(forms.with_allowed(project.settings, refusals, form.get("typed")))
        except forms.Wrong as error:
            return self.office.page("run", project, 422, problems=[str(error)])
        self.office.jobs.run(project, project.new_run())
        return RedirectResponse(f"/p/{project.id}/run", 303)

    async def status(self, request: Request) -> Response:
        """How far a run is, for pages that ask again and again."""
        project = self.office.project(request)
        return JSONResponse(self._status(project, self.office.run(request, project)))

    async def events(self, request: Request) -> Response:
        """The same as a stream of events, until the run is over."""
        project = self.office.project(request)
        run = self.office.run(request, project)

        async def stream() -> AsyncIterator[str]:
            last = None
            while not await request.is_disconnected():
                now = self._status(project, run)
                if now != last:
                    yield f"data: {json.dumps(now)}\n\n"
                    last = now
                if now["status"] != "running":
                    return
                await asyncio.sleep(EVERY)

        return StreamingResponse(stream(), media_type="text/event-stream")

    def _status(self, project: Project, run: str) -> dict[str, Any]:
        job = self.office.jobs.running(project, run)
        if job is None or job.is_ready:
            return {"status": "over"}
        number = stage_number(job.stage)
        step = f"Step {number} of {len(ORDER)}: " if number else ""
        share = job.done / job.total if job.total > 1 else None
        rows = f"{job.records:,} records. " if job.records else ""
        so_far = f"{job.elapsed:.0f} s so far{', ' + job.left if job.left else ''}"
        return {
            "status": "running",
            "text": f"{step}{stage_in_words(job.stage)}. {rows}{so_far}.",
            "stage": job.stage,
            "share": share,
        }
