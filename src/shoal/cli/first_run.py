"""The work of `shoal compile` and `shoal doctor`: compile kernels ahead, and say what a first run will cost."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import shoal
from shoal.cli import check_stop, say
from shoal.cli.show import progress_bar
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
    "a default run on few records": (DEFAULT,),
    "a default run": (DEFAULT, LARGER),
    "a default run with requirements": (DEFAULT, LARGER, REQUIREMENTS),
    "all methods": ALL,
}
LIBRARIES = ("numba", "llvmlite", "numpy", "pyarrow", "narwhals", "pandas", "polars")


def compile_kernels(everything: bool, processes: int | None, quiet: bool) -> None:
    """Compile what is missing and say so."""
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
        for number, signature in enumerate(left):  # where no process could be started
            progress(COMPILING, number, len(left))
            signature.compile()
            check_stop()
    if not quiet:
        say(f"Compiled {len(fresh)} of {len(needed(wanted))} kernels. {_where()}")


def print_first_run(as_json: bool) -> None:
    """Say what a first run depends on."""
    found = first_run_facts()
    if as_json:
        say(json.dumps(found))
        return
    lines = [
        f"shoal {found['shoal']} runs in Python {found['python']} on {found['platform']}.",
        "Libraries: " + ", ".join(f"{name} {text}" for name, text in found["libraries"].items()),
        found["compiler"],
        found["carried"],
        _where(),
    ]
    for name, counts in found["kernels"].items():
        lines.append(f"Kernels of {name}: {counts['ready']} of {counts['all']} are compiled.")
    lines.append(found["first_run"])
    for line in lines:
        say(line if line.endswith(".") else f"{line}.")


def first_run_facts() -> dict[str, Any]:
    """Return what `print_first_run` says, for programs."""
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
        or "The package carries compiled kernels, and they are in use.",
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
            "shoal's Numba pipeline does not work with this Numba: kernels are compiled by Numba's own, "
            "and a first run takes several times as long."
        )
    if not is_known():
        return "This Numba is newer than those that shoal was tested with; shoal's Numba pipeline works with it."
    return "Kernels are compiled by shoal's Numba pipeline."


def _where() -> str:
    return cache_note() or f"Compiled kernels are kept in {cache_folder()}."


def _first_run(seconds: float) -> str:
    if not seconds:
        return "The next run compiles nothing."
    return f"The next run compiles kernels for about {seconds:.0f} s; `shoal compile` does it beforehand."
