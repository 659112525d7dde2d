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
    MOST,
    can_start,
    compile_ahead,
    missing,
    needed,
    parts,
    processors,
)
from shoal.kernels.compile.cache import cache_folder, cache_note, carried_folder, carried_note
from shoal.kernels.compile.jit import is_known, ways
from shoal.progress import COMPILING

USUAL = ("cover", "refine", "choose")  # parts of a run on up to 100,000 records


DEFAULT = (*USUAL, "carve", "exact", "certificate")  # parts of runs without a choice of method


LIBRARIES = ("numba", "llvmlite", "numpy", "pyarrow", "narwhals", "pandas", "polars")


def compile_kernels(everything: bool, processes: int | None, quiet: bool) -> None:
    """Compile what is missing and say so."""
    wanted = parts() if everything else DEFAULT
    fresh = missing(wanted)
    with progress_bar(quiet) as progress:
        compile_ahead(
            fresh,
            lambda done, total: progress(COMPILING, done, total),
            processes=processes or min(processors(), MOST),
        )
        check_stop()
        left = missing(wanted)
        for number, signature in enumerate(left):  # where no process could be started
            progress(COMPILING, number, len(left))
            signature.compile()
            check_stop()
    if not quiet:
        say(f"Compiled {len(fresh)} of {len(needed(wanted))} kernels. {_where()}")


def examine(as_json: bool) -> None:
    """Say what a first run depends on."""
    if as_json:
        say(json.dumps(facts()))
        return
    found = facts()
    kernels = found["kernels"]
    lines = [
        f"shoal {found['shoal']} runs in Python {found['python']} on {found['platform']}.",
        "Libraries: " + ", ".join(f"{name} {text}" for name, text in found["libraries"].items()),
        found["compiler"],
        found["carried"],
        _where(),
    ]
    for name, counts in kernels.items():
        lines.append(f"Kernels of {name}: {counts['ready']} of {counts['all']} are compiled.")
    lines.append(found["first_run"])
    for line in lines:
        say(line if line.endswith(".") else f"{line}.")


def facts() -> dict[str, Any]:
    """Return what `examine` says, for programs."""
    folder = cache_folder()
    kernels = {
        name: {"all": len(needed(wanted)), "ready": len(needed(wanted)) - len(missing(wanted))}
        for name, wanted in (
            ("a default run on few records", ("cover", "refine")),
            ("a default run", USUAL),
            ("a default run with a certificate", (*USUAL, "certificate")),
            ("all methods", parts()),
        )
    }
    return {
        "shoal": shoal.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: text for name in LIBRARIES if (text := _version(name))},
        "compiler": _compiler(),
        "carried": _carried(),
        "folder": None if folder is None else str(folder),
        "note": cache_note(),
        "kernels": kernels,
        "seconds": round(_seconds(), 1),
        "first_run": _first_run(),
    }


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _compiler() -> str:
    if not ways().part:
        return (
            "This Numba works otherwise than those that shoal knows: kernels are compiled the plain way, "
            "and a first run takes several times as long."
        )
    if not is_known():
        return "This Numba is newer than those that shoal was tried with; it compiles as fast as they do."
    return "Kernels are compiled the fast way."


def _carried() -> str:
    if carried_folder() is not None:
        return "The package carries compiled kernels, and they are in use."
    return carried_note()


def _where() -> str:
    return cache_note() or f"Compiled kernels are kept in {cache_folder()}."


def _seconds() -> float:
    """Seconds that a first default run compiles, about: processor time, shared by processes."""
    wanted = missing(USUAL)
    return sum(signature.seconds for signature in wanted) / (processors() if can_start() else 1)


def _first_run() -> str:
    seconds = _seconds()
    if not seconds:
        return "The next run compiles nothing."
    return f"The next run compiles kernels for about {seconds:.0f} s; `shoal compile` does it beforehand."
