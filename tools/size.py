"""Print how large the code is and how far it is spread: modules, rooms, imports between rooms, repeated names.

A room is a folder or a file at the top level of `src/shoal`. `make size` shows the numbers beside their limits.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).parents[1] / "src" / "shoal"
LIMITS = {
    "modules": 290,
    "rooms": 22,
    "imports between rooms": 160,
    "files visited by one record": 70,
    "public names in more than one module": 30,
}


def room_of(path: Path) -> str:
    """The folder or file at the top level that a module belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def edges(paths: list[Path]) -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second, the public face in `__init__.py` apart."""
    found = set()
    for path in paths:
        room = room_of(path)
        for module in imported(path):
            other = module.split(".")[1] if "." in module else "__init__"
            is_room = (PACKAGE / other).is_dir() or (PACKAGE / f"{other}.py").is_file()
            other = other if is_room else "__init__"
            if "__init__" not in (room, other) and room != other:
                found.add((room, other))
    return found


def imported(path: Path) -> Iterator[str]:
    """Dotted names of the package that a module imports, anywhere in its code."""
    folders = ["shoal", *path.parent.relative_to(PACKAGE).parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (own.name for own in node.names if own.name.partition(".")[0] == "shoal")
        elif isinstance(node, ast.ImportFrom):
            above = folders[: len(folders) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base.partition(".")[0] == "shoal":
                yield from (f"{base}.{own.name}" for own in node.names)


def repeated(paths: list[Path]) -> dict[str, list[Path]]:
    """Public functions and classes that more than one module defines, with these modules."""
    found = defaultdict(set)
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(path)
    return {name: sorted(homes) for name, homes in sorted(found.items()) if len(homes) > 1}


def visited() -> set[str]:
    """Files whose functions run while a small CSV is anonymized by k alone, for the second time."""
    from shoal.cli import main

    found: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            found.add(code.co_filename)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "patients.csv").write_text(
            "name,age,zip,sex,diagnosis\n"
            + "".join(
                f"n{i},{20 + i * 7 % 60},{10000 + i * 37 % 90},{'mf'[i % 2]},{'abc'[i % 3]}\n"
                for i in range(60)
            ),
            encoding="utf-8",
        )
        command = ["anonymize", str(folder / "patients.csv"), "-q", "age", "-q", "zip", "-q", "sex"]
        command += ["-s", "diagnosis", "-i", "name", "-k", "5", "--overwrite", "-o"]
        command += [str(folder / "release.csv")]
        for run in range(2):
            if run:
                sys.setprofile(note)
                threading.setprofile(note)
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()), suppress(SystemExit):
                sys.argv = ["shoal", *command]
                main()
        sys.setprofile(None)
        threading.setprofile(None)
        assert (folder / "release.csv").exists(), "the record was not released"
    return {own for own in found if Path(own).is_relative_to(PACKAGE)}


def main() -> None:
    paths = sorted(PACKAGE.rglob("*.py"))
    twice = repeated(paths)
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
    if "--names" in sys.argv:
        for name, homes in twice.items():
            print(f"{name}: {', '.join(str(home.relative_to(PACKAGE)) for home in homes)}")
    if "--edges" in sys.argv:
        for room, other in sorted(edges(paths)):
            print(f"{room} → {other}")
    if "--visited" in sys.argv:
        print(*sorted(visited()), sep="\n")
    found = {
        "modules": len(paths),
        "rooms": len({room_of(path) for path in paths}),
        "imports between rooms": len(edges(paths)),
        "files visited by one record": len(visited()),
        "public names in more than one module": len(twice),
    }
    print(f"{lines:,} lines, {lines / len(paths):.0f} a module")
    for name, number in found.items():
        print(f"{number:>4} {name} (at most {LIMITS[name]})")


if __name__ == "__main__":
    main()
