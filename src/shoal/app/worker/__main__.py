"""The loop of a worker: `python -m shoal.app.worker`.

Requests are lines of JSON on standard input, `{"id": 1, "do": "look", …}`; answers are lines on standard output with
the same id and one of `progress`, `done` or `failed`. Where the input ends, the app is gone, and the worker ends too.
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
    """What a worker can be asked, by name; loading it takes a second, while requests are listened to."""
    from shoal.app.worker import look, run, tables

    return {
        "look": look.look,
        "rows": look.rows,
        "types": look.types,
        "single": look.single,
        "estimate": run.estimate,
        "build": tables.build_hierarchy,
        "write": tables.write_outline,
        "tree": tables.tree,
        "key": check_key,
        "run": run.run_release,
    }


def _refuse_imports() -> None:
    """Let no settings run code: those of a project may be somebody else's."""
    from shoal.settings.registry import refuse_imports

    refuse_imports()


def check_key(answer: Any, project: str, path: str = "") -> dict[str, Any]:
    """Check the key in a file, by default the project's own, which is made where there is none."""
    from shoal.encoding.other_columns import read_key, write_key

    own = Path(project) / OWN_KEY
    if not path and not own.exists():
        write_key(own)
    read_key(path or str(own))
    return {}


CONFIRM = "Change the role of such a column, or press Run and confirm there that it may be released all the same."

Answer = Callable[[str, dict[str, Any]], None]


def main() -> None:
    """Answer requests one after the other until the input ends."""
    os.umask(0o077)  # releases, too, lie beside the table until they are downloaded
    out = _own_output()
    requests: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)  # pages come first
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
    """What a task gives, or sentences for why it gives nothing: never a cell's content."""
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
        problem = "The table does not fit into memory; free some, or give a smaller table."
        return "failed", {"problems": [problem]}
    except Exception as error:  # its text may hold values, so only the kind is named
        name = type(error).__name__
        return "failed", {
            "problems": [f"shoal ran into an error of its own ({name}); please report it."]
        }


def _own_output() -> IO[str]:
    """The stream of answers; whatever else is printed goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    return answers


def _listen(requests: queue.Queue[dict[str, Any]]) -> None:
    """Pass requests on; end this process and those it started when the app has gone."""
    for line in sys.stdin:
        requests.put(json.loads(line))
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main()
