"""The work of `shoal compile` and `shoal doctor`: compiles kernels in advance and reports what a first run compiles."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import shoal
from shoal.cli import check_stop, say
from shoal.cli.show import progress_bar
from shoal.errors import counted
from shoal.kernels.compile.ahead import (
    ALL,
    DEFAULT,
    LARGER,
    MOST,
    REQUIREMENTS,
    SECONDS,
    USUAL,
    can_start,
    compile_ahead,
    needed,
    processors,
    uncompiled,
)
from shoal.kernels.compile.cache import cache_folder, cache_note, carried_kernels
from shoal.kernels.compile.jit import compile_options, is_known
from shoal.progress import COMPILING

RUNS = {
    "a default run on a small table": (DEFAULT,),
    "a default run": (DEFAULT, LARGER),
    "a default run with requirements": (DEFAULT, LARGER, REQUIREMENTS),
    "all methods": ALL,
}
LIBRARIES = ("numba", "llvmlite", "numpy", "pyarrow", "narwhals", "pandas", "polars")


def compile_kernels(everything: bool, processes: int | None, quiet: bool) -> None:
    """Compile what is missing and report it."""
    wanted = ALL if everything else USUAL
    fresh = uncompiled(wanted)
    with progress_bar(quiet) as progress:
        compile_ahead(
            fresh,
            lambda done, total: progress(COMPILING, done, total),
            processes=processes or min(processors(), MOST),
        )
        check_stop()
        left = uncompiled(wanted)
        for number, signature in enumerate(left):  # if no process could be started
            progress(COMPILING, number, len(left))
            signature.compile()
            check_stop()
    if not quiet:
        say(f"Compiled {len(fresh)} of {counted(len(needed(wanted)), 'kernel')}. {_where()}")


def print_first_run(as_json: bool) -> None:
    """Print what affects the time of a first run."""
    found = first_run_facts()
    if as_json:
        say(json.dumps(found))
        return
    lines = [
        f"shoal {found['shoal']} runs on Python {found['python']}, {found['platform']}.",
        "Libraries: " + ", ".join(f"{name} {text}" for name, text in found["libraries"].items()),
        found["compiler"],
        found["carried"],
        _where(),
    ]
    for name, counts in found["kernels"].items():
        lines.append(f"Kernels for {name}: {counts['ready']} of {counts['all']} are compiled.")
    lines.append(found["first_run"])
    for line in lines:
        say(line if line.endswith(".") else f"{line}.")


def first_run_facts() -> dict[str, Any]:
    """Return what `print_first_run` prints, for programs."""
    folder = cache_folder()
    kernels = {
        name: {"all": len(needed(lists)), "ready": len(needed(lists)) - len(uncompiled(lists))}
        for name, lists in RUNS.items()
    }
    usual = kernels["a default run"]
    seconds = SECONDS * (usual["all"] - usual["ready"]) / (processors() if can_start() else 1)
    return {
        "shoal": shoal.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: text for name in LIBRARIES if (text := _version(name))},
        "compiler": _compiler(),
        "carried": carried_kernels()[1]
        or "This installation includes compiled kernels and uses them.",
        "folder": None if folder is None else str(folder),
        "note": cache_note(),
        "kernels": kernels,
        "seconds": round(seconds, 1),
        "first_run": _first_run(seconds),
    }


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _compiler() -> str:
    if not compile_options().part:
        return (
            "This version of Numba does not work with shoal's fast compilation, so a first run takes several "
            "times as long."
        )
    if not is_known():
        return "This version of Numba is newer than the tested ones; shoal's fast compilation works with it."
    return "Kernels are compiled with shoal's fast compilation."


def _where() -> str:
    return cache_note() or f"Compiled kernels are stored in {cache_folder()}."


def _first_run(seconds: float) -> str:
    if not seconds:
        return "The next run has nothing to compile."
    return (
        f"The next run will spend about {seconds:.0f} s compiling. To do it now, run: shoal compile"
    )
