"""The loop of a worker: `python -m shoal.app.worker`.

Requests are lines of JSON on standard input, `{"id": 1, "do": "look", …}`. Answers are lines on standard output with
the same id and one of `progress`, `done` or `failed`. The end of the input means that the app has ended, so the worker
ends too.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from shoal.app.projects import OWN_KEY
from shoal.errors import Infeasible, InputError, Refused, ShoalError


def tasks() -> dict[str, Callable[..., dict[str, Any]]]:
    """The tasks of a worker, by name. Importing them takes a second, during which requests are queued."""
    from shoal.app.worker import advice, check, look, month, preview, released_rows, run, trees

    return {
        "look": look.look,
        "rows": preview.preview,
        "types": look.types,
        "single": look.single,
        "check": check.check,
        "failing": check.failing_rows,
        "settings": look.take_settings,
        "month": month.compare,
        "preview": released_rows.first_rows,
        "estimate": run.estimate,
        "build": trees.build_hierarchy,
        "write": trees.write_outline,
        "tree": trees.tree,
        "key": check_key,
        "run": run.run_release,
        "advice": advice.advise,
        "explore": advice.explore,
    }


def _refuse_imports() -> None:
    """Forbid settings that run code: the settings of a project may be somebody else's."""
    from shoal.settings.registry import refuse_imports

    refuse_imports()


def check_key(answer: Any, project: str, path: str = "") -> dict[str, Any]:
    """Check the key in a file, by default the project's own, which is created if there is none."""
    from shoal.encoding.other_columns import read_key, write_key

    own = Path(project) / OWN_KEY
    if not path and not own.exists():
        write_key(own)
    read_key(path or str(own))
    return {}


CONFIRM = "Change the role of such a column, or press Run and confirm there that you want to release it anyway."

Answer = Callable[[str, dict[str, Any]], None]


def main() -> None:
    """Answer requests one after another until the input ends."""
    os.umask(0o077)  # releases are stored next to the table until they are downloaded
    out = _own_output()
    requests: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)  # pages have priority
    known = tasks()
    _refuse_imports()

    while True:
        request = requests.get()

        def answer(event: str, content: dict[str, Any], number: Any = request["id"]) -> None:
            out.write(json.dumps({"id": number, "event": event, **content}) + "\n")
            out.flush()

        answer(*_answered(known[request["do"]], request.get("with", {}), answer))


def _answered(
    task: Callable[..., dict[str, Any]], given: dict[str, Any], answer: Answer
) -> tuple[str, dict[str, Any]]:
    """The result of a task, or sentences that say why it failed, never with the content of a cell."""
    try:
        return "done", {"result": task(answer, **given)}
    except Refused as error:
        return "failed", {
            "problems": [own.sentence for own in error.refusals if own.sentence] + [CONFIRM],
            "refusals": [asdict(own) for own in error.refusals],
        }
    except InputError as error:
        return "failed", {"problems": list(error.problems)}
    except ShoalError as error:
        return "failed", {
            "problems": str(error).splitlines(),
            "infeasible": isinstance(error, Infeasible),
        }
    except MemoryError:
        problem = (
            "The table does not fit into memory. Close other programs, or use a smaller table."
        )
        return "failed", {"problems": [problem]}
    except Exception as error:  # its message may contain values, so only its type is shown
        name = type(error).__name__
        return "failed", {
            "problems": [f"shoal ran into an error of its own ({name}). Please report it."]
        }


def _own_output() -> IO[str]:
    """The stream for answers; anything else that is printed is discarded."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    return answers


def _listen(requests: queue.Queue[dict[str, Any]]) -> None:
    """Queue requests; end this process and those it started once the app has ended."""
    for line in sys.stdin:
        requests.put(json.loads(line))
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main()
