"""What all pages share: projects, jobs, templates and the values that every page of a project shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from shoal import __version__
from shoal.app import forms, reading, words
from shoal.app.jobs import UNFINISHED, Jobs, TaskFailed
from shoal.app.projects import Project, Projects
from shoal.progress import stage_in_words
from shoal.report.formats import make_templates


def command_line(table: Path, settings: Path) -> str:
    """The `shoal anonymize` command for a table and its settings."""
    parts = ["shoal", "anonymize", str(table), "--settings", str(settings)]
    return shlex.join([*parts, "--output", "release.csv", "--report", "report.html"])


HERE = Path(__file__).parent
_BREAKS = re.compile(r"(?<=[_\-./:;,|])(?=[^_\-./:;,|\s])|(?<=[a-z])(?=[A-Z])")


def breakable(name: str) -> Markup:
    """A name in which a line may break after a separator or before a capital letter, but not inside a word."""
    return Markup("<wbr>").join(_BREAKS.split(name))


def page_templates(path: str) -> Environment:
    """The templates of the pages below a path."""
    environment = make_templates(HERE / "templates")
    environment.globals.update(root=path, words=words, version=__version__)
    environment.globals.update(forms=forms, reading=reading)
    environment.globals["stage_in_words"] = stage_in_words
    environment.filters["day"] = _day
    environment.filters["breakable"] = breakable
    return environment


def _day(seconds: float) -> str:
    """A moment as a date on the calendar of this computer, like 3 May 2026."""
    moment = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{moment.day} {moment:%B %Y}"


@dataclass
class AppContext:
    """The parts that pages work with."""

    projects: Projects
    jobs: Jobs
    templates: Environment

    def project(self, request: Request) -> Project:
        """The project in the path; 404 if it does not exist."""
        try:
            return self.projects.get(request.path_params["project"])
        except KeyError:
            raise HTTPException(
                404, "There is no such project. It may have been deleted."
            ) from None

    def run(self, request: Request, project: Project) -> str:
        """The run in the path; 404 if it does not exist."""
        run = str(request.path_params["run"])
        try:
            if not (project.run_folder(run) / "run.json").exists():
                raise KeyError(run)
        except KeyError:
            raise HTTPException(404, "There is no such run. It may have been deleted.") from None
        return run

    def ask(self, project: Project, task: str, **given: Any) -> tuple[dict[str, Any], list[str]]:
        """The answer of a project's worker, or sentences that say why it failed."""
        try:
            return self.jobs.ask(project, task, **given), []
        except TaskFailed as error:
            return {}, error.problems

    def draw(self, template: str, status: int = 200, **context: Any) -> HTMLResponse:
        return HTMLResponse(self.templates.get_template(template).render(**context), status)

    def home(
        self, status: int = 200, search: str = "", problems: Sequence[str] = ()
    ) -> HTMLResponse:
        """The first page, with the projects whose name, note or file name contains a text."""
        found = [project for project in self.projects.all() if project.has(search)]
        context = {"projects": found, "search": search, "problems": problems}
        return self.draw("home.html", status, **context)

    def page(self, step: str, project: Project, status: int = 200, **context: Any) -> HTMLResponse:
        """A page of a project, with the state that is always visible."""
        shared: dict[str, Any] = {
            "problems": [],
            "estimate": None,
            "ask": True,
            "request_open": "",
            "is_previewed": False,
        }
        return self.draw(
            f"{step}.html", status, step=step, **{**shared, **self.state(project), **context}
        )

    def state(self, project: Project) -> dict[str, Any]:
        look, settings = project.look, project.settings
        job = self.jobs.looking(project)
        if look is None and job is None:  # after a crash
            job = self.jobs.look(project)
        elif look is None and job is not None and job.status == "done":
            look = project.look  # read between the two
        names = [column["name"] for column in look["columns"]] if look else []
        return {
            "project": project,
            "look": look,
            "job": job,
            "settings": settings,
            "roles": forms.roles_by_column(settings, names),
            "coarse": settings.get("columns", {}).get("coarsen", {}),
            "runs": self.runs(project),
            "toml": project.settings_text if settings else "",
            "command": command_line(project.table, project.folder / "settings.toml"),
        }

    def change(self, project: Project, settings: dict[str, Any]) -> None:
        """Change settings, and read the table again if it is now read in another way."""
        before = project.settings.get("input")
        project.change(settings)
        if project.settings.get("input") != before:
            self.look_again(project)

    def look_again(self, project: Project) -> None:
        """Read the table again."""
        (project.folder / "look.json").unlink(missing_ok=True)
        self.jobs.look(project)

    def runs(self, project: Project) -> list[dict[str, Any]]:
        """All runs, with the jobs of those in progress. A running one without a job was cut off when the app ended."""
        found = project.runs()
        for run in found:
            run["job"] = self.jobs.running(project, run["number"])
            if run["status"] == "running" and run["job"] is None:
                # It may have ended while this list was made.
                run.update(project.run(run["number"]))
                if run["status"] == "running":
                    run["status"] = "ended"
            if run.get("excel") == "writing" and run["job"] is None:
                run["excel"] = UNFINISHED
        return found


def column_at(project: Project, number: int) -> dict[str, Any]:
    """What is known of the column with a number; `KeyError` if there is none."""
    look = project.look
    if look is None or number >= len(look["columns"]):
        raise KeyError(number)
    found: dict[str, Any] = look["columns"][number]
    return found


def quasi_identifier_at(project: Project, number: int) -> str:
    """The name of the quasi-identifier with a number; `KeyError` if there is none."""
    name: str = column_at(project, number)["name"]
    if name not in project.settings.get("quasi_identifiers", {}):
        raise KeyError(number)
    return name


def is_part(request: Request) -> bool:
    """Whether htmx requests a part of a page."""
    return request.headers.get("hx-request") == "true"


def changed_response(request: Request, back: str, content: str = "") -> Response:
    """The response to a change: for htmx, an event that makes parts reload; otherwise a redirect to the page."""
    if is_part(request):
        return HTMLResponse(content, headers={"HX-Trigger": "changed"})
    return RedirectResponse(back, 303)


def navigated(request: Request, address: str) -> Response:
    """Show another page after a form with a file, which a script may have sent."""
    if request.headers.get("x-upload"):  # the script navigates itself
        return HTMLResponse("", headers={"x-location": address})
    return RedirectResponse(address, 303)


def with_problem(answer: Response, problem: str) -> Response:
    """A page that says why a file was refused, with a header for the script that sent it."""
    answer.headers["x-problem"] = problem.encode("ascii", "replace").decode("ascii")
    return answer
