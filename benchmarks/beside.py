"""Two versions of shoal beside each other: `python -m benchmarks.beside OTHER/src` runs each job on both, in turn.

Every run is a process of its own. Prints one line a job, and the means of the ratios; `--save` keeps the rows.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.jobs import HUGE, JOBS
from benchmarks.record import save
from benchmarks.tables import Tables

OURS = Path(__file__).parents[1] / "src"
FEW = 10_000  # records; CPU seconds are compared on larger tables


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, nargs="?", help="the folder src of the other version")
    parser.add_argument("--only", default="", help="jobs with this in their name")
    parser.add_argument("--refine", default="quick", help="quick, none or seconds")
    parser.add_argument("--certify", type=float, default=0, help="seconds")
    parser.add_argument("--set", nargs="*", default=[], help="constants, such as relax.FEWEST=1")
    parser.add_argument("--save", action="store_true", help="keep the rows in benchmarks/results")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    every = JOBS | HUGE
    if options.run:
        set_constants(options.set)
        given = options.refine
        refine: Any = (
            {"quick": "quick", "none": False}.get(given) if given.isalpha() else float(given)
        )
        print(json.dumps(every[options.run].run(Tables(), options.certify, refine=refine)))
        return
    only = options.only.split("|")
    chosen = [name for name in every if any(part in name for part in only)]
    chosen = [name for name in chosen if name in JOBS or options.only]
    losses, seconds = [], []
    rows, start = [], time.perf_counter()
    for name in chosen:
        ours = run_apart(OURS, name, options.refine, options.certify, options.set)
        line = f"{name:32s} loss {ours['loss']:.5f} cpu {ours['cpu_s']:7.2f}{_certified(ours)}"
        rows.append({"job": name, **ours})
        if options.other:
            other = run_apart(options.other, name, options.refine, options.certify)
            line += f" | other {other['loss']:.5f} {other['cpu_s']:7.2f}{_certified(other)}"
            loss, cpu = ours["loss"] / other["loss"], ours["cpu_s"] / other["cpu_s"]
            line += f" | loss {loss - 1:+.2%} cpu × {cpu:.2f}"
            losses.append(loss)
            rows[-1] |= {f"other_{what}": value for what, value in other.items()}
            seconds.append(cpu)
        print(line, flush=True)
    if options.save:
        command = "python -m benchmarks.beside OTHER" if losses else "python -m benchmarks.beside"
        save("beside", command, rows, time.perf_counter() - start)
    if losses:
        print(f"mean loss {sum(losses) / len(losses) - 1:+.2%}, most {max(losses) - 1:+.2%}")
        print(f"mean CPU × {math.exp(sum(map(math.log, seconds)) / len(seconds)):.2f} (geometric)")


def set_constants(settings: list[str]) -> None:
    """Give constants of refinement other values, each like `relax.FEWEST=1`."""
    for setting in settings:
        name, value = setting.split("=")
        module, constant = name.split(".")
        loaded = importlib.import_module(f"shoal.solve.local_search.{module}")
        before = getattr(loaded, constant)
        setattr(loaded, constant, value if isinstance(before, str) else type(before)(float(value)))


def _certified(row: dict[str, Any]) -> str:
    if "ratio" not in row:
        return ""
    later = f" later {row['later']:.3f}" if "later" in row else ""
    return f" ratio {row['ratio']:.3f} in {row['certificate_cpu_s']:.1f} ({row['how']}){later}"


def run_apart(
    source: Path,
    name: str,
    refine: str = "quick",
    certify: float = 0.0,
    settings: Sequence[str] = (),
) -> dict[str, Any]:
    """Run a job in a process of its own, with the version in a folder, and return what was measured."""
    command = [sys.executable, "-m", "benchmarks.beside", "--run", name]
    command += ["--refine", refine, "--certify", str(certify), "--set", *settings]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


if __name__ == "__main__":
    main()
