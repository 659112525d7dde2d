"""Workers as the server sees them: a process that is asked, answers and can be ended at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

Heard = Callable[[dict[str, Any]], None]


class Failed(Exception):
    """A task that could not be done; `problems` says why, one sentence each."""

    def __init__(
        self,
        problems: list[str],
        infeasible: bool = False,
        refusals: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__("\n".join(problems))
        self.problems, self.infeasible = problems, infeasible
        self.refusals = list(refusals)  # what somebody may allow


class Ended(Failed):
    """A process that ended before it answered."""

    def __init__(self) -> None:
        super().__init__(
            ["The process that did this ended before it was done; nothing else is lost. Try again."]
        )


class Worker:
    """A process that does one task after the other."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._number = 0
        self._hung_up = False  # the process answers no more, though the system may not know it yet
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
        """Do a task and return its result; `heard` is given what is said on the way."""
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
                        raise Failed(
                            message["problems"],
                            message.get("infeasible", False),
                            message.get("refusals", ()),
                        )
                    if heard is not None:
                        heard(message)
            except (OSError, ValueError):
                pass
            self._hung_up = True
            raise Ended

    def end(self) -> None:
        """End the process and all that it started, now."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
        self._process.wait()
        with self._turn:  # whoever asked has heard the end
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError, ValueError):
                    assert stream is not None
                    stream.close()
