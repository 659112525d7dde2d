"""Jobs: reading a table, making a release and advice each have a worker process and a thread that follows it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.app.projects import Project

Heard = Callable[[dict[str, Any]], None]


class TaskFailed(Exception):
    """A task that failed; `problems` are the reasons, one sentence each."""

    def __init__(
        self,
        problems: list[str],
        infeasible: bool = False,
        refusals: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__("\n".join(problems))
        self.problems, self.infeasible = problems, infeasible
        self.refusals = list(refusals)  # that the user may allow


class WorkerEnded(TaskFailed):
    """A worker process that ended before it answered."""

    def __init__(self) -> None:
        super().__init__(["The process doing this ended early; nothing else is lost. Try again."])


class Worker:
    """A process that does one task after another."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._number = 0
        self._hung_up = (
            False  # the process no longer answers, though the system may not know it yet
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "shoal.app.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    @property
    def is_alive(self) -> bool:
        return not self._hung_up and self._process.poll() is None

    @property
    def is_busy(self) -> bool:
        return self._turn.locked()

    @property
    def process_id(self) -> int:
        return self._process.pid

    def ask(self, task: str, heard: Heard | None = None, **given: Any) -> dict[str, Any]:
        """Do a task and return its result; `heard` is called with messages about progress."""
        with self._turn:
            self._number += 1
            request = {"id": self._number, "do": task, "with": given}
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            try:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
                for line in self._process.stdout:
                    message = json.loads(line)
                    if message["event"] == "done":
                        result: dict[str, Any] = message["result"]
                        return result
                    if message["event"] == "failed":
                        raise TaskFailed(
                            message["problems"],
                            message.get("infeasible", False),
                            message.get("refusals", ()),
                        )
                    if heard is not None:
                        heard(message)
            except (OSError, ValueError):
                pass
            self._hung_up = True
            raise WorkerEnded

    def end(self) -> None:
        """Kill the process and everything it started."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
        self._process.wait()
        with self._turn:  # the caller of `ask` has seen the end
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError, ValueError):
                    assert stream is not None
                    stream.close()


UNFINISHED = "The Excel file was not finished. Run again to get it."
MOST_DESKS = 2  # tables that are kept open for requests


@dataclass
class Job:
    """A task in progress, and what is known of it."""

    kind: str
    project: str
    run: str = ""  # its number; for other tasks, their name
    status: str = "running"  # or done, failed, cancelled
    stage: str = "starting"
    done: int = 0
    total: int = 1
    records: int | None = None
    seconds: tuple[float, float] | None = None  # the estimate for the whole task
    is_cancelled: bool = False  # although its process may not have ended yet
    is_ready: bool = False  # the release can be downloaded, although a file is still being written
    problems: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    worker: Worker | None = None

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> str:
        """Roughly how long it will still take, in words."""
        if self.seconds is None:
            return ""
        most = self.seconds[1] - self.elapsed
        if most <= 1:
            return "longer than expected"
        least = max(0.0, self.seconds[0] - self.elapsed)
        return (
            f"about {time_in_words(least)} to {time_in_words(most)} left"
            if least > 1
            else f"at most about {time_in_words(most)} left"
        )

    def end(self) -> None:
        """Kill its process if it is running."""
        if self.status == "running" and self.worker is not None:
            self.is_cancelled = True
            self.worker.end()

    def hear(self, message: dict[str, Any]) -> None:
        if message["event"] == "ready":
            self.is_ready = True
            return
        self.stage = message.get("stage", self.stage)
        self.done, self.total = message.get("done", 0), message.get("total", 1)
        if "seconds" in message:
            self.records, self.seconds = message["records"], tuple(message["seconds"])


def time_in_words(seconds: float) -> str:
    if seconds < 1:
        return "1 s"
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Jobs:
    """All workers of the server."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._desks: dict[str, Worker] = {}  # by project, the most recently used last
        self._looks: dict[str, Job] = {}
        self._runs: dict[tuple[str, str], Job] = {}
        self._asked: dict[str, int] = {}  # by project, the number of the newest estimate

    def desk(self, project: Project) -> Worker:
        """The process that keeps a project's table open."""
        with self._lock:
            found = self._desks.pop(project.id, None)
            if found is not None and not found.is_alive:
                found.end()
                found = None
            found = found or Worker()
            self._desks[project.id] = found
            for name in list(self._desks)[:-MOST_DESKS]:
                if not self._desks[name].is_busy:
                    self._desks.pop(name).end()
            return found

    def ask(self, project: Project, task: str, **given: Any) -> dict[str, Any]:
        """Ask a project's desk and wait for the answer; if the desk dies, it is replaced once."""
        try:
            return self.desk(project).ask(task, project=str(project.folder), **given)
        except WorkerEnded:
            if not project.folder.exists():
                raise
        return self.desk(project).ask(task, project=str(project.folder), **given)

    def ask_newest(self, project: Project, task: str, **given: Any) -> dict[str, Any] | None:
        """Like `ask`, but None if a newer request came while this one was waiting."""
        with self._lock:
            number = self._asked[project.id] = self._asked.get(project.id, 0) + 1
        desk = self.desk(project)
        while desk.is_busy:
            time.sleep(0.02)
            if self._asked[project.id] != number:
                return None
        return self.ask(project, task, **given)

    def look(self, project: Project) -> Job:
        """Start reading a project's table."""
        job = Job("look", project.id)
        with self._lock:
            self._looks[project.id] = job

        def work() -> None:
            with self._lock:
                if job.is_cancelled:
                    return
                job.worker = self.desk(project)
            try:
                job.worker.ask("look", job.hear, project=str(project.folder))
                job.status = "done"
            except TaskFailed as error:
                if not job.is_cancelled:
                    job.problems, job.status = error.problems, "failed"

        threading.Thread(target=work, daemon=True).start()
        return job

    def looking(self, project: Project) -> Job | None:
        return self._looks.get(project.id)

    def cancel_look(self, project: Project) -> None:
        """Stop reading a table, and kill the process that reads it."""
        with self._lock:
            job = self._looks.get(project.id)
            if job is None or job.status != "running":
                return
            job.is_cancelled, job.status = True, "cancelled"
            if job.worker is not None and self._desks.get(project.id) is job.worker:
                del self._desks[project.id]
        if job.worker is not None:
            job.worker.end()

    def run(self, project: Project, run: str) -> Job:
        """Start a run whose folder and settings exist."""
        return self._start(project, run, "run", run=str(project.run_folder(run)))

    def study(self, project: Project, task: str) -> Job:
        """Start a task whose result is a file of the project, unless it is in progress."""
        with self._lock:
            return self.running(project, task) or self._start(project, task, task)

    def studying(self, project: Project, task: str) -> Job | None:
        """The last job of such a task, which may have ended."""
        return self._runs.get((project.id, task))

    def _start(self, project: Project, name: str, task: str, **given: Any) -> Job:
        job = Job(task, project.id, name, worker=Worker())
        self._runs[project.id, name] = job
        threading.Thread(target=self._follow, args=(project, job, given), daemon=True).start()
        return job

    def _follow(self, project: Project, job: Job, given: dict[str, Any]) -> None:
        assert job.worker is not None
        try:
            job.worker.ask(job.kind, job.hear, project=str(project.folder), **given)
            job.status = "done"
        except TaskFailed as error:
            if not job.is_cancelled:
                if job.kind == "run":
                    self._note_failure(project, job, error)
                # Last, so that pages find what was saved.
                job.problems, job.status = error.problems, "failed"
        finally:
            job.worker.end()

    def _note_failure(self, project: Project, job: Job, error: TaskFailed) -> None:
        """Save why a run failed; a release that was ready by then stays."""
        if job.is_ready:
            project.note_run(job.run, excel=UNFINISHED)
        else:
            status = "ended" if isinstance(error, WorkerEnded) else "failed"
            why = {"problems": error.problems, "refusals": error.refusals}
            project.note_run(job.run, status=status, **why)

    def running(self, project: Project, run: str) -> Job | None:
        """The job of a run or of another task in progress."""
        job = self._runs.get((project.id, run))
        return job if job is not None and job.status == "running" else None

    def cancel(self, project: Project, run: str) -> None:
        """Cancel a run or another task; what a run wrote is removed unless the release was ready."""
        job = self.running(project, run)
        if job is None or job.worker is None:
            return
        job.is_cancelled = True
        job.worker.end()
        if job.is_ready:
            project.note_run(
                run,
                excel="The run was cancelled before the Excel file was written. Run again to get it.",
            )
        elif job.kind == "run" and job.status != "done":
            project.note_run(run, status="cancelled")
        job.status = "cancelled"  # last, so that pages find what was saved

    def forget(self, project: Project) -> None:
        """End all processes of a project."""
        with self._lock:
            for (owner, _), job in self._runs.items():
                if owner == project.id:
                    job.end()
            desk = self._desks.pop(project.id, None)
            self._looks.pop(project.id, None)
        if desk is not None:
            desk.end()

    def close(self) -> None:
        with self._lock:
            for worker in self._desks.values():
                worker.end()
            for job in self._runs.values():
                job.end()
