"""The runner: `python -m benchmarks NAME` measures, prints a table and, with --save, keeps the numbers for the docs."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from benchmarks import suite
from benchmarks.papers.figure import Scale
from benchmarks.papers.run import PAPERS, reproduce
from benchmarks.record import RESULTS, Row, report, write
from benchmarks.tables import FOLDER, Tables, Unavailable
from benchmarks.timing import YARDSTICK

PUBLISHED = "papers"
WIDTH = 150  # of a table that goes to a file or a pipe


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code: 0 done, 1 a bar missed, 2 not runnable like this."""
    names = sorted(module.name for module in iter_modules(suite.__path__))
    options = _options(names).parse_intermixed_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)
    if options.name is None:
        _list(names, console)
        return 0
    if options.save:
        words = [options.name, *options.what, *(["quick"] if options.quick else [])]
        words += [str(options.records)] if options.records else []
        options.json = RESULTS / f"{'-'.join(words)}.json"
        RESULTS.mkdir(exist_ok=True)
    start = time.perf_counter()
    try:
        _check(options)
        tables = Tables(options.data, options.records)
        if options.name == PUBLISHED:
            rows = list(
                reproduce(options.what, Scale(tables, options.quick), options.plots, console)
            )
        else:
            with console.status(f"Measuring {options.name} …"):
                rows = _benchmark(options.name).run(tables)
            console.print(_grid(rows))
            console.print(f"Seconds are those of the best run; x: times {YARDSTICK}.")
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 2
    if options.json:
        found = report(options.name, _command(options), rows, time.perf_counter() - start)
        write(options.json, found | {"yardstick": YARDSTICK})
    return 1 if any(row.get("met") is False for row in rows) else 0


def _options(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure speed and loss."
    )
    parser.add_argument(
        "name", nargs="?", choices=[*names, PUBLISHED], help="without a name, list all"
    )
    parser.add_argument(
        "what",
        nargs="*",
        help="of papers: a paper or one of its figures, as gt10-figure-1; else all",
    )
    parser.add_argument(
        "--quick", action="store_true", help="of papers: smaller samples and fewer points"
    )
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="of papers: draw every figure there, as SVG"
    )
    parser.add_argument(
        "--save", action="store_true", help="keep the rows in benchmarks/results, for the docs"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to a file")
    parser.add_argument(
        "--data", type=Path, default=FOLDER, metavar="FOLDER", help="the benchmark data"
    )
    parser.add_argument(
        "--records", type=_count, metavar="N", help="first N records of every table only"
    )
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number of at least 1")
    return int(text)


def _benchmark(name: str) -> Any:
    return import_module(f"{suite.__name__}.{name}")


def _list(names: Sequence[str], console: Console) -> None:
    for name in names:
        console.print(f"{name:<18}{_benchmark(name).__doc__.splitlines()[0]}")
    for paper in PAPERS:
        module = import_module(f"benchmarks.papers.{paper}")
        console.print(f"{PUBLISHED + ' ' + paper:<18}{module.__doc__.splitlines()[0]}")


def _check(options: argparse.Namespace) -> None:
    """Refuse before the work is done, not after."""
    path, plots = options.json, options.plots
    if path and (path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK)):
        raise Unavailable(f"'{path}' cannot be written; name another file with --json.")
    if plots and not (plots.is_dir() and os.access(plots, os.W_OK)):
        raise Unavailable(f"'{plots}' is no folder to write to; name another with --plots.")
    if options.name != PUBLISHED and (options.what or options.quick or plots):
        raise Unavailable("Figures, --quick and --plots are for 'papers'; leave them out.")


def _grid(rows: Sequence[Row]) -> Grid:
    grid = Grid()
    columns = []
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        is_text = any(isinstance(value, str) for value in values)
        grid.add_column(name.replace("_", " "), justify="left" if is_text else "right")
        columns.append(_cells(values))
    for cells in zip(*columns, strict=True):
        grid.add_row(*cells)
    return grid


def _cells(values: Sequence[object]) -> list[str]:
    """A column as text, its fractions with equally many digits."""
    fractions = [str(value).partition(".")[2] for value in values if isinstance(value, float)]
    digits = max(map(len, fractions), default=0)
    cells = []
    for value in values:
        match value:
            case None:
                cells.append("")
            case bool():
                cells.append("yes" if value else "no")
            case float():
                cells.append(f"{value:.{digits}f}")
            case int():
                cells.append(f"{value:,}")
            case _:
                cells.append(str(value))
    return cells


def _command(options: argparse.Namespace) -> str:
    """What was asked for, without the folders of this machine."""
    words = ["python", "-m", "benchmarks", options.name, *options.what]
    words += ["--quick"] if options.quick else []
    words += ["--records", str(options.records)] if options.records else []
    return shlex.join(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
